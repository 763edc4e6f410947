"""Sums of squares that decide: feature by feature, in double precision, on every machine alike.

SciPy's loops add up in that order. But where they were compiled to multiply and add with one
rounding instead of two, as compilers do for some processors, their last bits are others; there
NumPy adds up, which rounds twice, in two to three times the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from ..._balls.pairs import Pairs
from ..._typing import Floats, Indices

Finish = Callable[[Floats], Floats]

_SPARSE_NUMBERS = 1 << 20
# Numbers of pairs whose distances are computed together: they stay in the processor's cache.
_PAIR_NUMBERS = 1 << 15
# The same where only one side of them is written out.
_RUN_NUMBERS = 1 << 16
# Below the first, squares may have lost digits to underflow. Their rows are multiplied by the
# second, a power of two, and compared again.
_SMALLEST_SQUARE, _ENLARGED = 2.0**-900, 2.0**600
# A number of a sparse row takes as long as this many of a dense row, as measured.
_DENSE_FOR_SPARSE = 10
# Distances of a table that are added up together, and numbers of dense rows that are written out.
_TABLE_NUMBERS, _WRITTEN_OUT = 1 << 20, 1 << 22
# Products computed in the time that a call takes, about.
_TERMS_AT_ONCE = 1 << 15


class RowPairs(Pairs):
    """Pairs of embedded rows, whose distances are direct sums.

    Parameters
    ----------
    left, right : indexable
        Embedded samples and candidates.
    finish : callable
        Turns squared distances into dissimilarities.
    """

    def __init__(self, left: Any, right: Any, finish: Finish) -> None:
        self.left, self.right, self.finish = left, right, finish

    def table(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some rows from some columns."""
        left, right = self.left[rows], self.right[columns]
        return finished(self.finish, table_of_squares(left, right), left, right)

    def exact(self, i: Indices, j: Indices) -> Floats:
        """Return the distances of listed pairs."""
        pairs = self.left, self.right, i, j
        return finished(self.finish, direct_squares(*pairs), *pairs)


