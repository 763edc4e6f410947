"""The least expense that covers so much: the budget's question asked the other way round.

The weight that may stay uncovered is given, and what the chosen candidates cost is to be least.
For any rate, the weight that a unit of expense is worth, the least of uncovered weight plus the
rate times the expense is a cover problem like any other. What it costs at least, less the weight
that may stay uncovered, is the rate times an expense that no selection which covers enough
goes below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ..._cover import CoverProblem, CoverSolution, decimal_fractions, exact_sum, first_cover
from .._stepwise import choose_by_drop, choose_by_ratio

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Solve = Callable[[CoverProblem], CoverSolution]

# Rates that are tried; the search for the best one ends before in all but odd cases.
_TRIALS = 24
# Rates above this would overflow.
_LARGEST_RATE = 2**1000


@dataclass(frozen=True, eq=False)
class Demand:
    """What must be covered, and what candidates cost.

    Parameters
    ----------
    cover : csc_array of bool, shape (n_points, n_candidates)
        Whether a point lies in a candidate's ball.
    weight : ndarray of float, shape (n_points,)
        What each point counts, on a grid on which sums are exact.
    expense : ndarray of float, shape (n_candidates,), or None
        What each candidate costs, decimals such as 0.1 taken for what they say; None for 1.
    allowed : Fraction
        How much weight may stay uncovered.
    """

    cover: csc_array
    weight: Floats
    expense: Floats | None
    allowed: Fraction

    def at(self, rate: float) -> CoverProblem:
        """Return the problem in which a unit of expense is worth so much weight.

        Costs are brought down to a grid: what bounds them bounds the true ones.
        """
        if self.expense is None:
            return self.plain.at_cost(rate)
        # Below the product as floats have it there is none above the true one.
        grid = self.plain.grid
        cost = np.floor(np.nextafter(rate * self._lowered, 0.0) / grid) * grid
        return CoverProblem(self.cover, cost, self.weight, 0.0)

    @cached_property
    def plain(self) -> CoverProblem:
        """The problem in which candidates cost nothing."""
        return CoverProblem(self.cover, np.zeros(self.cover.shape[1]), self.weight, 0.0)

    @property
    def expenses(self) -> Floats:
        """What each candidate costs."""
        return np.ones(self.cover.shape[1]) if self.expense is None else self.expense

    def uncovered(self, selected: Indices) -> Fraction:
        """Return the weight that a selection leaves uncovered."""
        return exact_sum(self.weight[first_cover(self.plain, selected) == len(selected)])

    def spent(self, selected: Indices) -> Fraction:
        """Return what a selection costs."""
        if self.expense is None:
            return Fraction(len(selected))
        n_steps = sum(self._steps[j] for j in selected.tolist())
        return Fraction(self.step * n_steps)

    @cached_property
    def room(self) -> float:
        """The weight that may stay uncovered, down to the grid of the weights."""
        grid = self.plain.grid
        return math.floor(self.allowed / Fraction(grid)) * grid

    @cached_property
    def step(self) -> Fraction:
        """Every expense is a whole multiple of this."""
        if self.expense is None:
            return Fraction(1)
        return reduce(_common, set(self._prices), Fraction(0))

    @cached_property
    def _prices(self) -> list[Fraction]:
        """The numbers that the expenses stand for."""
        return decimal_fractions(self.expenses)

    @cached_property
    def _steps(self) -> list[int]:
        """The expenses in steps."""
        return [int(price / self.step) if self.step else 0 for price in self._prices]

    @cached_property
    def _lowered(self) -> Floats:
        """The expenses as floats, none of them above the number that it stands for."""
        exact = zip(self.expenses.tolist(), self._prices, strict=True)
        above = np.array([Fraction(one) > price for one, price in exact], dtype=bool)
        return np.where(above, np.nextafter(self.expenses, 0.0), self.expenses)

    def rounded_up(self, expense: Fraction) -> Fraction:
        """Round up to the next expense that there can be."""
        return math.ceil(expense / self.step) * self.step if self.step else Fraction(0)


@dataclass(frozen=True, eq=False)
class Supplied:
    """A selection that covers enough.

    Parameters
    ----------
    selected : ndarray of int
        Candidates in the order of what they add.
    bound : Fraction
        No selection that covers enough costs less.
    rate : float
        The rate at which `dual` proves the bound; 0 where it proves nothing.
    dual : ndarray of float or None
        The vector that proves it.
    by_word : bool
        Whether the bound rests on the word of a branch and bound.
    """

    selected: Indices
    bound: Fraction
    rate: float
    dual: Floats | None
    by_word: bool


# Makes something better of what was found, or of its bound.
Search = Callable[[Demand, Supplied], Supplied]


def cover_enough(
    demand: Demand,
    search: Search,
    *,
    close: Search | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Supplied | None:
    """Choose candidates of least expense that cover enough; None where all together do not.

    Parameters
    ----------
    demand : Demand
        What must be covered.
    search : callable
        Looks for less expense than a greedy needs, and for a bound.
    close : callable or None
        The same, where a gap is left.
    in_time : callable
        Whether there is time for that.
    """
    everything = np.arange(demand.cover.shape[1])
    if demand.uncovered(everything) > demand.allowed:
        return None
    orders = _greedy_orders(demand)
    best = min((enough_of(demand, order) for order in orders), key=demand.spent)
    found = Supplied(best, Fraction(0), 0.0, None, False)
    if exact_sum(demand.weight) > demand.allowed:
        found = search(demand, found)
    if close is not None and found.bound < demand.spent(found.selected) and in_time():
        found = close(demand, found)
    return found


def at_rates(
    demand: Demand,
    found: Supplied,
    *,
    solve: Solve,
    in_time: Callable[[], bool] = lambda: True,
) -> Supplied:
    """Solve at one rate after another, each at which what covers too little is as good as enough.

    Parameters
    ----------
    demand : Demand
        What must be covered.
    found : Supplied
        What does so.
    solve : callable
        A solver without a budget.
    in_time : callable
        Whether there is time for another rate.
    """
    # Expense and uncovered weight of selections that cover too little, and enough.
    little, much = (Fraction(0), exact_sum(demand.weight)), _point(demand, found.selected)
    for _ in range(_TRIALS):
        rate = (little[1] - much[1]) / (much[0] - little[0]) if much[0] > little[0] else 0
        if not 0 < rate < _LARGEST_RATE or not in_time():
            break
        solution = solve(demand.at(float(rate)))
        if solution.dual is not None:
            found = tightened(demand, float(rate), solution.dual, found)
        order = completed(demand, solution.selected)
        found = cheaper(demand, enough_of(demand, order), found)
        point = _point(demand, solution.selected)
        if point[1] + rate * point[0] >= much[1] + rate * much[0]:
            break
        little, much = (point, much) if point[1] > demand.allowed else (little, point)
    return found


def _point(demand: Demand, selected: Indices) -> tuple[Fraction, Fraction]:
    """Return expense and uncovered weight of a selection."""
    return demand.spent(selected), demand.uncovered(selected)


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Largest number of which both are whole multiples."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def _greedy_orders(demand: Demand) -> list[Indices]:
    """Return orders that cover all that can be covered: by weight, and by weight per expense."""
    free = demand.plain
    orders = [choose_by_drop(free)[0]]
    if demand.expense is not None:
        # A rate so low that covering the lightest point is worth any expense.
        least = float(demand.weight[demand.weight > 0.0].min(initial=1.0))
        low = least / (2.0 * max(float(demand.expense.sum()), 1e-300))
        orders.append(choose_by_ratio(demand.at(low))[0])
    return [completed(demand, order) for order in orders]


def completed(demand: Demand, selected: Indices) -> Indices:
    """Add to a selection, by falling weight, until all is covered that can be."""
    problem = demand.plain
    covered = first_cover(problem, selected) < len(selected)
    more = choose_by_drop(problem, covered=covered)[0]
    return np.concatenate((selected, more))


def enough_of(demand: Demand, order: Indices) -> Indices:
    """Cut an order off where it covers enough, and leave out what is not needed for that."""
    first = first_cover(demand.plain, order)
    won = np.bincount(first, demand.weight, minlength=len(order) + 1)
    left = float(demand.weight.sum()) - np.cumsum(won[:-1])
    ends = np.flatnonzero(left <= demand.room)
    if float(demand.weight.sum()) <= demand.room:
        return order[:0]
    kept = order[: ends[0] + 1]
    return _pruned(demand, kept)


def _pruned(demand: Demand, selected: Indices) -> Indices:
    """Leave out, the least useful first, what is not needed to cover enough."""
    balls = demand.cover[:, selected].tocsc()
    count = np.asarray(balls.sum(axis=1)).ravel().astype(np.intp)
    room = demand.room - float(demand.weight[count == 0].sum())
    keep = np.ones(len(selected), dtype=bool)
    for place in range(len(selected) - 1, -1, -1):
        ball = balls.indices[balls.indptr[place] : balls.indptr[place + 1]]
        lost = float(demand.weight[ball[count[ball] == 1]].sum())
        if lost <= room:
            keep[place] = False
            count[ball] -= 1
            room -= lost
    return selected[keep]


def tightened(demand: Demand, rate: float, dual: Floats, found: Supplied) -> Supplied:
    """Return what was found with the bound of a vector at one rate, if it is higher."""
    if not 0.0 < rate < math.inf:
        return found
    problem = demand.at(rate)
    exact_rate = problem.exact_cost if demand.expense is None else Fraction(rate)
    bound = demand.rounded_up((problem.exact_bound(dual) - demand.allowed) / exact_rate)
    if bound <= found.bound:
        return found
    return Supplied(found.selected, bound, rate, problem.snap(dual), False)


def cheaper(demand: Demand, selected: Indices, found: Supplied) -> Supplied:
    """Return what was found with another selection, if that costs less."""
    better = (demand.spent(selected), len(selected)) < (
        demand.spent(found.selected),
        len(found.selected),
    )
    if not better:
        return found
    return Supplied(selected, found.bound, found.rate, found.dual, found.by_word)
