"""Tanimoto distance of bit vectors, such as fingerprints of molecules.

Rows x and z with a and b ones, k of them in common, are at ``(a + b - 2 k) / (a + b - k)``. That
is at most eps just if k is at least ``(1 - eps) / (2 - eps)`` times a + b. So the product of rows
with two more columns gives a number that is negative for all pairs outside, and one comparison
finds the others.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator

from .._balls import Groups, Pairs, TablePairs, within
from .._balls.pairs import NearPairs
from .._typing import Floats

# Rows whose bits are counted together.
_ROWS_AT_ONCE = 4096
# More than the quotient, as computed, can be off by.
_MARGIN = 2.0**-40
_MOST_BITS = {np.float32: 24, np.float64: 53}


class Tanimoto(BaseEstimator):
    """Tanimoto distance between bit vectors: one minus the common bits over the bits of either.

    Also known as Jaccard distance. Points keep the form in which they come.

    Parameters
    ----------
    packed : bool, default=False
        Whether a row is bytes with eight bits each, as ``numpy.packbits(bits, axis=1)`` makes
        them, and not one bit a column.

    Notes
    -----
    Rows are a boolean array, numbers 0 and 1, a sparse table of these, or packed bytes. Two
    rows without a bit are at 0, one without and one with at 1.

    Common bits come from matrix products, which are exact in any order: they are integers,
    and balls add to them only fractions of so few digits that nothing is rounded. A distance is
    one quotient of integers, the same as SciPy's ``jaccard``, on every processor.

    Examples
    --------
    Two bits in common, of the four that either has:

    >>> import numpy as np
    >>> from protocover.dissimilarity import Tanimoto
    >>> bits = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 0]], dtype=bool)
    >>> Tanimoto().pairwise(bits[:1], bits)
    array([[0. , 0.5]])
    >>> Tanimoto(packed=True).pairwise(np.packbits(bits[:1], axis=1), np.packbits(bits, axis=1))
    array([[0. , 0.5]])
    """

    requires_array = False
    symmetric = True
    stateless = True
    finds_near_pairs = True
    saved_state: ClassVar[tuple[str, ...]] = ()

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    @property
    def accepts_sparse(self) -> bool:
        """Whether rows may be those of a sparse table."""
        return not self.packed

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the points; there is nothing to learn."""
        self.check_examples(X)
        return self

    def _check_state(self, *, n_prototypes: int, n_features: int | None) -> None:
        """Check nothing: nothing was learned."""

    def check_examples(self, X: Any) -> Any:
        """Return rows of bits as they are stored, after checking that they are bits."""
        if not isinstance(self.packed, bool | np.bool_):
            raise ValueError(f"packed must be True or False, got {self.packed!r}")
        return as_bits(X, packed=bool(self.packed))

    def pairwise(self, A: Any, B: Any) -> Floats:
        """Return the dissimilarities of the rows of A from the rows of B."""
        return self.bind(A, B).table(slice(None), slice(None))

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
        left, right = self._both(A, B)
        if radii is not None and not outward:
            return BitPairs(left, right, float(radii[-1]))

        def tile(rows: slice, columns: slice) -> Floats:
            ones = np.add.outer(left.counts[rows], right.counts[columns])
            return tanimoto(left.common(right, rows, columns), ones)

        return TablePairs(tile)

    def _both(self, A: Any, B: Any) -> tuple[BitRows, BitRows]:
        """Return points and candidates as rows of bits."""
        left = BitRows(self.check_examples(A))
        right = left if B is A else BitRows(self.check_examples(B))
        if left.n_bits != right.n_bits:
            raise ValueError(
                f"all rows must have the same number of bits, got {left.n_bits} and {right.n_bits}"
            )
        return left, right


def as_bits(X: Any, *, packed: bool) -> Any:
    """Return rows as they will be kept: a boolean array, bytes, or sparse booleans."""
    if issparse(X):
        return _sparse_bits(X, packed=packed)
    rows = np.asarray(X)
    if rows.ndim != 2:
        raise ValueError(f"X must be a table with a bit vector a row, got shape {rows.shape}")
    if packed:
        if rows.dtype != np.uint8:
            raise ValueError(
                f"Tanimoto(packed=True) takes bytes as numpy.packbits(bits, axis=1) makes them, "
                f"of type uint8, got {rows.dtype}; pass packed=False for one bit a column"
            )
        return rows
    if rows.dtype == np.bool_:
        return rows
    _refuse_other_than_bits(rows)
    return rows.astype(bool)


