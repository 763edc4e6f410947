"""Lagrangian multipliers: nearly the bound of the linear program, one pass over the balls a step.

Payments u of the points bound every selection of k candidates by the sum of u less what the k
balls with the largest gains, payments less cost, take in. The best such bound is that of the
linear program. Here it is climbed to by steps along subgradients (points that are covered twice
pay less, those that are not covered more), each a mean of those before it. The running mean of
what is chosen at each step comes close to the program's solution, as in the volume algorithm
(Barahona and Anbil, Mathematical Programming 87, 2000).

It takes the memory of two vectors. Whatever depends on the order of a sum is kept to grids, so
that the same steps are taken on every machine.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Share of the last direction in the next one, and of the last mean of choices in the next.
_MOMENTUM, _MEMORY = 0.875, 0.97
# Steps without a better bound after which they are halved, and how often before the end.
_PATIENCE, _HALVINGS = 15, 11
# Memberships that all steps together may look at, but so many steps at least and at most.
_WORK, _LEAST_STEPS, _MOST_STEPS = 10**10, 200, 600
# Bits of a step's length that count.
_BITS = 12


@dataclass(frozen=True, eq=False)
class Look:
    """What payments are worth to a question.

    Parameters
    ----------
    score : float
        What is to be raised.
    taken : ndarray of int
        The candidates that take in most.
    missing : float
        By how much the bound is to be raised.
    """

    score: float
    taken: Indices
    missing: float


class Question(Protocol):
    """What is asked of a problem: a bound for a number, or the least number for a bound."""

    def look(self, paid: float, gains: Floats, best: float) -> Look:
        """Judge payments by their sum and gains; `best` is the highest score so far."""
        ...


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Payments, and how much of each candidate the steps have chosen on their way.

    Parameters
    ----------
    dual : ndarray of float, shape (n_points,)
        The payments of the best score.
    gains : ndarray of float, shape (n_candidates,)
        What each candidate's ball pays beyond its cost.
    fraction : ndarray of float, shape (n_candidates,)
        Between 0 and 1.
    """

    dual: Floats
    gains: Floats
    fraction: Floats


def find_multipliers(
    problem: CoverProblem, question: Question, start: Floats, *, deadline: float = math.inf
) -> Multipliers:
    """Raise payments from `start` until steps no longer help, or there were enough of them."""
    u, cost, prize = problem.snap(start), problem.cost, problem.prize
    along, fraction = np.zeros(problem.n_points), np.zeros(problem.n_candidates)
    best, score, length, fruitless = None, -math.inf, 1.0, 0
    for _ in range(_steps(problem)):
        gains = problem.prize_sums(u) - cost
        look = question.look(float(u.sum()), gains, score)
        fruitless += 1
        if look.score > score:
            best, score, fruitless = (u, gains), look.score, 0
        if fruitless == _PATIENCE:
            length, fruitless = length / 2.0, 0
        fraction *= _MEMORY
        fraction[look.taken] += 1.0 - _MEMORY
        covered = np.bincount(problem.points_in(look.taken), minlength=problem.n_points)
        along = _MOMENTUM * along + (1.0 - _MOMENTUM) * (1.0 - covered)
        free = np.where(((u >= prize) & (along > 0)) | ((u <= 0) & (along < 0)), 0.0, along)
        steepness = float((free * free).sum())
        if steepness == 0.0 or length < 2.0**-_HALVINGS or time.monotonic() >= deadline:
            break
        u = problem.snap(u + _cut(length * look.missing / steepness) * free)
    assert best is not None
    return Multipliers(*best, fraction)


def _steps(problem: CoverProblem) -> int:
    """Return how many steps are taken at most."""
    wanted = _WORK // max(problem.n_memberships, 1)
    return min(max(wanted, _LEAST_STEPS), _MOST_STEPS)


def _cut(number: float) -> float:
    """Return a number with no more bits than count: what rounding adds is not among them."""
    share, exponent = math.frexp(number)
    return math.ldexp(round(share * 2**_BITS), exponent - _BITS)
