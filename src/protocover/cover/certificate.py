"""Recheck of a solution from its problem alone, in whole numbers, by none of the solvers' code."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from .arithmetic import simplest_fraction
from .problem import CoverProblem
from .solution import CoverSolution
from .verdict import Verification

__all__ = ["verify"]


def verify(
    problem: CoverProblem, solution: CoverSolution, *, order_by: str | None = None
) -> Verification:
    """Recheck a solution: all that it says but the word of a branch and bound.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which
    must lie between 0 and the prizes, rounded up to the next value that an objective can
    have. All sums are of Python's whole numbers.

    Parameters
    ----------
    problem : CoverProblem
        The problem that the solution is said to solve.
    solution : CoverSolution
        What a solver returned.
    order_by : {"drop", "ratio", "own"} or None, default=None
        What `score` must be: by how much each choice lowers the objective before
        ``prototype_cost``, the prize that it newly covers per cost, or a rule of the
        solver's own, of which only is known that it never rises. None for either of the
        first two, or for drops of which each is the least so far.

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
    if order_by not in (None, "drop", "ratio", "own"):
        raise ValueError(
            f"order_by must be 'drop', 'ratio', 'own' or None for the first two, got {order_by!r}"
        )
    faults = _form_faults(problem, solution)
    if faults:
        return Verification(math.nan, -math.inf, "none", tuple(faults))
    objective = _objective(problem, solution.selected)
    bound, faults = _bound(problem, solution.dual)
    word = "none" if bound is None else "proved" if bound >= objective else "bounded"
    proved = -math.inf if bound is None else float(min(bound, objective))
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += _word_faults(solution, word, proved, rounding=_rounding(problem))
    faults += _order_faults(problem, solution, order_by)
    return Verification(float(objective), proved, word, tuple(faults))


def _form_faults(problem: CoverProblem, solution: CoverSolution) -> list[str]:
    """Say what is wrong with a selection, and with the length of what is said of it."""
    chosen = solution.selected.tolist()
    if any(j != int(j) or not 0 <= j < problem.n_candidates for j in chosen):
        return [f"selected must lie between 0 and {problem.n_candidates - 1}, got {chosen}"]
    if len(set(chosen)) < len(chosen):
        return [f"selected must not repeat a candidate, got {chosen}"]
    if solution.score.shape != solution.selected.shape:
        return ["score must hold a number for each choice and never rise"]
    return []


def _rounding(problem: CoverProblem) -> float:
    """Bound what a solver's sums may be off by: nothing where prizes lie on a common grid."""
    return 0.0 if problem.on_grid else float(problem.prize.sum()) * 2.0**-30


def _word_faults(
    solution: CoverSolution, word: str, proved: float, *, rounding: float
) -> list[str]:
    """Compare the certificate and the bound that a solution states with what was found."""
    stated, bound = solution.certificate, solution.lower_bound
    if stated not in ("proved", "bounded", "none", "solver-proved", "solver-bounded"):
        return [f"certificate is {stated!r}, which says nothing"]
    faults = []
    # Rounded sums may leave open what exact ones prove; nothing makes up for less.
    modest = rounding > 0.0 and word == "proved" and stated != "none"
    claimed = stated.startswith("solver-")
    if not modest and (word == "proved" if claimed else stated != word):
        faults.append(f"certificate is {word!r}, not {stated!r}")
    if stated in ("none", "solver-bounded") and (bound > -math.inf) == (stated == "none"):
        faults.append(f"lower_bound is {bound!r} but the certificate {stated!r}")
    if stated == "solver-proved" and bound != solution.objective:
        faults.append(f"lower_bound is {bound!r} but the certificate 'solver-proved'")
    least = proved - rounding
    if not (least <= bound if claimed else bound == proved or least <= bound <= proved):
        faults.append(f"lower_bound is {proved!r}, not {bound!r}")
    return faults


def _order_faults(
    problem: CoverProblem, solution: CoverSolution, order_by: str | None
) -> list[str]:
    """Recount what each choice newly covers, and the scores that the order is made by."""
    faults, seen = [], np.zeros(problem.n_points, dtype=bool)
    counts, prizes = [], []
    for j in solution.selected.tolist():
        ball = problem.ball(j)
        newly = ball[~seen[ball]]
        counts.append(len(newly))
        prizes.append(math.fsum(problem.prize[newly].tolist()))
        seen[newly] = True
    if counts != solution.newly_covered.tolist():
        faults.append(f"newly_covered is {counts}, not {solution.newly_covered.tolist()}")
    if not (solution.score[1:] <= solution.score[:-1]).all() or np.isnan(solution.score).any():
        faults.append("score must hold a number for each choice and never rise")
    elif order_by != "own":
        faults += _score_faults(problem, solution, np.array(prizes), order_by)
    return faults


def _score_faults(
    problem: CoverProblem,
    solution: CoverSolution,
    prizes: NDArray[np.float64],
    order_by: str | None,
) -> list[str]:
    """Compare the scores with those of the rules, given the prize that each choice adds."""
    wrong = problem.wrong[solution.selected]
    cost = wrong + problem.prototype_cost
    if problem.prototype_cost == 0.0:  # ranks as an infinitely small one
        cost = cost + 1e-9 * min(1.0, problem.prize.max(initial=0.0))
    drop, rounding = prizes - wrong, np.full(len(wrong), _rounding(problem))
    by_drop, by_ratio = (drop, rounding), (prizes / cost, rounding / cost)
    # Described in some order, a selection has the least drop so far for its scores.
    either = [by_drop, (np.minimum.accumulate(drop), rounding), by_ratio]
    allowed = {"drop": [by_drop], "ratio": [by_ratio]}.get(order_by or "", either)
    if any((abs(solution.score - score) <= off).all() for score, off in allowed):
        return []
    return [f"score is {allowed[0][0].tolist()}, not {solution.score.tolist()}"]


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
