"""Reduced-cost fixing: what no selection better than the best one known can contain.

Any payments u bound a selection that contains candidate j by ``bound + max(0, slack of
j)``. What cannot be below the best known value is excluded, in exact arithmetic.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._reduced.residual import Residual

Floats = NDArray[np.float64]

# What a bound must be above a value by, in units, to be above it still when the payments that
# prove it are brought to the points' own grid.
MARGIN = 2.0**-20


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
    return residual.keep_columns(bound - MARGIN + np.maximum(slack, 0.0) <= target)
