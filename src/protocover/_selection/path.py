"""Selections for many radii and costs: each class's problem is solved for all costs.

The problems come from one pass over the dissimilarities, one radius or maximum radius after the
other. For the paper's greedy the selection for any cost is a prefix of that for the lowest. If
no bounds are needed, it does not need the problems either: :class:`GreedyLevels` selects straight
from lists, and bounds can be computed later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from .._balls import traits_of
from .._cover import CoverProblem, CoverSolution, Limit, is_above, simplest_fraction
from .._resources import progress_bar
from .._typing import Floats, Indices
from ..solvers import greedy
from ..solvers._duals import ascend
from ..solvers._registry import Solver, ask_solver, unwrapped
from .adaptive_radii import AdaptiveBalls, find_adaptive_balls
from .balls import Balls, ClassProblem, OutwardLists
from .selection import ClassSelection, Selection, select, with_floor
from .training import Training, TrainingSubset, training_levels


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
    """The greedy's selections with their bounds, computed for one radius when they are needed."""

    training: Training  # Samples and candidates
    balls: Balls  # Their neighbourhoods, at the lowest cost
    costs: Floats  # Rising costs of a prototype
    solver: Solver  # The greedy
    options: Mapping[str, Any]  # Its options
    rngs: Sequence[np.random.Generator]  # One per class
    min_per_class: int  # Whether every class must have a prototype

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


# A fit solves with `solvers.greedy`: its bound needs the problem of each class anyway, from which
# lists would first have to be made. A path without bounds needs no problems, which saves most.
@dataclass(frozen=True, eq=False)
class GreedyLevels:
    """The paper's greedy at many radii, all classes in one run, straight from lists of levels.

    It selects what :func:`protocover.solvers.greedy` selects class by class, without bounds. A
    neighbourhood can only be worth its cost to the class that has more than half of the weight in
    it, so the gain of a candidate is one number, whatever the number of classes. Classes do not
    compete for candidates: each class's order is that of the class alone.
    """

    holders: OutwardLists
    members: OutwardLists
    subset: TrainingSubset

    @classmethod
    def of(cls, training: Training, levels: csr_array, *, n_levels: int) -> Self:
        """Take all samples and candidates of a training set, given the table of their levels."""
        holders = members = OutwardLists.of(levels, n_levels)
        if not (training.chooses_points and traits_of(training.dissimilarity).symmetric):
            members = OutwardLists.of(levels.T.tocsr(), n_levels)
        return cls(holders, members, TrainingSubset.whole(training))

    def selections(
        self, costs: Floats, *, min_per_class: int = 0
    ) -> Iterator[tuple[Selection, ...]]:
        """Yield the selections radius by radius, one for each of the rising `costs`.

        With `min_per_class`, a class of which nothing is worth its cost gets its best candidate.
        """
        subset, rows = self.subset, np.flatnonzero(self.subset.codes >= 0)
        weight = np.zeros((subset.n_classes, len(subset.candidate)))
        for k in range(self.holders.n_levels):
            holder, sizes = self.holders.between(rows, k, k + 1)
            place = np.repeat(subset.codes[rows] * weight.shape[1], sizes) + holder
            new = np.bincount(place, np.repeat(subset.weights[rows], sizes), minlength=weight.size)
            weight += new.reshape(weight.shape)
            run = _Run.of(self, k, weight, cost=float(costs[0]))
            singles = self._singles(run, weight) if min_per_class else {}
            run.choose()
            yield run.selections(costs, singles)

    @cached_property
    def prizes(self) -> list[float]:
        """Weight of each class."""
        return list(self.subset.prizes.tolist())

    def _singles(self, run: _Run, weight: Floats) -> dict[int, _Choices]:
        """Return the candidate that alone gains most for each class that any covers."""
        total, singles = weight.sum(axis=0), {}
        for label in range(self.subset.n_classes):
            fits = self.subset.may_serve(label)
            fits = fits[(self.subset.candidate[fits] >= 0) & (weight[label, fits] > 0.0)]
            if len(fits):
                gain = 2.0 * weight[label, fits] - total[fits]
                best = fits[[gain.argmax()]]
                covered, miscovered = run.count_members(best, np.array([label]))
                singles[label] = _Choices(
                    best, gain.max(keepdims=True), covered, covered, miscovered
                )
        return singles


