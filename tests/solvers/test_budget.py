"""What holds of every solver that may choose only so many, with enumeration as the judge."""

from __future__ import annotations

import importlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from covers import countable, make_problem, random_problem

import naive
from protocover._cover import CoverProblem, CoverSolution, Limit, verify
from protocover._selection.balls import ClassProblem
from protocover._selection.selection import select
from protocover.solvers import _lp as lp
from protocover.solvers import exact, greedy
from protocover.solvers._budget import Trial, solve_coverage, solve_within
from protocover.solvers._budget.frontier import Frontier, best_within
from protocover.solvers._exact import close_by_tree, cover_by_tree
from protocover.solvers._table import SOLVERS

default = importlib.import_module("protocover.solvers._search")
every_solver = pytest.mark.parametrize("name", SOLVERS)
# A few dozen in the usual run, ten thousand in the slow one.
seeds = pytest.mark.parametrize(
    "seeds",
    [
        range(30),
        *(
            pytest.param(range(first, first + 1000), marks=pytest.mark.slow)
            for first in range(30, 10_000, 1000)
        ),
    ],
    ids=lambda seeds: f"{seeds.start}-{seeds.stop}",
)


def harder_problem(seed, n_candidates=None):
    """A problem whose balls overlap, so that the best few are not the first of the best many."""
    rng = np.random.default_rng(seed)
    n_points = int(rng.integers(5, 15))
    n_candidates = n_candidates or int(rng.integers(3, 8))
    inside = rng.random((n_points, n_candidates)) < rng.uniform(0.15, 0.5)
    prize = np.ones(n_points) if seed % 2 else rng.integers(1, 5, n_points)
    cost = rng.choice([0.0, 1 / n_points, 1.0])
    return make_problem(inside, rng.integers(0, 3, n_candidates), prize, cost)


def problems_of(seeds):
    for seed in seeds:
        yield harder_problem(seed), True
        yield random_problem(seed), countable(seed)


def run(name, problem, **options):
    return SOLVERS[name](problem, rng=np.random.default_rng(0), **options)


def check_within(problem, solution, budget, optimum):
    """The solution keeps to the budget, says what is true, and its bound holds."""
    value = naive.exact_value(problem, solution.selected.tolist())
    assert len(solution.selected) <= budget
    assert solution.objective == float(value)
    assert solution.lower_bound <= float(optimum)
    assert verify(problem, solution).faults == ()
    if solution.is_optimal:
        assert value == optimum


@every_solver
@seeds
def test_the_best_so_many_are_bounded_and_no_worse_than_greedys_first(name, seeds):
    for problem, exact_sums in problems_of(seeds):
        for budget in range(problem.n_candidates + 1):
            optimum = naive.exact_optimum_within([problem], budget)
            solution = run(name, problem, max_prototypes=budget)
            check_within(problem, solution, budget, optimum)
            assert solution.objective <= greedy(problem, max_prototypes=budget).objective
            if name == "exact" and exact_sums:
                assert solution.objective == float(optimum)
                assert solution.is_optimal


def test_multipliers_give_bounds_that_hold(monkeypatch):
    """As in large problems, where the default solves no linear program."""
    monkeypatch.setattr(default, "_LARGE", -1)
    for problem, _ in problems_of(range(40)):
        assert default.is_large(problem)
        for budget in range(problem.n_candidates + 1):
            optimum = naive.exact_optimum_within([problem], budget)
            solution = run("auto", problem, max_prototypes=budget)
            check_within(problem, solution, budget, optimum)
            assert solution.objective <= greedy(problem, max_prototypes=budget).objective


@pytest.mark.parametrize("seed", range(40))
def test_greedy_within_a_budget_is_a_prefix_of_greedy(seed):
    problem = random_problem(seed)
    whole = greedy(problem).selected.tolist()
    for budget in range(problem.n_candidates + 1):
        assert greedy(problem, max_prototypes=budget).selected.tolist() == whole[:budget]


@every_solver
@pytest.mark.parametrize("seed", range(12))
def test_classes_share_a_budget_as_well_as_it_can_be_shared(name, seed):
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


