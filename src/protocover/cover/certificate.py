"""Recheck of a solution from its problem alone, in whole numbers, by none of the solvers' code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .arithmetic import decimal_fractions, simplest_fraction
from .leaves import bound_by_leaves
from .problem import CoverProblem
from .reproof import (
    common_step,
    reproved,
    reproved_singles,
    reproved_together,
    reproved_within,
    rounded_up,
)
from .solution import CoverSolution
from .verdict import Verification

__all__ = ["verify", "verify_enough", "verify_together"]


def verify(
    problem: CoverProblem, solution: CoverSolution, *, order_by: str | None = None
) -> Verification:
    """Recheck a solution: all that it says but the word of a branch and bound.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which
    must lie between 0 and the prizes, rounded up to the next value that an objective can
    have; where there are leaves, the least that is so proved of one of them, which together
    must hold every selection. All sums are of whole numbers.

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
    bound, faults = _bound(problem, solution, objective)
    if solution.at_least:
        known = [one for one in (bound, reproved_singles(problem)) if one is not None]
        bound = max(known, default=None)
    word = "none" if bound is None else "proved" if bound >= objective else "bounded"
    proved = -math.inf if bound is None else float(min(bound, objective))
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += _word_faults(solution, word, proved, rounding=_rounding(problem))
    # A candidate that was chosen although it does not pay has its drop for a score.
    faults += _order_faults(problem, solution, "drop" if solution.at_least else order_by)
    return Verification(float(objective), proved, word, tuple(faults))


def verify_together(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    *,
    budget: int,
    lower_bound: float,
    certificate: str,
) -> Verification:
    """Recheck what is said of all solutions together, which share a budget.

    The bound is that of :func:`verify` at the cost that all of them are priced at, added up,
    less the price for `budget` prototypes.

    Parameters
    ----------
    problems, solutions : sequence of CoverProblem and of CoverSolution
        One for each class; the solutions rechecked one by one already.
    budget : int
        How many prototypes they may have in all.
    lower_bound, certificate : float and str
        What is said of them.
    """
    selections = [solution.selected for solution in solutions]
    objective = sum(map(_objective, problems, selections), Fraction(0))
    costs = {
        problem.prototype_cost if solution.priced_at is None else solution.priced_at
        for problem, solution in zip(problems, solutions, strict=True)
    }
    bound, faults = None, []
    if len(costs) == 1:
        duals = [solution.dual for solution in solutions]
        bound = reproved_together(problems, duals, budget=budget, priced_at=costs.pop())
    else:
        faults.append(f"priced_at must be the same for all classes, got {sorted(costs)}")
    if sum(map(len, selections)) > budget:
        faults.append(f"there are {sum(map(len, selections))} prototypes, the budget is {budget}")
    word = "none" if bound is None else "proved" if bound >= objective else "bounded"
    proved = -math.inf if bound is None else float(min(bound, objective))
    said = _Said(float(objective), lower_bound, certificate)
    rounding = sum(map(_rounding, problems))
    return Verification(
        float(objective),
        proved,
        word,
        (*faults, *_word_faults(said, word, proved, rounding=rounding)),
    )


