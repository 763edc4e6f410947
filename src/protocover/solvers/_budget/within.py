"""Solve one or several problems with at most so many prototypes in all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, first_cover, judge
from .._finish import describe
from .._stepwise import choose_by_drop
from .frontier import Frontier, best_within
from .prices import Point, SolveAt, Trial, rounded_up, search_prices, total_value

Indices = NDArray[np.intp]

# Prices that are tried; the search for the best one ends before in all but odd cases.
_TRIALS = 24


@dataclass(frozen=True, eq=False)
class Budgeted:
    """Solutions that keep to a budget together, and what is proved of them together.

    Parameters
    ----------
    solutions : list of CoverSolution
        One for each problem. Where there are several, each is bounded among selections of
        at most as many candidates as it has.
    lower_bound : float
        No selections within the budget have a smaller sum of objectives.
    certificate : str
        What that rests on, in the words of :class:`CoverSolution`.
    """

    solutions: list[CoverSolution]
    lower_bound: float
    certificate: str


@dataclass(frozen=True, eq=False)
class Closed:
    """The best selections known, and what selections within the budget cost at least."""

    selections: list[Indices]
    bound: Fraction | None


class Closing(Protocol):
    """What tries to close the gap that prices have left."""

    def __call__(
        self,
        problems: Sequence[CoverProblem],
        trial: Trial,
        budget: int,
        best: list[Indices],
    ) -> Closed: ...


def solve_within(
    problems: Sequence[CoverProblem],
    solve: SolveAt,
    budget: int,
    *,
    close: Closing | None = None,
    in_time: Callable[[], bool] = lambda: True,
) -> Budgeted:
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
        return _as_found(problems, trials[0])
    for trial in trials:
        for problem, known, solution in zip(problems, orders, trial.solutions, strict=True):
            known.append(_filled(problem, solution, budget))
    best = _share(problems, orders, budget)
    trial = max(trials, key=lambda one: _bound(problems, one.within(budget, one.claimed)))
    closed = Closed(best, trial.within(budget, trial.claimed))
    if close is not None and _bound(problems, closed.bound) < total_value(problems, best):
        closed = close(problems, trial, budget, best)
    return _described(problems, trial, budget, closed)


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
    return Fraction(-1) if bound is None else rounded_up(problems, bound)


def _as_found(problems: Sequence[CoverProblem], trial: Trial) -> Budgeted:
    """Return solutions that keep to the budget unasked: they are what they are without one."""
    objective = total_value(problems, [solution.selected for solution in trial.solutions])
    bound, word = judge(objective, trial.proved, trial.claimed)
    return Budgeted(list(trial.solutions), bound, word)


def _described(
    problems: Sequence[CoverProblem], trial: Trial, budget: int, closed: Closed
) -> Budgeted:
    """Describe the selections and what is known of them, alone and together."""
    solutions = []
    for problem, chosen, found in zip(problems, closed.selections, trial.solutions, strict=True):
        alone = len(problems) == 1
        claim = _bound(problems, closed.bound) if alone and closed.bound is not None else None
        solution = describe(
            problem,
            chosen,
            dual=found.dual,
            claim=claim,
            budget=budget if alone else len(chosen),
            priced_at=trial.cost,
        )
        solutions.append(replace(solution, status=f"best of {budget}"))
    objective = total_value(problems, [solution.selected for solution in solutions])
    proved = trial.within(budget, trial.proved)
    bound, word = judge(
        objective,
        None if proved is None else _bound(problems, proved),
        None if closed.bound is None else _bound(problems, closed.bound),
    )
    return Budgeted(solutions, bound, word)
