"""Recheck of a solution from its problem alone, in whole numbers, by none of the solvers' code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arithmetic import simplest_fraction
from .problem import CoverProblem
from .solution import CoverSolution

__all__ = ["ModelVerification", "Verification", "verify"]


@dataclass(frozen=True)
class Verification:
    """What a recheck of a solution found.

    Parameters
    ----------
    objective : float
        Objective of the selection, recomputed; nan if it is no selection.
    lower_bound : float
        What the dual vector proves, -inf if there is none.
    certificate : str
        What that amounts to: ``"proved"``, ``"bounded"`` or ``"none"``. The word of a
        branch and bound cannot be rechecked and does not count.
    faults : tuple of str
        What the solution says that is not so; empty if it tells the truth.
    """

    objective: float
    lower_bound: float
    certificate: str
    faults: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything that can be rechecked is as the solution says."""
        return not self.faults


@dataclass(frozen=True, repr=False)
class ModelVerification:
    """What a recheck of a fitted model found.

    Parameters
    ----------
    by_class : mapping from label to Verification
        What was found of each class.
    faults : tuple of str
        What the model says as a whole that is not so, or not of these data.
    unchecked : str
        What could not be rechecked and why; empty if all could.

    See Also
    --------
    protocover.PVMClassifier.verify : Rechecks a model against its training data.
    """

    by_class: Mapping[Any, Verification]
    faults: tuple[str, ...] = ()
    unchecked: str = ""

    @property
    def ok(self) -> bool:
        """Whether everything that can be rechecked is as the model says."""
        return not self.faults and all(found.ok for found in self.by_class.values())

    @property
    def objective(self) -> float:
        """Objective of all classes, recomputed."""
        return math.fsum(found.objective for found in self.by_class.values())

    @property
    def lower_bound(self) -> float:
        """What the dual vectors prove, -inf if one is missing."""
        return math.fsum(found.lower_bound for found in self.by_class.values())

    @property
    def certificate(self) -> str:
        """What that amounts to: ``"proved"``, ``"bounded"`` or ``"none"``."""
        words = ("none", "bounded", "proved")
        return min((found.certificate for found in self.by_class.values()), key=words.index)

    def __repr__(self) -> str:
        lines = [
            f"The model is {'' if self.ok else 'not '}what it says: objective {self.objective:g}, "
            f"bound rechecked {self.lower_bound:g} ({self.certificate})"
        ]
        lines += [f"  fault: {fault}" for fault in self.faults]
        for label, found in self.by_class.items():
            told = f"{found.objective:g}, bound {found.lower_bound:g} ({found.certificate})"
            lines += [f"  class {label!r}: objective {told}"]
            lines += [f"    fault: {fault}" for fault in found.faults]
        return "\n".join(
            [*lines, *([f"  not rechecked: {self.unchecked}"] * bool(self.unchecked))]
        )


def verify(problem: CoverProblem, solution: CoverSolution) -> Verification:
    """Recheck a solution: its indices, its objective, its bound and its certificate.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which
    must lie between 0 and the prizes, rounded up to the next value that an objective can
    have. All sums are of Python's whole numbers.

    Parameters
    ----------
    problem : CoverProblem
        The problem that the solution is said to solve.
    solution : CoverSolution
        What a solver returned.

    Returns
    -------
    Verification
        With what was found and every fault by name.

    Examples
    --------
    >>> import numpy as np
    >>> from dataclasses import replace
    >>> from scipy.sparse import csc_array
    >>> from protocover.solvers import greedy
    >>> cover = csc_array(np.array([[True, False], [True, True], [False, True]]))
    >>> problem = CoverProblem(cover, np.array([0.0, 1.0]), np.ones(3), prototype_cost=0.5)
    >>> solution = greedy(problem)
    >>> verify(problem, solution)
    Verification(objective=1.5, lower_bound=1.5, certificate='proved', faults=())
    >>> verify(problem, replace(solution, objective=1.0)).faults
    ('objective is 1.5, not 1.0', 'lower_bound is 1.5, above the objective 1.0')
    """
    faults = list(_index_faults(problem, solution.selected))
    if faults:
        return Verification(math.nan, -math.inf, "none", tuple(faults))
    objective = _objective(problem, solution.selected)
    bound, doubts = _bound(problem, solution.dual)
    word = "none" if bound is None else "proved" if bound >= objective else "bounded"
    proved = -math.inf if bound is None else float(min(bound, objective))
    faults += doubts
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += _word_faults(solution, word, proved)
    faults += _order_faults(problem, solution)
    return Verification(float(objective), proved, word, tuple(faults))


def _index_faults(problem: CoverProblem, selected: NDArray[np.intp]) -> list[str]:
    """Say what is wrong with `selected` as a selection."""
    chosen = selected.tolist()
    if any(not 0 <= j < problem.n_candidates for j in chosen):
        return [f"selected must lie between 0 and {problem.n_candidates - 1}, got {chosen}"]
    if len(set(chosen)) < len(chosen):
        return [f"selected must not repeat a candidate, got {chosen}"]
    return []


