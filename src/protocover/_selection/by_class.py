"""Labels, balls and weights in, one cover problem per class out; and their solutions joined.

The prototype vector machine's integer program separates by class (paper, appendix A).
Here is the one place where that happens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._cover import CoverProblem, CoverSolution, Limit, SharedBound
from ..solvers._budget import shared_bound
from ..solvers._joint import solve_jointly
from ..solvers._registry import Solver, is_ours
from ..solvers._rounds import solve_together
from .selected import Selection, order_jointly

# Solutions of all classes, and what is stated about them together.
Joint = tuple[list[CoverSolution], SharedBound]


@dataclass(frozen=True, eq=False)
class BallsOfClass:
    """What the columns of a class's problem stand for, where they are not all candidates.

    Parameters
    ----------
    candidate : ndarray of int, shape (n_balls,)
        The candidate at the centre of each ball, by its column in the table of balls.
    radius : ndarray of float, shape (n_balls,), or None
        Its radius; None where all share one.
    covered, miscovered : ndarray of int, shape (n_balls,)
        Points of the class, and of the other classes, in it.
    """

    candidate: NDArray[np.intp]
    radius: NDArray[np.float64] | None
    covered: NDArray[np.intp]
    miscovered: NDArray[np.intp]

    def chosen(self, columns: NDArray[np.intp]) -> Self:
        """Return the balls at some columns, in their order."""
        return type(self)(
            self.candidate[columns],
            None if self.radius is None else self.radius[columns],
            self.covered[columns],
            self.miscovered[columns],
        )


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The problem of one class, and what its columns stand for."""

    problem: CoverProblem
    balls: BallsOfClass


@dataclass(frozen=True, eq=False)
class Formulation:
    """One problem per class, and what their columns stand for.

    Parameters
    ----------
    problems : list of CoverProblem
        One for each class.
    balls : list of BallsOfClass or None
        None where each column is the ball of a candidate, of the radius that all share.
    """

    problems: Sequence[CoverProblem]
    balls: Sequence[BallsOfClass] | None = None


def formulate(
    balls: csr_array,
    y: NDArray[np.intp],
    weights: NDArray[np.float64],
    *,
    n_classes: int,
    prototype_cost: float,
    candidate_classes: NDArray[np.intp] | None = None,
) -> Formulation:
    """Write down each class's prize-collecting set cover.

    Parameters
    ----------
    balls : csr_array of bool, shape (n_points, n_candidates)
        Which point lies in which candidate's ball.
    y : ndarray of int, shape (n_points,)
        Class numbers from 0.
    weights : ndarray of float, shape (n_points,)
        What leaving the point uncovered, or covering it wrongly once, costs.
    n_classes : int
        Number of classes, some of which may be empty.
    prototype_cost : float
        The cost of one prototype.
    candidate_classes : ndarray of int, shape (n_candidates,), or None
        The class that each candidate may serve, -1 for any; None if all may serve any.
    """
    members = [np.flatnonzero(y == label) for label in range(n_classes)]
    covers = [balls[rows].tocsc() for rows in members]
    reach = [cover.T @ weights[rows] for cover, rows in zip(covers, members, strict=True)]
    total = np.sum(reach, axis=0, dtype=np.float64)
    if candidate_classes is None or (candidate_classes < 0).all():
        problems = [
            CoverProblem(cover, total - own, weights[rows], prototype_cost)
            for cover, own, rows in zip(covers, reach, members, strict=True)
        ]
        return Formulation(problems)
    sizes = [np.diff(cover.indptr).astype(np.intp) for cover in covers]
    n_members = np.sum(sizes, axis=0)
    problems, described = [], []
    for label, (cover, own, rows) in enumerate(zip(covers, reach, members, strict=True)):
        columns = may_serve(label, candidate_classes)
        wrong, covered = (total - own)[columns], sizes[label][columns]
        problems.append(CoverProblem(cover[:, columns], wrong, weights[rows], prototype_cost))
        described.append(BallsOfClass(columns, None, covered, n_members[columns] - covered))
    return Formulation(problems, described)