class _Choices(NamedTuple):
    """Candidates chosen for one class, with what a selection has of each."""

    candidate: Indices
    score: Floats
    newly_covered: Indices
    covered: Indices
    miscovered: Indices

    def at(self, rows: Indices) -> _Choices:
        """Return some of the choices."""
        return _Choices(*(one[rows] for one in self))  # type: ignore[arg-type]


@dataclass(eq=False)
class _Run:
    """One run of the greedy, at radius number `k`."""

    given: GreedyLevels  # What to choose from, all of it at radius number `k`
    k: int
    cost: float  # What a prototype costs
    alike: bool  # Whether all samples have the same weight
    unit: float  # That weight, else 1
    # The class that a candidate may represent, -1 where it is worth its cost to none, shape
    # (n_candidates,)
    label: Indices
    # Weight of the points of other classes in its ball, and of the uncovered points of that class
    # less it, shape (n_candidates,)
    wrong: Floats
    gain: Floats
    # Class of each sample that is not yet covered by its class, -1 for all others, shape
    # (n_points,)
    open: Indices
    # The candidates chosen so far, what each gained, and how many samples it covered
    chosen: list[int]
    score: list[float]
    newly: list[int]

    @classmethod
    def of(cls, given: GreedyLevels, k: int, weight: Floats, *, cost: float) -> _Run:
        """Start where nothing is chosen, given the weight of each class in each ball."""
        served = given.subset.served
        label = np.where(served >= 0, served, weight.argmax(axis=0))
        most = weight[label, np.arange(len(label))]
        wrong = weight.sum(axis=0) - most
        gain = most - wrong
        out = ~(gain > cost) | (given.subset.candidate < 0)
        label[out], gain[out] = -1, -np.inf
        weights, codes = given.subset.weights[given.subset.codes >= 0], given.subset.codes.copy()
        alike = bool((weights == weights[0]).all())
        unit = float(weights[0]) if alike else 1.0
        return cls(given, k, cost, alike, unit, label, wrong, gain, codes, [], [], [])

    def choose(self) -> None:
        """Choose the highest gain, of equals the first, until none is above the cost.

        Once all that are hold a single uncovered sample each, the rest is one sweep.
        """
        next_look = 0
        while True:
            best = int(self.gain.argmax())
            score = float(self.gain[best])
            if not score > self.cost:
                return
            ball = self._members(best)
            newly = ball[self.open[ball] == self.label[best]]
            if len(newly) == 1 and len(self.chosen) >= next_look:
                if self._sweep():
                    return
                next_look = len(self.chosen) * 5 // 4 + 8
            self.chosen.append(best)
            self.score.append(score)
            self.newly.append(len(newly))
            self._cover(newly, int(self.label[best]))

    def _members(self, candidate: int) -> Indices:
        """Return the samples in a candidate's ball."""
        lists = self.given.members
        start, stop = lists.end[candidate, 0], lists.end[candidate, self.k + 1]
        return np.asarray(lists.entry[start:stop], dtype=np.intp)

    def _cover(self, newly: Indices, label: int) -> None:
        """Take samples of one class out of all balls that hold them."""
        self.open[newly] = -1
        holder, sizes = self.given.holders.between(newly, 0, self.k + 1)
        weights = None if self.alike else np.repeat(self.given.subset.weights[newly], sizes)
        if len(holder) < len(self.gain):
            own = self.label[holder] == label
            lost = self.unit if weights is None else weights[own]
            np.subtract.at(self.gain, holder[own], lost)
        else:  # sums over all candidates are faster than looking up the class of each holder
            sums = np.bincount(holder, weights, minlength=len(self.gain)) * self.unit
            self.gain -= np.where(self.label == label, sums, 0.0)

    def _sweep(self) -> bool:
        """Choose all the rest if every candidate worth its cost holds one uncovered point.

        They stand in no one's way but that of others at the same sample, so that their
        order of gain now is the order in which they would be chosen.
        """
        worth_it = np.flatnonzero(self.gain > self.cost)
        held = self.gain[worth_it] + self.wrong[worth_it]
        if self.alike and (held > self.unit).any():
            return False
        left = np.flatnonzero(self.open >= 0)
        holder, sizes = self.given.holders.between(left, 0, self.k + 1)
        point = np.repeat(left, sizes)
        own = self.label[holder] == self.open[point]
        holder, point = holder[own], point[own]
        inside = np.bincount(holder, minlength=len(self.gain))
        if (inside[worth_it] > 1).any():
            return False
        only = np.empty(len(self.gain), dtype=np.intp)
        only[holder] = point
        order = worth_it[np.argsort(-self.gain[worth_it], kind="stable")]
        _, first = np.unique(only[order], return_index=True)
        taken = order[np.sort(first)]
        self.chosen += taken.tolist()
        self.score += self.gain[taken].tolist()
        self.newly += [1] * len(taken)
        return True

    def selections(self, costs: Floats, singles: dict[int, _Choices]) -> tuple[Selection, ...]:
        """Return what was chosen, cut off where each of the rising `costs` would stop it.

        Classes that are left without a prototype get that of `singles`.
        """
        chosen, score = np.array(self.chosen, dtype=np.intp), np.array(self.score)
        label = self.label[chosen]
        counts = self.count_members(chosen, label)
        every = _Choices(chosen, score, np.array(self.newly, dtype=np.intp), *counts)
        rows = [np.flatnonzero(label == k) for k in range(self.given.subset.n_classes)]
        selections = []
        for cost in costs.tolist():
            pays, exact_cost = is_above(score, cost), simplest_fraction(cost)
            first = (every.at(some[pays[some]]) for some in rows)
            by_class = [
                self._of_class(k, some, singles.get(k), exact_cost=exact_cost)
                for k, some in enumerate(first)
            ]
            selections.append(Selection.joined(by_class))
        return tuple(selections)

    def _of_class(
        self, label: int, chosen: _Choices, single: _Choices | None, *, exact_cost: Fraction
    ) -> ClassSelection:
        """Describe what was chosen for one class, or the `single` candidate if nothing was."""
        is_forced = single is not None and len(chosen.candidate) == 0
        chosen = single if single is not None and is_forced else chosen
        objective = Fraction(self.given.prizes[label] - chosen.score.sum())
        solution = CoverSolution(
            self.given.subset.candidate[chosen.candidate],
            chosen.score,
            chosen.newly_covered,
            float(objective + len(chosen.score) * exact_cost),
            limit=Limit(at_least=int(is_forced)),
        )
        return ClassSelection(solution, chosen.covered, chosen.miscovered, None)

    def count_members(self, chosen: Indices, classes: Indices) -> tuple[Indices, Indices]:
        """Count the samples of the class of each choice, and of other classes, in its ball."""
        point, sizes = self.given.members.between(chosen, 0, self.k + 1)
        place, code = np.repeat(np.arange(len(chosen)), sizes), self.given.subset.codes[point]
        own = np.bincount(place[code == np.repeat(classes, sizes)], minlength=len(chosen))
        return own, np.bincount(place[code >= 0], minlength=len(chosen)) - own


# What the neighbourhoods of a path are, and what may be known of them beforehand.
PathBalls: TypeAlias = Balls | AdaptiveBalls | GreedyLevels
Known: TypeAlias = csr_array | AdaptiveBalls | GreedyLevels | None
