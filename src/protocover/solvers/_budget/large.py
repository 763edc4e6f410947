"""Limits of problems whose linear programs take too long, or too much memory.

A subgradient method bounds the objective of k candidates, or the cost of covering enough, and the
mean of the selections on its way is close to the solution of the linear program. That is rounded,
completed among the candidates in it, and improved by swaps.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, Limit, first_cover
from .._finish import best_selection, describe
from .._multipliers import Look, find_multipliers
from .._stepwise import choose_by_drop
from .coverage import Incumbent, cheaper, completed, enough_of, slack_of, tightened
from .swaps import improve_at_size

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# The shakes are the same in every fit: the answer is the problem's alone.
_SEED = 0
# Perturbations without success for k candidates, and for each number tried for a coverage.
_PATIENCE, _PATIENCE_EACH = 200, 200
# Of a mean of choices, what counts as chosen and what as considered.
_CHOSEN, _CONSIDERED = 0.5, 0.02
# Share of the choices that are left out at first when fewer are tried.
_FEWER = 0.01
# How far beyond what is allowed a bound is to be raised, as a share of what all choices gain.
_BEYOND = 0.02


def best_of_large(
    problem: CoverProblem, budget: int, *, time_limit: float | None = None
) -> CoverSolution:
    """Choose at most `budget` candidates; never worse than the first of the paper's greedy."""
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    first = choose_by_drop(problem, budget)[0]
    question = _Budget(budget, problem.objective(first))
    found = find_multipliers(problem, question, _charged(problem, first), deadline=deadline)
    support = np.union1d(np.flatnonzero(found.fraction > _CONSIDERED), first)
    part = _part(problem, support)
    chosen = improve_at_size(
        part,
        _rounded(part, found.fraction[support])[:budget],
        np.random.default_rng(_SEED),
        patience=_PATIENCE,
        deadline=deadline,
    )
    solution = describe(
        problem,
        best_selection(problem, (first, support[chosen])),
        dual=found.dual,
        limit=Limit(at_most=budget),
        price=problem.prototype_cost + question.price(found.gains),
    )
    return replace(solution, status=f"best of {budget}")


def cover_large(
    problem: CoverProblem, limit: Limit, found: Incumbent, *, time_limit: float = math.inf
) -> Incumbent:
    """Raise the bound on the cost of covering enough, and look for a cheaper selection."""
    deadline, question = time.monotonic() + time_limit, _Coverage.of(problem, limit)
    start = _charged(problem, found.selected)
    raised = find_multipliers(problem.free, question, start, deadline=deadline)
    price = question.price(raised.dual, raised.gains)
    found = tightened(problem, limit, price, raised.dual, found)
    support = np.union1d(np.flatnonzero(raised.fraction > _CONSIDERED), found.selected)
    part = _part(problem.free, support)
    order = support[_rounded(part, raised.fraction[support])]
    found = cheaper(problem, enough_of(problem, limit, completed(problem, order)), found)
    if not problem.prototype_cost:
        return found
    return cheaper(problem, _fewer(problem, limit, support, found.selected, deadline), found)


@dataclass(frozen=True)
class _Budget:
    """What so many candidates can reach, which is known to be at most `reached`."""

    number: int
    reached: float

    def look(self, paid: float, gains: Floats, best: float) -> Look:
        """Score payments by the bound that they prove."""
        order = np.argsort(-gains, kind="stable")[: self.number]
        taken = order[gains[order] > 0.0]
        bound = paid - float(gains[taken].sum())
        return Look(bound, taken, (self.reached + max(bound, best)) / 2.0 - bound)

    def price(self, gains: Floats) -> float:
        """Return the price at which as many are worth having as there may be."""
        if self.number == 0 or len(gains) <= self.number:
            return 0.0 if self.number else max(float(gains.max(initial=0.0)), 0.0)
        return max(float(np.partition(gains, -self.number)[-self.number]), 0.0)


