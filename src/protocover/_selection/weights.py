"""Weights of points on a grid so coarse that all their sums are exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .._cover import exact_sum

# What sums of weights may be off by before they are snapped, as a share of them, and the largest
# share of what may stay uncovered that rounding may add to it.
_ROUNDING, _MOST_ADDED = Fraction(1, 2**50), Fraction(1, 2**20)


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


def may_stay_uncovered(weights: NDArray[np.float64], coverage: Fraction) -> Fraction:
    """Return the weight that may stay uncovered where a share must be covered.

    Weights that are not integers were rounded to a grid, and before that by whoever wrote them
    as floats. What that may add up to is allowed as well, so that weights of 0.2 and 0.1 mean
    the same as 2 and 1. It is never more than a millionth of what may stay uncovered.
    """
    total = exact_sum(weights)
    allowed = total * (1 - coverage)
    if bool((weights == np.floor(weights)).all()):
        return allowed
    grid = weight_grid(float(weights.max(initial=0.0)), len(weights))
    return allowed + min(len(weights) * Fraction(grid) + total * _ROUNDING, allowed * _MOST_ADDED)
