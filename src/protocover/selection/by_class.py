"""Labels, balls and weights in, one cover problem per class out; and their solutions joined.

The prototype vector machine's integer program separates by class (paper, appendix A).
Here is the one place where that happens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..cover import CoverProblem, CoverSolution, relative_gap
from ..solvers import Solver, is_ours, solve_jointly, solve_together

__all__ = [
    "BallsOfClass",
    "ClassProblem",
    "Formulation",
    "Selection",
    "SharedBudget",
    "formulate",
    "join_balls",
    "select",
    "snap_to",
    "snap_weights",
    "weight_grid",
]


@dataclass(frozen=True)
class SharedBudget:
    """What is known of all classes together where they share a budget.

    The bounds of the classes, each among selections of as many prototypes as it has, do not
    add up to one: another class might have made better use of a prototype.

    Parameters
    ----------
    n_prototypes : int
        At most so many in all.
    lower_bound : float
        No choice of so many has a smaller objective.
    certificate : str
        What that rests on, in the words of :class:`CoverSolution`.
    """

    n_prototypes: int
    lower_bound: float
    certificate: str


@dataclass(frozen=True, eq=False)
class Selection:
    """Prototypes of all classes, in one order of selection.

    Parameters
    ----------
    candidates : ndarray of int, shape (n_prototypes,)
        Column of each prototype in the table of balls. In a fitted model its place among
        all candidates as they were given, those of weight zero counted too.
    classes : ndarray of int, shape (n_prototypes,)
        Number of the class it stands for.
    newly_covered : ndarray of int, shape (n_prototypes,)
        Points of its class that no prototype of that class selected before it covers.
    covered, miscovered : ndarray of int, shape (n_prototypes,)
        Points of its class, and of the other classes, in its ball. The first are None
        where a file that the model was read from does not tell them.
    score : ndarray of float, shape (n_prototypes,)
        What the order was made by; for the greedy the drop in the objective before the
        cost of the prototype.
    radii : ndarray of float, shape (n_prototypes,), or None
        The radius of each, where they have radii of their own.
    solutions : tuple of CoverSolution
        The solution of each class's problem, with the same numbers of candidates.
    budget : SharedBudget or None
        What is known of all classes together where they had to share a budget.
    """

    candidates: NDArray[np.intp]
    classes: NDArray[np.intp]
    newly_covered: NDArray[np.intp]
    covered: NDArray[np.intp] | None
    miscovered: NDArray[np.intp]
    score: NDArray[np.float64]
    solutions: tuple[CoverSolution, ...]
    radii: NDArray[np.float64] | None = None
    budget: SharedBudget | None = None

    @classmethod
    def joined(
        cls,
        solutions: Sequence[CoverSolution],
        *,
        covered: Sequence[NDArray[np.intp]],
        miscovered: Sequence[NDArray[np.intp]],
        radii: Sequence[NDArray[np.float64]] | None = None,
    ) -> Self:
        """Put the solutions of all classes, and the counts of points in balls, into one order.

        By falling score, then class, then the solver's own order within the class.
        """
        classes, place = _order(solutions)
        offset = np.cumsum([0] + [len(solution.selected) for solution in solutions])
        at = offset[classes] + place
        return cls(
            score=np.concatenate([solution.score for solution in solutions])[at],
            candidates=np.concatenate([solution.selected for solution in solutions])[at],
            classes=classes,
            newly_covered=np.concatenate([solution.newly_covered for solution in solutions])[at],
            covered=np.concatenate(covered)[at],
            miscovered=np.concatenate(miscovered)[at],
            radii=None if radii is None else np.concatenate(radii)[at],
            solutions=tuple(solutions),
        )

    def rearranged(self, order: NDArray[np.intp]) -> Self:
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

    def renumbered(self, candidates: NDArray[np.intp]) -> Self:
        """Return the same selection with other numbers for its candidates, in their order."""
        known, first = np.unique(self.candidates, return_index=True)
        number = candidates[first]
        solutions = (
            replace(one, selected=number[np.searchsorted(known, one.selected)])
            for one in self.solutions
        )
        return replace(self, candidates=candidates, solutions=tuple(solutions))

    @property
    def objective(self) -> float:
        """Objective of the whole integer program (paper, equation 3)."""
        return math.fsum(solution.objective for solution in self.solutions)

    @property
    def lower_bound(self) -> float:
        """No choice of prototypes has a smaller objective; -inf where nothing is proved.

        With a budget no choice of so many.
        """
        if self.budget is not None:
            # The sum of the classes' objectives as floats may be off the sum as a float.
            proved = self.budget.certificate in ("proved", "solver-proved")
            return self.objective if proved else min(self.objective, self.budget.lower_bound)
        return math.fsum(solution.lower_bound for solution in self.solutions)

    @property
    def certificate(self) -> str:
        """What is known of the whole, and who says so; see :class:`CoverSolution`.

        It is proved only if every class is, nothing is known if nothing is known of one
        class, and it rests on the solver's word if any class does.
        """
        if self.budget is not None:
            return self.budget.certificate
        words = {solution.certificate for solution in self.solutions}
        if "none" in words:
            return "none"
        known = "proved" if words <= {"proved", "solver-proved"} else "bounded"
        return known if words <= {"proved", "bounded"} else f"solver-{known}"

    @property
    def gap(self) -> float:
        """Largest share of the objective that a better selection could save."""
        return relative_gap(self.objective, self.lower_bound)


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
        Each class gets its own child of it.
    options : mapping or None
        Passed on to the solver. A ``time_limit``, given or the solver's default, is for
        all classes together (:func:`protocover.solvers.solve_together`).
    verbose : int, default=0
        Above 0, a progress bar over the classes.
    """
    rng = np.random.default_rng() if rng is None else rng
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


