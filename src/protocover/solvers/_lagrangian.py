"""Lagrangian relaxation of plain covers: a bound near the linear program's, and a dive.

The bound climbs by steps along subgradients of the payments of the rows, each a mean of those
before it. The running mean of the columns that pay is close to a solution of the linear program
(Barahona and Anbil, Mathematical Programming 87, 2000). The dive fixes columns of large means,
climbs again on the rows that are left, and so on (Caprara, Fischetti and Toth, Operations
Research 47, 1999).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Weight of the last direction in the next one, and of the last mean in the next.
_MOMENTUM, _MEMORY = 0.90625, 0.96875
# Steps without a better bound after which their length is halved.
_PATIENCE = 10
# Memberships that all steps of a climb may read, and its steps at least and at most.
_WORK, _LEAST_STEPS, _MOST_STEPS = 2 * 10**9, 60, 400
# In a dive: steps of each further climb as a fraction of the first, the fraction of the columns
# in the mean that are fixed after each, and how far above the bound it aims, as a fraction.
_LATER, _FIXED, _AIM = 0.25, 0.1, 0.03


@dataclass(frozen=True, eq=False)
class Climb:
    """Where a climb ended.

    Parameters
    ----------
    dual : ndarray of float, shape (n_rows,)
        Payments of the best bound.
    bound : float
        No selection has a smaller objective.
    fraction : ndarray of float, shape (n_columns,)
        How often each column paid, recent steps counting most.
    """

    dual: Floats
    bound: float
    fraction: Floats


def steps_for(n_memberships: int) -> int:
    """Return the number of steps of a climb, fewer for large covers."""
    return min(max(_WORK // max(2 * n_memberships, 1), _LEAST_STEPS), _MOST_STEPS)


def climb(
    cover: csr_array,
    cost: Floats,
    prize: Floats,
    start: Floats,
    *,
    target: float,
    steps: int,
    deadline: float = math.inf,
) -> Climb:
    """Raise the bound that payments of the rows prove.

    Parameters
    ----------
    cover : csr_array of float, shape (n_rows, n_columns)
        Ones where a column covers a row.
    cost, prize : ndarray of float
        Of selecting a column, and of leaving a row uncovered.
    start : ndarray of float, shape (n_rows,)
        Payments to start from.
    target : float
        The value that the length of steps aims at.
    steps : int
        Number of steps.
    deadline : float, default=inf
        Time on the monotonic clock when the climb ends.
    """
    down = csr_array(cover.T)
    u, best, bound = start, start, -math.inf
    along, mean, seen = np.zeros(len(u)), np.zeros(len(cost)), 0.0
    scale, failed = 1.0, 0
    for _ in range(steps):
        slack = cost - down @ u
        pays = slack < 0.0
        value = float(u.sum() + slack[pays].sum())
        failed += 1
        if value > bound:
            best, bound, failed = u, value, 0
        if failed == _PATIENCE:
            scale, failed = scale / 2.0, 0
        mean *= _MEMORY
        mean[pays] += 1.0 - _MEMORY
        seen = _MEMORY * seen + (1.0 - _MEMORY)
        along = _MOMENTUM * along + (1.0 - _MOMENTUM) * (1.0 - cover @ pays.astype(float))
        steepness = float((along * along).sum())
        if steepness == 0.0 or time.monotonic() >= deadline:
            break
        u = np.clip(u + _cut(scale * max(target - value, 0.0) / steepness) * along, 0.0, prize)
    return Climb(best, bound, mean / max(seen, 1.0 - _MEMORY))


def dive_along(
    cover: csc_array,
    cost: Floats,
    prize: Floats,
    dual: Floats,
    *,
    deadline: float = math.inf,
) -> Indices:
    """Return the columns of a good selection, from payments that prove a good bound.

    Parameters
    ----------
    cover, cost, prize
        As in `climb`.
    dual : ndarray of float, shape (n_rows,)
        Payments to start from.
    deadline : float, default=inf
        Time on the monotonic clock when no further columns are fixed.
    """
    table = csr_array(cover, dtype=float)
    columns, u, chosen = np.arange(len(cost)), dual, [np.empty(0, dtype=np.intp)]
    steps = max(int(_LATER * steps_for(table.nnz)), _LEAST_STEPS // 4)
    while len(columns) and time.monotonic() < deadline:
        slack = cost[columns] - table.T @ u
        bound = float(u.sum() + np.minimum(slack, 0.0).sum())
        aim = bound + _AIM * abs(bound)
        found = climb(table, cost[columns], prize, u, target=aim, steps=steps, deadline=deadline)
        fixed = _best_apart(table, found, cost[columns])
        chosen.append(columns[fixed])
        left = table[:, fixed].sum(axis=1) == 0
        table, prize, u = table[left], prize[left], found.dual[left]
        worth = table.T @ prize > cost[columns]
        worth[fixed] = False
        columns, table = columns[worth], csr_array(table[:, worth])
    return np.sort(np.concatenate(chosen))


def _best_apart(table: csr_array, found: Climb, cost: Floats) -> Indices:
    """Return columns with large fractions, no two of which share a row."""
    slack = cost - table.T @ found.dual
    key = found.fraction - 1e-3 * slack / np.maximum(cost, 1e-9)
    order = np.argsort(-key, kind="stable")
    n_best = max(1, int(_FIXED * np.count_nonzero(found.fraction > 0.05)))
    best = order[:n_best]
    lines = csc_array(table[:, best])
    rank = np.repeat(np.arange(n_best), np.diff(lines.indptr))
    first = np.full(table.shape[0], n_best)
    np.minimum.at(first, lines.indices, rank)
    shared = np.bincount(rank, first[lines.indices] != rank, minlength=n_best)
    return np.asarray(best[shared == 0], dtype=np.intp)


def _cut(number: float) -> float:
    """Return a number with few bits, so that the rounding of sums does not matter."""
    mantissa, exponent = math.frexp(number)
    return math.ldexp(round(mantissa * 2**12), exponent - 12)
