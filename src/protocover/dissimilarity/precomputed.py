"""Dissimilarities that the user has computed already."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..balls import Floats, check_dissimilarities
from ..data.fields import check_whole

__all__ = ["Precomputed"]


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
        self.n_candidates_ = check_dissimilarities(X, np.shape(X), "X").shape[1]
        return self

    def check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check the number of columns that a model file has."""
        check_whole(self.n_candidates_, "n_candidates_")

    def table(self, X: Any) -> Floats:
        """Return the table of dissimilarities that `X` is."""
        return check_dissimilarities(X, np.shape(X), "X")

    def cross(self, A: Any, B: Any) -> Floats:
        """Return the columns `B` of the table `A`, or `A` itself if it has only those."""
        columns = np.asarray(B, dtype=np.intp)
        table = np.asarray(A, dtype=np.float64)
        if table.shape[1] == self.n_candidates_:
            return table[:, columns]
        if table.shape[1] == len(columns):
            return table
        raise ValueError(
            f"X must have a column for each of the {self.n_candidates_} candidates, or for each "
            f"of the {len(columns)} prototypes, got {table.shape[1]} columns"
        )
