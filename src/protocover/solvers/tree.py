"""Branch and bound by HiGHS on what reductions and fixing left, its answers checked."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .relaxation import cover_rows, magnitude
from .residual import Residual

__all__ = ["TreeAnswer", "search_tree"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TreeAnswer:
    """What branch and bound found below its target.

    Parameters
    ----------
    columns : ndarray of int or None
        A selection whose recomputed value is at most the target, if there is one.
    bound : float
        By HiGHS's word no selection has a smaller value, in units.
    finished : bool
        Whether the tree was searched to its end.
    """

    columns: NDArray[np.intp] | None
    bound: float
    finished: bool


def search_tree(
    residual: Residual, target: float, *, time_limit: float | None = None, verbose: int = 0
) -> TreeAnswer:
    """Look for the best selection of value at most `target`, both in units.

    That the objective stay within the target is a row of its own: the relative gap at
    which HiGHS stops, and its cutoffs, are then of no account, and no answer is proof
    that there is none. Infeasible is therefore a bound of ``target + 1``.
    """
    n_rows, n_columns = residual.cover.shape
    scale = magnitude(residual)
    objective = np.concatenate((residual.cost, residual.prize)) / scale
    room = (target - residual.constant + 0.5) / scale
    answer: Any = milp(
        objective,
        # Slacks would come out whole by themselves, but only an objective that is known to be
        # whole lets HiGHS round its bounds up.
        integrality=np.ones(n_columns + n_rows),
        bounds=Bounds(0.0, 1.0),
        constraints=[
            LinearConstraint(cover_rows(residual), lb=np.ones(n_rows)),
            LinearConstraint(objective[None, :], ub=room),
        ],
        options={
            "mip_rel_gap": 0.0,
            "disp": verbose > 1,
            **({} if time_limit is None else {"time_limit": max(time_limit, 0.0)}),
        },
    )
    logger.debug("branch and bound: %s", answer.message)
    columns = _checked(residual, answer.x, target)
    if answer.status == 2:  # infeasible
        return TreeAnswer(None, target + 1.0, True)
    bound = answer.get("mip_dual_bound")
    stated = -math.inf
    if bound is not None and math.isfinite(bound):
        # Values are whole numbers: what tolerances took from the bound is given back.
        stated = math.ceil(bound * scale - 1e-3 * scale) + residual.constant
    finished = answer.status == 0 and columns is not None
    if finished and columns is not None and stated > residual.value(columns):
        stated = residual.value(columns)
    return TreeAnswer(columns, min(stated, target + 1.0), finished)


def _checked(
    residual: Residual, x: NDArray[np.float64] | None, target: float
) -> NDArray[np.intp] | None:
    """Columns that HiGHS chose, if they are as good as it had to make them."""
    if x is None or not np.isfinite(x).all():
        return None
    columns = np.flatnonzero(x[: residual.cover.shape[1]] > 0.5)
    value = residual.value(columns)
    if value > target:
        logger.info("HiGHS's selection is worth %s, not at most %s: not used", value, target)
        return None
    return columns
