"""Budgets of one problem and of several, compared with enumeration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from covers import make_problem

import naive
from protocover._cover import CoverProblem, CoverSolution, Limit, verify
from protocover._selection.balls import ClassProblem
from protocover._selection.selection import select
from protocover.solvers import _lp as lp
from protocover.solvers import exact
from protocover.solvers._budget import Trial, _share, close_by_tree, solve_within
from protocover.solvers._coverage import cover_by_tree, solve_coverage
from protocover.solvers._registry import SOLVERS

every_solver = pytest.mark.parametrize("name", SOLVERS)


def harder_problem(seed, n_candidates=None):
    """A problem whose balls overlap, so the best few are not the first of the best many."""
    rng = np.random.default_rng(seed)
    n_points = int(rng.integers(5, 15))
    n_candidates = n_candidates or int(rng.integers(3, 8))
    inside = rng.random((n_points, n_candidates)) < rng.uniform(0.15, 0.5)
    prize = np.ones(n_points) if seed % 2 else rng.integers(1, 5, n_points)
    cost = rng.choice([0.0, 1 / n_points, 1.0])
    return make_problem(inside, rng.integers(0, 3, n_candidates), prize, cost)


@pytest.mark.parametrize("name", ["exact", "auto"])
def test_budgets_of_problems_with_overlaps_are_bounded(name):
    for seed in range(25):
        problem = harder_problem(seed)
        for budget in range(1, 5):
            optimum = naive.exact_optimum_within([problem], budget)
            solution = SOLVERS[name](problem, max_prototypes=budget)
            value = naive.exact_value(problem, solution.selected.tolist())
            assert len(solution.selected) <= budget
            assert solution.lower_bound <= float(optimum) <= solution.objective == float(value)
            assert verify(problem, solution).faults == ()
            assert name == "auto" or value == optimum


@every_solver
@pytest.mark.parametrize("seed", range(5))
def test_a_shared_budget_is_divided_optimally(name, seed):
    problems = problems_of_classes(100 * seed, 2 + seed % 2)
    for budget in (0, 1, 3, 5, 30):
        optimum = naive.exact_optimum_within(problems, budget)
        rng = np.random.default_rng(0)
        found = select(described(problems), SOLVERS[name], max_prototypes=budget, rng=rng)
        assert len(found.candidates) <= budget
        assert found.lower_bound <= float(optimum) <= found.objective
        first = select(described(problems), SOLVERS["greedy"], max_prototypes=budget)
        assert found.objective <= first.objective
        if name == "exact":
            assert found.objective == float(optimum)
            assert found.lower_bound == found.objective
        for problem, solution in zip(problems, found.solutions, strict=True):
            assert verify(problem, solution).faults == ()
        limit = Limit(at_most=budget)
        again = verify(problems, found.solutions, limit=limit, stated=found.shared)
        assert again.faults == ()


def problems_of_classes(seed, n_classes):
    """Problems of classes that choose among the same candidates at the same cost."""
    return [harder_problem(seed + k, 6).at_cost(0.25) for k in range(n_classes)]


def described(problems):
    """The problems with what a selection says of their columns."""
    sizes = [np.diff(problem.cover.indptr) for problem in problems]
    return [
        ClassProblem(problem, np.arange(problem.n_candidates), own, sum(sizes) - own)
        for problem, own in zip(problems, sizes, strict=True)
    ]


def test_a_price_proves_more_than_a_bound_without_a_budget():
    """Three far balls of two points each: with one of them four points stay uncovered."""
    inside = np.kron(np.eye(3), np.ones((2, 1)))
    problem = make_problem(inside, [0, 0, 0], np.ones(6), 0.5)
    solution = exact(problem, max_prototypes=1)
    assert (solution.objective, solution.lower_bound) == (4.5, 4.5)
    assert solution.certificate == "verified"
    assert solution.limit == Limit(at_most=1)
    assert solution.price > problem.prototype_cost


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"limit": Limit(at_most=2)}, "lower_bound is"),
        ({"limit": Limit(at_most=0)}, "the limit"),
        ({"limit": Limit(), "price": None}, "lower_bound is"),
        ({"price": 0.1}, "price must be a number from prototype_cost"),
        ({"price": float("nan")}, "price must be a number"),
        ({"price": None}, "price must be a number"),
        ({"price": 3.5}, "lower_bound is"),
    ],
    ids=str,
)
def test_a_tampered_budget_is_rejected(change, fault):
    inside = np.kron(np.eye(3), np.ones((2, 1)))
    problem = make_problem(inside, [0, 0, 0], np.ones(6), 0.5)
    solution = exact(problem, max_prototypes=1)
    assert verify(problem, solution).ok
    faults = verify(problem, replace(solution, **change)).faults
    assert any(fault in one for one in faults), faults


def test_different_prices_per_class_prove_nothing_together():
    problems = problems_of_classes(1, 2)
    found = select(described(problems), SOLVERS["exact"], max_prototypes=2)
    odd = [found.solutions[0], replace(found.solutions[1], price=7.0)]
    again = verify(problems, odd, limit=Limit(at_most=2), stated=found.shared)
    assert "price must be the same for all classes" in again.faults[0]
    assert again.certificate == "none"


def test_a_price_below_the_cost_is_rejected():
    problem = harder_problem(0).at_cost(1.0)
    with pytest.raises(ValueError, match="price must not be below prototype_cost"):
        problem.bound(np.zeros(problem.n_points), limit=Limit(at_most=1), price=0.5)


@pytest.mark.parametrize(("seed", "budget"), [(227, 3), (367, 2)])
def test_branch_and_bound_closes_the_gap_that_prices_leave(seed, budget):
    """No price makes exactly the budget worth having."""
    problem = harder_problem(seed, 7)
    optimum = float(naive.exact_optimum_within([problem], budget))
    _, left_open = solve_within([problem], solve_exactly, budget)
    assert left_open.certificate == "verified"
    assert left_open.lower_bound < optimum
    solutions, closed = solve_within([problem], solve_exactly, budget, close=close_by_tree)
    assert (closed.lower_bound, closed.certificate) == (optimum, "solver")
    assert solutions[0].objective == optimum


@pytest.mark.parametrize("asked", ["a number", "a coverage"])
def test_an_interrupt_ends_branch_and_bound(asked, monkeypatch):
    """Raised by the callback of HiGHS while a node's program is being solved."""
    problem = harder_problem(227, 7)
    counted = CoverProblem(problem.cover, 0 * problem.wrong, problem.prize, 1.0)
    limit = Limit(uncovered=Fraction(3))
    found = solve_coverage(counted, limit, lambda problem, limit, found: found)
    assert found.bound < counted.spent(found.selected)

    def interrupted(*told):
        raise KeyboardInterrupt

    trial = Trial.at([problem], problem.prototype_cost, solve_exactly, 3)
    monkeypatch.setattr(lp, "_Watch", lambda deadline: interrupted)
    search = {
        "a number": lambda: close_by_tree([problem], trial, 3, [np.arange(3)]),
        "a coverage": lambda: cover_by_tree(counted, limit, found),
    }[asked]
    with pytest.raises(KeyboardInterrupt):
        search()


def solve_exactly(problems):
    return [exact(problem, rng=np.random.default_rng(0)) for problem in problems]


def test_prefixes_share_a_budget_optimally():
    problems = [harder_problem(seed).at_cost(0.5) for seed in (2, 4, 6)]
    for budget in range(8):
        chosen = _share(problems, list(map(all_orders, problems)), budget)
        assert sum(map(len, chosen)) <= budget
        total = sum(map(naive.exact_value, problems, [one.tolist() for one in chosen]))
        assert total == naive.exact_optimum_within(problems, budget)


def all_orders(problem):
    rng = np.random.default_rng(0)
    subsets = range(2**problem.n_candidates)
    bits = np.arange(problem.n_candidates)
    return [rng.permutation(bits[(subset >> bits) & 1 == 1]) for subset in subsets]


def test_a_custom_solver_has_a_budget_per_class():
    def first_two(problem, *, rng=None, max_prototypes=None):
        return CoverSolution.of(problem, [0, 1][:max_prototypes])

    problems = problems_of_classes(1, 2)
    found = select(described(problems), first_two, max_prototypes=3)
    assert len(found.candidates) == 3
    assert found.shared is None
