"""Selections for many radii and costs: each class's problem is solved for all costs.

The problems come from one pass over the dissimilarities, one radius, or limit to radii of
their own, after the other. For the paper's greedy the selection for any cost is a prefix
of that for the lowest; where no bounds are asked for, it needs no problems either, and
bounds can come later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._cover import CoverProblem, CoverSolution
from .._resources import progress_bar
from ..solvers import greedy
from ..solvers._answers import ask_solver
from ..solvers._duals import ascend
from ..solvers._table import Solver, unwrapped
from .adaptive_limits import LimitedBalls, balls_of_parts
from .adaptive_radii import at_cost
from .by_class import ClassProblem, join_balls, select, with_floor
from .greedy_levels import GreedyLevels
from .part import Part
from .selected import Selection
from .shared_radius import LevelProblems
from .training import Training, training_levels

Floats = NDArray[np.float64]
# The levels of points and candidates, as a table or as lists, or the balls worth looking at.
Known: TypeAlias = csr_array | GreedyLevels | LimitedBalls | None
Problems: TypeAlias = Iterable[Iterable[ClassProblem]] | GreedyLevels


def formulate_path(
    training: Training,
    known: Known = None,
    *,
    radii: Floats,
    own: bool,
    closed: bool,
    prototype_cost: float,
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> Problems:
    """Write down each class's problem for all rising `radii`, or limits to their `own`.

    Nothing is computed where the levels, or the balls within the limits, are `known`.
    """
    if isinstance(known, GreedyLevels):
        return known
    if own and known is None:
        (known,) = balls_of_parts(
            training,
            [Part.whole(training)],
            limits=radii,
            closed=closed,
            least_cost=prototype_cost,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    if isinstance(known, LimitedBalls):
        return known.problems()
    if known is None:
        known = training_levels(
            training, radii=radii, closed=closed, rng=rng, n_jobs=n_jobs, verbose=verbose
        )
    if wants_lists(solver, options, own=own):
        return GreedyLevels.of_training(training, known, n_radii=len(radii))
    return LevelProblems(training, known, len(radii), prototype_cost, has_prefixes(solver))


def has_prefixes(solver: Solver) -> bool:
    """Whether a solver's choice for any cost is a prefix of that for a lower one.

    The paper's greedy compares drops in the objective before the cost, which only decides
    when to stop. That holds for balls of their own radii, too. It even never takes two of
    one candidate in a class: let B be taken, and B' be a larger one. As B had the largest
    drop, the new weight of B' outside B is at most the weight of rivals outside B; once B
    is covered, B' has to make up for the rivals in B as well, so that its drop is not
    above zero, and drops only fall. In a smaller ball nothing is new.
    """
    return unwrapped(solver) is greedy


def wants_lists(solver: Solver, options: Mapping[str, Any], *, own: bool) -> bool:
    """Whether a path is for the greedy without bounds, at radii that all share."""
    return has_prefixes(solver) and not options.get("bound", True) and not own


@dataclass(frozen=True, eq=False)
class PostponedBounds:
    """The greedy's selections with their bounds, a radius at a time, for when they are wanted.

    Parameters
    ----------
    problems : LevelProblems
        Those of the lowest cost.
    costs : ndarray of float
        Rising costs of a prototype.
    solver : callable
        The greedy.
    options : mapping
        What it is called with.
    rngs : list of numpy.random.Generator
        One a class.
    min_per_class : int
        Whether every class must have a prototype.
    """

    problems: LevelProblems
    costs: Floats
    solver: Solver
    options: Mapping[str, Any]
    rngs: Sequence[np.random.Generator]
    min_per_class: int

    @classmethod
    def of(
        cls,
        problems: Problems,
        costs: Floats,
        *,
        solver: Solver,
        options: Mapping[str, Any],
        rng: np.random.Generator,
        min_per_class: int = 0,
    ) -> Self | None:
        """Return the postponed bounds where the selections can be had without them, else None."""
        if not isinstance(problems, LevelProblems) or not has_prefixes(solver):
            return None
        rngs = rng.spawn(len(problems.training.classes))
        return cls(problems, costs, solver, options, rngs, min_per_class)

    def without(self) -> GreedyLevels:
        """Return what gives the same selections without bounds."""
        problems = self.problems
        return GreedyLevels.of_training(
            problems.training, problems.levels, n_radii=problems.n_radii
        )

    def selections(self, k: int) -> tuple[Selection, ...]:
        """Return the selections at radius number `k`, one for each cost, with bounds."""
        return _solve_radius(
            self.problems.at_radius(k),
            self.costs,
            self.solver,
            self.rngs,
            self.options,
            min_per_class=self.min_per_class,
        )


def solve_path(
    by_radius: Problems,
    *,
    n_radii: int,
    n_classes: int,
    costs: NDArray[np.float64],
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    min_per_class: int = 0,
    verbose: int,
    max_prototypes: int | Mapping[int, int] | None = None,
) -> tuple[tuple[Selection, ...], ...]:
    """Solve every class's problem, radius by radius, for all of the rising `costs`.

    The problems are those of the lowest cost. Every setting is solved with the randomness
    that a fit of its own would have, and within a budget of `max_prototypes`, in total or by
    class number. The greedy's selections are cut to the budget without new bounds.
    """
    if max_prototypes is not None and not has_prefixes(solver):
        solve = partial(
            select,
            solver=solver,
            max_prototypes=max_prototypes,
            min_per_class=min_per_class,
            options=options,
        )
        assert not isinstance(by_radius, GreedyLevels)  # which is for prefixes
        solved = (_solve_within(list(some), costs, solve, rng) for some in by_radius)
        with progress_bar(solved, n_radii, "radii", verbose) as bar:
            return tuple(bar)
    if isinstance(by_radius, GreedyLevels):
        found = by_radius.selections(costs, min_per_class=min_per_class)
    else:
        rngs = rng.spawn(n_classes)
        found = (
            _solve_radius(some, costs, solver, rngs, options, min_per_class=min_per_class)
            for some in by_radius
        )
    with progress_bar(found, n_radii, "radii", verbose) as bar:
        if max_prototypes is None:
            return tuple(bar)
        least = min_per_class
        return tuple(
            tuple(one.within(max_prototypes, min_per_class=least) for one in row) for row in bar
        )


def _solve_within(
    classes: Sequence[ClassProblem],
    costs: Floats,
    solve: Callable[..., Selection],
    rng: np.random.Generator,
) -> tuple[Selection, ...]:
    """Return the selections of a solver within a budget, one for each of the rising `costs`."""
    selections = []
    for cost in costs.tolist():
        priced = [at_cost(one.problem, cost) for one in classes]
        balls = [
            one.balls.chosen(columns) for one, (columns, _) in zip(classes, priced, strict=True)
        ]
        problems = [problem for _, problem in priced]
        selections.append(solve(problems, balls=balls, rng=deepcopy(rng)))
    return tuple(selections)


def _solve_radius(
    classes: Iterable[ClassProblem],
    costs: Floats,
    solver: Solver,
    rngs: Sequence[np.random.Generator],
    options: Mapping[str, Any],
    *,
    min_per_class: int,
) -> tuple[Selection, ...]:
    """Return the selections at one radius, one for each of the rising `costs`.

    `rngs` are one generator a class; each problem gets a copy of its class's.
    """
    solved, balls = [], []
    for of_class, child in zip(classes, rngs, strict=True):
        solutions = _solve_class(of_class, costs, solver, child, options)
        if min_per_class:
            solutions = [
                solution
                if len(solution.selected)
                else with_floor(of_class.problem.at_cost(cost), solution)
                for cost, solution in zip(costs.tolist(), solutions, strict=True)
            ]
        solved.append(solutions)
        balls.append(of_class.balls)
    return tuple(join_balls(solutions, balls) for solutions in zip(*solved, strict=True))


def _solve_class(
    of_class: ClassProblem,
    costs: Floats,
    solver: Solver,
    rng: np.random.Generator,
    options: Mapping[str, Any],
) -> list[CoverSolution]:
    """Solve one class's problem for all costs."""

    def solve(problem: CoverProblem) -> CoverSolution:
        return ask_solver(solver, problem, rng=deepcopy(rng), options=options)

    problem = of_class.problem
    if has_prefixes(solver):
        return _prefixes(problem, solve(problem), costs)
    solutions = []
    for cost in costs.tolist():
        columns, priced = at_cost(problem, cost)
        solutions.append(solve(priced).renumbered(columns))
    return solutions


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
