"""Recheck a solution from its problem, in exact integer arithmetic and without solver code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .arithmetic import (
    bound_as_float,
    common_step,
    decimal_fractions,
    rounded_up,
    simplest_fraction,
)
from .limit import NO_LIMIT, Limit, SharedBound
from .problem import CoverProblem
from .proof import bound_by_proof
from .solution import CoverSolution, Verification


def verify(
    problem: CoverProblem | Sequence[CoverProblem],
    solution: CoverSolution | Sequence[CoverSolution],
    *,
    limit: Limit | None = None,
    stated: SharedBound | None = None,
    order_by: str | None = None,
) -> Verification:
    """Recheck everything a solution states, in exact integer arithmetic.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which
    must lie between 0 and the prizes, rounded up to the next value that an objective can
    have. With a proof tree it is the smallest bound of a leaf, and the leaves must contain
    every selection. Under a limit it is the Lagrangian bound of :meth:`CoverProblem.bound`.
    No code of the solvers is used. A bound that rests on a solver's claim cannot be rechecked;
    only the part that `dual` proves is.

    Parameters
    ----------
    problem : CoverProblem or sequence of CoverProblem
        The problem that the solution solves, or several with one limit.
    solution : CoverSolution or sequence of CoverSolution
        What a solver returned.
    limit : Limit or None, default=None
        The limit that the solutions must satisfy. For one problem None is the limit that the
        solution states. For several it is the limit on all of them together. The solution of
        each problem must be verified on its own as well.
    stated : SharedBound or None, default=None
        What is stated about the solutions of several problems together.
    order_by : {"drop", "ratio", "own"} or None, default=None
        What `score` must be: the decrease of the objective before ``prototype_cost``, the
        newly covered prize per cost, or any rule of the solver under which it never rises.
        None accepts the first two, and drops of which each is the smallest so far.

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
    if isinstance(problem, CoverProblem) and isinstance(solution, CoverSolution):
        return _verify_one(problem, solution, limit, order_by)
    if isinstance(problem, CoverProblem) or isinstance(solution, CoverSolution):
        raise ValueError(
            "verify takes one problem and one solution, or a sequence of each, got "
            f"{type(problem).__name__} and {type(solution).__name__}"
        )
    if limit is not None and limit.uncovered is not None:
        raise ValueError("a limit on the uncovered weight is one on a single problem")
    return _verify_together(problem, solution, limit or NO_LIMIT, stated)


def _verify_one(
    problem: CoverProblem, solution: CoverSolution, limit: Limit | None, order_by: str | None
) -> Verification:
    """Recheck the solution of one problem."""
    faults = _form_faults(problem, solution)
    if limit is not None and limit != solution.limit:
        faults.append(f"limit is {limit}, not {solution.limit}")
    if faults:
        return Verification(math.nan, -math.inf, "none", tuple(faults))
    limit = solution.limit
    if limit.uncovered is None:
        objective = _objective(problem, solution.selected)
    else:
        objective = _spent(problem, solution.selected)
        left = _uncovered(problem, solution.selected)
        if left > limit.uncovered:
            faults.append(
                f"the weight left uncovered is {float(left)!r}, above {float(limit.uncovered)!r}"
            )
    bound, wrong = _bound(problem, solution, objective)
    word, proved = _rounded(bound, objective)
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    rounding = _rounding(problem if limit.uncovered is None else problem.at_price(0.0))
    faults += wrong
    faults += _certificate_faults(solution, solution.objective, word, proved, rounding=rounding)
    if limit.uncovered is not None:  # the order is by what each choice adds, at no cost
        problem, order_by = problem.at_price(0.0), None
    # A candidate that was chosen although it does not pay has its drop for a score.
    faults += _order_faults(problem, solution, "drop" if limit.at_least else order_by)
    return Verification(float(objective), proved, word, tuple(faults))


def _verify_together(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    limit: Limit,
    stated: SharedBound | None,
) -> Verification:
    """Recheck several solutions under one limit.

    The bound is the sum of the bounds at the common price, less the multiplier for the
    prototypes of the limit.
    """
    selections = [solution.selected for solution in solutions]
    objective = sum(map(_objective, problems, selections), Fraction(0))
    prices = {
        problem.prototype_cost if solution.price is None else solution.price
        for problem, solution in zip(problems, solutions, strict=True)
    }
    bound, faults = None, []
    if len(prices) == 1:
        duals = [solution.dual for solution in solutions]
        bound = _reproved_within(problems, duals, limit.at_most, prices.pop())[0]
    else:
        faults.append(f"price must be the same for all classes, got {sorted(prices)}")
    number = sum(map(len, selections))
    if limit.at_most is not None and number > limit.at_most:
        faults.append(f"there are {number} prototypes, the limit is {limit.at_most}")
    pairs = zip(problems, selections, strict=True)
    if limit.at_least and any(one.covers_any and not len(chosen) for one, chosen in pairs):
        faults.append("every problem must have a prototype, but a selection is empty")
    word, proved = _rounded(bound, objective)
    if stated is not None:
        if stated.limit != limit:
            faults.append(f"limit is {limit}, not {stated.limit}")
        if float(objective) != stated.objective:
            faults.append(f"objective is {float(objective)!r}, not {stated.objective!r}")
        rounding = sum(map(_rounding, problems))
        faults += _certificate_faults(stated, float(objective), word, proved, rounding=rounding)
    return Verification(float(objective), proved, word, tuple(faults))


