"""The linear relaxation of a residual cover, solved with HiGHS and believed only when checked."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csc_array, eye_array, hstack

from .residual import Residual

__all__ = ["Relaxation", "cover_rows", "magnitude", "relax"]

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]

# HiGHS compares with absolute tolerances around 1e-7; beyond this its numbers blur.
_COMFORTABLE = 2.0**30


@dataclass(frozen=True, eq=False)
class Relaxation:
    """What the linear program said, brought into its box.

    Parameters
    ----------
    fraction : ndarray of float, shape (n_columns,)
        How much of each candidate is chosen, between 0 and 1.
    dual : ndarray of float, shape (n_rows,)
        Payment of each row in units, between 0 and its prize.
    value : float
        Objective of `fraction` in units, the residual's constant left out.
    """

    fraction: Floats
    dual: Floats
    value: float


def relax(
    residual: Residual, *, deadline: float = math.inf, iterations: int | None = None
) -> Relaxation | None:
    """Solve the relaxation (paper, section 3.1); None where HiGHS gave no solution in time.

    It is solved as its dual, a packing: the most that the rows can pay, each up to its prize,
    so that no column is paid more than it costs. The simplex method has a column for each row
    then instead of two for each pair, and no slacks; the fractions are that program's multipliers.

    Whatever HiGHS gives is clipped into the box, and the objective recomputed: neither has
    to be optimal, for the dual vector proves what it proves. With `iterations` the simplex
    method gives up after so many, on every machine at the same point.
    """
    n_rows, n_columns = residual.cover.shape
    if n_rows == 0 or n_columns == 0:
        missed = float(residual.prize.sum())
        return Relaxation(np.zeros(n_columns), residual.prize.copy(), missed)
    scale = magnitude(residual)
    answer: Any = linprog(
        -np.ones(n_rows),
        A_ub=residual.cover.T.astype(np.float64),
        b_ub=residual.cost / scale,
        bounds=np.column_stack((np.zeros(n_rows), residual.prize / scale)),
        method="highs-ds",
        options=_options(deadline, iterations),
    )
    marginals = getattr(answer.get("ineqlin"), "marginals", None)
    if answer.status != 0 or answer.x is None or marginals is None:
        logger.info("the relaxation was not solved: %s", answer.message)
        return None
    fraction = np.clip(np.nan_to_num(-np.asarray(marginals)), 0.0, 1.0)
    missed_share = np.maximum(1.0 - residual.cover @ fraction, 0.0)
    return Relaxation(
        fraction=fraction,
        dual=np.clip(np.nan_to_num(answer.x) * scale, 0.0, residual.prize),
        value=float(residual.cost @ fraction + residual.prize @ missed_share),
    )


def _options(deadline: float, iterations: int | None) -> dict[str, Any]:
    """Return what HiGHS is told."""
    # Our reductions leave HiGHS's presolve nothing to do; it would take longer than the
    # simplex method after it, and does not look at the clock.
    options: dict[str, Any] = {"presolve": False}
    if math.isfinite(deadline):
        options["time_limit"] = max(deadline - time.monotonic(), 0.0)
    if iterations is not None:
        options["maxiter"] = iterations
    return options


def cover_rows(residual: Residual) -> csc_array:
    """Matrix of the constraints: each row is covered by a column or by its own slack."""
    slack = eye_array(len(residual.prize), format="csc")
    return hstack((residual.cover.astype(np.float64), slack), format="csc")


def magnitude(residual: Residual) -> float:
    """Power of two to divide costs by so that HiGHS's absolute tolerances suit them."""
    largest = max(residual.cost.max(initial=1.0), residual.prize.max(initial=1.0))
    return float(2.0 ** max(0, np.ceil(np.log2(largest / _COMFORTABLE))))
