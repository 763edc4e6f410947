"""For each query the nearest prototype of each group, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..resources import limited_threads, row_count, worker_map
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

__all__ = ["ask_index", "find_nearest", "nearest_in_groups"]

_TABLE_SIZE = 1 << 20
# Queries made ready at once, however few the prototypes are.
_MOST_ROWS = 1024
# Products below which threads, ours or those of BLAS, take longer than they save.
_WORTH_A_THREAD = 1 << 22


def find_nearest(
    dissimilarity: Dissimilarity,
    A: Any,
    B: Any,
    *,
    bounds: NDArray[np.intp],
    radii: NDArray[np.float64] | None = None,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
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
    return _joined(found, len(bounds) - 1)


def ask_index(
    index: NearestIndex,
    A: Any,
    *,
    bounds: NDArray[np.intp],
    best: int | None = None,
    distances: bool = True,
    n_jobs: int | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the same among prototypes that are ready; see `NearestIndex` for what is asked.

    Threads are used only where there is something for them to do.
    """
    search = index.search(A, bounds, best=best, distances=distances)
    blocks = _blocks(row_count(A), index.block_rows)
    few = row_count(A) * index.n_products < _WORTH_A_THREAD
    with worker_map(1 if few else n_jobs) as run:
        return _joined(list(run(search, blocks)), len(bounds) - 1)


def _blocks(n_queries: int, step: int) -> list[slice]:
    """Cut the queries into blocks."""
    return [slice(i, min(i + step, n_queries)) for i in range(0, n_queries, step)]


def _joined(
    found: list[tuple[NDArray[np.intp], NDArray[np.float64]]], n_groups: int
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Put what was found of the blocks under one another."""
    if len(found) == 1:
        return found[0]
    index = np.concatenate([i for i, _ in found] or [np.empty((0, n_groups), np.intp)])
    distance = np.concatenate([d for _, d in found] or [np.empty((0, n_groups))])
    return index, distance


def nearest_in_groups(
    table: NDArray[Any], bounds: NDArray[np.intp], radii: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
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


def _group_search(
    dissimilarity: Dissimilarity,
    A: Any,
    B: Any,
    bounds: NDArray[np.intp],
    radii: NDArray[np.float64] | None,
) -> GroupSearch:
    """Return the search of `dissimilarity`: its own fast one, or cross and compare."""
    quick, left, right = map_if_faster(dissimilarity, A, B)
    if isinstance(quick, NearestSearch) and (radii is None or _of_one_scale(radii)):
        return quick.nearest_test(left, right, bounds, radii)

    tile = table_tile(dissimilarity, A, B)
    every = slice(0, int(bounds[-1]))

    def search(rows: slice) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        return nearest_in_groups(np.asarray(tile(rows, every)), bounds, radii)

    return search


def _of_one_scale(radii: NDArray[np.float64]) -> bool:
    """Whether the squares of the radii are numbers that can be compared."""
    return bool(radii.min(initial=np.inf) > 1e-60 * radii.max(initial=0.0))