@dataclass(frozen=True, eq=False)
class _Coverage:
    """The least cost that leaves at most `allowed` uncovered."""

    cost: Floats
    allowed: float

    @classmethod
    def of(cls, problem: CoverProblem, limit: Limit) -> _Coverage:
        """Take the costs of a problem and the weight that a limit allows."""
        return cls(problem.cost, float(limit.uncovered or 0))

    def look(self, paid: float, gains: Floats, best: float) -> Look:
        """Score payments by the cost that they prove, fractions of a candidate allowed."""
        order, spent, left = self._along(paid, gains)
        last = self._last(left)
        score = float(spent[last])
        gain = float(gains[order[last]])
        if gain > 0.0:
            over = self.allowed - float(left[last])
            score -= float(self.cost[order[last]]) * over / gain
        # What the best payments so far have proved is required of these as well.
        last = max(last, min(int(np.searchsorted(spent, best)), len(order) - 1))
        beyond = self.allowed + _BEYOND * (paid - float(left[last]))
        return Look(score, order[: last + 1], beyond - float(left[last]))

    def price(self, dual: Floats, gains: Floats) -> float:
        """Return the price at which payments prove most."""
        order, _, left = self._along(float(dual.sum()), gains)
        last = order[self._last(left)]
        cost = float(self.cost[last])
        return float(gains[last]) / cost if cost else math.inf

    def _along(self, paid: float, gains: Floats) -> tuple[Indices, Floats, Floats]:
        """Order candidates by gain per cost; return cost and weight left along that."""
        cost = self.cost
        free = np.where(gains > 0.0, np.inf, 0.0)
        worth = np.divide(gains, cost, out=free, where=cost > 0.0)
        order = np.argsort(-worth, kind="stable")
        return order, np.cumsum(cost[order]), paid - np.cumsum(gains[order])

    def _last(self, left: Floats) -> int:
        """Return the first place along the order where no more is left than is allowed."""
        enough = left <= self.allowed
        return int(enough.argmax()) if enough.any() else len(left) - 1


def _charged(problem: CoverProblem, selected: Indices) -> Floats:
    """Return payments to begin with: each ball chosen takes in what the poorest one can."""
    first = first_cover(problem, selected)
    won = np.bincount(first, problem.prize, minlength=len(selected) + 1)[:-1]
    won = np.maximum(won, problem.prize.max(initial=0.0))
    share = np.append(won.min(initial=math.inf) / won, 1.0)
    return np.asarray(np.minimum(share, 1.0)[first] * problem.prize)


def _part(problem: CoverProblem, support: Indices) -> CoverProblem:
    """Return the problem of the candidates considered, with balls of one radius each."""
    return CoverProblem(
        problem.members(support), problem.wrong[support], problem.prize, problem.prototype_cost
    )


def _rounded(part: CoverProblem, fraction: Floats) -> Indices:
    """Return an order: what is more than half chosen, by what it adds, and then what adds most."""
    sure = np.flatnonzero(fraction > _CHOSEN)
    sure = sure[choose_by_drop(part.narrowed(sure))[0]]
    covered = first_cover(part, sure) < len(sure)
    return np.concatenate((sure, choose_by_drop(part, covered=covered)[0]))


def _fewer(
    problem: CoverProblem, limit: Limit, support: Indices, selected: Indices, deadline: float
) -> Indices:
    """Leave out choices, and exchange others, as long as enough is covered."""
    rng = np.random.default_rng(_SEED)
    kept = np.union1d(support, selected)
    part, current = _part(problem.free, kept), np.searchsorted(kept, selected)
    fewer = max(1, int(_FEWER * len(current)))
    while fewer and fewer < len(current) and time.monotonic() < deadline:
        trial = improve_at_size(
            part,
            _without_least(part, current, fewer),
            rng,
            patience=_PATIENCE_EACH,
            deadline=deadline,
            enough=slack_of(problem, limit),
        )
        if problem.uncovered(kept[trial]) <= (limit.uncovered or 0):
            current = trial
        else:
            fewer //= 3
    return kept[current]


def _without_least(part: CoverProblem, selected: Indices, number: int) -> Indices:
    """Leave out those that cover least by themselves."""
    balls = part.members(selected)
    count = np.bincount(balls.indices, minlength=part.n_points)
    own = balls.T @ np.where(count == 1, part.prize, 0.0)
    return selected[np.sort(np.argsort(own, kind="stable")[number:])]
