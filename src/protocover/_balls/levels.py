"""Which pairs are within a radius, and which of many radii is the first they are within.

A pair at a radius exactly is within it where balls are closed, and not where they are open.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats, Indices, Mask

_BELOW_ONE, _ABOVE_ONE = np.nextafter(1.0, 0.0), np.nextafter(1.0, 2.0)


def within(distances: Floats, eps: Any, *, closed: bool) -> Mask:
    """Tell which distances are within the radius `eps`, or each within its own."""
    return np.asarray(distances <= eps if closed else distances < eps)


def relative_to(radius: Any, distances: Any) -> Floats:
    """Return distances as multiples of a radius: below 1 inside the ball, above it outside.

    That holds to the last bit, whatever is lost in the division. However small the radius,
    multiples are finite; of a radius of 0 the centre's own distance is no multiple but 0.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        multiple = np.asarray(distances / np.asarray(radius), dtype=np.float64)
    if not np.isfinite(multiple).all():
        np.nan_to_num(multiple, copy=False, nan=0.0)
    # Rounded up or down to 1 is the only way to end up on the wrong side of it.
    rounded = multiple == 1.0
    if rounded.any():
        multiple = np.where(rounded & (distances < radius), _BELOW_ONE, multiple)
        multiple = np.where(rounded & (distances > radius), _ABOVE_ONE, multiple)
    return multiple


def levels_of(distances: Floats, radii: Floats, *, closed: bool) -> Indices:
    """Return the number of the first of the rising `radii` that each distance is within."""
    return np.searchsorted(radii, distances, side="left" if closed else "right")


def members_of(table: Any, radii: Floats, *, closed: bool) -> tuple[Indices, Indices, Indices]:
    """Return rows, columns and levels of the entries within the last of the rising `radii`."""
    i, j = np.nonzero(within(table, radii[-1], closed=closed))
    return i, j, levels_of(table[i, j], radii, closed=closed)
