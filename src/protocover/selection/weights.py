"""Weights of points on a grid so coarse that all their sums are exact."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["snap_to", "snap_weights", "weight_grid"]


def snap_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round weights to a binary grid so coarse that all their sums are exact.

    Sums of grid numbers come out the same in any order, so that ties are ties on every
    machine and certificates can be checked to the last bit. Whole numbers stay as they
    are unless there are very many of them; other weights move by at most one part in
    2**30 of the largest for up to four million points.
    """
    return snap_to(weight_grid(float(weights.max(initial=0.0)), len(weights)), weights)


def snap_to(grid: float, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round weights to multiples of `grid`, only zeros to zero: no point gets lost."""
    return np.maximum(np.round(weights / grid), weights > 0.0) * grid


def weight_grid(largest: float, n_points: int) -> float:
    """Return the grid on which `n_points` weights up to `largest` have exact sums."""
    if largest == 0.0:
        return 1.0
    bits = 52 - math.ceil(math.log2(n_points + 1))
    mantissa, exponent = math.frexp(largest)
    least = exponent - 1 if mantissa == 0.5 else exponent
    # No grid is finer than the smallest positive number there is.
    return math.ldexp(1.0, max(least - bits, -1074))
