"""Reduced-cost fixing: what no selection better than the best one known can contain.

Any payments u bound a selection that contains candidate j by ``bound + max(0, slack of
j)``, and one that leaves point i uncovered by ``bound + prize_i - u_i``. What cannot be
below the best known value is excluded, in exact arithmetic.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .residual import Residual

__all__ = ["bound_of", "exclude"]

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
