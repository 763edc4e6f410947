"""At most k prototypes: Lagrangian prices, the best selection of every size, greedy prefixes.

Raise the cost of a prototype to a price, and fewer are worth having. For any price that is not
below the cost, the least objective at that price, less k times the difference, bounds every
selection of at most k prototypes. The best such bound is at the price at which two selections,
one with too many prototypes and one within the limit, are equally good.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..._cover import (
    CoverProblem,
    CoverSolution,
    Limit,
    SharedBound,
    common_step,
    first_cover,
    judge,
    rounded_up,
)
from .._duals import ascend
from .._finish import describe
from .._stepwise import choose_by_drop
from .frontier import Frontier, best_within

Indices = NDArray[np.intp]
Order = tuple[NDArray[np.intp], NDArray[np.float64]]
# Solutions of all problems at the cost of a prototype that these have.
SolveAt = Callable[[Sequence[CoverProblem]], Sequence[CoverSolution]]
# Selections, and a bound on the sum of objectives within the limit, None if there is none.
Bounded = tuple[list[Indices], Fraction | None]
# Solutions, and what is stated about them together.
Joint = tuple[list[CoverSolution], SharedBound]

# Prices that are tried; the search for the best one ends before in all but odd cases.
_TRIALS = 24
# The fraction of the remaining time that one price may take.
_SHARE = 0.25


@dataclass(frozen=True)
class Point:
    """The number of prototypes of a selection and its objective."""

    number: int
    value: Fraction

    def priced(self, price: Fraction) -> Fraction:
        """Return the objective where every prototype costs so much more."""
        return self.value + price * self.number


@dataclass(frozen=True, eq=False)
class Trial:
    """What was found at one price.

    Parameters
    ----------
    cost : float
        Cost of a prototype, the price included.
    price : Fraction
        The price alone.
    solutions : sequence of CoverSolution
        One for each problem at that cost.
    point : Point
        Their number of prototypes and their objective without the price.
    proved : Fraction or None
        What all selections cost at least, the price included, by the solutions' vectors;
        None where one has none.
    claimed : Fraction or None
        The same with a solver's word for what no vector proves.
    """

    cost: float
    price: Fraction
    solutions: Sequence[CoverSolution]
    point: Point
    proved: Fraction | None
    claimed: Fraction | None

    @classmethod
    def at(cls, problems: Sequence[CoverProblem], cost: float, solve: SolveAt) -> Trial:
        """Solve all problems with the cost of a prototype raised to `cost`."""
        priced = [problem.at_cost(cost) for problem in problems]
        solutions = solve(priced)
        pairs = list(zip(priced, solutions, strict=True))
        return cls(
            cost=cost,
            price=priced[0].exact_cost - problems[0].exact_cost,
            solutions=solutions,
            point=Point(
                sum(len(solution.selected) for solution in solutions),
                total_value(problems, [solution.selected for solution in solutions]),
            ),
            proved=_total(_proved(*pair) for pair in pairs),
            claimed=_total(_claimed(*pair) for pair in pairs),
        )

    def within(self, budget: int, bound: Fraction | None) -> Fraction | None:
        """Return what a bound at this price says of selections within the budget."""
        return None if bound is None else bound - self.price * budget


def search_prices(
    problems: Sequence[CoverProblem],
    solve: SolveAt,
    budget: int,
    *,
    few: Point,
    more: Callable[[list[Trial]], bool],
) -> list[Trial]:
    """Solve at one price after another until the best one for `budget` is found.

    Parameters
    ----------
    problems : sequence of CoverProblem
        With one cost of a prototype.
    solve : SolveAt
        A solver.
    budget : int
        At most so many prototypes in all problems together.
    few : Point
        Of a selection that is known to keep to the budget.
    more : callable
        Is asked before each trial but the first whether there is to be another.

    Returns
    -------
    list of Trial
        The first is that without a price; it is the only one where it keeps to the budget.
    """
    trials = [Trial.at(problems, problems[0].prototype_cost, solve)]
    many = trials[0].point
    while many.number > budget and more(trials):
        price = (few.value - many.value) / (many.number - few.number)
        if price <= 0:  # what was found with fewer is as good: more are worth nothing
            break
        trial = Trial.at(problems, float(problems[0].exact_cost + price), solve)
        trials.append(trial)
        if trial.point.priced(price) >= many.priced(price):
            break
        if trial.point.number > budget:
            many = trial.point
        else:
            few = trial.point
    return trials


def total_value(
    problems: Sequence[CoverProblem], selections: Sequence[NDArray[np.intp]]
) -> Fraction:
    """Return the sum of the objectives of selections, exactly."""
    return sum(map(_value, problems, selections), Fraction(0))


def shared_step(problems: Sequence[CoverProblem]) -> Fraction:
    """Return what every sum of objectives is an integer multiple of; 0 if that is unknown."""
    steps = [problem.step for problem in problems]
    return common_step(steps) if all(steps) else Fraction(0)


def _value(problem: CoverProblem, selected: NDArray[np.intp]) -> Fraction:
    """Return the objective of a selection, exactly."""
    return problem.exact_objective(selected, first_cover(problem, selected))


def _proved(problem: CoverProblem, solution: CoverSolution) -> Fraction | None:
    """Return the bound that a solution's vector proves."""
    return None if solution.dual is None else problem.exact_bound(solution.dual)