def may_serve(label: int, candidate_classes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the candidates that may become prototypes of a class."""
    return np.flatnonzero((candidate_classes == label) | (candidate_classes < 0))


def select(
    problems: Sequence[CoverProblem],
    solver: Solver,
    *,
    balls: Sequence[BallsOfClass] | None = None,
    max_prototypes: int | Mapping[int, int] | None = None,
    min_per_class: int = 0,
    rng: np.random.Generator | None = None,
    options: Mapping[str, Any] | None = None,
    verbose: int = 0,
) -> Selection:
    """Solve every class's problem and join the solutions in one order.

    The order is by falling score, then class, then the solver's own order within the
    class: for the paper's greedy, the order in which it takes (candidate, class) pairs
    when run on all classes at once.

    Parameters
    ----------
    problems : sequence of CoverProblem
        One for each class.
    solver : Solver
        Applied to each of them.
    balls : sequence of BallsOfClass or None
        What the problems' columns stand for; None where each is the ball of a candidate,
        of the radius that all share.
    max_prototypes : int, mapping from class number to int, or None
        At most so many prototypes in total, or for each class named.
    min_per_class : int, default=0
        1 if every class must have a prototype, but those whose own budget is 0.
    rng : numpy.random.Generator or None
        Each class gets its own child of it; None for a fixed seed.
    options : mapping or None
        Passed on to the solver. A ``time_limit``, given or the solver's default, is for
        all classes together (:func:`protocover.solvers.solve_together`).
    verbose : int, default=0
        Above 0, a progress bar over the classes.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    given = dict(options or {})
    if isinstance(max_prototypes, int) and is_ours(solver):
        return _select_within(
            problems,
            solver,
            balls,
            max_prototypes,
            min_per_class=min_per_class,
            rng=rng,
            options=given,
            verbose=verbose,
        )
    budgets = [
        max_prototypes.get(label) if isinstance(max_prototypes, Mapping) else max_prototypes
        for label in range(len(problems))
    ]
    solutions = _solve(problems, solver, budgets, rng=rng, options=given, verbose=verbose)
    if isinstance(max_prototypes, int):
        solutions = _spend(problems, solutions, max_prototypes, min_per_class=min_per_class)
    if min_per_class:
        solutions = [
            solution if budget == 0 else with_floor(problem, solution)
            for problem, solution, budget in zip(problems, solutions, budgets, strict=True)
        ]
    return _joined(problems, solutions, balls)


def with_floor(problem: CoverProblem, solution: CoverSolution) -> CoverSolution:
    """Return a solution, or the best single candidate if it is empty and need not be.

    A class without samples needs no prototype, and one whose samples no candidate covers can
    have none.
    """
    if len(solution.selected) or not problem.covers_any:
        return solution
    return CoverSolution.best_single(problem)


def _select_within(
    problems: Sequence[CoverProblem],
    solver: Solver,
    balls: Sequence[BallsOfClass] | None,
    max_prototypes: int,
    *,
    min_per_class: int,
    rng: np.random.Generator,
    options: dict[str, Any],
    verbose: int,
) -> Selection:
    """Choose at most `max_prototypes` of all classes together."""

    def solve_all(
        priced: Sequence[CoverProblem], time_limit: float | None
    ) -> Sequence[CoverSolution]:
        limited = options if time_limit is None else {**options, "time_limit": time_limit}
        budgets = [None] * len(priced)
        return _solve(priced, solver, budgets, rng=rng, options=limited, verbose=verbose)

    def solve_some(some: Sequence[CoverProblem], budget: int) -> Joint:
        return solve_jointly(solver, some, solve_all, budget, options=options)

    found = solve_some(problems, max_prototypes)
    if min_per_class:
        found = _with_floors(problems, found, max_prototypes, solve_some)
    solutions, shared = found
    return replace(_joined(problems, solutions, balls), shared=shared)


def _solve(
    problems: Sequence[CoverProblem],
    solver: Solver,
    budgets: Sequence[int | None],
    *,
    rng: np.random.Generator,
    options: dict[str, Any],
    verbose: int,
) -> list[CoverSolution]:
    """Solve every class's problem, each with a budget of its own."""
    rngs = rng.spawn(len(problems))
    return solve_together(
        solver, problems, rngs=rngs, budgets=budgets, options=options, verbose=verbose
    )


def _joined(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    balls: Sequence[BallsOfClass] | None,
) -> Selection:
    """Join the solutions of all classes."""
    if balls is not None:
        return join_balls(solutions, balls)
    covered, miscovered = _count_members(problems, solutions)
    return Selection._joined(solutions, covered=covered, miscovered=miscovered)


def join_balls(solutions: Sequence[CoverSolution], balls: Sequence[BallsOfClass]) -> Selection:
    """Join the solutions of all classes, whose choices are the `balls` of each class."""
    chosen = [
        one.chosen(solution.selected) for one, solution in zip(balls, solutions, strict=True)
    ]
    by_candidate = [
        replace(solution, selected=one.candidate)
        for solution, one in zip(solutions, chosen, strict=True)
    ]
    radii = [one.radius for one in chosen if one.radius is not None]
    return Selection._joined(
        by_candidate,
        covered=[one.covered for one in chosen],
        miscovered=[one.miscovered for one in chosen],
        radii=radii or None,
    )


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
    chosen: Sequence[NDArray[np.intp]],
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


def _count_members(
    problems: Sequence[CoverProblem], solutions: Sequence[CoverSolution]
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """Count the points of its own and of other classes in each prototype's ball, by class."""
    sizes = [np.diff(problem.cover.indptr).astype(np.intp) for problem in problems]
    chosen = [solution.selected for solution in solutions]
    total = np.sum(sizes, axis=0)
    own = [size[columns] for size, columns in zip(sizes, chosen, strict=True)]
    return own, [total[columns] - held for columns, held in zip(chosen, own, strict=True)]
