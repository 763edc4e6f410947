"""The linear relaxation of a residual cover, solved with HiGHS and believed only when checked."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .packing import Packing
from .residual import Residual

logger = logging.getLogger(__name__)

Floats = NDArray[np.float64]


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
    residual: Residual,
    *,
    deadline: float = math.inf,
    iterations: int | None = None,
    packing: Packing | None = None,
) -> Relaxation | None:
    """Solve the relaxation (paper, section 3.1); None where HiGHS gave no solution in time.

    It is solved as its dual, a packing: the most that the rows can pay, each up to its prize,
    so that no column is paid more than it costs. The simplex method has a column for each row
    then instead of two for each pair, and no slacks; the fractions are that program's multipliers.

    Whatever HiGHS gives is clipped into the box, and the objective recomputed: neither has
    to be optimal, for the dual vector proves what it proves. With `iterations` the simplex
    method gives up after so many, on every machine at the same point. A `packing` of this
    residual that was not solved in time is gone on with.
    """
    found = (packing or Packing(residual)).solve(
        residual.cost,
        residual.prize,
        iterations=math.inf if iterations is None else iterations,
        deadline=deadline,
    )
    if not found.solved:
        logger.info("the relaxation was not solved in time")
        return None
    missed_share = np.maximum(1.0 - residual.cover @ found.fraction, 0.0)
    return Relaxation(
        fraction=found.fraction,
        dual=found.dual,
        # Sums of our own: those of the linear algebra library depend on the processor.
        value=float(
            (residual.cost * found.fraction).sum() + (residual.prize * missed_share).sum()
        ),
    )
