"""For each query the nearest prototype of each group, or of two groups, block by block."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from .._resources import limited_threads, row_count, thread_count, worker_map
from .._typing import Floats, Indices
from .pairs import Groups, bind
from .traits import Dissimilarity, traits_of

GroupSearch = Callable[[slice], tuple[Indices, Floats]]

_TABLE_SIZE = 1 << 20
# Queries prepared at once, however few the prototypes are.
_MOST_ROWS = 1024
# Products below which a thread, of ours or of BLAS, takes longer to start than it saves.
_WORTH_A_THREAD = 1 << 24


class NearestIndex(Protocol):
    """Prototypes prepared once for many searches of the nearest."""

    @property
    def block_rows(self) -> int:
        """How many queries are best searched together."""
        ...

    @property
    def n_products(self) -> int:
        """About how many multiplications a query takes."""
        ...

    def search(self, A: Any, bounds: Indices, *, distances: bool = True) -> GroupSearch:
        """Return a function of rows of A that finds the nearest in each group of prototypes.

        Without `distances` these may be anything.
        """
        ...

    def search_two(self, A: Any, bounds: Indices) -> GroupSearch:
        """Return a function of rows of A that finds the nearest, and that of any other group.

        Indices and distances, both of shape (2, n_rows); -1 and inf if all are of one group.
        """
        ...


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
    groups = Groups(bounds, radii)
    with limited_threads(n_jobs):
        comparable = radii is None or _of_one_scale(radii)
        pairs = bind(dissimilarity, A, B, groups=groups if comparable else None)
    fitting = max(1, min(_MOST_ROWS, _TABLE_SIZE // max(1, row_count(B))))
    blocks = _blocks(row_count(A), pairs.block_rows or fitting)
    with worker_map(n_jobs, thread_safe=traits_of(dissimilarity).thread_safe) as run:
        found = list(run(lambda rows: pairs.nearest(rows, groups), blocks))
    return _joined(found, (0, len(bounds) - 1))


def ask_index(
    index: NearestIndex,
    A: Any,
    *,
    bounds: Indices,
    distances: bool = True,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Find the same with an index of prototypes; without `distances` only the indices."""
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
    """Search block by block, in as many threads as there is enough work for."""
    worth = max(1, n_queries * index.n_products // _WORTH_A_THREAD)
    n_threads = min(worth, thread_count(n_jobs))
    step = max(1, -(-n_queries // n_threads))
    with worker_map(n_threads) as run:
        return list(run(search, _blocks(n_queries, min(step, index.block_rows))))


def _blocks(n_queries: int, step: int) -> list[slice]:
    """Cut the queries into as few blocks of at most `step` rows as can be, all of one size."""
    n_blocks = -(-n_queries // step)
    ends = [n_queries * k // n_blocks for k in range(n_blocks + 1)] if n_blocks else [0]
    return [slice(*block) for block in pairwise(ends)]


def _joined(
    found: list[tuple[Indices, Floats]], nothing: tuple[int, int]
) -> tuple[Indices, Floats]:
    """Join the results of the blocks; `nothing` is the shape of a result without queries."""
    if len(found) == 1:
        return found[0]
    axis = nothing.index(0)
    index = np.concatenate([i for i, _ in found] or [np.empty(nothing, np.intp)], axis)
    distance = np.concatenate([d for _, d in found] or [np.empty(nothing)], axis)
    return index, distance


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

    NumPy's argmin visits one column after the other, which takes longer.
    """
    least = table.min(axis=0)
    # Written from the last to the first, so that the first is what stays.
    row, column = np.divmod(np.flatnonzero(table == least)[::-1], max(1, len(least)))
    index = np.empty(len(least), dtype=np.intp)
    index[column] = row
    return index, least


def _of_one_scale(radii: Floats) -> bool:
    """Whether the squares of the radii are numbers that can be compared."""
    return bool(radii.min(initial=np.inf) > 1e-60 * radii.max(initial=0.0))
