"""Rows of bits, stored as booleans, packed into bytes or sparse, and products of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ..._typing import Floats

# Rows whose bits are counted together.
_ROWS_AT_ONCE = 4096


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
    """Rows of bits, made ready for a product as they are asked for.

    Parameters
    ----------
    rows : ndarray of bool or uint8, or csr_array of bool
        As :func:`as_bits` returns them. Bytes hold eight bits each.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.packed = not issparse(rows) and rows.dtype == np.uint8
        self.n_bits = int(rows.shape[1]) * (8 if self.packed else 1)
        # Sums of so many ones are exact in single precision, in any order.
        self.dtype: Any = np.float32 if self.n_bits < 1 << 23 else np.float64
        self.counts = self._count()

    @property
    def sparse(self) -> bool:
        """Whether rows are sparse."""
        return bool(issparse(self._rows))

    def __len__(self) -> int:
        return int(self._rows.shape[0])

    def ready(self, rows: slice, *, extra: int = 0) -> NDArray[Any]:
        """Return some rows as numbers, followed by so many columns that are not filled in."""
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
