"""Rows in the form in which their squared Euclidean distances matter, the same dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from ..._typing import Floats
from .sums import direct_squares

# Entries are brought near to one by at most so many powers of two, which is a number itself.
_MOST_POWERS = 1000


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