def _word_faults(solution: CoverSolution, word: str, proved: float) -> list[str]:
    """Compare the certificate and the bound that a solution states with what was found."""
    stated = solution.certificate
    if stated in ("proved", "bounded"):
        strength = ("none", "bounded", "proved").index
        overstated = strength(stated) > strength(word)
        faults = [f"certificate is {word!r}, not {stated!r}"] if overstated else []
        if solution.lower_bound > proved:
            faults.append(f"lower_bound is {proved!r}, not {solution.lower_bound!r}")
        return faults
    if stated == "none" and solution.lower_bound > -math.inf:
        return [f"lower_bound is {solution.lower_bound!r} but the certificate 'none'"]
    if stated not in ("none", "solver-proved", "solver-bounded"):
        return [f"certificate is {stated!r}, which says nothing"]
    if stated == "solver-proved" and solution.lower_bound < solution.objective:
        return [f"lower_bound is {solution.lower_bound!r} but the certificate 'solver-proved'"]
    return []


def _order_faults(problem: CoverProblem, solution: CoverSolution) -> list[str]:
    """Recount what each choice newly covers, and look at the order that the scores stand for."""
    faults, seen, news = [], np.zeros(problem.n_points, dtype=bool), []
    for j in solution.selected.tolist():
        ball = problem.cover.indices[problem.cover.indptr[j] : problem.cover.indptr[j + 1]]
        news.append(int((~seen[ball]).sum()))
        seen[ball] = True
    if news != solution.newly_covered.tolist():
        faults.append(f"newly_covered is {news}, not {solution.newly_covered.tolist()}")
    score = solution.score
    if score.shape != solution.selected.shape or not (score[1:] <= score[:-1]).all():
        faults.append("score must hold a number for each choice and never rise")
    return faults


def _objective(problem: CoverProblem, selected: NDArray[np.intp]) -> Fraction:
    """Objective of a selection: prizes of the points in no ball, wrong weights, prototypes."""
    covered = np.asarray(problem.cover[:, selected].sum(axis=1)).ravel() > 0
    weights = [*problem.prize[~covered].tolist(), *problem.wrong[selected].tolist()]
    exact_cost = simplest_fraction(problem.prototype_cost)
    return sum(map(Fraction, weights), Fraction(0)) + len(selected) * exact_cost


def _bound(
    problem: CoverProblem, dual: NDArray[np.float64] | None
) -> tuple[Fraction | None, list[str]]:
    """Bound that `dual` proves, and what is wrong with it."""
    if dual is None:
        return None, []
    if dual.shape != problem.prize.shape or not ((dual >= 0) & (dual <= problem.prize)).all():
        return None, ["dual must hold one number per point, between 0 and the point's prize"]
    numbers = np.concatenate((dual, problem.prize, problem.wrong))
    scale = _scale(numbers)
    u, prize, wrong = (
        _whole(part, scale) for part in np.split(numbers, [problem.n_points, 2 * problem.n_points])
    )
    exact_cost = simplest_fraction(problem.prototype_cost) * scale
    paid, reach = _ball_sums(problem, u), _ball_sums(problem, prize)
    bound = Fraction(sum(u))
    pays = [j for j in range(problem.n_candidates) if wrong[j] + exact_cost < reach[j]]
    bound += sum((min(Fraction(0), wrong[j] + exact_cost - paid[j]) for j in pays), Fraction(0))
    unit = reduce(_common, [Fraction(w) for w in {*prize, *(wrong[j] for j in pays)}], exact_cost)
    if unit:
        bound = math.ceil(bound / unit) * unit
    return bound / scale, []


def _scale(numbers: NDArray[np.float64]) -> int:
    """Power of two that makes all `numbers` whole."""
    return max((x.as_integer_ratio()[1] for x in set(numbers.tolist())), default=1)


def _whole(numbers: NDArray[np.float64], scale: int) -> list[int]:
    """Return `numbers` times `scale` as Python's whole numbers."""
    ratios = (x.as_integer_ratio() for x in numbers.tolist())
    return [above * (scale // below) for above, below in ratios]


def _ball_sums(problem: CoverProblem, values: list[int]) -> list[int]:
    """Sum whole numbers over the points of each ball, in 64 bits where they fit."""
    if sum(values) < 2**62:
        sums = problem.cover.astype(np.int64).T @ np.array(values, dtype=np.int64)
        return [int(total) for total in sums]
    starts, points = problem.cover.indptr.tolist(), problem.cover.indices.tolist()
    return [
        sum(values[i] for i in points[starts[j] : starts[j + 1]])
        for j in range(problem.n_candidates)
    ]


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Largest number of which both are whole multiples."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)
