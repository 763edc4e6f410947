"""Sums of squares that decide: feature by feature, in double precision, on every machine alike.

SciPy's loops add up in that order. But where they were compiled to multiply and add with one
rounding instead of two, as compilers do for some processors, their last bits are others; there
NumPy adds up, which rounds twice, in two to three times the time.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from ...balls import Floats, Indices
from .rows import MappedRows

__all__ = ["direct_squares", "squares_in_runs", "table_of_squares"]

_SPARSE_NUMBERS = 1 << 20
# Numbers of pairs whose distances are computed together: they stay in the processor's cache.
_PAIR_NUMBERS = 1 << 15
# The same where only one side of them is written out.
_RUN_NUMBERS = 1 << 16


def direct_squares(X: Any, Z: Any, i: Indices, j: Indices) -> Floats:
    """Squared distances of the pairs (X[i], Z[j]).

    Sparse rows have sorted columns, none of them twice. Of mapped rows it is not squares but the
    metric's own distances.
    """
    if isinstance(X, MappedRows):
        return X.distances(Z, i, j)
    if issparse(X) and issparse(Z):
        return _sparse_squares(X, Z, i, j)
    squares = np.empty(len(i))
    for block in _blocks(0, len(i), _PAIR_NUMBERS // max(1, X.shape[1])):
        apart = _dense(X, i[block]).astype(np.float64, copy=False)
        apart -= _dense(Z, j[block])
        squares[block] = _squared_lengths(apart)
    return squares


def squares_in_runs(X: Any, Z: Any, i: Indices, ends: Indices) -> Floats:
    """Squared distances of the rows X[i] of which a run, up to the next end, is paired with Z[k].

    As those of `direct_squares`, faster where runs are long: no row of Z is written out.
    """
    squares = np.empty(len(i))
    for row, (start, stop) in enumerate(pairwise(ends.tolist())):
        for block in _blocks(start, stop, _RUN_NUMBERS // max(1, X.shape[1])):
            squares[block] = table_of_squares(Z[row : row + 1], _dense(X, i[block]))[0]
    return squares


def table_of_squares(A: Any, B: Any) -> Floats:
    """Squared distances of the dense rows of A from those of B, shape (n_A, n_B)."""
    if scipy_rounds_twice():
        return np.asarray(cdist(A, B, "sqeuclidean"))
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if len(A) > len(B):
        return table_of_squares(B, A).T
    table = np.empty((len(A), len(B)))
    for row, some in zip(A, table, strict=True):
        for block in _blocks(0, len(B), _PAIR_NUMBERS // max(1, B.shape[1])):
            some[block] = _added_up(B[block] - row)
    return table


@cache
def scipy_rounds_twice() -> bool:
    """Whether SciPy's loops round every product before they add it, tried once."""
    # Square roots are the same everywhere, and few of their squares are whole.
    rows = np.sqrt(np.arange(1.0, 1025.0)).reshape(64, 16)
    widths = (rows[:, :width] for width in (2, 3, 4, 7, 16))
    return all(
        np.array_equal(cdist(A[:1] * 0.0, A, "sqeuclidean")[0], _added_up(A)) for A in widths
    )


def _squared_lengths(rows: Floats) -> Floats:
    """Sum the squares of each row.

    SciPy adds up the squares of a difference in the same order whether that is one from zero or
    one of two rows.
    """
    if scipy_rounds_twice():
        return np.asarray(cdist(np.zeros((1, rows.shape[1])), rows, "sqeuclidean")[0])
    return _added_up(rows)


def _added_up(rows: Floats) -> Floats:
    """Sum the squares of each row, with elementwise operations alone."""
    # One column a row, and never fewer than two: NumPy then adds row after row.
    columns = np.zeros((rows.shape[1], max(2, len(rows))))
    with np.errstate(over="ignore"):  # as SciPy: whoever asks looks at what comes out
        np.square(rows.T, out=columns[:, : len(rows)])
        return np.asarray(np.add.reduce(columns, axis=0)[: len(rows)])


def _sparse_squares(X: Any, Z: Any, i: Indices, j: Indices) -> Floats:
    """Squared distances of pairs of sparse rows: the zeros that they share add nothing."""
    squares, ones = np.empty(len(i)), np.ones(X.shape[1])
    longest = sum(int(np.diff(A.indptr).max(initial=0)) for A in (X, Z))
    for block in _blocks(0, len(i), _SPARSE_NUMBERS // max(1, longest)):
        apart = X[i[block]].astype(np.float64) - Z[j[block]].astype(np.float64)
        np.multiply(apart.data, apart.data, out=apart.data)
        # This product adds up each row from its first column on, with factors of one.
        squares[block] = apart @ ones
    return squares


def _blocks(start: int, stop: int, step: int) -> list[slice]:
    """Cut what lies between two numbers into blocks of `step`, at least one each."""
    step = max(1, step)
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _dense(X: Any, rows: Indices) -> NDArray[Any]:
    """Take rows of X as a dense array."""
    taken = X[rows]
    return np.asarray(taken.toarray() if issparse(taken) else taken)
