"""Exact sums of floats, the fractions that they represent, and grids with exact sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np
from numpy.typing import NDArray

# Decimal places of a number that is taken for a decimal, such as 0.1.
_PLACES = 9
# What sums of weights may be off by before they are snapped, as a share of them, and the largest
# share of what may stay uncovered that rounding may add to it.
_ROUNDING, _MOST_ADDED = Fraction(1, 2**50), Fraction(1, 2**20)


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum floats without any rounding."""
    terms = values.tolist()
    total = Fraction(0)
    while part := math.fsum(terms):  # each part is the sum of what is left, rounded
        total += Fraction(part)
        terms.append(-part)
    return total


def bound_as_float(bound: Fraction, objective: Fraction) -> float:
    """Round a lower bound so that it equals the rounded objective only if it reaches it."""
    if bound >= objective:
        return float(objective)
    return min(float(bound), math.nextafter(float(objective), -math.inf))


def decimal_fractions(numbers: NDArray[np.float64]) -> list[Fraction]:
    """Return the decimals of up to nine places that round to `numbers`, else their exact values.

    So ten times 0.1 is 1, and sums of prices in cents are equal where they should be.
    """
    found = [Fraction(number) for number in numbers.tolist()]
    left = np.arange(len(found))
    for power in range(_PLACES + 1):
        with np.errstate(over="ignore"):
            above = np.round(numbers[left] * 10.0**power)
        is_decimal = (above / 10.0**power == numbers[left]) & (above < 2.0**53)
        for place, count in zip(left[is_decimal], above[is_decimal].tolist(), strict=True):
            found[place] = Fraction(int(count), 10**power)
        left = left[~is_decimal]
    return found


@lru_cache(maxsize=256)
def simplest_fraction(number: float) -> Fraction:
    """Fraction of smallest denominator, to a factor of two, that rounds to `number`."""
    exact = Fraction(number)
    for bits in range(1, 64):
        simple = exact.limit_denominator(2**bits)
        if float(simple) == number:
            return simple
    return exact


def is_above(amounts: NDArray[np.float64], cost: float) -> NDArray[np.bool_]:
    """Tell which amounts exceed the fraction that `cost` stands for."""
    # It rounds to the cost, so only an amount equal to that needs care.
    if Fraction(cost) > simplest_fraction(cost):
        return np.asarray(amounts >= cost)
    return np.asarray(amounts > cost)


def common_step(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all are integer multiples; 0 if all are 0."""
    return reduce(_common_of_two, set(numbers), Fraction(0))


def _common_of_two(a: Fraction, b: Fraction) -> Fraction:
    """Return the greatest common divisor of two fractions."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def rounded_up(bound: Fraction, step: Fraction) -> Fraction:
    """Round a bound up to the next multiple of `step`; as it is if that is 0."""
    return math.ceil(bound / step) * step if step else bound


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