def _form_faults(problem: CoverProblem, solution: CoverSolution) -> list[str]:
    """Check a selection, and the length of what is stated about it."""
    chosen, limit = solution.selected.tolist(), solution.limit
    if any(j != int(j) or not 0 <= j < problem.n_candidates for j in chosen):
        return [f"selected must lie between 0 and {problem.n_candidates - 1}, got {chosen}"]
    if len(set(chosen)) < len(chosen):
        return [f"selected must not repeat a candidate, got {chosen}"]
    if limit.at_most is not None and len(chosen) > limit.at_most:
        return [f"selected must hold at most {limit.at_most}, the limit, got {len(chosen)}"]
    if not 0 <= limit.at_least <= min(1, len(chosen)):
        return [f"selected must hold at least {limit.at_least}, got {len(chosen)}"]
    if solution.score.shape != solution.selected.shape:
        return ["score must hold a number for each choice and never rise"]
    return []


def _bound(
    problem: CoverProblem, solution: CoverSolution, objective: Fraction
) -> tuple[Fraction | None, list[str]]:
    """Return the bound that the vectors of a solution prove within its limit, and faults."""
    limit, dual, proof = solution.limit, solution.dual, solution.proof
    if limit.uncovered is not None:
        bound, faults = _cost_bound(problem, solution)
        # If nothing has to be chosen nothing can be saved.
        bound = Fraction(0) if objective == 0 else bound
    elif limit.at_most is None:
        bound, faults = _reproved(problem, dual)
    else:
        bound, faults = _reproved_within([problem], [dual], limit.at_most, solution.price)
    if proof is not None and (limit.at_most is not None or limit.at_least):
        faults.append("a proof tree proves nothing under a limit")
    elif proof is not None and limit.uncovered is None and not faults:
        by_tree, faults = bound_by_proof(problem, proof, dual=dual, objective=objective)
        bound = max((one for one in (bound, by_tree) if one is not None), default=None)
    if limit.at_least:
        known = [one for one in (bound, _reproved_singles(problem)) if one is not None]
        bound = max(known, default=None)
    return bound, faults


def _reproved_within(
    problems: Sequence[CoverProblem],
    duals: Sequence[NDArray[np.float64] | None],
    at_most: int | None,
    price: float | None,
) -> tuple[Fraction | None, list[str]]:
    """Return the bound on the sum of objectives with at most so many candidates, and faults.

    In the problem relaxed at `price` a prototype costs more by the multiplier, which a
    selection within the limit pays at most `at_most` times.
    """
    cost = problems[0].prototype_cost
    if price is None or not cost <= price < math.inf:
        return None, [f"price must be a number from prototype_cost, {cost!r}, on, got {price!r}"]
    multiplier = simplest_fraction(price) - simplest_fraction(cost)
    found = [
        _reproved(problem.at_cost(price), dual)
        for problem, dual in zip(problems, duals, strict=True)
    ]
    known = [bound for bound, _ in found if bound is not None]
    faults = [fault for _, faults in found for fault in faults]
    if len(known) < len(found) or (multiplier and at_most is None):
        return None, faults
    total = sum(known, Fraction(0)) - multiplier * (at_most or 0)
    return rounded_up(total, common_step(map(_unit_of, problems))), faults


def _cost_bound(
    problem: CoverProblem, solution: CoverSolution
) -> tuple[Fraction | None, list[str]]:
    """Return the bound on the cost of selections that leave little enough uncovered."""
    price, allowed = solution.price, solution.limit.uncovered
    if solution.dual is None or allowed is None:
        return None, []
    if price is None or not 0.0 < price < math.inf:
        return None, [f"price must be a number above 0, got {price!r}"]
    relaxed = problem.at_price(price)
    if problem.prototype_cost:
        worth = simplest_fraction(price)
        dear = relaxed.prototype_cost != price or bool(problem.wrong.any())
        step = simplest_fraction(problem.prototype_cost)
    else:
        exact, worth = decimal_fractions(problem.wrong), Fraction(price)
        pairs = zip(relaxed.wrong.tolist(), exact, strict=True)
        dear = any(Fraction(cost) > worth * true for cost, true in pairs)
        step = common_step(exact)
    if dear:
        return None, [f"price is {price!r}, but a candidate costs more in the relaxed problem"]
    bound, faults = _reproved(relaxed, solution.dual)
    if solution.proof is not None and not faults:
        objective = _objective(relaxed, solution.selected)
        by_tree, faults = bound_by_proof(
            relaxed, solution.proof, dual=solution.dual, objective=objective
        )
        bound = max((one for one in (bound, by_tree) if one is not None), default=None)
    return (None if bound is None else rounded_up((bound - allowed) / worth, step)), faults