@dataclass(frozen=True, eq=False)
class MappedRows:
    """Points as rows whose squared Euclidean distances are those of a metric, or nearly.

    Parameters
    ----------
    rows : ndarray of float, shape (n_points, n_mapped)
        The points, mapped.
    errors : ndarray of float, shape (n_points,)
        The square that belongs to a distance as computed by `pairwise` differs from that of the
        two rows by at most the sum of both errors.
    given : ndarray, shape (n_points, n_features)
        The points as they came.
    terms : int
        Number of products in one distance as computed by `pairwise`.
    pairwise : callable
        The metric's own table of distances between two sets of samples as given. It decides
        what the bounds leave open.
    """

    rows: Floats
    errors: Floats
    given: NDArray[Any]
    terms: int
    pairwise: Callable[[Any, Any], Floats]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of points and of mapped features."""
        return self.rows.shape[0], self.rows.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def distances(self, other: MappedRows, i: Indices, j: Indices) -> Floats:
        """Return the metric's own distances of pairs, points `i` and the other's `j`.

        A call of `pairwise` is dear and a pair cheap: there is one for a few points of the side
        that has fewer, with all their partners, which has more pairs than were requested.
        """
        by_left = len(np.unique(i)) <= len(np.unique(j))
        keys, place = np.unique(i if by_left else j, return_inverse=True)
        order = np.argsort(place, kind="stable")
        width = self._keys_at_once(len(i) / max(1, len(keys)))
        distances = np.empty(len(i))
        for first in range(0, len(keys), width):
            start, stop = np.searchsorted(place, (first, first + width), sorter=order)
            some, few = order[start:stop], keys[first : first + width]
            if by_left:
                table = self.pairwise(self.given[few], other.given[j[some]]).T
            else:
                table = self.pairwise(self.given[i[some]], other.given[few])
            distances[some] = table[np.arange(len(some)), place[some] - first]
        return distances

    def _keys_at_once(self, partners: float) -> int:
        """Return how many points with `partners` each are worth a table with wasted pairs."""
        return max(1, int((_TERMS_AT_ONCE / (self.terms * max(1.0, partners))) ** 0.5))


def root(squares: Floats) -> Floats:
    """Return Euclidean distances, given their squares."""
    return np.sqrt(squares)


def finished(
    finish: Finish,
    squares: Floats,
    X: Any,
    Z: Any,
    i: Indices | None = None,
    j: Indices | None = None,
) -> Floats:
    """Turn the squared distances of the pairs (X[i], Z[j]), or of all, into dissimilarities.

    A Euclidean distance whose square underflows is computed again from enlarged rows.
    """
    distances = finish(squares)
    if finish is not root:
        return distances
    tiny = np.nonzero(squares < _SMALLEST_SQUARE)
    if len(tiny[0]):
        pairs = tiny if i is None or j is None else (i[tiny[0]], j[tiny[0]])
        enlarged = direct_squares(X, Z, *pairs, factor=_ENLARGED)
        distances[tiny] = root(enlarged) / _ENLARGED
    return distances


def direct_squares(
    X: Any, Z: Any, i: Indices, j: Indices, *, factor: float | None = None
) -> Floats:
    """Squared distances of the pairs (X[i], Z[j]), of rows multiplied by `factor`.

    Sparse rows have sorted columns, none of them twice. Of mapped rows it is not squares but the
    metric's own distances.
    """
    if isinstance(X, MappedRows):
        return X.distances(Z, i, j)
    if issparse(X) and issparse(Z):
        return _sparse_squares(X, Z, i, j, factor)
    squares = np.empty(len(i))
    for block in _blocks(0, len(i), _PAIR_NUMBERS // max(1, X.shape[1])):
        apart = _dense(X, i[block]).astype(np.float64, copy=False)
        apart -= _dense(Z, j[block])
        if factor is not None:
            apart *= factor
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
    """Squared distances of the rows of A from those of B, shape (n_A, n_B)."""
    if issparse(A) or issparse(B):
        return _sparse_table(A, B)
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
    with np.errstate(over="ignore"):  # as SciPy: callers check the result
        np.square(rows.T, out=columns[:, : len(rows)])
        return np.asarray(np.add.reduce(columns, axis=0)[: len(rows)])


def _sparse_squares(X: Any, Z: Any, i: Indices, j: Indices, factor: float | None) -> Floats:
    """Squared distances of pairs of sparse rows: their common zeros add nothing."""
    squares, ones = np.empty(len(i)), np.ones(X.shape[1])
    longest = sum(int(np.diff(A.indptr).max(initial=0)) for A in (X, Z))
    for block in _blocks(0, len(i), _SPARSE_NUMBERS // max(1, longest)):
        apart = X[i[block]].astype(np.float64) - Z[j[block]].astype(np.float64)
        if factor is not None:
            apart.data *= factor
        np.multiply(apart.data, apart.data, out=apart.data)
        # This product adds up each row from its first column on, with factors of one.
        squares[block] = apart @ ones
    return squares


def _sparse_table(A: Any, B: Any) -> Floats:
    """Squared distances of rows of which some are sparse, with the digits of dense rows."""
    if A.shape[0] < B.shape[0]:
        return _sparse_table(B, A).T
    table = np.zeros((A.shape[0], B.shape[0]))
    lengths = [C.nnz / max(1, C.shape[0]) if issparse(C) else C.shape[1] for C in (A, B)]
    if A.shape[1] <= _DENSE_FOR_SPARSE * sum(lengths):
        step = _WRITTEN_OUT // max(1, A.shape[1])
        for columns in _blocks(0, B.shape[0], step):
            right = _dense(B, columns)
            for rows in _blocks(0, A.shape[0], step):
                table[rows, columns] = table_of_squares(_dense(A, rows), right)
        return table
    right = B.astype(np.float64).tocsc()
    for rows in _blocks(0, A.shape[0], _TABLE_NUMBERS // max(1, B.shape[0])):
        _add_features(table[rows], A[rows].astype(np.float64).tocsc(), right)
    return table


def _add_features(table: Floats, A: Any, B: Any) -> None:
    """Add the squared differences of all pairs of rows to a table, one feature after another."""
    feature = np.zeros(table.shape[1])
    used = np.flatnonzero(np.diff(A.indptr) + np.diff(B.indptr))
    ends = [C.indptr[used + k].tolist() for C in (A, B) for k in (0, 1)]
    with np.errstate(over="ignore"):  # as SciPy: callers check the result
        for a_start, a_stop, b_start, b_stop in zip(*ends, strict=True):
            i, x = A.indices[a_start:a_stop], A.data[a_start:a_stop]
            j, z = B.indices[b_start:b_stop], B.data[b_start:b_stop]
            feature[j] = z
            apart = x[:, None] - feature
            apart *= apart
            apart += table[i]
            table[:, j] += z * z  # also in the rows i, which are written next
            table[i] = apart
            feature[j] = 0.0


def _blocks(start: int, stop: int, step: int) -> list[slice]:
    """Cut what lies between two numbers into blocks of `step`, at least one each."""
    step = max(1, step)
    return [slice(first, min(first + step, stop)) for first in range(start, stop, step)]


def _dense(X: Any, rows: Indices | slice) -> NDArray[Any]:
    """Take rows of X as a dense array."""
    taken = X[rows]
    return np.asarray(taken.toarray() if issparse(taken) else taken)
