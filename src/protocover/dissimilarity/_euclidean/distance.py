"""Euclidean, squared Euclidean and cosine distance: fast products, direct sums where close."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse
from sklearn.base import BaseEstimator

from ..._balls import Groups, Pairs
from ..._typing import Floats
from .._arithmetic import refuse_underflow
from .index import PrototypeIndex
from .product import ProductPairs
from .sums import RowPairs, direct_squares, finished, root, table_of_squares
from .tree import BlockTrees, NearestTrees, PointTree, suits_tree, suits_tree_search

# More than any cosine distance: larger radii make no difference.
FARTHEST_COSINE = 8.0
# Entries are brought near to one by at most this power of two, which is a number itself.
_MOST_POWERS = 1000
_ROWS_AT_ONCE = 4096


class Quadratic(BaseEstimator):
    """A rising function of the squared Euclidean distance between embedded rows.

    Near pairs and nearest prototypes are found by matrix products or trees. Sums in double
    precision decide close cases, so that the answers are those of comparing with `pairwise`.

    Each has ``_finish(squares)``, which turns squared distances between embedded rows into
    dissimilarities, and ``_reach(eps)``, the Euclidean radius of a ball of radius eps there.
    """

    symmetric = True
    stateless = True
    supports_float16 = True
    finds_near_pairs = True
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

    def bind(
        self,
        A: Any,
        B: Any,
        *,
        radii: Floats | None = None,
        outward: bool = False,
        groups: Groups | None = None,
    ) -> Pairs:
        """Return the pairs of A and B, ready for a search; see :func:`protocover._balls.bind`."""
        left = self._embed(A)
        right = left if B is A else self._embed(B)
        if groups is not None:
            if groups.radii is None and suits_tree_search(left, right, groups.bounds):
                return NearestTrees(left, right, self._finish, groups.bounds)
            return ProductPairs(left, right, self._finish, self._reach)
        if radii is None:
            return RowPairs(left, right, self._finish)
        reach = self._reach(radii)
        if outward and suits_tree(right, left, reach):
            return PointTree(left, right, self._finish, float(reach[-1]))
        if not outward and suits_tree(left, right, reach):
            return BlockTrees(left, right, self._finish, reach)
        return ProductPairs(
            left, right, self._finish, self._reach, eps=float(reach[-1]), outward=outward
        )

    def nearest_index(self, B: Any) -> PrototypeIndex | None:
        """Return prototypes prepared for many calls; None if `bind` is as good."""
        return None if issparse(B) or len(B) == 0 else PrototypeIndex(self, np.asarray(B))

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
        distance of 1, divided among its columns by its squares.
        """
        left, right = directions(A), directions(B)
        terms = square_differences(left[:, :-1], right[:, :-1])
        # The further column of `directions` is 1 for rows of zeros.
        empty = square_differences(left[:, -1:], right[:, -1:])
        either = np.asarray(empty.toarray() if issparse(empty) else empty).reshape(-1, 1)
        factor = (1.0 + either) / 2.0
        return terms.multiply(factor).tocsr() if issparse(terms) else terms * factor

    def _embed(self, X: Any) -> Any:
        if isinstance(X, np.ndarray) and X.dtype.itemsize < 4:
            return UnitRows(X, directions)
        return directions(X)

    def _finish(self, squares: Floats) -> Floats:
        return squares / 2.0

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(2.0 * np.minimum(eps, FARTHEST_COSINE))


class UnitRows:
    """Rows of a table in narrow types, embedded in double precision on demand.

    Parameters
    ----------
    stored : ndarray
        The rows.
    embed : callable
        Embeds some of them, each on its own.
    """

    def __init__(self, stored: NDArray[Any], embed: Callable[[Any], Floats]) -> None:
        self._stored, self._embed = stored, embed
        self.shape = len(stored), embed(stored[:1]).shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Floats:
        # In one layout, whatever that of the table: sums do not depend on it.
        return self._embed(np.ascontiguousarray(self._stored[rows]))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)

    def mean(self, axis: int, dtype: Any = None, out: None = None) -> Floats:
        """Return the mean of the rows, as NumPy asks for it."""
        total = np.zeros(self.shape[1])
        for start in range(0, len(self), _ROWS_AT_ONCE):
            total += self[start : start + _ROWS_AT_ONCE].sum(axis=axis)
        return total / len(self)


def in_order(X: Any) -> Any:
    """Return rows as an array, or as a CSR table with sorted columns and none of them twice.

    Entries at the same place are added up in the order in which they stand, as in a dense table.
    """
    if not issparse(X):
        return np.asarray(X)
    rows = csr_array(X)
    if rows.has_canonical_format:
        return rows
    # Both conversions keep the order of entries at the same place.
    rows = rows.tocsc().tocsr()
    rows.sum_duplicates()
    return rows


def directions(X: Any) -> Any:
    """Return rows of length one, and a further column that is 1 where there were only zeros.

    That gives rows of zeros a direction of their own, at a right angle to all others. Lengths
    are sums in one order, so that dense and sparse rows come out alike to the last bit.
    """
    rows = in_order(X).astype(np.float64)
    if issparse(rows):
        rows.eliminate_zeros()
    longest = _longest_entries(rows)
    # A power of two changes no digit, and keeps the squares from leaving the range of numbers.
    powers = np.clip(-np.frexp(longest)[1], -_MOST_POWERS, _MOST_POWERS)
    entries = rows.data if issparse(rows) else rows
    entries *= _for_entries(rows, np.ldexp(1.0, powers))
    every = np.arange(rows.shape[0])
    lengths = np.sqrt(direct_squares(rows, rows[:1] * 0.0, every, np.zeros_like(every)))
    lengths[longest == 0.0] = 1.0
    entries /= _for_entries(rows, lengths)
    empty = (longest == 0.0).astype(np.float64)[:, None]
    if issparse(rows):
        return hstack([rows, csr_array(empty)], format="csr")
    return np.hstack((rows, empty))


def square_differences(A: Any, B: Any) -> Any:
    """Return the squared differences of the rows A[i] and B[i], sparse where one of them is."""
    if issparse(A) or issparse(B):
        difference = csr_array(A).astype(np.float64) - csr_array(B).astype(np.float64)
        return difference.multiply(difference).tocsr()
    return (A.astype(np.float64) - B.astype(np.float64)) ** 2


def _longest_entries(rows: Any) -> Floats:
    """Return the largest absolute value of each row."""
    if issparse(rows):
        return np.asarray(abs(rows).max(axis=1).toarray()).reshape(-1)
    ends = rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0)
    return np.asarray(np.maximum(*ends), dtype=np.float64)


def _for_entries(rows: Any, values: Floats) -> Floats:
    """Return one value for each entry of a table, given one for each row."""
    return np.repeat(values, np.diff(rows.indptr)) if issparse(rows) else values[:, None]
