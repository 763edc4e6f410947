"""Recheck a solution from its problem, in exact integer arithmetic and without solver code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .._typing import Floats, Indices
from .arithmetic import (
    bound_as_float,
    common_step,
    decimal_fractions,
    rounded_up,
    simplest_fraction,
)
from .problem import NO_LIMIT, CoverProblem, Limit
from .proof import bound_by_proof
from .solution import CoverSolution, SharedBound, Verification


def verify(
    problem: CoverProblem | Sequence[CoverProblem],
    solution: CoverSolution | Sequence[CoverSolution],
    *,
    limit: Limit | None = None,
    stated: SharedBound | None = None,
    order_by: str | None = None,
) -> Verification:
    """Recheck everything a solution states, in exact integer arithmetic.

    The bound is ``sum(u) + sum_j min(0, cost_j - u(ball j))`` for the dual vector u, which must
    be between 0 and the prizes, rounded up to the next possible objective. With a proof tree it
    is the smallest bound of a leaf, and the leaves must contain every selection. Under a limit
    it is the Lagrangian bound of :meth:`CoverProblem.bound`. No solver code is used. Of a bound
    with the certificate "solver" only the part that `dual` proves is rechecked.

    Parameters
    ----------
    problem : CoverProblem or sequence of CoverProblem
        The problem, or several with one limit.
    solution : CoverSolution or sequence of CoverSolution
        The solution to recheck, or that of each problem.
    limit : Limit or None, default=None
        The limit that the solutions must satisfy. For one problem None is the limit that the
        solution states. For several it is the limit on all of them together. The solution of
        each problem must be verified on its own as well.
    stated : SharedBound or None, default=None
        What is stated about the solutions of several problems together.
    order_by : {"drop", "ratio", "own"} or None, default=None
        What `score` must be: the decrease of the objective before ``prototype_cost``, the
        newly covered prize per cost, or any never increasing score. None accepts the first two,
        and decreases of which each is the smallest so far.

    Returns
    -------
    Verification
        The recomputed objective and bound, and all faults.

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
    recomputed, proved = _rounded(bound, objective)
    if float(objective) != solution.objective:
        faults.append(f"objective is {float(objective)!r}, not {solution.objective!r}")
    if not solution.lower_bound <= solution.objective:
        faults.append(
            f"lower_bound is {solution.lower_bound!r}, above the objective {solution.objective!r}"
        )
    rounding = _rounding(problem if limit.uncovered is None else problem.at_price(0.0))
    faults += wrong
    faults += _certificate_faults(
        solution, solution.objective, recomputed, proved, rounding=rounding
    )
    if limit.uncovered is not None:  # the order is by what each choice adds, at no cost
        problem, order_by = problem.at_price(0.0), None
    # The score of a candidate that is chosen although it is not worth its cost is its decrease.
    faults += _order_faults(problem, solution, "drop" if limit.at_least else order_by)
    return Verification(float(objective), proved, recomputed, tuple(faults))


def _verify_together(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    limit: Limit,
    stated: SharedBound | None,
) -> Verification:
    """Recheck several solutions under one limit, with the bound at their common price."""
    selections = [solution.selected for solution in solutions]
    objective = sum(map(_objective, problems, selections), Fraction(0))
    prices = {
        problem.prototype_cost if solution.price is None else solution.price
        for problem, solution in zip(problems, solutions, strict=True)
    }
    bound, faults = None, []
    if len(prices) == 1:
        duals = [solution.dual for solution in solutions]
        bound = _bound_within(problems, duals, limit.at_most, prices.pop())[0]
    else:
        faults.append(f"price must be the same for all classes, got {sorted(prices)}")
    number = sum(map(len, selections))
    if limit.at_most is not None and number > limit.at_most:
        faults.append(f"there are {number} prototypes, the limit is {limit.at_most}")
    pairs = zip(problems, selections, strict=True)
    if limit.at_least and any(one.covers_any and not len(chosen) for one, chosen in pairs):
        faults.append("every problem must have a prototype, but a selection is empty")
    recomputed, proved = _rounded(bound, objective)
    if stated is not None:
        if stated.limit != limit:
            faults.append(f"limit is {limit}, not {stated.limit}")
        if float(objective) != stated.objective:
            faults.append(f"objective is {float(objective)!r}, not {stated.objective!r}")
        rounding = sum(map(_rounding, problems))
        faults += _certificate_faults(
            stated, float(objective), recomputed, proved, rounding=rounding
        )
    return Verification(float(objective), proved, recomputed, tuple(faults))


