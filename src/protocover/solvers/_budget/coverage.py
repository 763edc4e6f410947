"""The cheapest selection that leaves at most a given weight uncovered.

At any price, what a unit of cost is worth in weight, the least of uncovered weight plus price
times cost is a cover problem like any other. Its bound, less the weight that may stay uncovered,
divided by the price is a bound on the cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, Limit, ProofTree, exact_sum, first_cover
from .._stepwise import choose_by_drop, choose_by_ratio

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Solve = Callable[[CoverProblem], CoverSolution]

# Prices that are tried; the search for the best one ends before in all but odd cases.
_TRIALS = 24
# Prices above this would overflow.
_LARGEST_PRICE = 2**1000


@dataclass(frozen=True, eq=False)
class Incumbent:
    """The best selection known within a limit, and a bound.

    Parameters
    ----------
    selected : ndarray of int
        Candidates in the order of what they add.
    bound : Fraction
        No selection within the limit costs less.
    price : float
        The price at which `dual` proves the bound; 0 if it proves nothing.
    dual : ndarray of float or None
        The vector that proves it.
    claimed : bool
        Whether the bound rests on the word of a branch and bound.
    proof : ProofTree or None
        The tree that proves the bound of the problem relaxed at `price`.
    """

    selected: Indices
    bound: Fraction = Fraction(0)
    price: float = 0.0
    dual: Floats | None = None
    claimed: bool = False
    proof: ProofTree | None = None


# Improves an incumbent or its bound.
Search = Callable[[CoverProblem, Limit, Incumbent], Incumbent]


def solve_coverage(
    problem: CoverProblem,
    limit: Limit,
    search: Search,
    *,
    close: Search | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Incumbent | None:
    """Choose candidates of least cost that cover enough; None if all together do not.

    Parameters
    ----------
    problem : CoverProblem
        Its costs are those of the candidates, and its prizes the weights.
    limit : Limit
        The weight that may stay uncovered.
    search : callable
        Looks for a cheaper selection than that of the greedy, and for a bound.
    close : callable or None
        The same, if a gap is left.
    in_time : callable
        Whether there is time for that.
    """
    if problem.uncovered(np.arange(problem.n_candidates)) > _allowed(limit):
        return None
    orders = _greedy_orders(problem)
    best = min((enough_of(problem, limit, order) for order in orders), key=problem.spent)
    found = Incumbent(best)
    if exact_sum(problem.prize) > _allowed(limit):
        found = search(problem, limit, found)
    if close is not None and found.bound < problem.spent(found.selected) and in_time():
        found = close(problem, limit, found)
    return found


def search_coverage_prices(
    problem: CoverProblem,
    limit: Limit,
    found: Incumbent,
    *,
    solve: Solve,
    in_time: Callable[[], bool] = lambda: True,
) -> Incumbent:
    """Solve the relaxed problem at one price after another.

    Each price makes a selection that covers too little and one that covers enough equally good.

    Parameters
    ----------
    problem, limit
        As for :func:`solve_coverage`.
    found : Incumbent
        A selection that covers enough.
    solve : callable
        A solver without a limit.
    in_time : callable
        Whether there is time for another price.
    """

    def point(selected: Indices) -> tuple[Fraction, Fraction]:
        """Return cost and uncovered weight of a selection."""
        return problem.spent(selected), problem.uncovered(selected)

    # Of selections that cover too little, and enough.
    little, much = (Fraction(0), exact_sum(problem.prize)), point(found.selected)
    for _ in range(_TRIALS):
        price = (little[1] - much[1]) / (much[0] - little[0]) if much[0] > little[0] else 0
        if not 0 < price < _LARGEST_PRICE or not in_time():
            break
        solution = solve(problem.at_price(float(price)))
        if solution.dual is not None:
            found = tightened(problem, limit, float(price), solution.dual, found)
        order = completed(problem, solution.selected)
        found = cheaper(problem, enough_of(problem, limit, order), found)
        new = point(solution.selected)
        if new[1] + price * new[0] >= much[1] + price * much[0]:
            break
        little, much = (new, much) if new[1] > _allowed(limit) else (little, new)
    return found


def _allowed(limit: Limit) -> Fraction:
    """Return the weight that may stay uncovered."""
    assert limit.uncovered is not None, "the limit is one on the uncovered weight"
    return limit.uncovered


def slack_of(problem: CoverProblem, limit: Limit) -> float:
    """Return the weight that may stay uncovered, rounded down to the grid of the weights."""
    return math.floor(_allowed(limit) / Fraction(problem.grid)) * problem.grid


def _greedy_orders(problem: CoverProblem) -> list[Indices]:
    """Return orders that cover all that can be covered: by weight, and by weight per cost."""
    orders = [choose_by_drop(problem.free)[0]]
    if not problem.prototype_cost:
        # A price so low that covering the lightest point is worth any cost.
        least = float(problem.prize[problem.prize > 0.0].min(initial=1.0))
        low = least / (2.0 * max(float(problem.wrong.sum()), 1e-300))
        orders.append(choose_by_ratio(problem.at_price(low))[0])
    return [completed(problem, order) for order in orders]


def completed(problem: CoverProblem, selected: Indices) -> Indices:
    """Add to a selection, by falling weight, until all is covered that can be."""
    covered = first_cover(problem, selected) < len(selected)
    more = choose_by_drop(problem.free, covered=covered)[0]
    return np.concatenate((selected, more))


def enough_of(problem: CoverProblem, limit: Limit, order: Indices) -> Indices:
    """Cut an order off where it covers enough, and leave out what is not needed for that."""
    allowed, total = slack_of(problem, limit), float(problem.prize.sum())
    if total <= allowed:
        return order[:0]
    first = first_cover(problem, order)
    won = np.bincount(first, problem.prize, minlength=len(order) + 1)
    ends = np.flatnonzero(total - np.cumsum(won[:-1]) <= allowed)
    return _pruned(problem, order[: ends[0] + 1], allowed)


def _pruned(problem: CoverProblem, selected: Indices, allowed: float) -> Indices:
    """Leave out, the least useful first, what is not needed to cover enough."""
    balls = problem.members(selected)
    count = np.asarray(balls.sum(axis=1)).ravel().astype(np.intp)
    left = allowed - float(problem.prize[count == 0].sum())
    keep = np.ones(len(selected), dtype=bool)
    for place in range(len(selected) - 1, -1, -1):
        ball = balls.indices[balls.indptr[place] : balls.indptr[place + 1]]
        lost = float(problem.prize[ball[count[ball] == 1]].sum())
        if lost <= left:
            keep[place] = False
            count[ball] -= 1
            left -= lost
    return selected[keep]


def tightened(
    problem: CoverProblem, limit: Limit, price: float, dual: Floats, found: Incumbent
) -> Incumbent:
    """Return the incumbent with the bound of a vector at one price, if it is higher."""
    bound = problem.bound(dual, limit=limit, price=price)
    if bound is None or bound <= found.bound:
        return found
    dual = problem.snap(dual)
    return Incumbent(found.selected, bound=bound, price=price, dual=dual)


def cheaper(problem: CoverProblem, selected: Indices, found: Incumbent) -> Incumbent:
    """Return the incumbent with another selection, if that costs less."""

    def rank(one: Indices) -> tuple[Fraction, int]:
        return problem.spent(one), len(one)

    return replace(found, selected=selected) if rank(selected) < rank(found.selected) else found
