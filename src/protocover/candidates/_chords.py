"""Chords of a convex hull: how far a line through a point of it runs either way.

A point of the hull lies in a simplex whose corners are points that span it. A line leaves
that simplex through one side; if a point lies beyond that side it enters the simplex with
this one as a corner, else it has come to the edge of the hull. Going on so is the simplex
method, started where the last chord ended: far fewer steps than a linear program from
scratch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# A point counts as beyond a side from this share of the simplex's height over it.
_BEYOND = 1e-9


@dataclass(frozen=True, eq=False)
class Place:
    """A point of the hull, and a simplex that it lies in."""

    point: Floats  # (n_features,)
    corners: Indices  # (n_features + 1,), the spanning points that the simplex has as its corners


@dataclass(frozen=True, eq=False)
class Way:
    """The simplices that a line passes on its way from a point, and how far each reaches."""

    corners: list[Indices]
    reaches: list[float]


def lift(Y: Floats) -> Floats:
    """Return points as columns with a one below each."""
    return np.vstack((Y.T, np.ones(len(Y))))


def start_at_mean(lifted: Floats) -> Place:
    """Return the mean of points that span all dimensions, as a place in their hull."""
    corners = qr(lifted, mode="r", pivoting=True)[1][: len(lifted)].astype(np.intp)
    center, mean = lifted[:-1, corners].mean(axis=1), lifted[:-1].mean(axis=1)
    ahead, _ = find_chord(lifted, Place(center, corners), mean - center)
    return Place(mean, _corners_at(ahead, 1.0))


def draw_on_chord(lifted: Floats, place: Place, direction: Floats, share: float) -> Place:
    """Go to the place at a `share` of the chord through `place`, from its back end on."""
    ahead, back = find_chord(lifted, place, direction)
    length = share * ahead.reaches[-1] - (1.0 - share) * back.reaches[-1]
    way = ahead if length >= 0.0 else back
    return Place(place.point + length * direction, _corners_at(way, abs(length)))


def find_chord(lifted: Floats, place: Place, direction: Floats) -> tuple[Way, Way]:
    """Return the ways from `place` to the edge of the hull, ahead and back.

    `lifted` are the spanning points as columns, with a one below each.
    """
    size = len(lifted)
    sides = np.column_stack((np.eye(size), np.append(place.point, 1.0), np.append(direction, 0.0)))
    ahead = np.linalg.solve(lifted[:, place.corners], sides)
    back = ahead.copy()
    back[:, -1] *= -1.0
    return _go(lifted, place.corners, ahead), _go(lifted, place.corners, back)


def _go(lifted: Floats, start: Indices, table: Floats) -> Way:
    """Go on from simplex to simplex to the edge, using `table` up.

    Of a simplex with corners B the columns of `table` are the inverse of B, the weights of
    the corners where the line is, and how these change along it.
    """
    corners, reach = start.copy(), 0.0
    way = Way([], [])
    # More would mean that rounding leads in a circle; stopping early stays in the hull.
    for _ in range(16 * sum(lifted.shape)):
        weights, rates = table[:, -2], table[:, -1]
        steps = np.full(len(rates), np.inf)
        np.divide(weights, -rates, out=steps, where=rates < 0.0)
        leaving = int(steps.argmin())
        step = max(float(steps[leaving]), 0.0)
        reach += step
        way.corners.append(corners.copy())
        way.reaches.append(reach)
        heights = table[leaving, :-2] @ lifted
        entering = int(heights.argmin())
        if heights[entering] > -_BEYOND:
            break
        weights += step * rates
        weights[leaving] = 0.0
        column = table[:, :-2] @ lifted[:, entering]
        row = table[leaving] / column[leaving]
        table -= np.multiply.outer(column, row)
        table[leaving] = row
        corners[leaving] = entering
    return way


def _corners_at(way: Way, length: float) -> Indices:
    """Return the corners of the simplex in which a way is after some length."""
    return way.corners[min(int(np.searchsorted(way.reaches, length)), len(way.corners) - 1)]
