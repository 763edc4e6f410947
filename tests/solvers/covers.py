"""Small random cover problems of every kind that has ever made trouble."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.sparse import csc_array

import naive
from protocover._cover import CoverProblem

KINDS = ("unit", "ties", "quarters", "off grid")


def make_problem(inside, wrong, prize, prototype_cost):
    """A problem from plain lists."""
    inside = np.asarray(inside, dtype=bool)
    return CoverProblem(
        csc_array(inside),
        np.asarray(wrong, dtype=float),
        np.asarray(prize, dtype=float),
        float(prototype_cost),
    )


def random_problem(seed):
    """A small problem; the seed decides its kind too: ties, zero costs, odd weights."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    n_points, n_candidates = rng.integers(1, 8, size=2)
    inside = rng.random((n_points, n_candidates)) < rng.uniform(0.1, 0.9)
    if kind == "ties":
        wrong, prize = np.zeros(n_candidates), np.ones(n_points)
        cost = rng.choice([0.0, 1.0, 2.0])
    elif kind == "unit":
        wrong, prize = rng.integers(0, 4, n_candidates), np.ones(n_points)
        cost = rng.choice([0.0, 1 / n_points, 0.1, 0.5, 1.0, 6.0])
    elif kind == "quarters":
        wrong, prize = rng.integers(0, 9, n_candidates) / 4, rng.integers(0, 9, n_points) / 4
        cost = rng.choice([0.0, 1 / 7, 0.25, 1.0])
    else:
        wrong, prize, cost = rng.random(n_candidates), rng.random(n_points), rng.random() / 2
    return make_problem(inside, wrong, prize, cost)


def countable(seed):
    """Whether the seed's problem has weights whose sums floats can count without rounding.

    All do but those of random bits: their prizes, wrong weights and cost are 53-bit numbers
    without a common step, so that sums of them need more bits than a float has.
    """
    return KINDS[seed % len(KINDS)] != "off grid"


@cache
def problem_and_optimum(seed):
    """A random problem, its least objective and the fewest prototypes that reach it."""
    problem = random_problem(seed)
    return problem, *naive.exact_optimum(problem)


def large_problem(n_points=500, n_candidates=900, *, density=0.02, seed=0):
    """A problem that no solver proves optimal within a second."""
    rng = np.random.default_rng(seed)
    inside = rng.random((n_points, n_candidates)) < density
    return make_problem(inside, rng.integers(0, 3, n_candidates), np.ones(n_points), 2.0)


def chain_problem(seed):
    """A small problem whose balls form chains, as those of adaptive radii do."""
    rng = np.random.default_rng(seed)
    n_points, sizes = int(rng.integers(1, 8)), rng.integers(1, 4, int(rng.integers(0, 4)))
    unit = [1.0, 0.25, 3.0][seed % 3]
    parts, first, wrong = [np.zeros((n_points, 0), dtype=bool)], [], []
    for size in sizes.tolist():
        shell = rng.integers(0, size + 1, n_points)  # the last one is outside all balls
        parts.append(shell[:, None] == np.arange(size))
        first += [len(first)] * size
        wrong += np.cumsum(unit * rng.integers(0, 3, size)).tolist()
    prize = unit * rng.integers(0, 4, n_points)
    cost = rng.choice([0.0, 1 / 7, 0.25, 1.0])
    return CoverProblem(np.hstack(parts), wrong, prize, cost, first=first)


def written_out(problem):
    """The problem with a column for each ball of its chains."""
    return make_problem(
        problem.cover.toarray(), problem.wrong, problem.prize, problem.prototype_cost
    )


def set_problem(seed):
    """A plain set cover with costs in quarters, or the same cost for all sets."""
    rng = np.random.default_rng(seed)
    sets = [np.flatnonzero(rng.random(7) < 0.35) for _ in range(6)]
    sets.append(np.setdiff1d(np.arange(7), np.concatenate(sets)))
    costs = None if seed % 2 else rng.integers(1, 9, 7) / 4
    return CoverProblem.from_sets(sets, costs, n_elements=7)


PROBLEMS = {
    "labelled": lambda k: random_problem(4 * k),
    "plain": lambda k: random_problem(4 * k + 1),
    "weighted, some zero": lambda k: random_problem(4 * k + 2),
    "off the grid": lambda k: random_problem(4 * k + 3),
    "chains": chain_problem,
    "sets": set_problem,
}


@cache
def some_problems(kind, n=15):
    """Problems of a kind with their least objectives and the fewest prototypes of these."""
    made = [PROBLEMS[kind](k) for k in range(n)]
    return [(problem, *naive.exact_optimum(problem)) for problem in made]
