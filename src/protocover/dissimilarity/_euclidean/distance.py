"""Euclidean, squared Euclidean and cosine distance: fast products, direct sums where close."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import KDTree
from sklearn.base import BaseEstimator

from ..._balls import DistanceTest, GroupSearch, LevelTest, relative_to
from ..._balls.nearest import nearest_in_groups
from ..._typing import Floats, Indices
from .._underflow import refuse_underflow
from .bracket import bracket
from .contenders import find_contenders, nearest_contender
from .embedding import directions, in_order, square_differences
from .index import PrototypeIndex
from .nearest import TreeSearch, suits_tree_search
from .order import OrderScan, TreeOrder
from .scan import Scan, StripScan, rounded_up
from .sums import direct_squares, finished, root, table_of_squares
from .tree import TreeScan, suits_tree
from .units import UnitRows

# More than what multiplying a bracket's ends by a share adds to their error.
_ROUNDING = 1e-12
# More than any cosine distance: larger radii make no difference.
FARTHEST_COSINE = 8.0


class Quadratic(BaseEstimator):
    """A rising function of the squared Euclidean distance between embedded rows.

    Members of balls and nearest prototypes are found by matrix products and decided,
    where those are too close to call, by sums in double precision: the answers are
    those of comparing with `pairwise` itself.

    Each has ``_finish(squares)``, which turns squared distances between embedded rows into
    dissimilarities, and ``_reach(eps)``, the Euclidean radius of a ball of radius eps there.
    """

    symmetric = True
    stateless = True
    supports_float16 = True
    contribution_unit = "distance"
    saved_state: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: there is nothing to learn."""
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check nothing: nothing was learned."""

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        left, right = self._embed(A), self._embed(B)
        return finished(self._finish, table_of_squares(left, right), left, right)

    def contributions(self, A: Any, B: Any) -> Any:
        """Return what each column contributes to the distance of A[i] from B[i], or its square."""
        return square_differences(in_order(A), in_order(B))

    def level_test(self, X: Any, Z: Any, *, radii: Floats, closed: bool) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and levels."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        reach = self._reach(radii)
        asked = left, right, radii, reach, self._finish, closed
        if suits_tree(left, right, reach):
            return TreeScan.of(Scan(*asked))
        return StripScan(*asked, bracket(left, right, eps=float(reach[-1])))

    def distance_test(self, X: Any, Z: Any, *, eps: float, closed: bool) -> DistanceTest:
        """Return a test that tells who is nearer by bounds, and by direct sums where asked."""
        left = self._embed(X)
        right = left if Z is X else self._embed(Z)
        radii = np.array([eps])
        reach = self._reach(radii)
        # Candidates as rows: those of a strip are made ready once, the points for all strips.
        asked = right, left, radii, reach, self._finish, closed
        if suits_tree(right, left, reach):
            return TreeOrder(Scan(*asked), KDTree(np.asarray(left, dtype=np.float64)))
        return OrderScan(StripScan(*asked, bracket(right, left, eps=float(reach[-1]))))

    def nearest_index(self, B: Any) -> PrototypeIndex | None:
        """Return prototypes made ready once; None where `nearest_test` is as good."""
        return None if issparse(B) or len(B) == 0 else PrototypeIndex(self, np.asarray(B))

    def nearest_test(
        self, A: Any, B: Any, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        left, right = self._embed(A), self._embed(B)
        if radii is None and suits_tree_search(left, right, bounds):
            return TreeSearch.of(left, right, bounds, self._finish)
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
            i, j, g = find_contenders(lower, rounded_up(limit, lower.dtype), bounds)
            pairs = left, right, rows.start + i, j
            distance = finished(self._finish, direct_squares(*pairs), *pairs)
            ranking = distance if radii is None else relative_to(radii[j], distance)
            return nearest_contender(i, j, g, distance, ranking, index.shape)

        return search

    def _embed(self, X: Any) -> Any:
        """Return rows whose squared distances matter."""
        return in_order(X)


class Euclidean(Quadratic):
    """Euclidean distance between rows, dense or sparse.

    Examples
    --------
    >>> from protocover.dissimilarity import Euclidean
    >>> Euclidean().pairwise([[3.0, 4.0]], [[0.0, 0.0]])
    array([[5.]])
    """

    contribution_unit = "square"

    _finish = staticmethod(root)

    def _reach(self, eps: Floats) -> Floats:
        return eps


class SquaredEuclidean(Quadratic):
    """Squared Euclidean distance between rows, dense or sparse.

    Examples
    --------
    >>> from protocover.dissimilarity import SquaredEuclidean
    >>> SquaredEuclidean().pairwise([[3.0, 4.0]], [[0.0, 0.0]])
    array([[25.]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Refuse points whose squared distances underflow."""
        refuse_underflow(X, 2.0, "sqeuclidean")
        return self

    def _finish(self, squares: Floats) -> Floats:
        return squares

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(eps)


class Cosine(Quadratic):
    """Cosine distance, one minus the cosine of the angle between rows, dense or sparse.

    A row of zeros has no direction: it is at distance 1 from every other row and at
    distance 0 from another row of zeros.

    Examples
    --------
    >>> from protocover.dissimilarity import Cosine
    >>> Cosine().pairwise([[2.0, 0.0]], [[5.0, 0.0], [0.0, 1.0]])
    array([[0., 1.]])
    """

    def contributions(self, A: Any, B: Any) -> Any:
        """Return half the squared differences of the directions, column by column.

        Of a row of zeros and another row it is the other's direction that makes the whole
        distance of 1, of which its columns have the shares of its squares.
        """
        left, right = directions(A), directions(B)
        terms = square_differences(left[:, :-1], right[:, :-1])
        # The further column of `directions` is 1 for rows of zeros.
        empty = square_differences(left[:, -1:], right[:, -1:])
        either = np.asarray(empty.toarray() if issparse(empty) else empty).reshape(-1, 1)
        share = (1.0 + either) / 2.0
        return terms.multiply(share).tocsr() if issparse(terms) else terms * share

    def _embed(self, X: Any) -> Any:
        if isinstance(X, np.ndarray) and X.dtype.itemsize < 4:
            return UnitRows(X, directions)
        return directions(X)

    def _finish(self, squares: Floats) -> Floats:
        return squares / 2.0

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(2.0 * np.minimum(eps, FARTHEST_COSINE))