def snap_weights(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round weights to a binary grid so coarse that all their sums are exact.

    Sums of grid numbers come out the same in any order, so that ties are ties on every
    machine and certificates can be checked to the last bit. Whole numbers stay as they
    are unless there are very many of them; other weights move by at most one part in
    2**30 of the largest for up to four million points.
    """
    return snap_to(weight_grid(float(weights.max(initial=0.0)), len(weights)), weights)


def snap_to(grid: float, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round weights to multiples of `grid`, only zeros to zero: no point gets lost."""
    return np.maximum(np.round(weights / grid), weights > 0.0) * grid


def weight_grid(largest: float, n_points: int) -> float:
    """Return the grid on which `n_points` weights up to `largest` have exact sums."""
    if largest == 0.0:
        return 1.0
    bits = 52 - math.ceil(math.log2(n_points + 1))
    mantissa, exponent = math.frexp(largest)
    least = exponent - 1 if mantissa == 0.5 else exponent
    # No grid is finer than the smallest positive number there is.
    return math.ldexp(1.0, max(least - bits, -1074))


def _spend(
    problems: Sequence[CoverProblem], solutions: Sequence[CoverSolution], budget: int
) -> list[CoverSolution]:
    """Keep the first `budget` prototypes of the joint order."""
    classes, _ = _order(solutions)
    kept = np.bincount(classes[:budget], minlength=len(solutions))
    return [
        solution.prefix(problem, k)
        for problem, solution, k in zip(problems, solutions, kept.tolist(), strict=True)
    ]


def _order(solutions: Sequence[CoverSolution]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Class and place within its class of every prototype, in the joint order."""
    sizes = [len(solution.selected) for solution in solutions]
    classes = np.repeat(np.arange(len(solutions)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, np.intp)])
    score = np.concatenate([solution.score for solution in solutions] or [np.empty(0)])
    order = np.lexsort((place, classes, -score))
    return classes[order], place[order]


def _count_members(
    problems: Sequence[CoverProblem], solutions: Sequence[CoverSolution]
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """Count the points of its own and of other classes in each prototype's ball, by class."""
    sizes = [np.diff(problem.cover.indptr).astype(np.intp) for problem in problems]
    chosen = [solution.selected for solution in solutions]
    total = np.sum(sizes, axis=0)
    own = [size[columns] for size, columns in zip(sizes, chosen, strict=True)]
    return own, [total[columns] - held for columns, held in zip(chosen, own, strict=True)]
