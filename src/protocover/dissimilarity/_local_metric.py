"""The metric of discriminant adaptive nearest neighbours around one point.

Hastie and Tibshirani (1996), section 2: within- and between-class covariance of the
neighbourhood, weighted by the tri-cube function of the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import Floats, Indices
from ._rounding import grain, round_in_place

# Closer than this share of the farthest distance, only rounding tells two points apart.
_COINCIDENT = 1e-9
# Decompositions leave about 42 bits of a squared distance the same on every machine, and of
# one that is small only because it runs along a direction that counts little, fewer.
_BITS = 32
_SMALL = 2.0**-12
# A factor below this share of the largest is the rounding of none.
_NO_FACTOR = 2.0**-40


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Training points to find neighbours among."""

    points: Floats  # (n, g)
    classes: Indices  # (n,)
    size: int  # how many of them make a neighbourhood


@dataclass(frozen=True, eq=False)
class LocalMetric:
    """The metric ``rest I + V diag(factors - rest) V'``."""

    directions: Floats  # V, orthonormal columns (g, r)
    factors: Floats  # (r,), of the squared distance along each of them
    rest: float  # factor at right angles to all of them

    def distances(self, points: Floats, z: Floats) -> Floats:
        """Distances of points (n, g) from z, rounded to what does not depend on the machine."""
        difference = points - z
        along = difference @ self.directions
        along *= along
        squares = along @ self.factors
        lengths = np.einsum("ij,ij->i", difference, difference)
        largest = self.factors.max(initial=0.0)
        if self.directions.shape[1] < len(z):
            squares += self.rest * np.maximum(lengths - along.sum(axis=1), 0.0)
            largest = max(largest, self.rest)
        scale = squares + (_SMALL * largest) * lengths
        return np.sqrt(round_in_place(squares, grain(scale, bits=_BITS)))


def adapt_metric(
    neighborhood: Neighborhood, z: Floats, *, epsilon: float, shrinkage: float, n_iterations: int
) -> LocalMetric:
    """Find the metric at `z`, starting from the Euclidean neighbourhood.

    A training point at `z` is not its own neighbour: in many dimensions, where all others
    are far away, it would outweigh them together.
    """
    metric = LocalMetric(np.empty((len(z), 0)), np.empty(0), 1.0)
    away = metric.distances(neighborhood.points, z)
    others = np.flatnonzero(away > _COINCIDENT * away.max())
    if len(others) < 2:
        others = np.arange(len(away))
    points, classes = neighborhood.points[others], neighborhood.classes[others]
    size = min(neighborhood.size, len(others))
    for _ in range(n_iterations):
        distance = metric.distances(points, z)
        near = np.sort(np.argpartition(distance, size - 1)[:size])
        within, between = _scatter(points[near], classes[near], _tricube(distance[near]))
        metric = _metric(within, between, epsilon=epsilon, shrinkage=shrinkage)
    return metric


def _tricube(distance: Floats) -> Floats:
    """Weights (k,) that sum to 1, falling to nothing at the farthest neighbour."""
    reach = distance.max()
    weights = np.ones_like(distance)
    if distance.min() < reach:
        share = distance / reach
        rest = 1.0 - share * share * share
        weights = rest * rest * rest
    result: Floats = weights / weights.sum()
    return result


def _scatter(points: Floats, classes: Indices, weights: Floats) -> tuple[Floats, Floats]:
    """Return weighted deviations (k, g) from class means, and (c, g) of these from their mean.

    The products of these with their transposes are W and B.
    """
    present, member = np.unique(classes, return_inverse=True)
    share = np.bincount(member, weights, minlength=len(present))
    sums = np.zeros((len(present), points.shape[1]))
    np.add.at(sums, member, weights[:, None] * points)
    # A class may be there with points of weight 0 only.
    means = sums / np.where(share > 0.0, share, 1.0)[:, None]
    within = np.sqrt(weights)[:, None] * (points - means[member])
    between = np.sqrt(share)[:, None] * (means - sums.sum(axis=0))
    return within, between


def _metric(within: Floats, between: Floats, *, epsilon: float, shrinkage: float) -> LocalMetric:
    """Put the metric together in the space that the deviations span."""
    g = within.shape[1]
    level = float((within * within).sum()) / g
    if level == 0.0:
        # All neighbours of a class coincide: take the size of W from their differences.
        level = float((between * between).sum()) / g or 1.0
    basis = _basis(np.vstack((within, between)))
    within, between = within @ basis, between @ basis
    W = (1.0 - shrinkage) * (within.T @ within)
    W[np.diag_indices_from(W)] += shrinkage * level
    values, vectors = np.linalg.eigh(W)
    root = (vectors / np.sqrt(values)) @ vectors.T
    sphered = between @ root
    inner = sphered.T @ sphered
    inner[np.diag_indices_from(inner)] += epsilon
    factors, turn = np.linalg.eigh(root @ inner @ root)
    factors = np.where(factors > _NO_FACTOR * factors.max(), factors, 0.0)
    return LocalMetric(basis @ turn, factors, epsilon / (shrinkage * level))


def _basis(rows: Floats) -> Floats:
    """Orthonormal columns (g, r) that span the rows, or all of space if that is no larger."""
    n_rows, g = rows.shape
    if n_rows >= g:
        return np.eye(g)
    basis: Floats = np.linalg.qr(rows.T)[0]
    return basis
