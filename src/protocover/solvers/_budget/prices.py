"""The price that keeps a selection to its budget, and the bound that it proves.

Raise the cost of a prototype by a price, and fewer are worth having. For any price that is
not negative, the least objective at the raised cost less the price times the budget bounds
every selection within the budget, for it has paid the price at most so often. The best such
bound is where the numbers chosen step over the budget: at the price at which two selections,
one with too many and one with few enough, are equally good.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, first_cover

# Solutions of all problems with this cost of a prototype.
SolveAt = Callable[[Sequence[CoverProblem]], Sequence[CoverSolution]]


@dataclass(frozen=True)
class Point:
    """A number of prototypes and the objective that some selection has with it."""

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


def common_step(problems: Sequence[CoverProblem]) -> Fraction:
    """Return what every sum of objectives is a whole multiple of; 0 where that is not known."""
    steps = [problem.step for problem in problems]
    if not all(steps):
        return Fraction(0)
    below = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.gcd(*(int(step * below) for step in steps)), below)


def rounded_up(problems: Sequence[CoverProblem], bound: Fraction) -> Fraction:
    """Round a bound up to the next sum that objectives can have."""
    step = common_step(problems)
    return math.ceil(bound / step) * step if step else bound


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
