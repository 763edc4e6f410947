"""Which pairs are within a radius, and which of many radii is the first they are within.

A pair at a radius exactly is within it where balls are closed, and not where they are open.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["levels_of", "members_of", "within"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def within(distances: Floats, eps: float, *, closed: bool) -> NDArray[np.bool_]:
    """Tell which distances are within the radius `eps`."""
    return np.asarray(distances <= eps if closed else distances < eps)


def levels_of(distances: Floats, radii: Floats, *, closed: bool) -> Indices:
    """Return the number of the first of the rising `radii` that each distance is within."""
    return np.searchsorted(radii, distances, side="left" if closed else "right")


def members_of(table: Any, radii: Floats, *, closed: bool) -> tuple[Indices, Indices, Indices]:
    """Return rows, columns and levels of the entries within the last of the rising `radii`."""
    i, j = np.nonzero(within(table, radii[-1], closed=closed))
    return i, j, levels_of(table[i, j], radii, closed=closed)