def _form_faults(problem: CoverProblem, solution: CoverSolution) -> list[str]:
    """Check the selection and the shape of the scores."""
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
    """Return the bound that a solution proves within its limit, and faults."""
    limit, dual, proof = solution.limit, solution.dual, solution.proof
    if limit.uncovered is not None:
        bound, faults = _cost_bound(problem, solution)
        # An empty selection cannot be improved.
        bound = Fraction(0) if objective == 0 else bound
    elif limit.at_most is None:
        bound, faults = _dual_bound(problem, dual)
    else:
        bound, faults = _bound_within([problem], [dual], limit.at_most, solution.price)
    if proof is not None and (limit.at_most is not None or limit.at_least):
        faults.append("a proof tree proves nothing under a limit")
    elif proof is not None and limit.uncovered is None and not faults:
        by_tree, faults = bound_by_proof(problem, proof, dual=dual, objective=objective)
        bound = max((one for one in (bound, by_tree) if one is not None), default=None)
    if limit.at_least:
        known = [one for one in (bound, _best_single(problem)) if one is not None]
        bound = max(known, default=None)
    return bound, faults


def _bound_within(
    problems: Sequence[CoverProblem],
    duals: Sequence[Floats | None],
    at_most: int | None,
    price: float | None,
) -> tuple[Fraction | None, list[str]]:
    """Return the Lagrangian bound on the sum of objectives within a budget, and faults.

    In the problem relaxed at `price` a prototype costs more by the multiplier, which a
    selection within the budget pays at most `at_most` times.
    """
    cost = problems[0].prototype_cost
    if price is None or not cost <= price < math.inf:
        return None, [f"price must be a number from prototype_cost, {cost!r}, on, got {price!r}"]
    multiplier = simplest_fraction(price) - simplest_fraction(cost)
    found = [
        _dual_bound(problem.at_cost(price), dual)
        for problem, dual in zip(problems, duals, strict=True)
    ]
    known = [bound for bound, _ in found if bound is not None]
    faults = [fault for _, faults in found for fault in faults]
    if len(known) < len(found) or (multiplier and at_most is None):
        return None, faults
    total = sum(known, Fraction(0)) - multiplier * (at_most or 0)
    return rounded_up(total, common_step(map(_step_of, problems))), faults


def _cost_bound(
    problem: CoverProblem, solution: CoverSolution
) -> tuple[Fraction | None, list[str]]:
    """Return the Lagrangian bound on the cost within a limit on uncovered weight, and faults."""
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
    bound, faults = _dual_bound(relaxed, solution.dual)
    if solution.proof is not None and not faults:
        objective = _objective(relaxed, solution.selected)
        by_tree, faults = bound_by_proof(
            relaxed, solution.proof, dual=solution.dual, objective=objective
        )
        bound = max((one for one in (bound, by_tree) if one is not None), default=None)
    return (None if bound is None else rounded_up((bound - allowed) / worth, step)), faults


def _spent(problem: CoverProblem, selected: Indices) -> Fraction:
    """Sum the costs of a selection."""
    own = sum(decimal_fractions(problem.wrong[selected]), Fraction(0))
    return own + len(selected) * simplest_fraction(problem.prototype_cost)


def _uncovered(problem: CoverProblem, selected: Indices) -> Fraction:
    """Sum the weights of uncovered points."""
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
    recomputed: str,
    proved: float,
    *,
    rounding: float,
) -> list[str]:
    """Compare the stated certificate and bound with the recomputed ones."""
    certificate, bound = stated.certificate, stated.lower_bound
    if certificate not in ("verified", "solver", "none"):
        return [f"certificate is {certificate!r}, not 'verified', 'solver' or 'none'"]
    faults = []
    is_closed = recomputed == "verified" and proved >= objective
    # Rounded sums may miss a bound that exact ones prove.
    lenient = rounding > 0.0 and is_closed and certificate != "none"
    if not lenient and (is_closed if certificate == "solver" else certificate != recomputed):
        faults.append(f"certificate is {recomputed!r}, not {certificate!r}")
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
    """Recompute newly covered points and scores."""
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
    prizes: Floats,
    order_by: str | None,
) -> list[str]:
    """Compare the scores with those of each rule, given the prize that each choice adds."""
    wrong = problem.wrong[solution.selected]
    cost = problem.ranked_cost[solution.selected]
    drop, rounding = prizes - wrong, np.full(len(wrong), _rounding(problem))
    by_drop, by_ratio = (drop, rounding), (prizes / cost, rounding / cost)
    # In any other order the scores are the smallest decreases so far.
    either = [by_drop, (np.minimum.accumulate(drop), rounding), by_ratio]
    allowed = {"drop": [by_drop], "ratio": [by_ratio]}.get(order_by or "", either)
    if any((abs(solution.score - score) <= off).all() for score, off in allowed):
        return []
    return [f"score is {allowed[0][0].tolist()}, not {solution.score.tolist()}"]


