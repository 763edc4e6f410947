"""Dissimilarities that the user has computed already."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..balls import Floats, check_dissimilarities
from ..data.fields import check_whole

__all__ = ["Precomputed", "pick_columns"]


class Precomputed(BaseEstimator):
    """A points x candidates table: a point is its row, a candidate its column number.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.dissimilarity import Precomputed
    >>> table = np.array([[0.0, 2.0], [2.0, 0.0], [1.0, 3.0]])
    >>> Precomputed().fit(table).cross(table, [1])
    array([[2.],
           [0.],
           [3.]])
    """

    accepts_sparse = False
    pairwise = True
    positive_only = True
    symmetric = False
    learns_nothing = True
    saved_state: ClassVar[tuple[str, ...]] = ("n_candidates_",)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the table and remember how many candidates it has."""
        self.n_candidates_ = self.table(X).shape[1]
        return self

    def check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the number of columns that a model file has."""
        check_whole(self.n_candidates_, "n_candidates_")

    def table(self, X: Any) -> Floats:
        """Return the table of dissimilarities that `X` is."""
        return check_dissimilarities(X, np.shape(X), "X")

    def cross(self, A: Any, B: Any) -> Floats:
        """Return the columns `B` of the table `A`, or `A` itself if it has only those."""
        return pick_columns(A, B, self.n_candidates_, "candidates")


def pick_columns(A: Any, B: Any, n_columns: int, meaning: str) -> Floats:
    """Return the columns `B` of the table `A`, which may have all `n_columns` or only those."""
    table = np.asarray(A, dtype=np.float64)
    if table.shape[1] == n_columns:
        return table[:, np.asarray(B, dtype=np.intp)]
    if table.shape[1] == len(B):
        return table
    raise ValueError(
        f"X must have a column for each of the {n_columns} {meaning}, or for each of the "
        f"{len(B)} prototypes, got {table.shape[1]} columns"
    )
