"""Floats as the exact numbers that they are, or that they stand for."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# Decimal places of a number that is taken for a decimal, such as 0.1.
_PLACES = 9


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
