"""Labels, balls and weights in, one cover problem per class out; and their solutions joined.

The prototype vector machine's integer program separates by class (paper, appendix A).
Here is the one place where that happens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..cover import CoverProblem, CoverSolution
from ..solvers import Solver, is_ours, solve_jointly, solve_together
from .selected import Selection, SharedBudget, order_jointly

__all__ = [
    "BallsOfClass",
    "ClassProblem",
    "Formulation",
    "formulate",
    "join_balls",
    "select",
]


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
) -> list[CoverProblem]:
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
    """
    members = [np.flatnonzero(y == label) for label in range(n_classes)]
    covers = [balls[rows].tocsc() for rows in members]
    reach = [cover.T @ weights[rows] for cover, rows in zip(covers, members, strict=True)]
    total = np.sum(reach, axis=0, dtype=np.float64)
    return [
        CoverProblem(cover, total - own, weights[rows], prototype_cost)
        for cover, own, rows in zip(covers, reach, members, strict=True)
    ]


def select(
    problems: Sequence[CoverProblem],
    solver: Solver,
    *,
    balls: Sequence[BallsOfClass] | None = None,
    n_prototypes: int | Mapping[int, int] | None = None,
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
    n_prototypes : int, mapping from class number to int, or None
        At most so many prototypes in total, or for each class named.
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
    if isinstance(n_prototypes, int) and is_ours(solver):
        return _select_within(
            problems, solver, balls, n_prototypes, rng=rng, options=given, verbose=verbose
        )
    budgets = [
        n_prototypes.get(label) if isinstance(n_prototypes, Mapping) else n_prototypes
        for label in range(len(problems))
    ]
    solutions = _solve(problems, solver, budgets, rng=rng, options=given, verbose=verbose)
    if isinstance(n_prototypes, int):
        solutions = _spend(problems, solutions, n_prototypes)
    return _joined(problems, solutions, balls)


def _select_within(
    problems: Sequence[CoverProblem],
    solver: Solver,
    balls: Sequence[BallsOfClass] | None,
    n_prototypes: int,
    *,
    rng: np.random.Generator,
    options: dict[str, Any],
    verbose: int,
) -> Selection:
    """Choose at most `n_prototypes` of all classes together."""

    def solve_all(
        priced: Sequence[CoverProblem], time_limit: float | None
    ) -> Sequence[CoverSolution]:
        limited = options if time_limit is None else {**options, "time_limit": time_limit}
        budgets = [None] * len(priced)
        return _solve(priced, solver, budgets, rng=rng, options=limited, verbose=verbose)

    found = solve_jointly(solver, problems, solve_all, n_prototypes, options=options)
    shared = SharedBudget(n_prototypes, found.lower_bound, found.certificate)
    return replace(_joined(problems, found.solutions, balls), budget=shared)


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
    return Selection.joined(solutions, covered=covered, miscovered=miscovered)


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
    return Selection.joined(
        by_candidate,
        covered=[one.covered for one in chosen],
        miscovered=[one.miscovered for one in chosen],
        radii=radii or None,
    )


def _spend(
    problems: Sequence[CoverProblem], solutions: Sequence[CoverSolution], budget: int
) -> list[CoverSolution]:
    """Keep the first `budget` prototypes of the joint order."""
    classes, _ = order_jointly(solutions)
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
