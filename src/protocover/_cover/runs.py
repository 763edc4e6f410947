"""Members of some columns or rows of a sparse table, and sums over columns, in little memory.

Slicing a sparse table makes a new table and checks it. Reading the indices takes a tenth of
the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

Indices = NDArray[np.intp]

# Members to a line from which on one after the other is as fast, and takes less memory.
_LONG = 32
# Members of the balls that are added up together.
_STRIP = 4_000_000


def line_members(table: csc_array | csr_array, lines: Indices) -> NDArray[Any]:
    """Return the rows in each of some columns of a CSC table, or the columns in rows of a CSR one.

    As ``table[:, lines].indices`` has them, or ``table[lines].indices``.
    """
    starts, ends = table.indptr[lines], table.indptr[lines + 1]
    sizes = ends - starts
    if int(sizes.sum()) < _LONG * len(lines) or len(lines) == 0:
        return np.asarray(table.indices[runs(starts, sizes)])
    parts = zip(starts.tolist(), ends.tolist(), strict=True)
    return np.concatenate([table.indices[start:end] for start, end in parts])


def runs(starts: NDArray[Any], sizes: NDArray[Any]) -> Indices:
    """Return the numbers of all runs, each from its start on, one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - sizes), sizes), dtype=np.intp)


def ball_sums(
    cover: csc_array, values: NDArray[np.float64], *, strip: int = _STRIP
) -> NDArray[np.float64]:
    """Sum `values` over the members of each column, as ``cover.T @ values`` does.

    That product takes a float for every member, more than the table itself, so columns come
    in strips of about `strip` members. Each sum has the same order of terms either way.
    """
    ends, n_columns = cover.indptr, cover.shape[1]
    sums = np.zeros(n_columns)
    first = 0
    while first < n_columns:
        last = int(np.searchsorted(ends, ends[first] + strip, side="right")) - 1
        last = min(max(last, first + 1), n_columns)
        held = slice(int(ends[first]), int(ends[last]))
        parts = (cover.data[held], cover.indices[held], ends[first : last + 1] - ends[first])
        sums[first:last] = csr_array(parts, shape=(last - first, cover.shape[0])) @ values
        first = last
    return sums
