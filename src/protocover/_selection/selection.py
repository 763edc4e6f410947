"""Each class's problem solved, and the prototypes of all classes in one order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from .._cover import CoverProblem, CoverSolution, Limit, SharedBound, relative_gap
from .._typing import Floats, Indices
from ..solvers._budget import shared_bound
from ..solvers._joint import solve_jointly
from ..solvers._registry import Solver, is_ours
from ..solvers._rounds import solve_together
from .adaptive_radii import find_adaptive_balls
from .balls import ClassProblem, formulate
from .training import Training, TrainingSubset, pool_balls, side_by_side

# Solutions of all classes, and what is stated about them together.
Joint = tuple[list[CoverSolution], SharedBound]


@dataclass(frozen=True, eq=False)
class ClassSelection:
    """The solution of one class's problem, with the neighbourhoods of its prototypes."""

    # Its candidates are numbered by their columns in the table of neighbourhoods
    solution: CoverSolution
    # Number of samples of the class, and of other classes, in each neighbourhood, shape
    # (n_prototypes,)
    covered: Indices
    miscovered: Indices
    radius: Floats | None  # Its radius; None if all share one, shape (n_prototypes,)

    @classmethod
    def of(cls, problem: ClassProblem, solution: CoverSolution) -> Self:
        """Describe a solution of the problem of a class."""
        chosen = solution.selected
        return cls(
            replace(solution, selected=problem.candidate[chosen]),
            problem.covered[chosen],
            problem.miscovered[chosen],
            None if problem.radius is None else problem.radius[chosen],
        )


@dataclass(frozen=True, eq=False)
class Selection:
    """Prototypes of all classes, in one order of selection."""

    # Column of each prototype in the table of balls. In a fitted model its place among all
    # candidates as they were given, those of weight zero counted too, shape (n_prototypes,).
    candidates: Indices
    classes: Indices  # Number of the class it represents, shape (n_prototypes,)
    # Samples of its class that no prototype of that class selected before it covers, shape
    # (n_prototypes,)
    newly_covered: Indices
    # Samples of its class, and of the other classes, in its ball, shape (n_prototypes,)
    covered: Indices
    miscovered: Indices
    # What the order was made by; for the greedy the drop in the objective before the cost of the
    # prototype, shape (n_prototypes,)
    score: Floats
    # The solution of each class's problem, with the same numbers of candidates
    solutions: tuple[CoverSolution, ...]
    # The radius of each, where they have adaptive radii, shape (n_prototypes,)
    radii: Floats | None = None
    # What is stated about all classes together if they share a limit
    shared: SharedBound | None = None

    @classmethod
    def joined(cls, classes: Sequence[ClassSelection]) -> Self:
        """Put the prototypes of all classes into one order.

        By falling score, then class, then the solver's own order within the class: for the
        paper's greedy, the order in which it takes (candidate, class) pairs when run on all
        classes at once.
        """
        solutions = [one.solution for one in classes]
        labels, place = order_jointly(solutions)
        at = np.cumsum([0] + [len(one.selected) for one in solutions])[labels] + place
        radii = [one.radius for one in classes if one.radius is not None]
        return cls(
            candidates=np.concatenate([one.selected for one in solutions])[at],
            classes=labels,
            newly_covered=np.concatenate([one.newly_covered for one in solutions])[at],
            covered=np.concatenate([one.covered for one in classes])[at],
            miscovered=np.concatenate([one.miscovered for one in classes])[at],
            score=np.concatenate([one.score for one in solutions])[at],
            radii=np.concatenate(radii)[at] if radii else None,
            solutions=tuple(solutions),
        )

    def _rearranged(self, order: Indices) -> Self:
        """Return the same prototypes in another order, with `newly_covered` as first counted."""
        names = (
            "candidates",
            "classes",
            "newly_covered",
            "covered",
            "miscovered",
            "score",
            "radii",
        )
        there = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(self, **{name: array[order] for name, array in there.items()})

    def within(self, budget: int | Mapping[int, int], *, min_per_class: int = 0) -> Self:
        """Keep the first prototypes that a budget allows, in total or by class number.

        With `min_per_class` a total keeps the first prototype of every class. Objective and
        bound of the solutions stay those of the whole selection.
        """
        order = np.argsort(self.classes, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        begins = np.searchsorted(self.classes[order], self.classes[order])
        rank[order] = np.arange(len(order)) - begins
        if isinstance(budget, Mapping):
            allowed = [budget.get(label, len(order)) for label in range(len(self.solutions))]
            kept = np.flatnonzero(rank < np.array(allowed, dtype=np.intp)[self.classes])
        else:
            later = (rank > 0) & bool(min_per_class)
            kept = np.sort(np.argsort(later, kind="stable")[:budget])
        counts = np.bincount(self.classes[kept], minlength=len(self.solutions))
        solutions = (one.first(k) for one, k in zip(self.solutions, counts, strict=True))
        return replace(self._rearranged(kept), solutions=tuple(solutions))

    def renumbered(self, candidates: Indices) -> Self:
        """Return the same selection with other numbers for its candidates, in their order."""
        known, first = np.unique(self.candidates, return_index=True)
        number = candidates[first]
        solutions = (
            replace(one, selected=number[np.searchsorted(known, one.selected)])
            for one in self.solutions
        )
        return replace(self, candidates=candidates, solutions=tuple(solutions))

    @property
    def forced(self) -> Indices:
        """Numbers of the classes whose one prototype is there only because each must have one."""
        return np.flatnonzero([solution.limit.at_least for solution in self.solutions])

    @property
    def objective(self) -> float:
        """Objective of the whole integer program (paper, equation 3)."""
        return math.fsum(solution.objective for solution in self.solutions)

    @property
    def lower_bound(self) -> float:
        """No choice of prototypes has a smaller objective; -inf where nothing is proved.

        With a budget no choice of so many.
        """
        if self.shared is not None:
            # The rounded objectives of the classes may not add up to the rounded sum.
            if self.shared.lower_bound >= self.shared.objective:
                return self.objective
            return min(self.shared.lower_bound, math.nextafter(self.objective, -math.inf))
        bound = math.fsum(solution.lower_bound for solution in self.solutions)
        if all(solution.is_optimal for solution in self.solutions):
            return bound
        # Rounding must not make a sum of bounds reach the objective.
        return min(bound, math.nextafter(self.objective, -math.inf))

    @property
    def certificate(self) -> str:
        """The weakest certificate of the classes; see :class:`CoverSolution`."""
        if self.shared is not None:
            return self.shared.certificate
        words = {solution.certificate for solution in self.solutions}
        return next((word for word in ("none", "solver") if word in words), "verified")

    @property
    def gap(self) -> float:
        """Largest fraction of the objective that a better selection could save."""
        return relative_gap(self.objective, self.lower_bound)


def order_jointly(solutions: Sequence[CoverSolution]) -> tuple[Indices, Indices]:
    """Class and place within its class of every prototype, in the joint order."""
    sizes = [len(solution.selected) for solution in solutions]
    classes = np.repeat(np.arange(len(solutions)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, np.intp)])
    score = np.concatenate([solution.score for solution in solutions] or [np.empty(0)])
    order = np.lexsort((place, classes, -score))
    return classes[order], place[order]


