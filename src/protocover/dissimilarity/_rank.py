"""The rank dissimilarity: how many training points are at least as close to z as x is."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .._balls import ColumnPairs, Pairs, pairwise_pairs, traits_of
from .._balls.pairs import columns_at_once
from .._resources import batches, row_count
from .._typing import Floats, Indices
from ..data._fields import check_array, check_indices, refuse


def _of_base(trait: str, meaning: str) -> property:
    """Return a property that is a trait of the base."""

    def read(self: RankDissimilarity) -> Any:
        # An object's own traits are read, since a copy may take long to make.
        base = self.base if hasattr(self.base, "pairwise") else self._resolve()
        return getattr(traits_of(base), trait)

    return property(read, doc=meaning)


class RankDissimilarity(BaseEstimator):
    """Number of training points that are at least as close to z as x is.

    ``d~(x, z) = |{i : d(x_i, z) <= d(x, z)}|`` for a base dissimilarity d (paper,
    section 4.1). A ball of radius eps then holds the points nearest to its middle, fewer
    than eps of them, however dense or sparse the data are there. It is not symmetric.

    Parameters
    ----------
    base : str, callable, or object with ``fit`` and ``pairwise``, default="euclidean"
        The base dissimilarity, as in ``PVMClassifier(metric=...)``.

    Attributes
    ----------
    base_ : object
        The fitted base dissimilarity.

    Notes
    -----
    Points as far from z as x count, x itself among them if it is a training point. The
    value runs from 0, for a new x closer to z than all training points, to their number.
    With ties the neighbourhood may be smaller than its radius suggests: samples equally far
    from z are either all in it or none.

    A base of your own that computes one pair differently in different blocks, in the last
    bits, may put a point on the wrong side of itself when the ranks of training points are
    asked for in parts. While a model is fitted that does not happen, since points and ranks
    come from one table.

    Examples
    --------
    >>> from protocover.dissimilarity import RankDissimilarity
    >>> X = [[0.0], [1.0], [2.0], [10.0]]
    >>> RankDissimilarity().fit(X).pairwise(X, [[0.0], [10.0]])
    array([[1., 4.],
           [2., 3.],
           [3., 2.],
           [4., 1.]])
    """

    symmetric = False
    finds_near_pairs = True
    saved_state: ClassVar[tuple[str, ...]] = ("base_", "_kept")

    _points: Any = None  # the training points, until it is cut down to prototypes

    def __init__(self, base: Any = "euclidean") -> None:
        self.base = base

    precomputed = _of_base("precomputed", "Whether `X` is a table of values between points.")
    requires_array = _of_base("requires_array", "Whether points must be rows of numbers.")
    accepts_sparse = _of_base("accepts_sparse", "Whether rows may be those of a sparse table.")
    allows_nan = _of_base("allows_nan", "Whether rows may hold missing values.")
    positive_only = _of_base("positive_only", "Whether negative numbers are refused.")
    thread_safe = _of_base("thread_safe", "Whether several blocks may be computed at once.")
    input_tags = _of_base("input_tags", "Further tags for scikit-learn.")

    def check_examples(self, X: Any) -> Any:
        """Let the base check points of its own kind, if it does."""
        check = getattr(self._resolve(), "check_examples", None)
        return X if check is None else check(X)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the base dissimilarity and remember the training points."""
        self.base_ = self._resolve().fit(X, y)
        self._points = X
        self._kept: KeptColumns | None = None
        return self

    @property
    def n_candidates_(self) -> int:
        """Number of columns of a table."""
        return int(self.base_.n_candidates_)

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check that a model file has a sorted column for each prototype."""
        if not isinstance(self._kept, KeptColumns):
            refuse("RankDissimilarity must have kept the columns of prototypes")
        check_array(self._kept.columns, "columns", kinds="f", shape=(None, n_prototypes))
        if self.precomputed:
            below = self.n_candidates_
            check_indices(self._kept.numbers, "numbers", length=n_prototypes, below=below)

    def of_rows(self, rows: Indices) -> RankDissimilarity:
        """Return the same among some of the training points only."""
        part = copy(self)
        part._points = _safe_indexing(self._points, rows)
        if hasattr(self.base_, "of_rows"):
            part.base_ = self.base_.of_rows(rows)
        return part

    def table(self, X: Any) -> Floats:
        """Return the ranks that a table of base dissimilarities of the training points has."""
        columns = np.array(self.base_.table(X), dtype=np.float64)
        return _ranks(columns, np.sort(columns, axis=0))

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the ranks of the points of A among the training points, as seen from B."""
        if self._kept is not None:
            ordered = self._kept.of(B)
            return _ranks(self.base_.pairwise(A, B), ordered)
        table = np.empty((row_count(A), row_count(B)))
        for block in batches(row_count(B), columns_at_once(row_count(self._points))):
            table[:, block] = self._columns(A, _safe_indexing(B, block))
        return table

    def bind(self, A: Any, B: Any, *, radii: Floats | None = None, **search: Any) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        if radii is None:
            return pairwise_pairs(self, A, B)
        n_rows = max(row_count(A), row_count(self._points))
        return ColumnPairs(lambda block: self._columns(A, _safe_indexing(B, block)), n_rows)

    def for_prototypes(self, B: Any) -> RankDissimilarity:
        """Return the same dissimilarity from the points of B alone, without training points.

        It keeps a sorted column of base dissimilarities for each of them. Its `pairwise` takes
        these same prototypes, in this order, as its second argument.
        """
        n_points, n_prototypes = row_count(self._points), row_count(B)
        ordered = np.empty((n_points, n_prototypes))
        for block in batches(n_prototypes, columns_at_once(n_points)):
            columns = self._training_columns(_safe_indexing(B, block))
            ordered[:, block] = np.sort(columns, axis=0)
        cut = copy(self)
        cut._kept = KeptColumns(ordered, B if self.precomputed else None)
        del cut._points
        if hasattr(self.base_, "for_prototypes"):
            cut.base_ = self.base_.for_prototypes(B)
        return cut

    def _columns(self, A: Any, Z: Any) -> Floats:
        """Return the ranks of the points of A as seen from a block of candidates."""
        columns = self._training_columns(Z)
        table = columns if A is self._points else self.base_.pairwise(A, Z)
        return _ranks(table, np.sort(columns, axis=0))

    def _training_columns(self, Z: Any) -> Floats:
        """Return the base dissimilarities of the training points from candidates Z."""
        if self.precomputed:
            return np.asarray(self.base_.table(self._points)[:, np.asarray(Z, dtype=np.intp)])
        return np.asarray(self.base_.pairwise(self._points, Z))

    def _resolve(self) -> Any:
        """Return a new, unfitted base dissimilarity."""
        from . import resolve_metric

        return resolve_metric(self.base)


@dataclass(frozen=True, eq=False)
class KeptColumns:
    """What is kept of the training samples: a sorted column (n_points,) for each prototype.

    `numbers` are the prototypes themselves where these are column numbers of a table.
    """

    columns: Floats
    numbers: Any

    def of(self, B: Any) -> Floats:
        """Return the sorted columns of the prototypes B."""
        if self.numbers is not None:
            # Columns of a distance matrix may be requested in any order.
            order = np.argsort(self.numbers, kind="stable")
            at = np.searchsorted(self.numbers, B, sorter=order)
            return self.columns[:, order[np.minimum(at, len(order) - 1)]]
        if row_count(B) != self.columns.shape[1]:
            raise ValueError(
                f"this RankDissimilarity was cut down to {self.columns.shape[1]} prototypes; B "
                f"must be these, got {row_count(B)} points"
            )
        return self.columns


def _ranks(table: Floats, ordered: Floats) -> Floats:
    """Count for each entry of `table` how many of its sorted column are not above it."""
    ranks = np.empty(table.shape)
    for j in range(table.shape[1]):
        ranks[:, j] = np.searchsorted(ordered[:, j], table[:, j], side="right")
    return ranks