def _sparse_bits(X: Any, *, packed: bool) -> csr_array:
    """Return sparse rows that hold nothing but ones."""
    if packed:
        raise ValueError("Tanimoto(packed=True) takes dense bytes, got a sparse table")
    rows = csr_array(X)
    if rows.dtype != np.bool_:
        _refuse_other_than_bits(rows.data)
        rows = rows.astype(bool)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _refuse_other_than_bits(values: NDArray[Any]) -> None:
    """Refuse numbers other than 0 and 1."""
    try:
        wrong = ~((values == 0) | (values == 1))
    except TypeError:
        wrong = np.ones(values.shape, dtype=bool)
    if np.any(wrong):
        raise ValueError(
            f"Tanimoto() takes bits, booleans or 0 and 1, got {values[wrong].flat[0]!r}; compare "
            "counts with a threshold first (X > 0), or pass packed=True for rows of bytes as "
            "numpy.packbits(bits, axis=1) makes them"
        )


class BitRows:
    """Rows of bits, prepared for a product on demand.

    Parameters
    ----------
    rows : ndarray of bool or uint8, or csr_array of bool
        As :func:`as_bits` returns them. Bytes hold eight bits each.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.packed = not issparse(rows) and rows.dtype == np.uint8
        self.n_bits = int(rows.shape[1]) * (8 if self.packed else 1)
        # Sums of this many ones are exact in single precision, in any order.
        self.dtype: Any = np.float32 if self.n_bits < 1 << 23 else np.float64
        self.counts = self._count()

    @property
    def sparse(self) -> bool:
        """Whether rows are sparse."""
        return bool(issparse(self._rows))

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def ready(self, rows: slice, *, extra: int = 0) -> NDArray[Any]:
        """Return some rows as numbers, followed by `extra` columns that are not filled in."""
        some = self._rows[rows]
        if issparse(some):
            some = some.toarray()
        numbers = np.empty((some.shape[0], self.n_bits + extra), dtype=self.dtype)
        numbers[:, : self.n_bits] = np.unpackbits(some, axis=1) if self.packed else some
        return numbers

    def common(self, other: BitRows, rows: slice, columns: slice) -> Floats:
        """Count the bits that some rows and some of the other's have in common."""
        if self.sparse and other.sparse:
            left, right = (
                side[part].astype(np.float64)
                for side, part in ((self._rows, rows), (other._rows, columns))
            )
            return np.asarray((left @ right.T).toarray())
        product = self.ready(rows) @ other.ready(columns).T
        return np.asarray(product, dtype=np.float64)

    def _count(self) -> Floats:
        """Count the ones of each row."""
        if self.sparse:
            return np.asarray(np.diff(self._rows.indptr), dtype=np.float64)
        counts = np.empty(len(self))
        for start in range(0, len(self), _ROWS_AT_ONCE):
            some = self._rows[start : start + _ROWS_AT_ONCE]
            ones = np.bitwise_count(some) if self.packed else some
            counts[start : start + _ROWS_AT_ONCE] = ones.sum(axis=1, dtype=np.int64)
        return counts


def tanimoto(common: Floats, ones: Any) -> Floats:
    """Return the distances of rows from their ones in common and in both together.

    It is a quotient of integers, rounded once: that of ``scipy.spatial.distance.jaccard``.
    Rows without a bit are equal.
    """
    either: Floats = ones - common
    distances = np.zeros_like(either)
    np.divide(either - common, either, out=distances, where=either > 0.0)
    return distances


class BitPairs(Pairs):
    """Near pairs of rows of bits by one product.

    Parameters
    ----------
    left, right : BitRows
        Samples and candidates.
    radius : float
        The largest radius.
    """

    def __init__(self, left: BitRows, right: BitRows, radius: float) -> None:
        self._left, self._right = left, right
        # The least fraction of common bits of a near pair, or a little less. It has so few binary
        # digits that all sums in the product are exact: they are multiples of its last digit, and
        # none is above twice the ones of any row.
        eps = min(radius, 1.0)
        most = max(left.counts.max(initial=0.0), right.counts.max(initial=0.0))
        digits = _MOST_BITS[left.dtype] - 1 - math.ceil(math.log2(2 * most + 2))
        step = 2.0 ** -min(digits, 30)
        self._least = math.floor(((1.0 - eps) / (2.0 - eps) - _MARGIN) / step) * step

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances."""
        table = self._excess(rows, columns)
        places = np.flatnonzero(table.ravel() >= 0.0)
        i, j = np.divmod(places, table.shape[1])
        ones = self._left.counts[rows][i] + self._right.counts[columns][j]
        common = table.ravel()[places].astype(np.float64) + self._least * ones
        distance = tanimoto(common, ones)
        members = within(distance, radius, closed=closed)
        return i[members], j[members], distance[members]

    def _excess(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return the common bits less that fraction of the ones of both, exactly."""
        ones = self._left.counts[rows], self._right.counts[columns]
        if self._left.sparse and self._right.sparse:
            return self._left.common(self._right, rows, columns) - self._least * np.add.outer(
                *ones
            )
        left, right = self._left.ready(rows, extra=2), self._right.ready(columns, extra=2)
        left[:, -2], left[:, -1] = -self._least * ones[0], 1.0
        right[:, -2], right[:, -1] = 1.0, -self._least * ones[1]
        return np.asarray(left @ right.T)
