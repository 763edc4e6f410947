"""The radius that ``eps="auto"`` stands for where there are no labels."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._balls import within
from .._cover import CoverProblem, first_cover
from ..solvers._greedy import choose_by_drop
from .parameters import is_whole
from .radius import point_columns, sample_rows, sample_table
from .training import Training

Floats = NDArray[np.float64]

_SAMPLE_SIZE = 2000
_USUAL_COVERAGE = 0.95


def propose_cover_eps(
    training: Training, *, number: int | None, coverage: float | None, closed: bool
) -> float:
    """Return the smallest radius at which so many representatives cover so much.

    They are chosen greedily among the points, or a sample of them that is always the same, so
    that a proposal does not depend on a seed.

    Parameters
    ----------
    training : Training
        Of a table that is not square the columns stand for the points.
    number : int or None
        How many representatives; None for the root of the number of points, rounded up.
    coverage : float or None
        What share of the weight; None for 95 %.
    closed : bool
        Whether balls are closed.
    """
    rows, table = _sample(training)
    weights = training.weights[rows]
    most = math.ceil(math.sqrt(_size(training.weights))) if number is None else number
    room = (1.0 - (_USUAL_COVERAGE if coverage is None else coverage)) * float(weights.sum())
    radii = np.unique(table[np.isfinite(table) & (table > 0.0)])
    if len(radii) == 0:
        return 1.0  # all points are alike, and any radius will do

    def is_enough(eps: float) -> bool:
        return _left(within(table, eps, closed=closed), weights, most) <= room * (1 + 1e-9)

    low, high = 0, len(radii)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(radii[middle]) else (middle + 1, high)
    if low < len(radii):
        return float(radii[low])
    if training.is_graph:
        raise ValueError(
            f"eps='auto' looks for the radius at which {most} representatives cover "
            f"{_USUAL_COVERAGE if coverage is None else coverage:.0%}, and X, a neighbour graph, "
            "ends before; make it with a larger radius or more neighbours, or give eps as a number"
        )
    return float(np.nextafter(radii[-1], np.inf))


def _sample(training: Training) -> tuple[NDArray[np.intp], Floats]:
    """Return the rows of a sample and its table of dissimilarities, sample x sample."""
    rng = np.random.default_rng(0)
    rows = sample_rows(len(training.weights), _SAMPLE_SIZE, rng)
    if not training.is_table:
        return rows, sample_table(training, rows, rows)
    columns = point_columns(training)
    square = len(columns) == len(training.weights)
    places = rows if square else sample_rows(len(columns), _SAMPLE_SIZE, rng)
    return rows, sample_table(training, rows, columns[places])


def _size(weights: Floats) -> float:
    """Return the number of points, each as often as a whole weight says."""
    return float(weights.sum()) if is_whole(weights) else len(weights)


def _left(balls: NDArray[np.bool_], weights: Floats, most: int) -> float:
    """Return the weight that the greedy's first so many leave uncovered."""
    problem = CoverProblem(csc_array(balls), np.zeros(balls.shape[1]), weights, 0.0)
    chosen = choose_by_drop(problem, most)[0]
    return float(weights[first_cover(problem, chosen) == len(chosen)].sum())
