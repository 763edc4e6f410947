"""Euclidean, squared Euclidean and cosine distance: fast products, direct sums where close."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize

from ...balls import DistanceTest, Floats, GroupSearch, Indices, LevelTest, relative_to
from ...balls.nearest import nearest_in_groups
from .bracket import bracket, direct_squares
from .index import PrototypeIndex
from .order import OrderScan
from .scan import StripScan, rounded_up
from .tree import TreeScan, suits_tree

__all__ = ["Cosine", "Euclidean", "SquaredEuclidean"]

# More than what multiplying a bracket's ends by a share adds to their error.
_ROUNDING = 1e-12
# Few features and many prototypes: trees know better.
_TREE_FEATURES, _TREE_ROWS = 4, 4096


class _Quadratic(BaseEstimator):
    """A rising function of the squared Euclidean distance between embedded rows.

    Members of balls and nearest prototypes are found by matrix products and decided,
    where those are too close to call, by sums in double precision: the answers are
    those of comparing with `cross` itself.

    Each has ``_finish(squares)``, which turns squared distances between embedded rows into
    dissimilarities, and ``_reach(eps)``, the Euclidean radius of a ball of radius eps there.
    """

    symmetric = True
    learns_nothing = True
    saved_state: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check nothing: nothing was learned."""

    def cross(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        left, right = self._embed(A), self._embed(B)
        if issparse(left) or issparse(right):
            squares = euclidean_distances(left, right, squared=True)
        else:
            squares = cdist(left, right, "sqeuclidean")
        table: Floats = self._finish(squares)
        return table

    def level_test(self, X: Any, Z: Any, *, radii: Floats, closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and levels."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        return self._scan(left, right, radii=radii, closed=closed)

    def _scan(self, left: Any, right: Any, *, radii: Floats, closed: bool) -> StripScan | TreeScan:
        """Return the test of embedded rows: a tree's where that is expected to be faster."""
        reach = self._reach(radii)
        asked = left, right, radii, reach, self._finish, closed
        if suits_tree(left, right, float(reach[-1])):
            return TreeScan(*asked, KDTree(np.asarray(right, dtype=np.float64)))
        return StripScan(*asked, bracket(left, right, eps=float(reach[-1])))

    def distance_test(self, X: Any, Z: Any, *, eps: float, closed: bool) -> DistanceTest:
        """Return a test that tells who is nearer by bounds, and by direct sums where asked."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        # Candidates as rows: those of a strip are made ready once, the points for all strips.
        return OrderScan(self._scan(right, left, radii=np.array([eps]), closed=closed))

    def nearest_index(self, B: Any) -> PrototypeIndex | None:
        """Return prototypes made ready once; None where `nearest_test` is as good or better."""
        if issparse(B) or len(B) == 0 or (B.shape[1] <= _TREE_FEATURES and len(B) >= _TREE_ROWS):
            return None
        return PrototypeIndex(self, np.asarray(B))

    def nearest_test(
        self, A: Any, B: Any, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        left, right = self._embed(A), self._embed(B)
        near = bracket(left, right)
        # Squares are compared in units of the squared radii, the largest of them 1.
        reach = None if radii is None else self._reach(radii)
        share = np.ones(int(bounds[-1])) if reach is None else (reach.max() / reach) ** 2

        def search(rows: slice) -> tuple[Indices, Floats]:
            lower = near.lower(rows, slice(0, int(bounds[-1])))
            if radii is not None:
                lower = lower * share
            index, least = nearest_in_groups(lower, bounds)
            # What might be as near as the apparent nearest of its group.
            slack = 2.0 * (near.x_slack[rows][:, None] + near.z_slack[index]) * share[index]
            limit = least + slack + (abs(least) + slack) * _ROUNDING
            i, j, g = _contenders(lower, rounded_up(limit, lower.dtype), bounds)
            distance = self._finish(direct_squares(left, right, rows.start + i, j))
            ranking = distance if radii is None else relative_to(radii[j], distance)
            return _nearest_contender(i, j, g, distance, ranking, index.shape)

        return search

    def _embed(self, X: Any) -> Any:
        """Return rows whose squared distances matter."""
        return X if issparse(X) else np.asarray(X)


class Euclidean(_Quadratic):
    """Euclidean distance between rows, dense or sparse.

    Examples
    --------
    >>> from protocover.dissimilarity import Euclidean
    >>> Euclidean().cross([[3.0, 4.0]], [[0.0, 0.0]])
    array([[5.]])
    """

    def _finish(self, squares: Floats) -> Floats:
        return np.sqrt(squares)

    def _reach(self, eps: Floats) -> Floats:
        return eps


class SquaredEuclidean(_Quadratic):
    """Squared Euclidean distance between rows, dense or sparse.

    Examples
    --------
    >>> from protocover.dissimilarity import SquaredEuclidean
    >>> SquaredEuclidean().cross([[3.0, 4.0]], [[0.0, 0.0]])
    array([[25.]])
    """

    def _finish(self, squares: Floats) -> Floats:
        return squares

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(eps)


class Cosine(_Quadratic):
    """Cosine distance, one minus the cosine of the angle between rows, dense or sparse.

    A row of zeros has no direction: it is at distance 1 from every other row and at
    distance 0 from another row of zeros.

    Examples
    --------
    >>> from protocover.dissimilarity import Cosine
    >>> Cosine().cross([[2.0, 0.0]], [[5.0, 0.0], [0.0, 1.0]])
    array([[0., 1.]])
    """

    def _embed(self, X: Any) -> Any:
        rows = X if issparse(X) else np.asarray(X, dtype=np.float64)
        unit = normalize(rows)
        # Rows of zeros get a direction of their own, at a right angle to all others.
        lengths = abs(unit).sum(axis=1)
        empty = (np.asarray(lengths).reshape(-1, 1) == 0).astype(np.float64)
        if issparse(unit):
            return hstack([unit, csr_array(empty)], format="csr")
        return np.hstack((unit, empty))

    def _finish(self, squares: Floats) -> Floats:
        return squares / 2.0

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(2.0 * eps)


def _contenders(
    lower: NDArray[Any], limit: NDArray[Any], bounds: Indices
) -> tuple[Indices, Indices, Indices]:
    """Find the (query, prototype, group) with a bound below their query's limit."""
    rows, columns, groups = [], [], []
    for g in range(len(bounds) - 1):
        i, j = np.nonzero(lower[:, bounds[g] : bounds[g + 1]] <= limit[:, g, None])
        rows.append(i)
        columns.append(j + bounds[g])
        groups.append(np.full(len(i), g))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(groups)


def _nearest_contender(
    i: Indices,
    j: Indices,
    g: Indices,
    distance: Floats,
    ranking: Floats,
    shape: tuple[int, ...],
) -> tuple[Indices, Floats]:
    """Take the contender of each (query, group) that ranks first, ties to the lower index."""
    index = np.full(shape, -1, dtype=np.intp)
    nearest = np.full(shape, np.inf)
    # Written from the farthest to the nearest, so that the nearest is the one that stays.
    order = np.lexsort((j, ranking))[::-1]
    index[i[order], g[order]] = j[order]
    nearest[i[order], g[order]] = distance[order]
    return index, nearest
