"""Boxes on a map: pushed apart until none hides another, or left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["arrange"]

_ROUNDS = 300
_HAIR = 0.05


def arrange(
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    limits: tuple[float, float, float, float],
    *,
    furthest: float,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Move boxes so that those shown do not overlap, the first ones having precedence.

    Parameters
    ----------
    centres : ndarray, shape (n_boxes, 2)
        Where their middles should be.
    sizes : ndarray, shape (n_boxes, 2)
        Widths and heights.
    limits : tuple
        Left, right, bottom and top, between which the boxes stay.
    furthest : float
        How far a box may be moved.

    Returns
    -------
    centres : ndarray, shape (n_boxes, 2)
        Where their middles are.
    shown : ndarray of bool, shape (n_boxes,)
        Boxes that could not be freed of an earlier one are not shown.
    """
    places = _push_apart(centres, sizes, limits, furthest)
    shown = np.zeros(len(places), dtype=bool)
    for k in range(len(places)):
        gap = np.abs(places[shown] - places[k]) - (sizes[shown] + sizes[k]) / 2
        # What pushing has left of an overlap may be a hair's breadth.
        shown[k] = not (gap < -_HAIR * sizes[k]).all(axis=1).any()
    return places, shown


def _push_apart(
    centres: NDArray[np.float64],
    sizes: NDArray[np.float64],
    limits: tuple[float, float, float, float],
    furthest: float,
) -> NDArray[np.float64]:
    """Push each overlapping pair apart along the axis on which it takes less, many times."""
    low = np.array([limits[0], limits[2]]) + sizes / 2
    high = np.array([limits[1], limits[3]]) - sizes / 2
    low, high = np.maximum(low, centres - furthest), np.minimum(high, centres + furthest)
    high = np.maximum(high, low)
    places = np.clip(centres, low, high)
    for _ in range(_ROUNDS):
        first, second = _touching(places, sizes)
        if not len(first):
            break
        apart = places[second] - places[first]
        room = (sizes[first] + sizes[second]) / 2
        overlap = room - np.abs(apart)
        along = np.argmin(overlap / room, axis=1)[:, None] == np.arange(2)
        # Of two boxes in one place the later goes right or up.
        push = np.where(along, np.where(apart < 0.0, -overlap, overlap), 0.0)
        moves = np.zeros_like(places)
        np.add.at(moves, second, push)
        np.add.at(moves, first, -push)
        # A share only, because a box may be pushed by several at once.
        places = np.clip(places + 0.3 * moves, low, high)
    return places


def _touching(
    places: NDArray[np.float64], sizes: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the numbers of the boxes of each overlapping pair, the lower one first."""
    overlapping = np.triu(np.ones((len(places), len(places)), dtype=bool), k=1)
    for middle, size in zip(places.T, sizes.T, strict=True):
        low, high = middle - 0.4999995 * size, middle + 0.4999995 * size
        overlapping &= (low[:, None] < high) & (low < high[:, None])
    first, second = np.nonzero(overlapping)
    return first, second
