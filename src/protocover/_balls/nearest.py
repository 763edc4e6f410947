"""For each query the nearest prototype of each group, or of two groups, block by block."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._resources import limited_threads, row_count, thread_count, worker_map
from .._typing import Floats, Indices
from .build import table_tile
from .levels import relative_to
from .traits import (
    Dissimilarity,
    GroupSearch,
    NearestIndex,
    NearestSearch,
    map_if_faster,
    traits_of,
)

_TABLE_SIZE = 1 << 20
# Queries made ready at once, however few the prototypes are.
_MOST_ROWS = 1024
# Products below which a thread, of ours or of BLAS, takes longer to start than it saves.
_WORTH_A_THREAD = 1 << 24


def find_nearest(
    dissimilarity: Dissimilarity,
    A: Any,
    B: Any,
    *,
    bounds: Indices,
    radii: Floats | None = None,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Find each query's nearest prototype in every group of prototypes.

    Parameters
    ----------
    dissimilarity : Dissimilarity
        Fitted.
    A, B : indexable
        Queries and prototypes, the latter with each group in one run.
    bounds : ndarray of int, shape (n_groups + 1,)
        Group g is ``B[bounds[g]:bounds[g + 1]]``.
    radii : ndarray of float, shape (n_prototypes,), or None, default=None
        Radii of the prototypes: nearest is then the one whose distance is the smallest
        multiple of its radius.
    n_jobs : int or None, default=None
        Threads; None for as many as the linear algebra library would use.

    Returns
    -------
    index : ndarray of int, shape (n_queries, n_groups)
        Row of B; -1 where the group is empty. Ties go to the lower row.
    distance : ndarray of float, shape (n_queries, n_groups)
        Its dissimilarity; inf where the group is empty.
    """
    with limited_threads(n_jobs):
        search = _group_search(dissimilarity, A, B, bounds, radii)
    fitting = max(1, min(_MOST_ROWS, _TABLE_SIZE // max(1, row_count(B))))
    step = getattr(search, "n_rows", fitting)
    with worker_map(n_jobs, thread_safe=traits_of(dissimilarity).thread_safe) as run:
        found = list(run(search, _blocks(row_count(A), step)))
    return _joined(found, (0, len(bounds) - 1))


def ask_index(
    index: NearestIndex,
    A: Any,
    *,
    bounds: Indices,
    distances: bool = True,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Find the same among prototypes that are ready; without `distances` places alone."""
    search = index.search(A, bounds, distances=distances)
    return _joined(_ask(index, search, row_count(A), n_jobs), (0, len(bounds) - 1))


def ask_index_for_two(
    index: NearestIndex, A: Any, *, bounds: Indices, n_jobs: int | None = None
) -> tuple[Indices, Floats]:
    """Find the nearest of all prototypes, and the nearest of any other group than that one's.

    Returns
    -------
    index, distance : ndarray, shape (2, n_queries)
        Places and dissimilarities; -1 and inf where there is no other group. Ties go to the
        lower place.
    """
    found = _ask(index, index.search_two(A, bounds), row_count(A), n_jobs)
    return _joined(found, (2, 0))


def _ask(
    index: NearestIndex, search: GroupSearch, n_queries: int, n_jobs: int | None
) -> list[tuple[Indices, Floats]]:
    """Search block by block, in as many threads as there is something to do for each."""
    worth = max(1, n_queries * index.n_products // _WORTH_A_THREAD)
    n_threads = min(worth, thread_count(n_jobs))
    share = max(1, -(-n_queries // n_threads))
    with worker_map(n_threads) as run:
        return list(run(search, _blocks(n_queries, min(share, index.block_rows))))


def _blocks(n_queries: int, step: int) -> list[slice]:
    """Cut the queries into as few blocks of at most `step` rows as can be, all of one size."""
    n_blocks = -(-n_queries // step)
    ends = [n_queries * k // n_blocks for k in range(n_blocks + 1)] if n_blocks else [0]
    return [slice(*block) for block in pairwise(ends)]


def _joined(
    found: list[tuple[Indices, Floats]], nothing: tuple[int, int]
) -> tuple[Indices, Floats]:
    """Put together what was found of the blocks; `nothing` is the shape of that of no queries."""
    if len(found) == 1:
        return found[0]
    axis = nothing.index(0)
    index = np.concatenate([i for i, _ in found] or [np.empty(nothing, np.intp)], axis)
    distance = np.concatenate([d for _, d in found] or [np.empty(nothing)], axis)
    return index, distance


def nearest_in_groups(
    table: NDArray[Any], bounds: Indices, radii: Floats | None = None
) -> tuple[Indices, Floats]:
    """Find the smallest entry of each group of columns, row by row; given radii, as multiples."""
    ranking = table if radii is None else relative_to(radii, table)
    n_groups = len(bounds) - 1
    index = np.full((len(table), n_groups), -1, dtype=np.intp)
    value = np.full((len(table), n_groups), np.inf)
    every = np.arange(len(table))
    for g in range(n_groups):
        if bounds[g] < bounds[g + 1]:
            index[:, g] = bounds[g] + ranking[:, bounds[g] : bounds[g + 1]].argmin(axis=1)
            value[:, g] = table[every, index[:, g]]
    return index, value


def two_of_groups(index: Indices, distance: Floats, score: Floats) -> tuple[Indices, Floats]:
    """Take the two groups whose nearest rank first, ties to the first: (2, n_queries) each.

    `index`, `distance` and `score`, what is ranked by, are of shape (n_queries, n_groups).
    """
    queries = np.arange(len(index))
    first = score.argmin(axis=1)
    others = score.copy()
    others[queries, first] = np.inf
    alone = np.count_nonzero(index >= 0, axis=1) < 2
    groups = np.stack((first, others.argmin(axis=1)))
    place, value = index[queries, groups], distance[queries, groups]
    place[1, alone], value[1, alone] = -1, np.inf
    return place, value


def two_in_table(table: Floats, group: Indices) -> tuple[Indices, Floats]:
    """Find the same in a table of finite distances, a row for each prototype, with its group."""
    first, near = _least_of_columns(table)
    second, far = _least_of_columns(np.where(group[:, None] == group[first], np.inf, table))
    if group[0] == group[-1]:
        second[:] = -1
    return np.stack((first, second)), np.stack((near, far))


def _least_of_columns(
    table: Floats,
) -> tuple[Indices, Floats]:
    """Return row and value of the smallest entry of each column, the first of them in a tie.

    NumPy's argmin looks at one column after the other, which takes longer.
    """
    least = table.min(axis=0)
    # Written from the last to the first, so that the first is what stays.
    row, column = np.divmod(np.flatnonzero(table == least)[::-1], max(1, len(least)))
    index = np.empty(len(least), dtype=np.intp)
    index[column] = row
    return index, least


def _group_search(
    dissimilarity: Dissimilarity,
    A: Any,
    B: Any,
    bounds: Indices,
    radii: Floats | None,
) -> GroupSearch:
    """Return the search of `dissimilarity`: its own fast one, or pairwise and compare."""
    quick, left, right = map_if_faster(dissimilarity, A, B)
    if isinstance(quick, NearestSearch) and (radii is None or _of_one_scale(radii)):
        return quick.nearest_test(left, right, bounds, radii)

    tile = table_tile(dissimilarity, A, B)
    every = slice(0, int(bounds[-1]))

    def search(rows: slice) -> tuple[Indices, Floats]:
        return nearest_in_groups(np.asarray(tile(rows, every)), bounds, radii)

    return search


def _of_one_scale(radii: Floats) -> bool:
    """Whether the squares of the radii are numbers that can be compared."""
    return bool(radii.min(initial=np.inf) > 1e-60 * radii.max(initial=0.0))