def _objective(problem: CoverProblem, selected: Indices) -> Fraction:
    """Sum the prizes of uncovered points, the wrong weights and the costs of a selection."""
    wrong = sum(map(Fraction, problem.wrong[selected].tolist()), Fraction(0))
    exact_cost = simplest_fraction(problem.prototype_cost)
    return _uncovered(problem, selected) + wrong + len(selected) * exact_cost


@dataclass(frozen=True, eq=False)
class _Integers:
    """A problem, and maybe a dual vector, in multiples of ``1 / scale`` as Python's integers."""

    problem: CoverProblem
    scale: int
    prize: list[int]
    wrong: list[int]
    dual: list[int]

    @classmethod
    def of(cls, problem: CoverProblem, dual: Floats | None = None) -> _Integers:
        """Choose the scale and convert all numbers."""
        parts = (problem.prize, problem.wrong, np.empty(0) if dual is None else dual)
        values = {x for part in parts for x in part.tolist()}
        scale = max((x.as_integer_ratio()[1] for x in values), default=1)
        ratios = [[x.as_integer_ratio() for x in part.tolist()] for part in parts]
        counts = [[above * (scale // below) for above, below in part] for part in ratios]
        return cls(problem, scale, *counts)

    @property
    def exact_cost(self) -> Fraction:
        """Cost of a prototype."""
        return simplest_fraction(self.problem.prototype_cost) * self.scale

    def costs_of_worthwhile(self) -> dict[int, Fraction]:
        """Return the cost of each candidate that costs less than the prize that it covers."""
        exact_cost, pairs = self.exact_cost, zip(self.wrong, self.sums(self.prize), strict=True)
        costs = ((j, wrong + exact_cost, reach) for j, (wrong, reach) in enumerate(pairs))
        return {j: cost for j, cost, reach in costs if cost < reach}

    def step(self, worthwhile: Sequence[int]) -> Fraction:
        """Return the number, in the problem's scale, of which all objectives are multiples."""
        weights = map(Fraction, {*self.prize, *(self.wrong[j] for j in worthwhile)})
        return common_step([self.exact_cost, *weights]) / self.scale

    def sums(self, values: list[int]) -> list[int]:
        """Sum integers over the points of each ball, in 64 bits if they fit."""
        cover = self.problem.cover
        if sum(values) < 2**62:
            totals = cover.astype(np.int64).T @ np.array(values, dtype=np.int64)
            return [int(total) for total in totals]
        starts, points = cover.indptr.tolist(), cover.indices.tolist()
        return [
            sum(values[i] for i in points[starts[j] : starts[j + 1]])
            for j in range(self.problem.n_candidates)
        ]


def _dual_bound(problem: CoverProblem, dual: Floats | None) -> tuple[Fraction | None, list[str]]:
    """Return the bound on all selections that `dual` proves, and faults."""
    if dual is None:
        return None, []
    if dual.shape != problem.prize.shape or not ((dual >= 0) & (dual <= problem.prize)).all():
        return None, ["dual must hold one number per point, between 0 and the point's prize"]
    numbers = _Integers.of(problem, dual)
    costs, paid = numbers.costs_of_worthwhile(), numbers.sums(numbers.dual)
    bound = Fraction(sum(numbers.dual))
    bound += sum((min(Fraction(0), cost - paid[j]) for j, cost in costs.items()), Fraction(0))
    return rounded_up(bound / numbers.scale, numbers.step(list(costs))), []


def _step_of(problem: CoverProblem) -> Fraction:
    """Return the number of which all objectives are multiples."""
    numbers = _Integers.of(problem)
    return numbers.step(list(numbers.costs_of_worthwhile()))


def _best_single(problem: CoverProblem) -> Fraction | None:
    """Return the lowest objective of one candidate that covers a point.

    No larger selection has a lower one, unless a candidate is worth its cost: then None.
    """
    numbers = _Integers.of(problem)
    if numbers.costs_of_worthwhile():
        return None
    pairs = zip(numbers.sums(numbers.prize), numbers.wrong, strict=True)
    saved = max((reach - wrong for reach, wrong in pairs if reach > 0), default=None)
    if saved is None:
        return None
    return (sum(numbers.prize) - saved + numbers.exact_cost) / numbers.scale
