"""Uniform samples from each class's convex hull as candidates.

Three ways to draw, each used where it is right and affordable: by volume from a
triangulation in few dimensions, by Dirichlet weights where the hull is a simplex, and by
a hit-and-run walk elsewhere.

The walk follows chords of the hull. A point of it lies in a simplex whose corners are spanning
points. A line leaves that simplex through one side; if a point lies beyond that side it enters
the simplex with this one as a corner, else the line has come to the edge of the hull. This is
the simplex method, started where the last chord ended, with far fewer steps than a new linear
program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.spatial import Delaunay
from sklearn.base import BaseEstimator

from .._resources import progress_bar
from .._typing import Floats, Indices
from ._pool import Pool

_TRIANGULATED_DIMENSIONS = 4
_WALK_STEPS = 4
# A point counts as beyond a side from this share of the simplex's height over it.
_BEYOND = 1e-9


class HullCandidates(BaseEstimator):
    """Points drawn uniformly from the convex hull of each class (paper, section 4.2).

    Parameters
    ----------
    n_per_class : int, default=50
        Points drawn from each class's hull.

    Notes
    -----
    In up to four dimensions, and where the points of a class are affinely independent,
    draws are exactly uniform and independent. Elsewhere they come from a hit-and-run
    walk that starts at the mean: nearly uniform, somewhat dependent, and slow in many
    dimensions: 50 draws from a class of 180 points with 64 features take a second or two.

    Examples
    --------
    >>> import numpy as np
    >>> from protocover.candidates import HullCandidates
    >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1])
    >>> pool = HullCandidates(3).generate(X, y, np.random.default_rng(0))
    >>> ((pool.points[:3] <= 1.0).all(), (pool.points[3:] >= 5.0).all())
    (np.True_, np.True_)
    """

    shows_progress = True

    def __init__(self, n_per_class: int = 50) -> None:
        self.n_per_class = n_per_class

    def generate(
        self, X: Any, y: NDArray[np.intp], rng: np.random.Generator, *, verbose: int = 0
    ) -> Pool:
        """Draw the points; with `verbose` above 0 behind progress bars."""
        if not isinstance(self.n_per_class, int | np.integer) or self.n_per_class < 1:
            raise ValueError(f"n_per_class must be a positive integer, got {self.n_per_class!r}")
        if not isinstance(X, np.ndarray):
            raise ValueError("hull candidates need dense rows of numbers; pass X.toarray()")
        groups = [X[y == label] for label in np.unique(y)]
        drawn = [sample_hull(group, self.n_per_class, rng, verbose=verbose) for group in groups]
        single = X.dtype == np.float32
        points = np.vstack(drawn).astype(np.float32 if single else np.float64, copy=False)
        return Pool.synthetic(points, "hull")


def sample_hull(X: NDArray[Any], n: int, rng: np.random.Generator, *, verbose: int = 0) -> Floats:
    """Draw `n` points uniformly from the convex hull of the rows of X."""
    X = np.unique(np.asarray(X, dtype=np.float64), axis=0)
    center = X.mean(axis=0)
    _, lengths, axes = np.linalg.svd(X - center, full_matrices=False)
    dimension = int((lengths > 1e-9 * max(lengths[0], 1e-300)).sum()) if lengths[0] > 0 else 0
    if dimension == 0:
        return np.repeat(np.asarray(center)[None], n, axis=0)
    if dimension == len(X) - 1:
        return np.asarray(rng.dirichlet(np.ones(len(X)), size=n) @ X)
    flat = (X - center) @ axes[:dimension].T
    if dimension == 1:
        drawn = rng.uniform(flat.min(), flat.max(), size=(n, 1))
    elif dimension <= _TRIANGULATED_DIMENSIONS:
        drawn = _draw_by_volume(flat, n, rng)
    else:
        drawn = _hit_and_run(flat, n, rng, verbose=verbose)
    return np.asarray(center + drawn @ axes[:dimension])


def _draw_by_volume(X: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Pick simplices of a triangulation by volume, and a uniform point in each."""
    corners = X[Delaunay(X).simplices]
    edges = corners[:, 1:] - corners[:, :1]
    volume = np.abs(np.linalg.det(edges))
    picked = corners[rng.choice(len(corners), size=n, p=volume / volume.sum())]
    weights = rng.dirichlet(np.ones(X.shape[1] + 1), size=n)
    return np.asarray(np.einsum("nk,nkp->np", weights, picked))


def _hit_and_run(X: Floats, n: int, rng: np.random.Generator, *, verbose: int = 0) -> Floats:
    """Walk through the hull: a random direction, then a uniform point on that chord."""
    # In coordinates with equal spread in all directions the walk mixes fastest.
    spread = X.std(axis=0)
    lifted = lift(X / spread)
    place = start_at_mean(lifted)
    drawn = np.empty((n, X.shape[1]))
    chords_a_draw = _WALK_STEPS + math.ceil(math.log2(X.shape[1]))
    with progress_bar(range(n), n, "draws from a hull", verbose) as bar:
        for k in bar:
            for _ in range(chords_a_draw):
                direction = np.asarray(rng.normal(size=X.shape[1]))
                direction /= np.linalg.norm(direction)
                place = draw_on_chord(lifted, place, direction, rng.uniform())
            drawn[k] = place.point
    return np.asarray(drawn * spread)


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
