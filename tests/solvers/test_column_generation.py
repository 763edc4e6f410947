"""Column generation for balls of several radii, against enumeration and a plain MIP."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array

import naive
from protocover._cover import CoverProblem, verify
from protocover.solvers import SOLVERS
from protocover.solvers import _column_generation as column_generation
from protocover.solvers import _lp as lp
from protocover.solvers._column_generation import (
    PROOF,
    ColumnEffort,
    ColumnSearch,
    dive,
    generate_columns,
    without_redundant,
)
from protocover.solvers._greedy import choose_by_drop, choose_by_ratio

COSTS = (0.1, 0.5, 1.0, 2.0)


def nested_problem(rng, n_points, n_candidates, cost, *, levels=3, weighted=False):
    """A problem whose candidates have balls about points of the plane, one inside the other."""
    points = rng.random((n_points, 2))
    shells, first, wrong = [], [], []
    for center in points[rng.permutation(n_points)[:n_candidates]]:
        distances = np.hypot(*(points - center).T)
        radii = np.sort(rng.uniform(0.0, 0.6, levels))
        inner, start = -1.0, len(first)
        for level, radius in enumerate(radii):
            shells.append((distances > inner) & (distances <= radius))
            first.append(start)
            wrong.append(float(level) / 2.0)
            inner = radius
    prize = rng.integers(1, 9, n_points) / 4 if weighted else np.ones(n_points)
    return CoverProblem(csc_array(np.array(shells).T), wrong, prize, cost, first=first)


def optimum(problem):
    """The least objective, by a MIP over all balls written out."""
    found = lp.solve_mip(problem.cover, problem.cost, problem.prize)
    assert found.status == "optimal"
    return found.value


def search(problem, effort=None, **options):
    found = ColumnSearch(problem, ColumnEffort() if effort is None else effort, **options)
    found.go_on()
    return found.solution()


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n_points=st.integers(1, 9),
    cost=st.sampled_from(COSTS),
    weighted=st.booleans(),
)
def test_small_problems_are_solved_as_by_enumeration(seed, n_points, cost, weighted):
    rng = np.random.default_rng(seed)
    n_candidates = int(rng.integers(1, min(n_points, 4) + 1))
    problem = nested_problem(rng, n_points, n_candidates, cost, weighted=weighted)
    best, _ = naive.exact_optimum(problem)
    proved, default = search(problem, PROOF), search(problem)
    assert proved.objective == pytest.approx(float(best), abs=1e-12)
    assert proved.status == "optimal"
    assert problem.exact_bound(default.dual) <= best
    assert default.lower_bound <= float(best) <= default.objective
    verify(problem, proved)
    verify(problem, default)


@pytest.mark.parametrize("seed", range(6))
def test_larger_problems_are_solved_as_by_a_mip_over_all_balls(seed):
    rng = np.random.default_rng(seed)
    problem = nested_problem(
        rng, 120, 60, COSTS[seed % len(COSTS)], levels=5, weighted=seed % 2 > 0
    )
    best, proved, default = optimum(problem), search(problem, PROOF), search(problem)
    greedy = [
        problem.objective(choose(problem)[0]) for choose in (choose_by_drop, choose_by_ratio)
    ]
    assert proved.objective == pytest.approx(best, abs=1e-9)
    assert proved.is_optimal
    assert default.lower_bound <= best + 1e-9
    assert best - 1e-9 <= default.objective <= min(greedy)
    verify(problem, default)


@pytest.mark.parametrize("seed", range(3))
def test_generated_columns_reach_the_relaxation_over_all_balls(seed):
    problem = nested_problem(np.random.default_rng(seed), 200, 120, 1.0, levels=6).core
    start = choose_by_drop(problem)[0]
    master = generate_columns(problem, start, effort=ColumnEffort())
    whole = lp.solve_relaxation(problem.cover, problem.cost, problem.prize, method="simplex")
    assert master.dual.sum() == pytest.approx(whole.value, abs=1e-6)
    assert (problem.prize_sums(master.dual) <= problem.cost + 1e-6).all()
    assert len(master.columns) < problem.n_candidates


def test_a_plain_problem_is_solved_too():
    nested = nested_problem(np.random.default_rng(4), 80, 40, 1.0)
    plain = CoverProblem(nested.cover, nested.wrong, nested.prize, nested.prototype_cost)
    found = search(plain, PROOF)
    assert found.objective == pytest.approx(optimum(nested), abs=1e-9)


@pytest.mark.parametrize("rounds", [1, 2])
def test_any_limit_leaves_a_selection_and_a_valid_bound(rounds):
    problem = nested_problem(np.random.default_rng(5), 150, 90, 0.5, levels=5)
    found = search(problem, ColumnEffort(rounds=rounds, columns=0))
    assert found.lower_bound <= optimum(problem) + 1e-9
    assert found.objective <= problem.objective(choose_by_drop(problem)[0])
    verify(problem, found)


def test_no_time_leaves_the_better_greedy():
    problem = nested_problem(np.random.default_rng(6), 150, 90, 0.5, levels=5)
    begun = ColumnSearch(problem)
    begun.go_on(0.0)
    found = begun.solution()
    greedy = min(choose_by_drop(problem)[0], choose_by_ratio(problem)[0], key=problem.objective)
    assert found.objective <= problem.objective(greedy)
    assert found.status == "time limit"
    verify(problem, found)


def test_a_gap_that_may_stay_open_is_claimed_no_further():
    problem = nested_problem(np.random.default_rng(7), 150, 90, 0.5, levels=5)
    found = search(problem, PROOF, gap=0.2)
    assert found.lower_bound <= optimum(problem) + 1e-9
    assert found.gap <= 0.2


def test_redundant_columns_are_left_out():
    shells = np.array([[True, False], [False, True], [False, True]])
    problem = CoverProblem(shells, [0.0, 0.0], np.ones(3), 0.5, first=[0, 0])
    assert without_redundant(problem, np.array([0, 1])).tolist() == [1]


def test_a_dive_ends_with_no_fraction_left():
    problem = nested_problem(np.random.default_rng(8), 120, 80, 1.0, levels=5).core
    master = generate_columns(problem, choose_by_drop(problem)[0], effort=ColumnEffort())
    value = problem.objective(dive(master, 0.1, effort=ColumnEffort()))
    assert value <= 1.1 * optimum(problem)


@pytest.mark.parametrize("name", ["auto", "exact"])
def test_solvers_use_it_for_balls_of_several_radii(name, monkeypatch):
    monkeypatch.setattr(column_generation, "_SMALL", 0)
    problem = nested_problem(np.random.default_rng(9), 120, 80, 1.0, levels=5)
    found = SOLVERS[name](problem)
    again = SOLVERS[name](problem)
    best = optimum(problem)
    assert best - 1e-9 <= found.objective <= 1.05 * best
    assert name == "auto" or found.is_optimal
    np.testing.assert_array_equal(found.selected, again.selected)
    budgeted = SOLVERS[name](problem, max_prototypes=3)
    assert len(budgeted.selected) <= 3
    verify(problem, budgeted)
