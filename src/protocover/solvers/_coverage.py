"""The cheapest selection that leaves at most a given weight uncovered.

The limit is relaxed with a multiplier: at any price, the weight that a unit of cost is worth, the
least sum of uncovered weight and price times cost is a cover problem. Its bound, less the weight
that may stay uncovered, divided by the price is a bound on the cost.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from .._cover import CoverProblem, CoverSolution, Limit, ProofTree, exact_sum, first_cover
from .._typing import Floats, Indices
from ._branch_and_bound import TRIALS, BranchAndBound
from ._budget import (
    CONSIDERED,
    LARGEST,
    SEED,
    Point,
    in_steps,
    initial_dual,
    join_residuals,
    n_kept_memberships,
    plain_part,
    rounded_order,
    search_multipliers,
    with_rounding,
)
from ._greedy import choose_by_drop, choose_by_ratio
from ._local_search import improve_at_size
from ._multipliers import Look, find_multipliers

Solve = Callable[[CoverProblem], CoverSolution]

# Perturbations without success for each number of candidates tried, and the fraction of the
# choices that are removed at first.
_PATIENCE, _FEWER = 200, 0.01
# How far beyond the limit a bound is raised, as a fraction of what all choices gain.
_BEYOND = 0.02


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
        Whether the bound is an unverified claim of branch and bound.
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

    `search` improves the better greedy selection and the bound, and `close` does if a gap is
    left and there is time.
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
    """Improve an incumbent by solving the relaxed problem at one price after another."""

    def point(selected: Indices) -> Point:
        return Point(problem.spent(selected), problem.uncovered(selected))

    def solve_at(price: Fraction) -> Point:
        nonlocal found
        solution = solve(problem.at_price(float(price)))
        if solution.dual is not None:
            found = tightened(problem, limit, float(price), solution.dual, found)
        order = completed(problem, solution.selected)
        found = cheaper(problem, enough_of(problem, limit, order), found)
        return point(solution.selected)

    search_multipliers(
        Point(Fraction(0), exact_sum(problem.prize)),
        point(found.selected),
        solve_at,
        is_little=lambda new: new.value > _allowed(limit),
        in_time=in_time,
    )
    return found


def cover_by_tree(
    problem: CoverProblem,
    limit: Limit,
    found: Incumbent,
    *,
    deadline: float = math.inf,
    max_nodes: float = math.inf,
    largest: float = math.inf,
    trials: tuple[int, int] = TRIALS,
) -> Incumbent:
    """Search for cheaper selections by branch and bound, or prove that there are none.

    Each tree looks for a selection that is cheaper than the incumbent and leaves no more
    uncovered than is allowed. Nothing is done if more than `largest` memberships are left.
    """
    free, step, allowed = problem.free, problem.cost_step, _allowed(limit)
    total, dearest = Fraction(float(problem.prize.sum())), problem.spent(found.selected)
    if not free.step or max(total / free.step, dearest / step) > LARGEST:
        return found
    while found.bound < problem.spent(found.selected) and max_nodes > 0:
        spent, kept = problem.spent(found.selected), _possible(problem, allowed, found)
        if n_kept_memberships(free, kept) > largest or time.monotonic() >= deadline:
            break
        root = join_residuals([free], [kept], free.step)
        tree = BranchAndBound(
            root,
            float(allowed // free.step),
            trials=trials,
            weight=in_steps(problem.cost[kept], step),
            capacity=float(spent / step) - 1.0,
        )
        tree.grow(deadline=deadline, max_nodes=max_nodes, first=True)
        max_nodes -= tree.n_nodes
        if tree.columns is None:
            return replace(found, bound=spent, claimed=True) if tree.closed else found
        found = replace(found, selected=kept[root.candidates[tree.columns]])
    return found


def _possible(problem: CoverProblem, allowed: Fraction, found: Incumbent) -> Indices:
    """Return the candidates that a cheaper selection may contain, by reduced cost."""
    everything = problem.free.worthwhile
    if found.dual is None:
        return everything
    relaxed = problem.at_price(found.price)
    less = problem.spent(found.selected) - problem.cost_step
    u = relaxed.snap(found.dual)
    slack = relaxed.cost - relaxed.prize_sums(u)
    bound = float(u.sum() + np.minimum(slack, 0.0).sum())
    most = float(allowed) + found.price * float(less)
    return everything[slack[everything] <= with_rounding(most - bound, most + abs(bound))]


def _allowed(limit: Limit) -> Fraction:
    """Return the weight that may stay uncovered."""
    assert limit.uncovered is not None, "the limit is one on the uncovered weight"
    return limit.uncovered


def slack_of(problem: CoverProblem, limit: Limit) -> float:
    """Return the weight that may stay uncovered, rounded down to the grid of the weights."""
    return math.floor(_allowed(limit) / Fraction(problem.grid)) * problem.grid


def _greedy_orders(problem: CoverProblem) -> list[Indices]:
    """Return orders of candidates that cover everything: by weight, and by weight per cost."""
    orders = [choose_by_drop(problem.free)[0]]
    if not problem.prototype_cost:
        # A price so low that covering the lightest point is worth any cost.
        least = float(problem.prize[problem.prize > 0.0].min(initial=1.0))
        low = least / (2.0 * max(float(problem.wrong.sum()), 1e-300))
        orders.append(choose_by_ratio(problem.at_price(low))[0])
    return [completed(problem, order) for order in orders]


def completed(problem: CoverProblem, selected: Indices) -> Indices:
    """Add candidates, by newly covered weight, until nothing more can be covered."""
    covered = first_cover(problem, selected) < len(selected)
    more = choose_by_drop(problem.free, covered=covered)[0]
    return np.concatenate((selected, more))


def enough_of(problem: CoverProblem, limit: Limit, order: Indices) -> Indices:
    """Return the shortest prefix of an order that covers enough, without redundant choices."""
    allowed, total = slack_of(problem, limit), float(problem.prize.sum())
    if total <= allowed:
        return order[:0]
    first = first_cover(problem, order)
    won = np.bincount(first, problem.prize, minlength=len(order) + 1)
    ends = np.flatnonzero(total - np.cumsum(won[:-1]) <= allowed)
    return _pruned(problem, order[: ends[0] + 1], allowed)


def _pruned(problem: CoverProblem, selected: Indices, allowed: float) -> Indices:
    """Remove choices, the last first, that are not needed to cover enough."""
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
    """Return the incumbent with the bound of a dual vector at one price, if it is higher."""
    bound = problem.bound(dual, limit=limit, price=price)
    if bound is None or bound <= found.bound:
        return found
    return Incumbent(found.selected, bound=bound, price=price, dual=problem.snap(dual))


def cheaper(problem: CoverProblem, selected: Indices, found: Incumbent) -> Incumbent:
    """Return the incumbent with another selection, if that costs less."""

    def rank(one: Indices) -> tuple[Fraction, int]:
        return problem.spent(one), len(one)

    return replace(found, selected=selected) if rank(selected) < rank(found.selected) else found


# Large problems.


def cover_large(
    problem: CoverProblem, limit: Limit, found: Incumbent, *, deadline: float = math.inf
) -> Incumbent:
    """Improve an incumbent by a subgradient method, rounding and swaps."""
    question = _Coverage(problem.cost, float(limit.uncovered or 0))
    start = initial_dual(problem, found.selected)
    raised = find_multipliers(problem.free, question, start, deadline=deadline)
    price = question.price(raised.dual, raised.gains)
    found = tightened(problem, limit, price, raised.dual, found)
    support = np.union1d(np.flatnonzero(raised.fraction > CONSIDERED), found.selected)
    part = plain_part(problem.free, support)
    order = support[rounded_order(part, raised.fraction[support])]
    found = cheaper(problem, enough_of(problem, limit, completed(problem, order)), found)
    if not problem.prototype_cost:
        return found
    return cheaper(problem, _fewer(problem, limit, support, found.selected, deadline), found)


@dataclass(frozen=True, eq=False)
class _Coverage:
    """The least cost that leaves at most `allowed` uncovered."""

    cost: Floats
    allowed: float

    def look(self, paid: float, gains: Floats, best: float) -> Look:
        """Score a dual vector by the cost that it proves, with fractions of a candidate."""
        order, spent, left = self._along(paid, gains)
        last = self._last(left)
        score = float(spent[last])
        gain = float(gains[order[last]])
        if gain > 0.0:
            over = self.allowed - float(left[last])
            score -= float(self.cost[order[last]]) * over / gain
        # The best bound so far is required of this vector as well.
        last = max(last, min(int(np.searchsorted(spent, best)), len(order) - 1))
        beyond = self.allowed + _BEYOND * (paid - float(left[last]))
        return Look(score, order[: last + 1], beyond - float(left[last]))

    def price(self, dual: Floats, gains: Floats) -> float:
        """Return the price at which a dual vector proves most."""
        order, _, left = self._along(float(dual.sum()), gains)
        last = order[self._last(left)]
        cost = float(self.cost[last])
        return float(gains[last]) / cost if cost else math.inf

    def _along(self, paid: float, gains: Floats) -> tuple[Indices, Floats, Floats]:
        """Order candidates by gain per cost; return cost and weight left along the order."""
        cost = self.cost
        free = np.where(gains > 0.0, np.inf, 0.0)
        worth = np.divide(gains, cost, out=free, where=cost > 0.0)
        order = np.argsort(-worth, kind="stable")
        return order, np.cumsum(cost[order]), paid - np.cumsum(gains[order])

    def _last(self, left: Floats) -> int:
        """Return the first place along the order where no more is left than is allowed."""
        enough = left <= self.allowed
        return int(enough.argmax()) if enough.any() else len(left) - 1


def _fewer(
    problem: CoverProblem, limit: Limit, support: Indices, selected: Indices, deadline: float
) -> Indices:
    """Remove choices, and swap others, as long as enough is covered."""
    rng = np.random.default_rng(SEED)
    kept = np.union1d(support, selected)
    part, current = plain_part(problem.free, kept), np.searchsorted(kept, selected)
    fewer = max(1, int(_FEWER * len(current)))
    while fewer and fewer < len(current) and time.monotonic() < deadline:
        trial = improve_at_size(
            part,
            _without_least(part, current, fewer),
            rng,
            patience=_PATIENCE,
            deadline=deadline,
            enough=slack_of(problem, limit),
        )
        if problem.uncovered(kept[trial]) <= (limit.uncovered or 0):
            current = trial
        else:
            fewer //= 3
    return kept[current]


def _without_least(part: CoverProblem, selected: Indices, number: int) -> Indices:
    """Remove the choices that cover least by themselves."""
    balls = part.members(selected)
    count = np.bincount(balls.indices, minlength=part.n_points)
    own = balls.T @ np.where(count == 1, part.prize, 0.0)
    return selected[np.sort(np.argsort(own, kind="stable")[number:])]
