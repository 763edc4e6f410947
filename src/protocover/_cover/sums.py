"""Sums over the points of each ball, in little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

# Members of the balls that are added up together.
_STRIP = 4_000_000


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
