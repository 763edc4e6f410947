"""Selections for many radii and costs: each class's problem is solved for all costs.

The problems come from one pass over the dissimilarities, one radius or maximum radius after the
other. For the paper's greedy the selection for any cost is a prefix of that for the lowest. If
no bounds are needed, it does not need the problems either, and bounds can be computed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from .._cover import CoverProblem, CoverSolution
from .._resources import progress_bar
from .._typing import Floats
from ..solvers import greedy
from ..solvers._answers import ask_solver
from ..solvers._duals import ascend
from ..solvers._table import Solver, unwrapped
from .adaptive_radii import AdaptiveBalls, find_adaptive_balls
from .balls import Balls, ClassProblem
from .greedy import GreedyLevels
from .selection import ClassSelection, Selection, select, with_floor
from .training import Training, TrainingSubset, training_levels

# What the neighbourhoods of a path are, and what may be known of them beforehand.
PathBalls: TypeAlias = Balls | AdaptiveBalls | GreedyLevels
Known: TypeAlias = csr_array | AdaptiveBalls | GreedyLevels | None


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
) -> PathBalls:
    """Return the neighbourhoods at all rising `radii`, or within these limits to their `own`.

    No distance is computed if the levels, or the balls within the limits, are `known`.
    """
    if isinstance(known, GreedyLevels | AdaptiveBalls):
        return known
    if own and known is None:
        (found,) = find_adaptive_balls(
            training,
            [TrainingSubset.whole(training)],
            limits=radii,
            closed=closed,
            least_cost=prototype_cost,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return found
    if known is None:
        known = training_levels(
            training, radii=radii, closed=closed, rng=rng, n_jobs=n_jobs, verbose=verbose
        )
    if wants_lists(solver, options, own=own):
        return GreedyLevels.of(training, known, n_levels=len(radii))
    return Balls(known, TrainingSubset.whole(training), prototype_cost, len(radii))


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
    """The greedy's selections with their bounds, computed for one radius when they are needed.

    Parameters
    ----------
    training : Training
        Samples and candidates.
    balls : Balls
        Their neighbourhoods, at the lowest cost.
    costs : ndarray of float
        Rising costs of a prototype.
    solver : callable
        The greedy.
    options : mapping
        Its options.
    rngs : list of numpy.random.Generator
        One per class.
    min_per_class : int
        Whether every class must have a prototype.
    """

    training: Training
    balls: Balls
    costs: Floats
    solver: Solver
    options: Mapping[str, Any]
    rngs: Sequence[np.random.Generator]
    min_per_class: int

    @classmethod
    def of(
        cls,
        training: Training,
        balls: PathBalls,
        costs: Floats,
        *,
        solver: Solver,
        options: Mapping[str, Any],
        rng: np.random.Generator,
        min_per_class: int = 0,
    ) -> Self | None:
        """Return the postponed bounds if the selections can be computed without, else None."""
        if not isinstance(balls, Balls) or not has_prefixes(solver):
            return None
        rngs = rng.spawn(len(training.classes))
        return cls(training, balls, costs, solver, options, rngs, min_per_class)

    def without(self) -> GreedyLevels:
        """Return what gives the same selections without bounds."""
        return GreedyLevels.of(self.training, self.balls.levels, n_levels=self.balls.n_levels)

    def selections(self, k: int) -> tuple[Selection, ...]:
        """Return the selections at radius number `k`, one for each cost, with bounds."""
        return _solve_level(
            self.balls.problems(k, only_worthwhile=True),
            self.costs,
            self.solver,
            self.rngs,
            self.options,
            min_per_class=self.min_per_class,
        )


def solve_path(
    balls: PathBalls,
    *,
    n_classes: int,
    costs: Floats,
    solver: Solver,
    options: Mapping[str, Any],
    rng: np.random.Generator,
    min_per_class: int = 0,
    verbose: int,
    max_prototypes: int | Mapping[int, int] | None = None,
) -> tuple[tuple[Selection, ...], ...]:
    """Solve every class's problem, level by level, for all of the rising `costs`.

    The problems are those of the lowest cost. Every setting is solved with the randomness
    of its own fit, and within a budget of `max_prototypes`, in total or by class number.
    The greedy's selections are cut to the budget without new bounds.
    """
    prefixes = has_prefixes(solver)
    found: Iterable[tuple[Selection, ...]]
    if isinstance(balls, GreedyLevels):
        n_levels = balls.holders.n_levels
        found = balls.selections(costs, min_per_class=min_per_class)
    else:
        n_levels = balls.n_levels
        by_level = (balls.problems(k, only_worthwhile=prefixes) for k in range(n_levels))
        if max_prototypes is not None and not prefixes:
            solve = partial(
                select,
                solver=solver,
                max_prototypes=max_prototypes,
                min_per_class=min_per_class,
                options=options,
            )
            found = (_solve_within(list(some), costs, solve, rng) for some in by_level)
        else:
            rngs = rng.spawn(n_classes)
            found = (
                _solve_level(some, costs, solver, rngs, options, min_per_class=min_per_class)
                for some in by_level
            )
    with progress_bar(found, n_levels, "radii", verbose) as bar:
        if max_prototypes is None or not prefixes:
            return tuple(bar)
        return tuple(
            tuple(one.within(max_prototypes, min_per_class=min_per_class) for one in row)
            for row in bar
        )


def _solve_within(
    classes: Sequence[ClassProblem],
    costs: Floats,
    solve: Callable[..., Selection],
    rng: np.random.Generator,
) -> tuple[Selection, ...]:
    """Return the selections of a solver within a budget, one for each of the rising `costs`."""
    return tuple(
        solve([one.at_cost(cost) for one in classes], rng=deepcopy(rng)) for cost in costs.tolist()
    )


def _solve_level(
    classes: Iterable[ClassProblem],
    costs: Floats,
    solver: Solver,
    rngs: Sequence[np.random.Generator],
    options: Mapping[str, Any],
    *,
    min_per_class: int,
) -> tuple[Selection, ...]:
    """Return the selections at one level, one for each of the rising `costs`.

    `rngs` are one generator per class; each problem gets a copy of its class's.
    """
    solved = [
        _solve_class(of_class, costs, solver, rng, options, min_per_class=min_per_class)
        for of_class, rng in zip(classes, rngs, strict=True)
    ]
    return tuple(map(Selection.joined, zip(*solved, strict=True)))


def _solve_class(
    of_class: ClassProblem,
    costs: Floats,
    solver: Solver,
    rng: np.random.Generator,
    options: Mapping[str, Any],
    *,
    min_per_class: int,
) -> list[ClassSelection]:
    """Solve one class's problem for all costs."""

    def solve(problem: CoverProblem) -> CoverSolution:
        return ask_solver(solver, problem, rng=deepcopy(rng), options=options)

    prefixes: Sequence[CoverSolution | None] = [None] * len(costs)
    if has_prefixes(solver):
        prefixes = _prefixes(of_class.problem, solve(of_class.problem), costs)
    selections = []
    for cost, prefix in zip(costs.tolist(), prefixes, strict=True):
        priced = of_class.at_cost(cost) if prefix is None else of_class
        solution = solve(priced.problem) if prefix is None else prefix
        if min_per_class and len(solution.selected) == 0:
            solution = with_floor(priced.problem.at_cost(cost), solution)
        selections.append(ClassSelection.of(priced, solution))
    return selections


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
