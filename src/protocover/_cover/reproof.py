"""What dual vectors prove, computed once more in Python's whole numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from .arithmetic import simplest_fraction
from .problem import CoverProblem


def reproved(
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
    unit = reduce(_common, [Fraction(w) for w in {*prize, *(wrong[j] for j in pays)}], exact_cost)
    return rounded_up(bound / scale, unit / scale), []


def reproved_singles(problem: CoverProblem) -> Fraction | None:
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


def reproved_within(
    problem: CoverProblem,
    dual: NDArray[np.float64] | None,
    *,
    budget: int,
    priced_at: float | None,
) -> tuple[Fraction | None, list[str]]:
    """Return the bound that `dual` proves of selections within a budget, and what is wrong.

    Where a prototype costs `priced_at`, each has paid the price, what that is above its
    cost, at most `budget` times.
    """
    price = price_of(problem, priced_at)
    if price is None or priced_at is None:
        return None, [
            f"priced_at must be a number from prototype_cost, {problem.prototype_cost!r}, on, got "
            f"{priced_at!r}"
        ]
    bound, faults = reproved(problem.at_cost(priced_at), dual)
    return (
        None if bound is None else rounded_up(bound - price * budget, unit_of(problem))
    ), faults


def reproved_together(
    problems: Sequence[CoverProblem],
    duals: Sequence[NDArray[np.float64] | None],
    *,
    budget: int,
    priced_at: float,
) -> Fraction | None:
    """Return the bound on the sum of objectives within a budget that all problems share."""
    price = price_of(problems[0], priced_at)
    found = [
        reproved(problem.at_cost(priced_at), dual)[0]
        for problem, dual in zip(problems, duals, strict=True)
    ]
    known = [bound for bound in found if bound is not None]
    if price is None or len(known) < len(found):
        return None
    unit = reduce(_common, map(unit_of, problems))
    return rounded_up(sum(known, Fraction(0)) - price * budget, unit)


def price_of(problem: CoverProblem, priced_at: float | None) -> Fraction | None:
    """Return what a cost is above that of a prototype; None where it is not, or no number."""
    if priced_at is None or not problem.prototype_cost <= priced_at < math.inf:
        return None
    return simplest_fraction(priced_at) - simplest_fraction(problem.prototype_cost)


def unit_of(problem: CoverProblem) -> Fraction:
    """Return what the optimum is a whole multiple of, with or without a budget."""
    numbers = np.concatenate((problem.prize, problem.wrong))
    scale = _scale(numbers)
    prize, wrong = (_whole(part, scale) for part in np.split(numbers, [problem.n_points]))
    exact_cost = simplest_fraction(problem.prototype_cost) * scale
    reach = _ball_sums(problem, prize)
    pays = [j for j in range(problem.n_candidates) if wrong[j] + exact_cost < reach[j]]
    weights = [Fraction(w) for w in {*prize, *(wrong[j] for j in pays)}]
    return reduce(_common, weights, exact_cost) / scale


def rounded_up(bound: Fraction, unit: Fraction) -> Fraction:
    """Round a bound up to the next multiple of a unit."""
    return math.ceil(bound / unit) * unit if unit else bound


def common_step(numbers: Iterable[Fraction]) -> Fraction:
    """Largest number of which all are whole multiples, 0 where all are 0."""
    return reduce(_common, set(numbers), Fraction(0))


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
