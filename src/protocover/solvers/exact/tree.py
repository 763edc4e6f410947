"""Branch and bound by HiGHS on what reductions and fixing left, its answers checked."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import hstack

from ..reduced.relaxation import cover_rows, magnitude
from ..reduced.residual import Residual

__all__ = ["TreeAnswer", "checked", "search_tree"]

# HiGHS looks at the clock between rounds of cuts only, so it is told to stop this much before
# time is up, and not started at all with less than that left.
_LATENESS = 1.0

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class TreeAnswer:
    """What branch and bound found below its target.

    Parameters
    ----------
    columns : ndarray of int or None
        A selection whose recomputed value is at most the target, if there is one.
    bound : float
        By the solver's word no selection has a smaller value; at most the target and one.
    """

    columns: NDArray[np.intp] | None
    bound: float


def search_tree(
    residual: Residual, target: float, *, deadline: float = math.inf, verbose: int = 0
) -> TreeAnswer:
    """Look for the best selection of value at most `target`, both in units.

    One more column stands for giving up: it covers everything, at one unit above the
    target. So the tree starts from the best selection known without having to be told it,
    ends with giving up where nothing better exists, and has a bound to show at any time.
    The relative gap at which HiGHS would stop by itself is set to 0: its default calls
    objectives optimal that are not.
    """
    scale = magnitude(residual)
    give_up = target + 1.0 - residual.constant
    objective = np.concatenate((residual.cost, residual.prize, [give_up])) / scale
    time_limit = deadline - time.monotonic() - _LATENESS
    if time_limit <= 0.0:
        return TreeAnswer(None, -math.inf)
    answer: Any = milp(
        objective,
        # Slacks would come out whole by themselves, but only an objective that is known to be
        # whole lets HiGHS round its bounds up.
        integrality=np.ones(len(objective)),
        bounds=Bounds(0.0, 1.0),
        constraints=LinearConstraint(
            hstack((cover_rows(residual), np.ones((len(residual.prize), 1))), format="csc"), lb=1.0
        ),
        options={"mip_rel_gap": 0.0, "disp": verbose > 1, "time_limit": time_limit},
    )
    logger.debug("branch and bound: %s", answer.message)
    bound = _stated(answer, scale) + residual.constant
    gave_up = answer.x is None or not answer.x[-1] <= 0.5
    columns = None if gave_up else checked(residual, answer.x[: len(residual.cost)], target)
    if columns is not None:
        bound = min(bound, residual.value(columns))
    return TreeAnswer(columns, min(bound, target + 1.0))


def _stated(answer: Any, scale: float) -> float:
    """Bound by HiGHS's word, in units and rounded up, for values are whole numbers."""
    bound = answer.get("mip_dual_bound")
    if bound is None or not math.isfinite(bound) or answer.status not in (0, 1):
        return -math.inf
    # What its tolerances took from the bound is given back by rounding.
    return float(math.ceil((bound - 1e-3) * scale))


def checked(residual: Residual, x: NDArray[np.float64], target: float) -> NDArray[np.intp] | None:
    """Columns that a solver chose, if they are as good as it had to make them."""
    if not np.isfinite(x).all():
        return None
    columns = np.flatnonzero(x > 0.5)
    value = residual.value(columns)
    if value > target:
        logger.info("a selection is worth %s, not at most %s: not used", value, target)
        return None
    return columns
