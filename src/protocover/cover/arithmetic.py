"""Floats as the exact numbers that they are, or that they stand for."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["exact_sum", "is_above", "simplest_fraction"]


def exact_sum(values: NDArray[np.float64]) -> Fraction:
    """Sum floats without any rounding."""
    terms = values.tolist()
    total = Fraction(0)
    while part := math.fsum(terms):  # each part is the sum of what is left, rounded
        total += Fraction(part)
        terms.append(-part)
    return total


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
