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

from ...cover import CoverProblem, CoverSolution, exact_sum, first_cover
from ..stepwise import choose_by_drop, choose_by_ratio
from .prices import ROUGH_TRIALS

__all__ = ["Demand", "Supplied", "cover_enough"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Solve = Callable[[CoverProblem], CoverSolution]

# Rates that are tried; the search for the best one ends before in all but odd cases. Fewer where
# a rough solver has been about it before.
_TRIALS, _FINE_TRIALS = 24, 3


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
        What each candidate costs; None for 1.
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
            return CoverProblem(self.cover, np.zeros(self.cover.shape[1]), self.weight, rate)
        plain = CoverProblem(self.cover, np.zeros(self.cover.shape[1]), self.weight, 0.0)
        # Below the product as floats have it there is none above the true one.
        cost = np.floor(np.nextafter(rate * self.expense, 0.0) / plain.grid) * plain.grid
        return CoverProblem(self.cover, cost, self.weight, 0.0)

    @property
    def expenses(self) -> Floats:
        """What each candidate costs."""
        return np.ones(self.cover.shape[1]) if self.expense is None else self.expense

    def uncovered(self, selected: Indices) -> Fraction:
        """Return the weight that a selection leaves uncovered."""
        problem = self.at(1.0)
        return exact_sum(self.weight[first_cover(problem, selected) == len(selected)])

    def spent(self, selected: Indices) -> Fraction:
        """Return what a selection costs."""
        if self.expense is None:
            return Fraction(len(selected))
        return exact_sum(self.expense[selected])

    @cached_property
    def room(self) -> float:
        """The weight that may stay uncovered, down to the grid of the weights."""
        grid = self.at(1.0).grid
        return math.floor(self.allowed / Fraction(grid)) * grid

    @cached_property
    def step(self) -> Fraction:
        """Every expense is a whole multiple of this."""
        if self.expense is None:
            return Fraction(1)
        return reduce(_common, {Fraction(one) for one in self.expense.tolist()}, Fraction(0))

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


# What makes something of what was found, or of its bound.
Close = Callable[[Demand, Supplied], Supplied]


def cover_enough(
    demand: Demand,
    solve: Solve,
    *,
    rough: Solve | None = None,
    close: Close | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Supplied | None:
    """Choose candidates of least expense that cover enough; None where all together do not.

    Parameters
    ----------
    demand : Demand
        What must be covered.
    solve : callable
        A solver without a budget.
    rough : callable or None
        A quick one, to find rates near the best one where `solve` takes long.
    close : callable or None
        Looks for less expense than was found, or shows that there is none.
    in_time : callable
        Whether there is time for another rate.
    """
    everything = np.arange(demand.cover.shape[1])
    if demand.uncovered(everything) > demand.allowed:
        return None
    orders = _greedy_orders(demand)
    best = min((_enough(demand, order) for order in orders), key=demand.spent)
    found = Supplied(best, Fraction(0), 0.0, None, False)
    ends = _Ends((Fraction(0), exact_sum(demand.weight)), _point(demand, best))
    if ends.little[1] > demand.allowed:
        if rough is not None:
            found, ends = _at_rates(demand, rough, found, ends, most=ROUGH_TRIALS)
        most = _TRIALS if rough is None else _FINE_TRIALS
        found, _ = _at_rates(demand, solve, found, ends, most=most, in_time=in_time)
    if close is not None and found.bound < demand.spent(found.selected) and in_time():
        found = close(demand, found)
    return found


@dataclass(frozen=True)
class _Ends:
    """Expense and uncovered weight of selections that cover too little, and enough."""

    little: tuple[Fraction, Fraction]
    much: tuple[Fraction, Fraction]


def _at_rates(
    demand: Demand,
    solve: Solve,
    found: Supplied,
    ends: _Ends,
    *,
    most: int,
    in_time: Callable[[], bool] = lambda: True,
) -> tuple[Supplied, _Ends]:
    """Solve at one rate after another, each at which both ends are equally good."""
    little, much = ends.little, ends.much
    for _ in range(most):
        rate = (little[1] - much[1]) / (much[0] - little[0]) if much[0] > little[0] else 0
        if rate <= 0 or not in_time():
            break
        problem = demand.at(float(rate))
        solution = solve(problem)
        found = _tightened(demand, problem, solution, float(rate), found)
        order = _completed(demand, solution.selected)
        found = _cheaper(demand, _enough(demand, order), found)
        point = _point(demand, solution.selected)
        if point[1] + rate * point[0] >= much[1] + rate * much[0]:
            break
        little, much = (point, much) if point[1] > demand.allowed else (little, point)
    return found, _Ends(little, much)


def _point(demand: Demand, selected: Indices) -> tuple[Fraction, Fraction]:
    """Return expense and uncovered weight of a selection."""
    return demand.spent(selected), demand.uncovered(selected)


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Largest number of which both are whole multiples."""
    below = math.lcm(a.denominator, b.denominator)
    return Fraction(math.gcd(int(a * below), int(b * below)), below)


def _greedy_orders(demand: Demand) -> list[Indices]:
    """Return orders that cover all that can be covered: by weight, and by weight per expense."""
    free = demand.at(0.0)
    orders = [choose_by_drop(free)[0]]
    if demand.expense is not None:
        # A rate so low that covering the lightest point is worth any expense.
        least = float(demand.weight[demand.weight > 0.0].min(initial=1.0))
        low = least / (2.0 * max(float(demand.expense.sum()), 1e-300))
        orders.append(choose_by_ratio(demand.at(low))[0])
    return [_completed(demand, order) for order in orders]


def _completed(demand: Demand, selected: Indices) -> Indices:
    """Add to a selection, by falling weight, until all is covered that can be."""
    problem = demand.at(0.0)
    covered = first_cover(problem, selected) < len(selected)
    more = choose_by_drop(problem, covered=covered)[0]
    return np.concatenate((selected, more))


def _enough(demand: Demand, order: Indices) -> Indices:
    """Cut an order off where it covers enough, and leave out what is not needed for that."""
    first = first_cover(demand.at(1.0), order)
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


def _tightened(
    demand: Demand,
    problem: CoverProblem,
    solution: CoverSolution,
    rate: float,
    found: Supplied,
) -> Supplied:
    """Return what was found with the bound of a solution at one rate, if it is higher."""
    if solution.dual is None:
        return found
    exact_rate = problem.exact_cost if demand.expense is None else Fraction(rate)
    bound = demand.rounded_up((problem.exact_bound(solution.dual) - demand.allowed) / exact_rate)
    if bound <= found.bound:
        return found
    return Supplied(found.selected, bound, rate, solution.dual, False)


def _cheaper(demand: Demand, selected: Indices, found: Supplied) -> Supplied:
    """Return what was found with another selection, if that costs less."""
    better = (demand.spent(selected), len(selected)) < (
        demand.spent(found.selected),
        len(found.selected),
    )
    if not better:
        return found
    return Supplied(selected, found.bound, found.rate, found.dual, found.by_word)
