"""Multipliers: near the linear program's bound, and the same whatever the order of sums."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from covers import large_problem, make_problem, random_problem

from protocover._cover import CoverProblem, Limit
from protocover.solvers._budget import best_of_large
from protocover.solvers._coverage import Incumbent, cover_large
from protocover.solvers._greedy import choose_by_drop
from protocover.solvers._multipliers import Look, find_multipliers
from protocover.solvers._residual import Packing, Residual


@dataclass(frozen=True)
class Number:
    """What so many candidates can reach, of which nothing is known."""

    number: int

    def look(self, paid, gains, best):
        taken = np.argsort(-gains, kind="stable")[: self.number]
        taken = taken[gains[taken] > 0]
        bound = paid - gains[taken].sum()
        return Look(bound, taken, 0.02 * (abs(bound) + 1.0))


def program_bound(problem, budget):
    """The bound of the linear program within a budget, as HiGHS has it."""
    residual = Residual.of(problem).plain()
    packing = Packing(residual, weight=np.ones(len(residual.cost)))
    found = packing.solve(residual.cost, residual.prize, capacity=float(budget))
    return (found.value + residual.constant) * float(residual.unit)


@pytest.mark.parametrize("budget", [5, 20, 60])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_a_budget_is_nearly_that_of_the_linear_program(budget, seed):
    problem = large_problem(400, 300, density=0.03, seed=seed)
    solution = best_of_large(problem, budget)
    program = program_bound(problem, budget)
    assert 0.98 * program <= solution.lower_bound
    assert len(solution.selected) <= budget


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_the_bound_of_a_share_is_nearly_that_of_the_linear_program(share):
    """The least number for which the program within a budget leaves no more than is allowed."""
    problem = large_problem(400, 300, density=0.03)
    coverable = int((problem.n_holders > 0).sum())
    allowed = Fraction(400 - int(share * coverable))
    problem = CoverProblem(problem.cover, 0 * problem.wrong, problem.prize, 1.0)
    found = cover_large(problem, Limit(uncovered=allowed), Incumbent(np.arange(300)))
    least = next(k for k in range(300) if program_bound(problem.free, k) <= allowed + 1e-6)
    assert 0.98 * least <= found.bound <= least
    assert problem.uncovered(found.selected) <= allowed
    assert len(found.selected) <= len(first_enough(problem, allowed))


def first_enough(problem, allowed):
    """Greedy's first that cover enough."""
    order = choose_by_drop(problem.free)[0]
    return next(
        order[:size]
        for size in range(len(order) + 1)
        if problem.uncovered(order[:size]) <= allowed
    )


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_points_is_of_no_concern(seed):
    """Sums in another order, as other machines make them, take the same steps."""
    problem = large_problem(300, 200, density=0.05, seed=seed)
    order = np.random.default_rng(seed).permutation(300)
    other = CoverProblem(problem.cover[order], problem.wrong, problem.prize, 2.0)
    start = np.random.default_rng(1).random(300)
    one = find_multipliers(problem, Number(10), start)
    two = find_multipliers(other, Number(10), start[order])
    assert one.gains.tolist() == two.gains.tolist()
    assert one.dual[order].tolist() == two.dual.tolist()
    assert one.fraction.tolist() == two.fraction.tolist()


@pytest.mark.parametrize("seed", range(40))
def test_payments_stay_between_nothing_and_the_prizes(seed):
    problem = random_problem(seed)
    found = find_multipliers(problem, Number(2), 2.0 * problem.prize)
    assert (found.dual >= 0).all()
    assert (found.dual <= problem.prize).all()
    assert ((found.fraction >= 0) & (found.fraction <= 1)).all()


def test_no_time_is_one_look():
    problem = make_problem(np.eye(3), [0, 0, 0], np.ones(3), 0.5)
    found = find_multipliers(problem, Number(1), np.ones(3), deadline=0.0)
    assert found.dual.tolist() == [1, 1, 1]
