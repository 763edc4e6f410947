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

from ...balls import DistanceTest, GroupSearch, LevelTest
from ...balls.nearest import nearest_in_groups
from .bracket import bracket, direct_squares
from .order import OrderScan
from .scan import StripScan, rounded_up
from .tree import TreeScan, suits_tree

__all__ = ["Cosine", "Euclidean", "SquaredEuclidean"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class _Quadratic(BaseEstimator):
    """A rising function of the squared Euclidean distance between embedded rows.

    Members of balls and nearest prototypes are found by matrix products and decided,
    where those are too close to call, by sums in double precision: the answers are
    those of comparing with `cross` itself.
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
            return self._finish(euclidean_distances(left, right, squared=True))
        return self._finish(cdist(left, right, "sqeuclidean"))

    def level_test(self, X: Any, Z: Any, *, radii: Floats, closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and levels."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        return self._scan(left, right, radii=radii, closed=closed)

    def _scan(self, left: Any, right: Any, *, radii: Floats, closed: bool) -> StripScan | TreeScan:
        """Return the test of embedded rows: a tree's where that is expected to be faster."""
        reach = self._reach(radii)
        if suits_tree(left, right, float(reach[-1])):
            tree = KDTree(np.asarray(right, dtype=np.float64))
            return TreeScan(left, right, tree, radii, reach, self._finish, closed)
        near = bracket(left, right, eps=float(reach[-1]))
        return StripScan(left, right, near, radii, reach, self._finish, closed)

    def distance_test(self, X: Any, Z: Any, *, eps: float, closed: bool) -> DistanceTest:
        """Return a test that tells who is nearer by bounds, and by direct sums where asked."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        # Candidates as rows: those of a strip are made ready once, the points for all strips.
        return OrderScan(self._scan(right, left, radii=np.array([eps]), closed=closed))

    def nearest_test(self, A: Any, B: Any, bounds: NDArray[np.intp]) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        left, right = self._embed(A), self._embed(B)
        near = bracket(left, right)

        def search(rows: slice) -> tuple[NDArray[np.intp], Floats]:
            lower = near.lower(rows, slice(0, int(bounds[-1])))
            index, least = nearest_in_groups(lower, bounds)
            # What might be as near as the apparent nearest of its group.
            limit = least + 2.0 * (near.x_slack[rows][:, None] + near.z_slack[index])
            i, j, g = _contenders(lower, rounded_up(limit, lower.dtype), bounds)
            distance = self._finish(direct_squares(left, right, rows.start + i, j))
            return _nearest_contender(i, j, g, distance, index.shape)

        return search

    def _embed(self, X: Any) -> Any:
        """Return rows whose squared distances matter."""
        return X if issparse(X) else np.asarray(X)

    def _finish(self, squares: Floats) -> Floats:
        """Turn squared distances between embedded rows into dissimilarities."""
        raise AssertionError("each quadratic dissimilarity defines this")

    def _reach(self, eps: Floats) -> Floats:
        """Return the Euclidean radius, between embedded rows, of a ball of radius `eps`."""
        raise AssertionError("each quadratic dissimilarity defines this")


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
    lower: NDArray[Any], limit: NDArray[Any], bounds: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Find the (query, prototype, group) with a bound below their query's limit."""
    rows, columns, groups = [], [], []
    for g in range(len(bounds) - 1):
        i, j = np.nonzero(lower[:, bounds[g] : bounds[g + 1]] <= limit[:, g, None])
        rows.append(i)
        columns.append(j + bounds[g])
        groups.append(np.full(len(i), g))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(groups)


def _nearest_contender(
    i: NDArray[np.intp],
    j: NDArray[np.intp],
    g: NDArray[np.intp],
    distance: Floats,
    shape: tuple[int, ...],
) -> tuple[NDArray[np.intp], Floats]:
    """Take the nearest contender of each (query, group), ties to the lower index."""
    index = np.full(shape, -1, dtype=np.intp)
    nearest = np.full(shape, np.inf)
    # Written from the farthest to the nearest, so that the nearest is the one that stays.
    order = np.lexsort((j, distance))[::-1]
    index[i[order], g[order]] = j[order]
    nearest[i[order], g[order]] = distance[order]
    return index, nearest