def _claimed(problem: CoverProblem, solution: CoverSolution) -> Fraction | None:
    """Return the optimum where a solver says that it is found, else what the vector proves.

    Leaves prove it of the problem at this price; what is kept for a budget is the vector alone.
    """
    if solution.is_optimal:
        return _value(problem, solution.selected)
    return _proved(problem, solution)


def _total(amounts: Iterable[Fraction | None]) -> Fraction | None:
    """Add amounts up; None where one is unknown."""
    total = Fraction(0)
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total


class Closing(Protocol):
    """Tries to close the gap that prices have left."""

    def __call__(
        self,
        problems: Sequence[CoverProblem],
        trial: Trial,
        budget: int,
        best: list[Indices],
    ) -> Bounded: ...


def solve_within(
    problems: Sequence[CoverProblem],
    solve: SolveAt,
    budget: int,
    *,
    close: Closing | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Joint:
    """Choose at most `budget` candidates of all problems together.

    Never worse than the first `budget` choices of the paper's greedy.

    Parameters
    ----------
    problems : sequence of CoverProblem
        All with one cost of a prototype.
    solve : SolveAt
        Solves them with any other cost, without a budget.
    budget : int
        How many may be chosen.
    close : Closing or None
        Looks for something better than the best one found, or shows that there is nothing.
    in_time : callable
        Whether there is time for another price.
    """
    orders = [[choose_by_drop(problem, budget)[0]] for problem in problems]
    first = _share(problems, orders, budget)
    trials = search_prices(
        problems,
        solve,
        budget,
        few=_point(problems, first),
        more=lambda tried: len(tried) < _TRIALS and in_time(),
    )
    if trials[0].point.number <= budget and trials[0].point.value <= total_value(problems, first):
        return _as_found(problems, trials[0], budget)
    for trial in trials:
        for problem, known, solution in zip(problems, orders, trial.solutions, strict=True):
            known.append(_filled(problem, solution, budget))
    best = _share(problems, orders, budget)
    trial = max(trials, key=lambda one: _bound(problems, one.within(budget, one.claimed)))
    bound = trial.within(budget, trial.claimed)
    if close is not None and _bound(problems, bound) < total_value(problems, best):
        best, bound = close(problems, trial, budget, best)
    return _described(problems, trial, budget, best, bound)


def _filled(problem: CoverProblem, solution: CoverSolution, budget: int) -> Indices:
    """Return a solution as an order, filled up where it has fewer than `budget` choices."""
    chosen = solution.selected
    if len(chosen) >= budget:
        return chosen
    covered = first_cover(problem, chosen) < len(chosen)
    more = choose_by_drop(problem, budget - len(chosen), covered=covered)[0]
    return np.concatenate((chosen, more))


def _share(
    problems: Sequence[CoverProblem], orders: Sequence[Iterable[Indices]], budget: int
) -> list[Indices]:
    """Return the best selections known that keep to the budget together."""
    frontiers = [
        Frontier.of(problem, known, budget)
        for problem, known in zip(problems, orders, strict=True)
    ]
    return best_within(frontiers, budget, problems[0].exact_cost)


def _point(problems: Sequence[CoverProblem], selections: Sequence[Indices]) -> Point:
    """Return number and objective of selections."""
    return Point(sum(map(len, selections)), total_value(problems, selections))


def _bound(problems: Sequence[CoverProblem], bound: Fraction | None) -> Fraction:
    """Round a bound up; below all where none is known."""
    return Fraction(-1) if bound is None else rounded_up(bound, shared_step(problems))


def _as_found(problems: Sequence[CoverProblem], trial: Trial, budget: int) -> Joint:
    """Return solutions that satisfy the limit although they were found without it."""
    solutions = list(trial.solutions)
    return solutions, shared_bound(problems, solutions, budget, trial.proved, trial.claimed)


def _described(
    problems: Sequence[CoverProblem],
    trial: Trial,
    budget: int,
    selections: Sequence[Indices],
    bound: Fraction | None,
) -> Joint:
    """Describe the selections and their bounds, alone and together."""
    alone, solutions = len(problems) == 1, []
    claim = None if bound is None else _bound(problems, bound)
    for problem, chosen, found in zip(problems, selections, trial.solutions, strict=True):
        solution = describe(
            problem,
            chosen,
            dual=found.dual,
            claim=claim if alone else None,
            limit=Limit(at_most=budget if alone else len(chosen)),
            price=trial.cost,
        )
        solutions.append(replace(solution, status=f"best of {budget}"))
    proved = trial.within(budget, trial.proved)
    proved = None if proved is None else _bound(problems, proved)
    return solutions, shared_bound(problems, solutions, budget, proved, claim)


def shared_bound(
    problems: Sequence[CoverProblem],
    solutions: Sequence[CoverSolution],
    budget: int,
    proved: Fraction | None,
    claim: Fraction | None,
) -> SharedBound:
    """State a bound on the sum of the objectives of at most `budget` candidates."""
    objective = total_value(problems, [solution.selected for solution in solutions])
    bound, word = judge(objective, proved, claim)
    return SharedBound(Limit(at_most=budget), float(objective), bound, word)


def keep_first(
    problems: Sequence[CoverProblem],
    orders: Sequence[Order],
    budget: int,
    *,
    bound: bool = True,
) -> Joint:
    """Keep the first `budget` choices of greedy orders of all problems together.

    They are kept by falling score. The drop of the first choice that is left out is the price
    at which the greedy would have stopped there by itself; dual ascent at that price gives a
    bound.

    Parameters
    ----------
    problems : sequence of CoverProblem
        All with one cost of a prototype.
    orders : sequence of (selected, score)
        Greedy's choices for each, one more than `budget` where there are as many.
    budget : int
        How many are kept.
    bound : bool, default=True
        Whether to say how far from the best they are.
    """
    problem_of, score = _joint_order(orders)
    sizes = np.bincount(problem_of[:budget], minlength=len(problems)).tolist()
    kept = [(chosen[:n], value[:n]) for (chosen, value), n in zip(orders, sizes, strict=True)]
    cut, costs = len(score) > budget, {problems[0].prototype_cost}
    if cut:  # between the last drop that is kept and the first that is not
        costs = {float(drop) for drop in score[max(budget - 1, 0) : budget + 1]}
    tried = [Trial.at(problems, cost, _by_ascent) for cost in sorted(costs)] if bound else []
    best = max(tried, key=lambda one: one.within(budget, one.proved) or 0, default=None)
    limited = cut and best is not None
    alone, solutions = len(problems) == 1, []
    for number, (problem, (chosen, value)) in enumerate(zip(problems, kept, strict=True)):
        solution = CoverSolution.of(
            problem,
            chosen,
            score=value,
            dual=None if best is None else best.solutions[number].dual,
            limit=Limit(at_most=(budget if alone else len(chosen)) if limited else None),
            price=best.cost if limited and best is not None else None,
        )
        solutions.append(solution)
    proved = None if best is None else best.within(budget, best.proved)
    proved = None if proved is None else _bound(problems, proved)
    return solutions, shared_bound(problems, solutions, budget, proved, None)


def _by_ascent(problems: Sequence[CoverProblem]) -> list[CoverSolution]:
    """Bound problems by dual ascent, without a selection."""
    return [CoverSolution.of(one, [], dual=ascend(one)) for one in problems]


def _joint_order(orders: Sequence[Order]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return whose choice each is, and its score, in one order of all choices."""
    problem_of = np.repeat(np.arange(len(orders)), [len(chosen) for chosen, _ in orders])
    score = np.concatenate([value for _, value in orders])
    order = np.argsort(-score, kind="stable")
    return problem_of[order], score[order]


class TimeLeft:
    """A time limit that is shared out among prices and the tree that closes the gap."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def __call__(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.deadline - time.monotonic())

    def any(self) -> bool:
        """Whether there is time left."""
        return self() > 0.0

    def share(self) -> float | None:
        """Seconds for one price; None where there is no limit."""
        return None if math.isinf(self.deadline) else _SHARE * self()


def solve_alone(
    problem: CoverProblem,
    solver: Callable[..., CoverSolution],
    budget: int,
    *,
    time_limit: float | None = None,
    close: Callable[..., Any] | None = None,
) -> CoverSolution:
    """Solve one problem with at most `budget` prototypes.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    solver : callable
        Solves a problem without a budget within a ``time_limit``.
    budget : int
        How many may be chosen.
    time_limit : float or None
        Seconds for all of it.
    close : callable or None
        As for :func:`solve_within`, and takes a ``time_limit``.
    """
    left = TimeLeft(time_limit)

    def solve(priced: Sequence[CoverProblem]) -> list[CoverSolution]:
        return [solver(one, time_limit=left.share()) for one in priced]

    closing = None if close is None else partial(close_in_time, close, left)
    solutions, _ = solve_within([problem], solve, budget, close=closing, in_time=left.any)
    return solutions[0]


def close_in_time(close: Callable[..., Any], left: TimeLeft, *given: Any) -> Any:
    """Close the gap in the time that is left."""
    return close(*given, time_limit=left())
