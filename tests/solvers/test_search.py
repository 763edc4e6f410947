"""What holds for the staged search on every kind of cover, with enumeration as the judge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from covers import make_problem, random_problem
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import naive
from protocover.solvers import auto, exact, greedy, ratio_greedy, solve, verify
from protocover.solvers._lagrangian import climb, dive_along
from protocover.solvers._lp import solve_relaxation
from protocover.solvers._neighbourhoods import must_be_covered, search_neighbourhoods
from protocover.solvers._reductions import reduce_cover
from protocover.solvers._residual import Residual
from protocover.solvers._search import Search
from protocover.solvers._state import AUTO, EXACT
from protocover.solvers._weighting import search_by_weights


def plane(n, per_ball, seed, *, costs=False, labelled=False):
    """Balls about points of the plane: plain, with costs, or some points of another class."""
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    near = cdist(points, points) <= (per_ball / n / np.pi) ** 0.5
    if labelled:
        own = rng.random(n) < 0.6
        return make_problem(near[own], near[~own].sum(axis=0), np.ones(own.sum()), 1 / n)
    if costs:
        return make_problem(near, rng.integers(1, 9, n), np.full(n, 9.0 * n), 0.0)
    return make_problem(near, np.zeros(n), np.ones(n), 1 / (n + 1))


def random_cover(n_rows, n_columns, density, seed):
    """A plain cover without structure."""
    rng = np.random.default_rng(seed)
    inside = rng.random((n_rows, n_columns)) < density
    inside[np.arange(n_rows), rng.integers(0, n_columns, n_rows)] = True
    return make_problem(inside, np.zeros(n_columns), np.ones(n_rows), 1 / (n_rows + 1))


def kinds():
    """Problems of every kind, by name."""
    yield "plane, 6 a ball", plane(300, 6, 0)
    yield "plane, 15 a ball", plane(300, 15, 1)
    yield "plane, costs", plane(300, 8, 2, costs=True)
    yield "plane, labels", plane(400, 8, 3, labelled=True)
    yield "random cover", random_cover(100, 150, 0.06, 4)
    yield "dense cover", random_cover(60, 80, 0.3, 5)


ALL_KINDS = dict(kinds())
every_kind = pytest.mark.parametrize("kind", ALL_KINDS)


def by_sparse_stages(problem, effort):
    """Solve a problem by the stages of sparse covers, however small it is."""
    search = Search(problem, replace(effort, tiny=-1, many=0))
    search.go_on()
    return search.solution()


@every_kind
def test_exact_is_no_worse_than_auto_and_auto_than_either_greedy(kind):
    problem = ALL_KINDS[kind]
    first = min(greedy(problem).objective, ratio_greedy(problem).objective)
    default, best = auto(problem), exact(problem, time_limit=20.0)
    assert best.objective <= default.objective <= first
    assert default.lower_bound <= best.objective
    assert best.lower_bound <= default.objective
    for solution in (default, best):
        assert verify(problem, solution).faults == ()
        assert problem.lower_bound(solution.dual) <= solution.lower_bound


@every_kind
def test_the_answer_is_the_same_again(kind):
    problem = ALL_KINDS[kind]
    one, other = auto(problem), auto(problem)
    np.testing.assert_array_equal(one.selected, other.selected)
    assert one.lower_bound == other.lower_bound


@pytest.mark.parametrize("seed", range(120))
def test_bounds_are_never_above_the_optimum(seed):
    """Small problems by the stages of sparse covers, which the optimum of is known."""
    problem = random_problem(seed)
    optimum, _ = naive.exact_optimum(problem)
    for effort in (AUTO, EXACT):
        solution = by_sparse_stages(problem, effort)
        assert solution.lower_bound <= float(optimum) <= solution.objective
        assert verify(problem, solution).faults == ()
    if problem.on_grid:  # the last solution is that of EXACT
        assert solution.objective == float(optimum)


@pytest.mark.parametrize("seed", range(40))
def test_searches_keep_or_improve_what_they_start_from(seed):
    problem = plane(120, 6, seed, labelled=seed % 2 == 0, costs=seed % 4 == 1)
    residual = Residual.of(problem).plain()
    kernel = reduce_cover(residual)
    if 0 in kernel.cover.shape:
        return
    start = np.flatnonzero(np.isin(kernel.candidates, greedy(problem).selected))
    table = kernel.cover, kernel.cost, kernel.prize
    found = search_by_weights(*table, start, moves=500)
    better = kernel.value(found)
    everything = kernel.value(np.arange(len(kernel.cost)))
    assert better <= everything
    prize = must_be_covered(*table)
    again = search_neighbourhoods(*table[:2], prize, found, rounds=3, size=30, max_nodes=5)
    assert kernel.value(again) <= better


def test_solve_takes_a_name_a_limit_and_options():
    problem = ALL_KINDS["plane, 6 a ball"]
    assert solve(problem).objective == auto(problem).objective
    best = solve(problem, solver="exact", time_limit=20.0, gap=0.0)
    assert best.objective <= auto(problem).objective
    assert len(solve(problem, max_prototypes=3).selected) <= 3
    with pytest.raises(TypeError, match="no_such"):
        solve(problem, no_such=1)


@pytest.mark.parametrize("per_ball", [6, 20])
def test_multipliers_bound_the_linear_program_and_lead_to_a_cover(per_ball):
    """The bound is within 2 % of the linear program's, the cover better than the greedy's."""
    problem = plane(800, per_ball, 7)
    residual = Residual.of(problem).plain()
    cover, cost, prize = residual.cover, residual.cost, residual.prize
    found = climb(
        csr_array(cover, dtype=float),
        cost,
        prize,
        np.zeros(len(prize)),
        target=residual.value(np.searchsorted(residual.candidates, greedy(problem).selected)),
        steps=400,
    )
    relaxed = solve_relaxation(cover, cost, prize)
    assert 0.98 * relaxed.value <= found.bound <= relaxed.value * (1 + 1e-9)
    selected = dive_along(cover, cost, prize, found.dual)
    assert problem.objective(residual.candidates[selected]) < greedy(problem).objective
