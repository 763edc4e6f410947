"""Exact sums of floats, the fractions that they represent, and grids on which sums are exact."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np

from .._typing import Floats, Mask

# Decimal places of numbers that are taken for decimals, such as 0.1.
_PLACES = 9
# Relative error of sums of weights before they are snapped, and the largest fraction of the
# weight that may stay uncovered that rounding may add to it.
_ROUNDING, _MOST_ADDED = Fraction(1, 2**50), Fraction(1, 2**20)


def exact_sum(values: Floats) -> Fraction:
    """Sum floats without any rounding."""
    terms = values.tolist()
    total = Fraction(0)
    while part := math.fsum(terms):  # the rounded sum of what is left
        total += Fraction(part)
        terms.append(-part)
    return total


def bound_as_float(bound: Fraction, objective: Fraction) -> float:
    """Round a lower bound so that it equals the rounded objective only if it reaches it."""
    if bound >= objective:
        return float(objective)
    return min(float(bound), math.nextafter(float(objective), -math.inf))


def decimal_fractions(numbers: Floats) -> list[Fraction]:
    """Return the decimals of up to nine places that round to `numbers`, else their exact values.

    So ten times 0.1 is 1.
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
    """Return the fraction of smallest denominator, to a factor of two, that rounds to `number`."""
    exact = Fraction(number)
    for bits in range(1, 64):
        simple = exact.limit_denominator(2**bits)
        if float(simple) == number:
            return simple
    return exact


def is_above(amounts: Floats, cost: float) -> Mask:
    """Return which amounts exceed the simplest fraction that rounds to `cost`."""
    # Only an amount equal to the rounded cost needs care.
    if Fraction(cost) > simplest_fraction(cost):
        return np.asarray(amounts >= cost)
    return np.asarray(amounts > cost)


def common_step(numbers: Iterable[Fraction]) -> Fraction:
    """Return the largest number of which all `numbers` are integer multiples; 0 if all are 0."""
    return reduce(_common_of_two, set(numbers), Fraction(0))


def _common_of_two(a: Fraction, b: Fraction) -> Fraction:
    """Return the greatest common divisor of two fractions."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def rounded_up(bound: Fraction, step: Fraction) -> Fraction:
    """Round a bound up to a multiple of `step`, unless that is 0."""
    return math.ceil(bound / step) * step if step else bound


def snap_weights(weights: Floats) -> Floats:
    """Round weights to a binary grid so coarse that all their sums are exact.

    Sums of grid numbers do not depend on the order, so ties are exact on every machine and
    certificates can be checked to the last bit. Integers do not change unless there are very
    many; other weights change by at most 2**-30 of the largest for up to four million points.
    """
    return snap_to(weight_grid(float(weights.max(initial=0.0)), len(weights)), weights)


def snap_to(grid: float, weights: Floats) -> Floats:
    """Round weights to multiples of `grid`, positive ones to positive ones."""
    return np.maximum(np.round(weights / grid), weights > 0.0) * grid


def weight_grid(largest: float, n_points: int) -> float:
    """Return a grid on which sums of `n_points` weights up to `largest` are exact."""
    if largest == 0.0:
        return 1.0
    bits = 52 - math.ceil(math.log2(n_points + 1))
    mantissa, exponent = math.frexp(largest)
    least = exponent - 1 if mantissa == 0.5 else exponent
    # At least the smallest positive float.
    return math.ldexp(1.0, max(least - bits, -1074))


def may_stay_uncovered(weights: Floats, coverage: Fraction) -> Fraction:
    """Return the weight that may stay uncovered if a fraction `coverage` must be covered.

    Weights that are not integers were rounded to floats and to a grid. The sum of these errors is
    allowed, too, so weights of 0.2 and 0.1 mean the same as 2 and 1. It is never more than a
    millionth of the weight that may stay uncovered.
    """
    total = exact_sum(weights)
    allowed = total * (1 - coverage)
    if bool((weights == np.floor(weights)).all()):
        return allowed
    grid = weight_grid(float(weights.max(initial=0.0)), len(weights))
    return allowed + min(len(weights) * Fraction(grid) + total * _ROUNDING, allowed * _MOST_ADDED)
