"""Selections for many radii and costs: each class's problem is solved for all costs.

The problems come from one pass over the dissimilarities, one radius, or limit to radii of
their own, after the other. For the paper's greedy the selection for any cost is a prefix
of that for the lowest; where no bounds are asked for, it needs no problems either, and
bounds can come later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from .._cover import CoverProblem, CoverSolution
from .._resources import progress_bar
from ..solvers import greedy
from ..solvers._duals import ascend
from ..solvers._registry import Solver, ask_solver, unwrapped
from .adaptive_limits import LimitedBalls, balls_of_parts
from .adaptive_radii import at_cost
from .by_class import BallsOfClass, ClassProblem, join_balls, may_serve, select, with_floor
from .greedy_levels import GreedyLevels
from .part import Part
from .selected import Selection
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


@dataclass(frozen=True, eq=False)
class LevelProblems:
    """Each class's problem at every radius, written down when it is asked for.

    Parameters
    ----------
    training : Training
        Points and candidates.
    levels : csr_array of unsigned int, shape (n_points, n_candidates)
        One more than the number of the first radius that the pair is within.
    n_radii : int
        How many radii there are.
    prototype_cost : float
        What a prototype costs.
    worth_it : bool
        Whether only candidates whose balls gain no less than a prototype costs are in the
        problems, or the best one if none does, or all of them.
    """

    training: Training
    levels: csr_array
    n_radii: int
    prototype_cost: float
    worth_it: bool

    def __iter__(self) -> Iterator[Iterator[ClassProblem]]:
        """Yield the problems radius by radius."""
        return (self.at_radius(k) for k in range(self.n_radii))

    def at_radius(self, k: int) -> Iterator[ClassProblem]:
        """Yield each class's problem at radius number `k`, so that no two need be held at once."""
        classes = self.training.candidate_classes
        return _formulate_radius(
            self._shares, k, self.prototype_cost, classes, worth_it=self.worth_it
        )

    @cached_property
    def _shares(self) -> list[_ClassShare]:
        """What each class has of the levels."""
        training = self.training
        n_classes = len(training.classes)
        return _split_by_class(
            self.levels, training.codes, training.weights, n_classes, self.n_radii
        )


def _formulate_radius(
    shares: Sequence[_ClassShare],
    k: int,
    prototype_cost: float,
    candidate_classes: NDArray[np.intp],
    *,
    worth_it: bool,
) -> Iterator[ClassProblem]:
    """Yield each class's problem at radius number `k`."""
    total = np.sum([share.reach[k] for share in shares], axis=0)
    count = np.sum([share.counts[k] for share in shares], axis=0)
    for label, share in enumerate(shares):
        wrong, covered, levels = total - share.reach[k], share.counts[k], share.levels
        columns = may_serve(label, candidate_classes)
        if worth_it:
            columns = columns[covered[columns] > 0]
            gain = (share.reach[k] - wrong)[columns]
            pays = gain >= prototype_cost
            columns = (
                columns[pays] if pays.any() else columns[np.argsort(-gain, kind="stable")[:1]]
            )
        if len(columns) < levels.shape[1]:
            wrong, covered, levels = wrong[columns], covered[columns], levels[:, columns]
        problem = CoverProblem(_within(levels, k), wrong, share.prize, prototype_cost)
        balls = BallsOfClass(columns, None, covered, count[columns] - covered)
        yield ClassProblem(problem, balls)


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
