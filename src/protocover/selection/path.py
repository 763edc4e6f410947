"""Selections for many radii and costs from one pass over the dissimilarities.

The balls of the largest radius are built once, each membership marked with the first
radius it belongs to; those of a smaller radius are a filter away. For the paper's greedy
the selection for any cost is a prefix of that for the lowest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from ..cover import CoverProblem, CoverSolution
from ..resources import progress_bar
from ..solvers import Solver, ask_solver, greedy, unwrapped
from ..solvers.duals import ascend
from .by_class import Selection
from .training import Training

__all__ = ["solve_path"]

Floats = NDArray[np.float64]


def solve_path(
    training: Training,
    levels: csr_array,
    *,
    n_radii: int,
    costs: NDArray[np.float64],
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    verbose: int,
) -> tuple[tuple[Selection, ...], ...]:
    """Solve every class's problem for all radii, of which `levels` tell, and rising `costs`.

    Every setting is solved with the randomness that a fit of its own would have.
    """
    n_classes = len(training.classes)
    shares = _split_by_class(levels, training.codes, training.weights, n_classes, n_radii)
    children = rng.spawn(n_classes)
    with progress_bar(range(n_radii), n_radii, "radii", verbose) as bar:
        return tuple(_solve_radius(shares, k, costs, solver, children, options) for k in bar)


@dataclass(frozen=True, eq=False)
class _ClassShare:
    """A class's rows of the levels, and what each ball holds of the class at each radius.

    Parameters
    ----------
    levels : csc_array of unsigned int, shape (n_points of the class, n_candidates)
        One more than the number of the first radius that the pair is within.
    prize : ndarray of float, shape (n_points of the class,)
        Weights of the points.
    reach : ndarray of float, shape (n_radii, n_candidates)
        Weight of the class's points in each ball.
    counts : ndarray of int, shape (n_radii, n_candidates)
        Their number.
    """

    levels: csc_array
    prize: Floats
    reach: Floats
    counts: NDArray[np.intp]


def _split_by_class(
    levels: csr_array,
    codes: NDArray[np.intp],
    weights: Floats,
    n_classes: int,
    n_radii: int,
) -> list[_ClassShare]:
    """Split a points x candidates table of levels by the class of the points."""
    shares = []
    for label in range(n_classes):
        rows = np.flatnonzero(codes == label)
        own, prize = levels[rows].tocsc(), weights[rows]
        counts = _cumulated(own, n_radii, None)
        plain = bool((prize == 1.0).all())
        reach = counts.astype(np.float64) if plain else _cumulated(own, n_radii, prize)
        shares.append(_ClassShare(own, prize, reach, counts))
    return shares


def _solve_radius(
    shares: Sequence[_ClassShare],
    k: int,
    costs: Floats,
    solver: Solver,
    rngs: Sequence[np.random.Generator],
    options: Mapping[str, Any],
) -> tuple[Selection, ...]:
    """Return the selections at radius number `k`, one for each of the rising `costs`.

    `rngs` are one generator a class; each problem gets a copy of its class's.
    """
    total = np.sum([share.reach[k] for share in shares], axis=0)
    count = np.sum([share.counts[k] for share in shares], axis=0)
    by_class = [
        _solve_class(share, total - share.reach[k], k, costs, solver, child, options)
        for share, child in zip(shares, rngs, strict=True)
    ]
    return tuple(_joined(shares, k, solutions, count) for solutions in zip(*by_class, strict=True))


def _joined(
    shares: Sequence[_ClassShare],
    k: int,
    solutions: Sequence[CoverSolution],
    count: NDArray[np.intp],
) -> Selection:
    """Join the classes' solutions at radius number `k`, where balls hold `count` points."""
    own = [
        share.counts[k][solution.selected]
        for share, solution in zip(shares, solutions, strict=True)
    ]
    others = [
        count[solution.selected] - held for solution, held in zip(solutions, own, strict=True)
    ]
    return Selection.joined(solutions, covered=own, miscovered=others)


def _solve_class(
    share: _ClassShare,
    wrong: Floats,
    k: int,
    costs: Floats,
    solver: Solver,
    rng: np.random.Generator,
    options: Mapping[str, Any],
) -> list[CoverSolution]:
    """Solve one class at radius number `k` for all costs."""

    def solve(problem: CoverProblem) -> CoverSolution:
        return ask_solver(solver, problem, rng=deepcopy(rng), options=options)

    if unwrapped(solver) is not greedy:
        whole = CoverProblem(_within(share.levels, k), wrong, share.prize, float(costs[0]))
        return [solve(whole.at_cost(float(cost))) for cost in costs]
    # A candidate not worth the lowest cost on its own is never worth any.
    useful = np.flatnonzero(share.reach[k] - wrong >= costs[0])
    problem = CoverProblem(
        _within(share.levels[:, useful], k), wrong[useful], share.prize, float(costs[0])
    )
    return [
        replace(solution, selected=useful[solution.selected])
        for solution in _prefixes(problem, solve(problem), costs)
    ]


def _cumulated(own: csc_array, n_radii: int, prize: Floats | None) -> Any:
    """Sum prizes, or count points, in each ball at each radius, (n_radii, n_candidates)."""
    m = own.shape[1]
    column = np.repeat(np.arange(m), np.diff(own.indptr))
    place = (own.data.astype(np.intp) - 1) * m + column
    weights = None if prize is None else prize[own.indices]
    new = np.bincount(place, weights, minlength=n_radii * m).reshape(n_radii, m)
    return np.cumsum(new, axis=0)


def _within(levels: csc_array, k: int) -> csc_array:
    """Return the members of radius number `k` only."""
    keep = levels.data <= k + 1
    ends = np.concatenate(([0], np.cumsum(keep)))[levels.indptr]
    indices = levels.indices[keep]
    data = np.ones(len(indices), dtype=bool)
    return csc_array((data, indices, ends.astype(indices.dtype)), shape=levels.shape)


def _prefixes(
    problem: CoverProblem, solution: CoverSolution, costs: Floats
) -> list[CoverSolution]:
    """Cut the greedy's solution for the lowest cost off where each cost would stop it."""
    # The score of a step is the drop in the objective before the cost of the prototype.
    missing = problem.prize.sum() - np.concatenate(([0.0], np.cumsum(solution.score)))
    prefixes = []
    for cost in costs.tolist():
        at_cost = problem.at_cost(cost)
        n = int(at_cost.above_cost(solution.score).sum())
        objective = float(Fraction(float(missing[n])) + n * at_cost.exact_cost)
        prefixes.append(replace(solution.first(n), objective=objective))
    return prefixes if solution.dual is None else _bounded(problem, prefixes, costs)


def _bounded(
    problem: CoverProblem, prefixes: Sequence[CoverSolution], costs: Floats
) -> list[CoverSolution]:
    """Give each cost the bound of its own problem; that of the lowest is there already."""
    bounded, columns = [prefixes[0]], np.arange(problem.n_candidates)
    for prefix, cost in zip(prefixes[1:], costs[1:].tolist(), strict=True):
        # What is not worth a lower cost is not worth this one either.
        columns = columns[problem.worthwhile]
        problem = problem.core.at_cost(cost)
        chosen = np.searchsorted(columns, prefix.selected)
        told = CoverSolution.of(problem, chosen, score=prefix.score, dual=ascend(problem))
        bounded.append(replace(told, selected=prefix.selected))
    return bounded
