"""Reduced-cost fixing: what no selection better than the best one known can contain.

Any payments u bound a selection that contains candidate j by ``bound + max(0, slack of
j)``, and one that leaves point i uncovered by ``bound + prize_i - u_i``. What cannot be
below the best known value is excluded, in exact arithmetic. Probing goes one step further:
it asks what the bound would be with a candidate chosen, its points gone and the payments
that this sets free charged to the others.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..reduced.residual import Residual

__all__ = ["bound_of", "exclude", "leave_possible", "probe"]

Floats = NDArray[np.float64]


def bound_of(residual: Residual, dual: Floats) -> tuple[float, Floats, Floats]:
    """Bound in units that `dual` proves, with the payments on a grid and the balls' slacks.

    The grid is a binary fraction of a unit that leaves all sums exact.
    """
    total = max(float(residual.prize.sum()), 1.0)
    grid = 2.0 ** min(0.0, np.ceil(np.log2(total)) - 52)
    u = np.floor(np.clip(dual, 0.0, residual.prize) / grid) * grid
    slack = residual.cost - residual.cover.T @ u
    return residual.constant + float(u.sum() + np.minimum(slack, 0.0).sum()), u, slack


def leave_possible(residual: Residual, dual: Floats, target: float) -> Residual:
    """Drop the candidates that no selection of value at most `target` contains."""
    bound, _, slack = bound_of(residual, dual)
    return residual.keep_columns(bound + np.maximum(slack, 0.0) <= target)


def exclude(residual: Residual, dual: Floats, target: float) -> Residual:
    """Leave out what no selection of value at most `target` needs.

    Candidates are dropped. Points that must be covered get a prize above the cost of
    their cheapest candidate, which changes no selection that covers them.
    """
    bound, u, slack = bound_of(residual, dual)
    kept = residual.keep_columns(bound + np.maximum(slack, 0.0) <= target)
    must = bound + (residual.prize - u) > target
    rows = kept.cover.tocsr()
    held = np.flatnonzero(np.diff(rows.indptr))
    cheapest = np.zeros(len(must))
    if len(held):
        cheapest[held] = np.minimum.reduceat(kept.cost[rows.indices], rows.indptr[held])
    raised = np.maximum(kept.prize, cheapest + 1.0)
    return replace(kept, prize=np.where(must, raised, kept.prize))


def probe(
    residual: Residual, dual: Floats, target: float, *, deadline: float = math.inf
) -> Residual:
    """Leave out candidates that no selection of value at most `target` contains.

    With a candidate chosen its points need pay nothing more. What they paid to other balls
    is room there, and what other points can pay into that room comes on top of the bound.
    Candidates that are not reached before the deadline stay.
    """
    bound, u, slack = bound_of(residual, dual)
    cover, rows = residual.cover, residual.cover.tocsr()
    room = np.maximum(slack, 0.0)
    keep = np.ones(len(room), dtype=bool)
    for column in range(len(room)):
        if time.monotonic() >= deadline:
            break
        ball = cover.indices[cover.indptr[column] : cover.indptr[column + 1]]
        freed = np.zeros(len(u))
        freed[ball] = u[ball]
        around = room + cover.T @ freed
        around[column] = np.inf
        around[~keep] = np.inf
        open_rows = np.ones(len(u), dtype=bool)
        open_rows[ball] = False
        gain = _raise(rows, residual.prize - u, around, open_rows)
        keep[column] = bound + room[column] + gain <= target
    return residual.keep_columns(keep)


def _raise(rows: csr_array, left: Floats, room: Floats, open_rows: NDArray[np.bool_]) -> float:
    """Sum what rows can pay, each at most what is `left` of its prize and its balls' `room`."""
    held = np.flatnonzero(np.diff(rows.indptr))
    most = np.zeros(len(left))
    if len(held):
        most[held] = np.minimum.reduceat(room[rows.indices], rows.indptr[held])
    worth = np.flatnonzero(open_rows & (np.minimum(most, left) > 0.0))
    total = 0.0
    for row in worth[np.argsort(np.diff(rows.indptr)[worth], kind="stable")].tolist():
        held_by = rows.indices[rows.indptr[row] : rows.indptr[row + 1]].astype(np.intp)
        pays = min(left[row], room[held_by].min())
        room[held_by] -= pays
        total += float(pays)
    return total