def test_a_price_proves_what_no_bound_without_a_budget_could():
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
def test_a_tampered_budget_is_seen(change, fault):
    inside = np.kron(np.eye(3), np.ones((2, 1)))
    problem = make_problem(inside, [0, 0, 0], np.ones(6), 0.5)
    solution = exact(problem, max_prototypes=1)
    assert verify(problem, solution).ok
    faults = verify(problem, replace(solution, **change)).faults
    assert any(fault in one for one in faults), faults


def test_prices_that_differ_between_classes_prove_nothing_together():
    problems = problems_of_classes(1, 2)
    found = select(described(problems), SOLVERS["exact"], max_prototypes=2)
    odd = [found.solutions[0], replace(found.solutions[1], price=7.0)]
    again = verify(problems, odd, limit=Limit(at_most=2), stated=found.shared)
    assert "price must be the same for all classes" in again.faults[0]
    assert again.certificate == "none"


def test_a_price_below_the_cost_is_refused():
    problem = harder_problem(0).at_cost(1.0)
    with pytest.raises(ValueError, match="price must not be below prototype_cost"):
        problem.bound(np.zeros(problem.n_points), limit=Limit(at_most=1), price=0.5)


@pytest.mark.parametrize(("seed", "budget"), [(227, 3), (367, 2)])
def test_the_tree_closes_what_prices_leave_open(seed, budget):
    """Where no price makes as many as the budget worth having, only branching tells."""
    problem = harder_problem(seed, 7)
    optimum = float(naive.exact_optimum_within([problem], budget))
    _, left_open = solve_within([problem], solve_exactly, budget)
    assert left_open.certificate == "verified"
    assert left_open.lower_bound < optimum
    solutions, closed = solve_within([problem], solve_exactly, budget, close=close_by_tree)
    assert (closed.lower_bound, closed.certificate) == (optimum, "solver")
    assert solutions[0].objective == optimum


@pytest.mark.parametrize("asked", ["a number", "a coverage"])
def test_an_interrupt_is_heard_within_the_tree(asked, monkeypatch):
    """Raised by what HiGHS calls at each iteration, while a node's program is being solved."""
    problem = harder_problem(227, 7)
    counted = CoverProblem(problem.cover, 0 * problem.wrong, problem.prize, 1.0)
    limit = Limit(uncovered=Fraction(3))
    found = solve_coverage(counted, limit, lambda problem, limit, found: found)
    assert found.bound < counted.spent(found.selected)

    def interrupted(*told):
        raise KeyboardInterrupt

    trial = Trial.at([problem], problem.prototype_cost, solve_exactly)
    monkeypatch.setattr(lp, "_Watch", lambda deadline: interrupted)
    search = {
        "a number": lambda: close_by_tree([problem], trial, 3, [np.arange(3)]),
        "a coverage": lambda: cover_by_tree(counted, limit, found),
    }[asked]
    with pytest.raises(KeyboardInterrupt):
        search()


def solve_exactly(problems):
    return [exact(problem, rng=np.random.default_rng(0)) for problem in problems]


def test_no_time_still_gives_greedys_first():
    problem = harder_problem(5)
    for name in SOLVERS:
        solution = run(name, problem, max_prototypes=2, time_limit=0.0)
        assert solution.objective <= greedy(problem, max_prototypes=2).objective
        assert verify(problem, solution).faults == ()


def test_a_budget_is_shared_out_by_what_each_size_is_worth():
    problems = [harder_problem(seed).at_cost(0.5) for seed in (2, 4, 6)]
    for budget in range(8):
        every_order = [Frontier.of(problem, all_orders(problem), budget) for problem in problems]
        chosen = best_within(every_order, budget, Fraction(1, 2))
        assert sum(map(len, chosen)) <= budget
        total = sum(map(naive.exact_value, problems, [one.tolist() for one in chosen]))
        assert total == naive.exact_optimum_within(problems, budget)


def all_orders(problem):
    rng = np.random.default_rng(0)
    subsets = range(2**problem.n_candidates)
    bits = np.arange(problem.n_candidates)
    return [rng.permutation(bits[(subset >> bits) & 1 == 1]) for subset in subsets]


def test_a_users_function_is_held_to_the_budget_as_before():
    def first_two(problem, *, rng=None, max_prototypes=None):
        return CoverSolution.of(problem, [0, 1][:max_prototypes])

    problems = problems_of_classes(1, 2)
    found = select(described(problems), first_two, max_prototypes=3)
    assert len(found.candidates) == 3
    assert found.shared is None