def _spent(problem: CoverProblem, selected: NDArray[np.intp]) -> Fraction:
    """Sum the costs of a selection."""
    own = sum(decimal_fractions(problem.wrong[selected]), Fraction(0))
    return own + len(selected) * simplest_fraction(problem.prototype_cost)


def _uncovered(problem: CoverProblem, selected: NDArray[np.intp]) -> Fraction:
    """Sum the weights of the points that a selection leaves uncovered."""
    covered = np.asarray(problem.members(selected).sum(axis=1)).ravel() > 0
    return sum(map(Fraction, problem.prize[~covered].tolist()), Fraction(0))


def _rounded(bound: Fraction | None, objective: Fraction) -> tuple[str, float]:
    """Return the certificate for a recomputed bound, and the bound as a float."""
    return ("none", -math.inf) if bound is None else ("verified", bound_as_float(bound, objective))


def _rounding(problem: CoverProblem) -> float:
    """Bound the rounding error of a solver's sums, 0 if prizes lie on a common grid."""
    return 0.0 if problem.on_grid else float(problem.prize.sum()) * 2.0**-30


def _certificate_faults(
    stated: CoverSolution | SharedBound,
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
    """Objective of a selection: prizes of uncovered points, wrong weights, prototypes."""
    wrong = sum(map(Fraction, problem.wrong[selected].tolist()), Fraction(0))
    exact_cost = simplest_fraction(problem.prototype_cost)
    return _uncovered(problem, selected) + wrong + len(selected) * exact_cost


def _reproved(
    problem: CoverProblem, dual: NDArray[np.float64] | None
) -> tuple[Fraction | None, list[str]]:
    """Return the bound that `dual` proves of all selections, and what is wrong with it."""
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
    unit = common_step([exact_cost, *map(Fraction, {*prize, *(wrong[j] for j in pays)})])
    return rounded_up(bound / scale, unit / scale), []


def _reproved_singles(problem: CoverProblem) -> Fraction | None:
    """Return the lowest objective of one candidate that covers a point, alone.

    No larger selection has a lower one, unless a candidate is worth its cost: then None.
    """
    numbers = np.concatenate((problem.prize, problem.wrong))
    scale = _scale(numbers)
    prize, wrong = (_whole(part, scale) for part in np.split(numbers, [problem.n_points]))
    reach = _ball_sums(problem, prize)
    pairs = [(held, lost) for held, lost in zip(reach, wrong, strict=True) if held > 0]
    saved = max((held - lost for held, lost in pairs), default=None)
    exact_cost = simplest_fraction(problem.prototype_cost)
    if saved is None or Fraction(saved, scale) > exact_cost:
        return None
    return Fraction(sum(prize) - saved, scale) + exact_cost


def _unit_of(problem: CoverProblem) -> Fraction:
    """Return what the optimum is a whole multiple of, with or without a budget."""
    numbers = np.concatenate((problem.prize, problem.wrong))
    scale = _scale(numbers)
    prize, wrong = (_whole(part, scale) for part in np.split(numbers, [problem.n_points]))
    exact_cost = simplest_fraction(problem.prototype_cost) * scale
    reach = _ball_sums(problem, prize)
    pays = [j for j in range(problem.n_candidates) if wrong[j] + exact_cost < reach[j]]
    weights = map(Fraction, {*prize, *(wrong[j] for j in pays)})
    return common_step([exact_cost, *weights]) / scale


def _scale(numbers: NDArray[np.float64]) -> int:
    """Power of two that makes all `numbers` whole."""
    return max((x.as_integer_ratio()[1] for x in set(numbers.tolist())), default=1)


def _whole(numbers: NDArray[np.float64], scale: int) -> list[int]:
    """Return `numbers` times `scale` as Python's integers."""
    ratios = (x.as_integer_ratio() for x in numbers.tolist())
    return [above * (scale // below) for above, below in ratios]


def _ball_sums(problem: CoverProblem, values: list[int]) -> list[int]:
    """Sum integers over the points of each ball, in 64 bits where they fit."""
    if sum(values) < 2**62:
        sums = problem.cover.astype(np.int64).T @ np.array(values, dtype=np.int64)
        return [int(total) for total in sums]
    starts, points = problem.cover.indptr.tolist(), problem.cover.indices.tolist()
    return [
        sum(values[i] for i in points[starts[j] : starts[j + 1]])
        for j in range(problem.n_candidates)
    ]
