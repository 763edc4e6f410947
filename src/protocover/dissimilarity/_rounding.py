"""Rounding that takes out what a number owes to the machine it was computed on.

Matrix products, decompositions and functions such as exp differ in their last bits from
processor to processor, and a product even with the shape of the tile it is computed in.
Rounded to a grid far coarser than that, but finer than anything that matters, numbers that
are equal in theory are equal: a point is at distance 0 from itself, d(x, z) is d(z, x),
and a ball whose radius is one of the distances holds the same points everywhere.

A number within its last bits of the middle between two neighbours on the grid may still
go to either of them. On a grid of 40 bits about one number in ten thousand is so close.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats

# Adding and taking away this many steps leaves whole steps: the sum has no bits for less.
_SHIFT = 1.5 * 2.0**52
# The bits of a number that remain are the power of two at or below it.
_EXPONENT = np.int64(0x7FF0000000000000)


def grain(scale: Any, *, bits: int = 40) -> Floats:
    """Return the step of the grid for numbers of size `scale`: a power of two, 2^-bits of it.

    A scale that is a power of two but for its last bits is taken as that power. The step is
    0, which rounds nothing, where the scale is.
    """
    size = np.asarray(np.abs(scale) * (1.0 + 2.0**-bits), dtype=np.float64)
    power = (size.view(np.int64) & _EXPONENT).view(np.float64)
    return power * 2.0 ** (1 - bits)


def round_in_place(values: Floats, step: Any) -> Floats:
    """Round `values` in place to the nearest multiples of `step`, powers of two or 0."""
    shift = np.asarray(step) * _SHIFT
    values += shift
    values -= shift
    return values
