"""Every reduction keeps the optimum, and its solutions map back."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from covers import countable, large_problem, make_problem, problem_and_optimum
from scipy.optimize import linprog
from scipy.sparse import csc_array

import naive
from protocover.solvers import _reductions as module
from protocover.solvers._local_search import Working
from protocover.solvers._reductions import (
    ALL_REDUCTIONS,
    absorb_private_points,
    contained_pairs,
    drop_dominated_candidates,
    drop_implied_points,
    drop_replaceable_candidates,
    drop_unprofitable_candidates,
    merge_identical_points,
    reduce_cover,
)
from protocover.solvers._residual import Residual, relax

SEEDS = range(100)
every_reduction = pytest.mark.parametrize(
    "reduction", [*ALL_REDUCTIONS, reduce_cover], ids=lambda function: function.__name__
)


def best_of(residual):
    """Least value of a residual and columns that reach it, by enumeration."""
    columns = range(len(residual.cost))
    return min(
        (residual.value(np.array(subset, dtype=np.intp)), subset)
        for size in range(len(residual.cost) + 1)
        for subset in itertools.combinations(columns, size)
    )


@every_reduction
def test_a_reduction_keeps_the_optimum_and_its_solution_maps_back(reduction):
    """In units that break ties; a solution has the same value before and after."""
    for seed in SEEDS:
        before = Residual.of(problem_and_optimum(seed)[0])
        after = reduction(before)
        value, columns = best_of(after)
        assert value == best_of(before)[0]
        selected = after.selection(np.array(columns, dtype=np.intp))
        assert before.value(np.searchsorted(before.candidates, selected)) == value


def test_units_count_the_objective_and_break_ties():
    """If counting is exact, the least value is the optimum with the fewest prototypes."""
    for seed in SEEDS:
        problem, optimum, fewest = problem_and_optimum(seed)
        residual = Residual.of(problem)
        if countable(seed):
            value, columns = best_of(residual)
            assert len(columns) == fewest
            broken = fewest if residual.ties > 1 else 0
            assert (int(value) - broken) * residual.unit == optimum
            plain = residual.plain()
            assert int(best_of(plain)[0]) * plain.unit == optimum


@pytest.mark.parametrize("seed", range(40))
def test_a_dual_vector_maps_back_without_loss(seed):
    """The lifted dual vector proves the value of the original linear program."""
    problem, optimum, _ = problem_and_optimum(seed)
    left = reduce_cover(Residual.of(problem)).plain()
    lifted = left.lift_dual(problem, relax(left).dual)
    rows = np.hstack((problem.cover.toarray(), np.eye(problem.n_points)))
    program = linprog(
        np.concatenate((problem.cost, problem.prize)), A_ub=-rows, b_ub=-np.ones(problem.n_points)
    )
    assert problem.lower_bound(lifted) >= program.fun - 1e-9
    assert problem.lower_bound(lifted) <= float(optimum)


@pytest.mark.parametrize("seed", range(40))
def test_a_settled_selection_has_the_same_value_before_and_after(seed):
    """Also if points were dropped because others are sure to be covered, and at ties."""
    counted = Residual.of(problem_and_optimum(seed)[0])
    plain = counted.plain()
    for full, left in (
        (counted, reduce_cover(counted)),
        (plain, reduce_cover(plain)),
        (plain, reduce_cover(counted).plain()),
    ):
        working = Working.of(left, np.empty(0, dtype=np.intp))
        working.settle()
        selected = left.selection(np.flatnonzero(working.chosen))
        value = full.value(np.searchsorted(full.candidates, selected))
        assert value == working.value + left.constant


def test_reductions_stop_when_time_is_up():
    residual = Residual.of(large_problem(60, 80))
    assert reduce_cover(residual, deadline=time.monotonic()) is residual
    assert reduce_cover(residual).cover.nnz < residual.cover.nnz


def left_after(reduction, inside, wrong, prize, cost):
    """Points and candidates that a reduction leaves."""
    residual = reduction(Residual.of(make_problem(inside, wrong, prize, cost)))
    return residual.cover.shape[0], residual.candidates.tolist()


def test_candidates_that_cost_what_they_cover_are_dropped():
    """A residual starts without them and gets them by other reductions."""
    residual = Residual.of(make_problem([[1, 1], [1, 0]], [0, 0], [1, 1], 0.5))
    reach = residual.cover.T @ residual.prize
    for cost, left in ((reach, []), (reach - [1, 0], [0]), (reach + 1, [])):
        dear = drop_unprofitable_candidates(replace(residual, cost=cost))
        assert dear.candidates.tolist() == left


def test_dominated_candidates_are_dropped_and_of_equal_ones_the_first_stays():
    inside = [[1, 1, 1, 0], [1, 1, 1, 1], [0, 1, 1, 0]]
    assert left_after(drop_dominated_candidates, inside, [0, 0, 0, 0], [1, 1, 1], 0.5)[1] == [1]


def test_a_candidate_that_two_cheaper_ones_replace_is_dropped():
    inside = [[1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1]]
    left = left_after(drop_replaceable_candidates, inside, [2, 0, 0], [1, 1, 1, 1], 0.5)
    assert left[1] == [1, 2]
    # Also at the same cost, unless the tie rule prefers one prototype to two.
    equal = Residual.of(make_problem(inside, [0.5, 0, 0], [1, 1, 1, 1], 0.5))
    assert drop_replaceable_candidates(equal).candidates.tolist() == [0, 1, 2]
    assert drop_replaceable_candidates(equal.plain()).candidates.tolist() == [1, 2]


def test_a_candidate_worth_its_private_points_is_taken():
    problem = make_problem([[1, 0], [1, 1]], [0, 0], [1, 1], 0.5)
    residual = absorb_private_points(Residual.of(problem))
    assert residual.taken.tolist() == [0]
    assert residual.cover.shape == (0, 1)
    even = make_problem([[1, 0], [1, 1], [0, 1]], [0, 0], [1, 1, 1], 1.0)
    assert absorb_private_points(Residual.of(even).plain()).taken.tolist() == [0, 1]


def test_points_in_the_same_balls_are_merged():
    assert (
        left_after(merge_identical_points, [[1, 1], [1, 1], [0, 1]], [0, 0], [1, 2, 1], 0.5)[0]
        == 2
    )


def test_points_in_all_balls_of_a_sure_point_are_dropped_but_not_of_others():
    """Classical row dominance is false here: it would give 1, but the optimum is 1.5."""
    inside = [[1, 1], [1, 0]]
    assert left_after(drop_implied_points, inside, [0, 0], [1, 1], 0.5)[0] == 1
    unsure = Residual.of(make_problem(inside, [4.5, 0.0], [1, 1], 0.5))
    assert drop_implied_points(unsure).cover.shape[0] == 2
    assert naive.optimum(make_problem(inside, [4.5, 0.0], [1, 1], 0.5)) == 1.5
    assert naive.optimum(make_problem([[1, 0]], [4.5, 0.0], [1], 0.5)) == 1.0


def slow_pairs(inside):
    """Subset pairs by comparing every two columns."""
    columns = range(inside.shape[1])
    return {
        (a, b)
        for a in columns
        for b in columns
        if a != b and inside[:, a].any() and not (inside[:, a] & ~inside[:, b]).any()
    }


@pytest.mark.parametrize("n_elements", [1, 7, 64, 65, 150])
@pytest.mark.parametrize("density", [0.02, 0.3, 0.95])
def test_all_contained_pairs_are_found(n_elements, density, monkeypatch):
    """Also in blocks of few pairs, with few bits per set, and only those that are wanted."""
    rng = np.random.default_rng(n_elements)
    inside = rng.random((n_elements, 40)) < density
    expected = slow_pairs(inside)
    for pairs, words in ((1 << 21, 16), (50, 1)):
        monkeypatch.setattr(module, "_PAIRS_AT_ONCE", pairs)
        monkeypatch.setattr(module, "_WORDS", words)
        found = contained_pairs(csc_array(inside), lambda a, b: np.ones(len(a), bool))
        assert set(zip(*map(np.ndarray.tolist, found), strict=True)) == expected
    found = contained_pairs(csc_array(inside), lambda a, b: a < b)
    some = {(a, b) for a, b in expected if a < b}
    assert set(zip(*map(np.ndarray.tolist, found), strict=True)) == some