def verify_enough(
    problem: CoverProblem,
    solution: CoverSolution,
    *,
    expense: NDArray[np.float64] | None,
    allowed: Fraction,
) -> Verification:
    """Recheck a solution that had to cover so much at the least expense.

    The bound is that of :func:`verify` where a unit of expense is worth ``priced_at``, less
    the weight that may stay uncovered, in units of expense, rounded up to the next expense
    that there can be.

    Parameters
    ----------
    problem : CoverProblem
        The problem at ``solution.priced_at``, at any other where that is None: no candidate
        costs more in it than that times its expense.
    solution : CoverSolution
        What is said; its objective is the expense.
    expense : ndarray of float, shape (n_candidates,), or None
        What each candidate costs, as :func:`~.arithmetic.decimal_fractions`; None for 1.
    allowed : Fraction
        How much weight may stay uncovered.
    """
    faults = _form_faults(problem, solution)
    if faults:
        return Verification(math.nan, -math.inf, "none", tuple(faults))
    spent = _spent(expense, solution.selected)
    covered = np.asarray(problem.cover[:, solution.selected].sum(axis=1)).ravel() > 0
    left = sum(map(Fraction, problem.prize[~covered].tolist()), Fraction(0))
    if left > allowed:
        faults.append(f"the weight left uncovered is {float(left)!r}, above {float(allowed)!r}")
    bound, wrong = _expense_bound(problem, solution, expense, allowed)
    if solution.leaves is not None:
        faults.append("leaves prove nothing of an expense")
    # Where nothing has to be bought nothing can be saved.
    bound = Fraction(0) if spent == 0 else bound
    word = "none" if bound is None else "proved" if bound >= spent else "bounded"
    proved = -math.inf if bound is None else float(min(bound, spent))
    if float(spent) != solution.objective:
        faults.append(f"objective is {float(spent)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += [*wrong, *_word_faults(solution, word, proved, rounding=_rounding(problem))]
    free = CoverProblem(problem.cover, np.zeros(problem.n_candidates), problem.prize, 0.0)
    faults += _order_faults(free, solution, None)
    return Verification(float(spent), proved, word, tuple(faults))


def _spent(expense: NDArray[np.float64] | None, selected: NDArray[np.intp]) -> Fraction:
    """Sum what a selection costs."""
    if expense is None:
        return Fraction(len(selected))
    return sum(decimal_fractions(expense[selected]), Fraction(0))


def _expense_bound(
    problem: CoverProblem,
    solution: CoverSolution,
    expense: NDArray[np.float64] | None,
    allowed: Fraction,
) -> tuple[Fraction | None, list[str]]:
    """Least expense that a solution's vector allows of any that covers enough."""
    rate = solution.priced_at
    if solution.dual is None:
        return None, []
    if rate is None or not 0.0 < rate < math.inf:
        return None, [f"priced_at must be a number above 0, got {rate!r}"]
    if expense is None:
        worth, step = simplest_fraction(rate), Fraction(1)
        dear = problem.prototype_cost != rate or bool(problem.wrong.any())
    else:
        prices = decimal_fractions(expense)
        worth, step = Fraction(rate), common_step(prices)
        told = zip(problem.wrong.tolist(), prices, strict=True)
        dear = problem.prototype_cost > 0.0 or any(c > worth * e for c, e in told)
    if dear:
        return None, [f"priced_at is {rate!r}, but a candidate costs more in the problem"]
    bound, faults = reproved(problem, solution.dual)
    return (None if bound is None else rounded_up((bound - allowed) / worth, step)), faults


@dataclass(frozen=True)
class _Said:
    """What is said of solutions together."""

    objective: float
    lower_bound: float
    certificate: str


def _form_faults(problem: CoverProblem, solution: CoverSolution) -> list[str]:
    """Say what is wrong with a selection, and with the length of what is said of it."""
    chosen = solution.selected.tolist()
    if any(j != int(j) or not 0 <= j < problem.n_candidates for j in chosen):
        return [f"selected must lie between 0 and {problem.n_candidates - 1}, got {chosen}"]
    if len(set(chosen)) < len(chosen):
        return [f"selected must not repeat a candidate, got {chosen}"]
    if solution.budget is not None and len(chosen) > solution.budget:
        return [f"selected must hold at most {solution.budget}, the budget, got {len(chosen)}"]
    if not 0 <= solution.at_least <= min(1, len(chosen)):
        return [f"selected must hold at least {solution.at_least}, got {len(chosen)}"]
    if solution.score.shape != solution.selected.shape:
        return ["score must hold a number for each choice and never rise"]
    return []


def _bound(
    problem: CoverProblem, solution: CoverSolution, objective: Fraction
) -> tuple[Fraction | None, list[str]]:
    """Bound that a solution's vectors prove, within its budget if it has one."""
    if solution.budget is None:
        bound, faults = reproved(problem, solution.dual)
        if solution.leaves is None or faults:
            return bound, faults
        by_leaves, faults = bound_by_leaves(
            problem, solution.leaves, dual=solution.dual, objective=objective
        )
        known = [found for found in (bound, by_leaves) if found is not None]
        return max(known, default=None), faults
    if solution.leaves is not None:
        return None, ["leaves prove nothing of a budget"]
    return reproved_within(
        problem, solution.dual, budget=solution.budget, priced_at=solution.priced_at
    )


def _rounding(problem: CoverProblem) -> float:
    """Bound what a solver's sums may be off by: nothing where prizes lie on a common grid."""
    return 0.0 if problem.on_grid else float(problem.prize.sum()) * 2.0**-30


def _word_faults(
    solution: CoverSolution | _Said, word: str, proved: float, *, rounding: float
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
    cost = problem.ranked_cost[solution.selected]
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
