"""Who may be nearest, by bounds on the distances, and who of them is, by the distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import Floats, Indices


def find_contenders(
    lower: NDArray[Any], limit: NDArray[Any], bounds: Indices
) -> tuple[Indices, Indices, Indices]:
    """Find the (query, prototype, group) with a bound below their query's limit."""
    rows, columns, groups = [], [], []
    for g in range(len(bounds) - 1):
        near = lower[:, bounds[g] : bounds[g + 1]] <= limit[:, g, None]
        # NumPy finds places in a flat table several times faster.
        i, j = np.divmod(np.flatnonzero(near.ravel()), max(1, near.shape[1]))
        rows.append(i)
        columns.append(j + bounds[g])
        groups.append(np.full(len(i), g))
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(groups)


def nearest_contender(
    i: Indices,
    j: Indices,
    g: Indices,
    distance: Floats,
    ranking: Floats,
    shape: tuple[int, ...],
) -> tuple[Indices, Floats]:
    """Take the contender of each (query, group) that ranks first, ties to the lower index."""
    index = np.full(shape, -1, dtype=np.intp)
    nearest = np.full(shape, np.inf)
    # Written from the farthest to the nearest, so that the nearest is the one that stays.
    order = np.lexsort((j, ranking))[::-1]
    index[i[order], g[order]] = j[order]
    nearest[i[order], g[order]] = distance[order]
    return index, nearest