def formulate_classes(
    training: Training,
    *,
    eps: float,
    adaptive_radii: bool,
    closed: bool,
    prototype_cost: float,
    rng: np.random.Generator | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    balls: list[csr_array] | None = None,
) -> list[ClassProblem]:
    """Formulate each class's problem for a fit, or for its recheck.

    `eps` is the radius, or the maximum radius with `adaptive_radii`; `rng` draws the candidates
    from which the memory needed is estimated. `balls` are the neighbourhoods of each pool if they
    are known; the list is emptied, so that none is held twice for long.
    """
    if adaptive_radii:
        (found,) = find_adaptive_balls(
            training,
            [TrainingSubset.whole(training)],
            limits=np.array([eps]),
            closed=closed,
            least_cost=prototype_cost,
            rng=rng,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return list(found.problems(0))
    if balls is None:
        rng = np.random.default_rng(0) if rng is None else rng
        balls = pool_balls(
            training, eps=eps, closed=closed, rng=rng, n_jobs=n_jobs, verbose=verbose
        )
    classes = formulate(
        side_by_side(balls),
        training.codes,
        training.weights,
        n_classes=len(training.classes),
        prototype_cost=prototype_cost,
        candidate_classes=training.candidate_classes,
    )
    balls.clear()
    return classes


def select(
    classes: Sequence[ClassProblem],
    solver: Solver,
    *,
    max_prototypes: int | Mapping[int, int] | None = None,
    min_per_class: int = 0,
    rng: np.random.Generator | None = None,
    options: Mapping[str, Any] | None = None,
    verbose: int = 0,
) -> Selection:
    """Solve every class's problem and join the solutions in one order.

    `max_prototypes` is the maximum in total or by class number. With `min_per_class` every class
    must have a prototype, except those whose own maximum is 0. Each class gets its own child of
    `rng`, None for a fixed seed. A ``time_limit`` in the `options` of the solver is for all
    classes together.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    problems, given = [one.problem for one in classes], dict(options or {})

    def solve_each(
        some: Sequence[CoverProblem], budgets: Sequence[int | None], **limited: Any
    ) -> list[CoverSolution]:
        return solve_together(
            solver,
            some,
            rngs=rng.spawn(len(some)),
            budgets=budgets,
            options={**given, **limited},
            verbose=verbose,
        )

    shared = None
    if isinstance(max_prototypes, int) and is_ours(solver):

        def solve_all(
            priced: Sequence[CoverProblem], time_limit: float | None
        ) -> Sequence[CoverSolution]:
            limited = {} if time_limit is None else {"time_limit": time_limit}
            return solve_each(priced, [None] * len(priced), **limited)

        def solve_within(some: Sequence[CoverProblem], budget: int) -> Joint:
            return solve_jointly(solver, some, solve_all, budget, options=given)

        solutions, shared = solve_within(problems, max_prototypes)
        if min_per_class:
            found = solutions, shared
            solutions, shared = _with_floors(problems, found, max_prototypes, solve_within)
    else:
        budgets = [
            max_prototypes.get(label) if isinstance(max_prototypes, Mapping) else max_prototypes
            for label in range(len(problems))
        ]
        solutions = solve_each(problems, budgets)
        if isinstance(max_prototypes, int):
            solutions = _spend(problems, solutions, max_prototypes, min_per_class=min_per_class)
        if min_per_class:
            solutions = [
                solution if budget == 0 else with_floor(problem, solution)
                for problem, solution, budget in zip(problems, solutions, budgets, strict=True)
            ]
    joined = Selection.joined(list(map(ClassSelection.of, classes, solutions)))
    return replace(joined, shared=shared)


def with_floor(problem: CoverProblem, solution: CoverSolution) -> CoverSolution:
    """Return a solution, or the best single candidate if it is empty and need not be.

    A class without samples needs no prototype, and one whose samples no candidate covers can
    have none.
    """
    if len(solution.selected) or not problem.covers_any:
        return solution
    return CoverSolution.best_single(problem)


def _with_floors(
    problems: Sequence[CoverProblem],
    found: Joint,
    budget: int,
    solve: Callable[[Sequence[CoverProblem], int], Joint],
) -> Joint:
    """Give each class that a shared budget left out its best single candidate.

    The other classes share what is left of the budget. The bound is that of all selections
    within the budget, of which those with a prototype for every class are some.
    """
    needs = [problem.covers_any for problem in problems]
    chosen = [solution.selected for solution in found[0]]
    forced: set[int] = set()
    while any(need and not len(one) for need, one in zip(needs, chosen, strict=True)):
        forced |= {k for k, one in enumerate(chosen) if needs[k] and not len(one)}
        others = [k for k in range(len(problems)) if k not in forced]
        for k in forced:
            chosen[k] = np.array([problems[k].best_single])
        if others:
            shared = solve([problems[k] for k in others], budget - len(forced))
            for k, solution in zip(others, shared[0], strict=True):
                chosen[k] = solution.selected
    if not forced:
        return found
    return _described_again(problems, found, chosen, forced)


def _described_again(
    problems: Sequence[CoverProblem],
    found: Joint,
    chosen: Sequence[Indices],
    forced: Set[int],
) -> Joint:
    """Describe other choices than those `found`, with the vectors that bound these."""
    solutions = [
        CoverSolution.of(
            problem,
            selected,
            dual=old.dual,
            status="best single" if k in forced else old.status,
            limit=Limit(
                at_most=None if old.price is None else len(selected),
                at_least=int(k in forced and len(problem.worthwhile) == 0),
            ),
            price=old.price,
        )
        for k, (problem, old, selected) in enumerate(zip(problems, found[0], chosen, strict=True))
    ]
    stated = found[1]
    bound = Fraction(stated.lower_bound) if stated.lower_bound > -math.inf else None
    word = (None, bound) if stated.certificate == "solver" else (bound, None)
    return solutions, shared_bound(problems, solutions, stated.limit.at_most or 0, *word)


def _spend(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    budget: int,
    *,
    min_per_class: int = 0,
) -> list[CoverSolution]:
    """Keep the first `budget` prototypes of the joint order, the first of each class first."""
    classes, place = order_jointly(solutions)
    if min_per_class:
        missing = sum(problem.covers_any for problem in problems) - len(np.unique(classes))
        budget = max(0, budget - missing)
        classes = classes[np.argsort(place > 0, kind="stable")]
    kept = np.bincount(classes[:budget], minlength=len(solutions))
    return [
        solution.prefix(problem, k)
        for problem, solution, k in zip(problems, solutions, kept.tolist(), strict=True)
    ]
