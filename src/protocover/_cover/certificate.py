"""Recheck a solution from its problem, in exact integer arithmetic and without solver code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .arithmetic import bound_as_float, decimal_fractions, simplest_fraction
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
from .solution import CoverageTarget, CoverSolution, SharedBudget
from .verdict import Verification


def verify(
    problem: CoverProblem | Sequence[CoverProblem],
    solution: CoverSolution | Sequence[CoverSolution],
    *,
    order_by: str | None = None,
    shared: SharedBudget | None = None,
    target: CoverageTarget | None = None,
) -> Verification:
    """Recheck everything a solution states, in exact integer arithmetic.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which
    must lie between 0 and the prizes, rounded up to the next value that an objective can
    have. With a proof tree it is the smallest bound of a leaf, and the leaves must contain
    every selection. No code of the solvers is used. A bound that rests on a solver's claim
    cannot be rechecked; only the part that `dual` proves is.

    Parameters
    ----------
    problem : CoverProblem or sequence of CoverProblem
        The problem that the solution solves. Several, one per class, only with `shared`.
    solution : CoverSolution or sequence of CoverSolution
        What a solver returned.
    order_by : {"drop", "ratio", "own"} or None, default=None
        What `score` must be: the decrease of the objective before ``prototype_cost``, the
        newly covered prize per cost, or any rule of the solver under which it never rises.
        None accepts the first two, and drops of which each is the smallest so far.
    shared : SharedBudget or None, default=None
        What is stated about all solutions together if they share a budget. Verify each of
        them on its own as well.
    target : CoverageTarget or None, default=None
        The weight that had to be covered, if the objective is the cost of doing so.

    Returns
    -------
    Verification
        The recomputed objective and bound, and every fault by name.

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
    Verification(objective=1.5, lower_bound=1.5, certificate='verified', faults=())
    >>> verify(problem, replace(solution, objective=1.0)).faults
    ('objective is 1.5, not 1.0', 'lower_bound is 1.5, above the objective 1.0')
    """
    if order_by not in (None, "drop", "ratio", "own"):
        raise ValueError(
            f"order_by must be 'drop', 'ratio', 'own' or None for the first two, got {order_by!r}"
        )
    several = not isinstance(problem, CoverProblem)
    if several != (shared is not None) or (several and target is not None):
        raise ValueError(
            "verify takes one problem and one solution, or with shared= a sequence of each; "
            "target= is for one problem"
        )
    if shared is not None:
        return _verify_shared(problem, solution, shared)  # type: ignore[arg-type]
    if target is not None:
        return _verify_target(problem, solution, target)  # type: ignore[arg-type]
    return _verify_alone(problem, solution, order_by)  # type: ignore[arg-type]


def _verify_alone(
    problem: CoverProblem, solution: CoverSolution, order_by: str | None
) -> Verification:
    """Recheck the solution of one problem."""
    faults = _form_faults(problem, solution)
    if faults:
        return Verification(math.nan, -math.inf, "none", tuple(faults))
    objective = _objective(problem, solution.selected)
    bound, faults = _bound(problem, solution, objective)
    if solution.at_least:
        known = [one for one in (bound, reproved_singles(problem)) if one is not None]
        bound = max(known, default=None)
    word, proved = _rounded(bound, objective)
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += _certificate_faults(
        solution, solution.objective, word, proved, rounding=_rounding(problem)
    )
    # A candidate that was chosen although it does not pay has its drop for a score.
    faults += _order_faults(problem, solution, "drop" if solution.at_least else order_by)
    return Verification(float(objective), proved, word, tuple(faults))


def _verify_shared(
    problems: Sequence[CoverProblem], solutions: Sequence[CoverSolution], shared: SharedBudget
) -> Verification:
    """Recheck what is stated about all solutions together.

    The bound is the sum of the bounds at the common cost per prototype, less the multiplier
    for the prototypes of the budget.
    """
    budget = shared.n_prototypes
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
    word, proved = _rounded(bound, objective)
    if float(objective) != shared.objective:
        faults.append(f"objective is {float(objective)!r}, not {shared.objective!r}")
    rounding = sum(map(_rounding, problems))
    faults += _certificate_faults(shared, float(objective), word, proved, rounding=rounding)
    return Verification(float(objective), proved, word, tuple(faults))


def _verify_target(
    problem: CoverProblem, solution: CoverSolution, target: CoverageTarget
) -> Verification:
    """Recheck a solution that had to cover a given weight at the least expense.

    The bound is that of a problem in which a unit of expense costs ``priced_at``, less the
    weight that may stay uncovered, in units of expense, rounded up to the next expense that
    is possible.
    """
    expense, allowed = target.expense, target.allowed
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
    word, proved = _rounded(bound, spent)
    if float(spent) != solution.objective:
        faults.append(f"objective is {float(spent)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    faults += [
        *wrong,
        *_certificate_faults(
            solution, solution.objective, word, proved, rounding=_rounding(problem)
        ),
    ]
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


def _rounded(bound: Fraction | None, objective: Fraction) -> tuple[str, float]:
    """Return the certificate for a recomputed bound, and the bound as a float."""
    return ("none", -math.inf) if bound is None else ("verified", bound_as_float(bound, objective))


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


def _certificate_faults(
    stated: CoverSolution | SharedBudget,
    objective: float,
    word: str,
    proved: float,
    *,
    rounding: float,
) -> list[str]:
    """Compare the stated certificate and bound with the recomputed ones."""
    certificate, bound = stated.certificate, stated.lower_bound
    if certificate not in ("verified", "solver", "none"):
        return [f"certificate is {certificate!r}, not 'verified', 'solver' or 'none'"]
    faults = []
    is_closed = word == "verified" and proved >= objective
    # Rounded sums may miss a bound that exact ones prove.
    lenient = rounding > 0.0 and is_closed and certificate != "none"
    if not lenient and (is_closed if certificate == "solver" else certificate != word):
        faults.append(f"certificate is {word!r}, not {certificate!r}")
    if certificate != "verified" and (bound > -math.inf) == (certificate == "none"):
        faults.append(f"lower_bound is {bound!r} but the certificate {certificate!r}")
    least = proved - rounding
    if not (
        least <= bound if certificate == "solver" else bound == proved or least <= bound <= proved
    ):
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
