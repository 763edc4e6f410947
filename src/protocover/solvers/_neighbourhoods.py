"""Large neighbourhood search: part of a selection is chosen again by branch and cut."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._cover.table import line_members
from ._lp import solve_mip

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def must_be_covered(cover: csc_array, cost: Floats, prize: Floats) -> Floats:
    """Return the prizes, infinite where covering a row costs less than its prize.

    A selection that leaves such a row uncovered is not optimal.
    """
    rows = cover.tocsr()
    held = np.flatnonzero(np.diff(rows.indptr))
    cheapest = np.full(len(prize), np.inf)
    cheapest[held] = np.minimum.reduceat(cost[rows.indices], rows.indptr[held])
    return np.where(prize > cheapest, np.inf, prize)


def search_neighbourhoods(
    cover: csc_array,
    cost: Floats,
    prize: Floats,
    columns: Indices,
    *,
    rounds: int,
    size: int,
    max_nodes: int,
    seed: int = 0,
    enough: float = -math.inf,
    deadline: float = math.inf,
) -> Indices:
    """Return columns at least as good as `columns`, after so many neighbourhoods.

    Parameters
    ----------
    cover, cost, prize
        As in `solve_mip`; costs and finite prizes are integers.
    columns : ndarray of int
        Selection to start from.
    rounds, size, max_nodes : int
        Number of neighbourhoods, of free columns in each, and of nodes to solve it.
    seed : int, default=0
        Decides where they are.
    enough : float, default=-inf
        A value that ends the search.
    deadline : float, default=inf
        Time on the monotonic clock when the search ends.
    """
    rng, by_row = np.random.default_rng(seed), cover.tocsr()
    chosen = np.zeros(len(cost), dtype=bool)
    chosen[columns] = True
    count = np.bincount(line_members(cover, columns), minlength=cover.shape[0])
    value = float(cost[chosen].sum() + prize[count == 0].sum())
    n_rounds = rounds if cover.shape[1] > size else min(rounds, 1)
    for _ in range(n_rounds):
        if time.monotonic() >= deadline or value <= enough:
            break
        free = _around(cover, by_row, int(rng.integers(cover.shape[0])), size)
        inner = free[chosen[free]]
        lost = np.bincount(line_members(cover, inner), minlength=len(count))
        held = np.unique(line_members(cover, free))
        rows = held[count[held] == lost[held]]
        uncovered = rows[count[rows] == 0]
        old = float(cost[inner].sum() + prize[uncovered].sum())
        part = csc_array(cover[:, free].tocsr()[rows])
        found = solve_mip(
            part,
            cost[free],
            prize[rows],
            max_nodes=max_nodes,
            time_limit=None if math.isinf(deadline) else max(deadline - time.monotonic(), 0.01),
        )
        if found.selected is None or found.value > old:
            continue
        now = free[found.selected]
        chosen[inner], chosen[now] = False, True
        count += np.bincount(line_members(cover, now), minlength=len(count)) - lost
        value += found.value - old
    return np.flatnonzero(chosen)


def _around(cover: csc_array, by_row: csc_array, row: int, size: int) -> Indices:
    """Return about `size` columns near a row."""
    rows, columns = np.array([row]), np.empty(0, dtype=np.intp)
    while True:
        wider = np.unique(line_members(by_row, rows))
        if len(wider) >= size or len(wider) == len(columns):
            break
        columns, rows = wider, np.unique(line_members(cover, wider))
    new = np.setdiff1d(wider, columns)
    return np.sort(np.concatenate((columns, new[: max(size - len(columns), 0)])))
