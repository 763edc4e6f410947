"""Branch and bound: correct whatever the linear program returns, and able to continue anywhere."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from covers import large_problem, make_problem, problem_and_optimum
from scipy.optimize import linprog

from protocover._cover import verify
from protocover.solvers import _branch_and_bound as module
from protocover.solvers import _lp as lp
from protocover.solvers import exact
from protocover.solvers._branch_and_bound import BranchAndBound, Node, choose, fix, leave_out
from protocover.solvers._residual import Packing, Relaxation, Residual, relax

NEVER = 10**9
either_program = pytest.mark.parametrize("wrong", [False, True], ids=["HiGHS", "random answers"])


def odd_cycle():
    """Five points on a circle, balls of two neighbours: the relaxation is off by a half."""
    inside = np.eye(5, dtype=bool) | np.roll(np.eye(5, dtype=bool), 1, axis=0)
    return make_problem(inside, np.zeros(5), np.full(5, 10.0), 1.0)


def medium_residual():
    return Residual.of(large_problem(60, 90, density=0.1)).plain()


def all_values(residual):
    """Every set of columns as a column of a table, and its value."""
    n_columns = len(residual.cost)
    masks = (np.arange(2**n_columns) >> np.arange(n_columns)[:, None] & 1).astype(bool)
    return masks, np.array([residual.value(np.flatnonzero(mask)) for mask in masks.T])


class RandomAnswers(Packing):
    """A linear program that returns random numbers."""

    def solve(self, cost, prize, **limits):
        rng = np.random.default_rng(len(np.flatnonzero(np.isfinite(cost))))
        return Relaxation(
            dual=rng.random(len(prize)) * prize,
            fraction=rng.random(len(cost)),
            value=float(rng.normal()),
            solved=bool(rng.random() < 0.5),
            basis=None,
            price=float(rng.exponential()),
        )


def knapsack(seed, residual):
    """Weights of columns, some of them 0, and a capacity below their sum."""
    rng = np.random.default_rng(seed)
    n_columns = len(residual.cost)
    weight = np.ones(n_columns) if seed % 2 else rng.integers(0, 5, n_columns).astype(float)
    return weight, float(rng.integers(0, max(int(weight.sum()), 1)))


def test_a_closed_tree_proves_that_nothing_better_exists():
    residual = Residual.of(odd_cycle()).plain()
    tree = BranchAndBound(residual, 2.0)
    tree.grow()
    assert tree.closed
    assert tree.columns is None
    assert tree.bound == 3.0
    tree = BranchAndBound(residual, 10.0)
    tree.grow()
    assert residual.value(tree.columns) == 3.0 == tree.bound


@either_program
@pytest.mark.parametrize("seed", range(30))
def test_a_tree_finds_the_optimum_whatever_the_linear_program_returns(seed, wrong, monkeypatch):
    """With and without a capacity: the least value that fits, and no bound above it."""
    if wrong:
        monkeypatch.setattr(module, "Packing", RandomAnswers)
    residual = Residual.of(problem_and_optimum(seed)[0])
    masks, values = all_values(residual)
    weight, capacity = knapsack(seed, residual)
    for limit in ({}, {"weight": weight, "capacity": capacity}):
        least = values[(weight @ masks <= capacity) | (not limit)].min()
        tree = BranchAndBound(residual, float(values.max()), restart_after=NEVER, **limit)
        while not tree.closed:
            tree.grow(max_nodes=1)
            assert tree.bound <= least
        assert residual.value(tree.columns) == least == tree.bound
        assert not limit or weight[tree.columns].sum() <= capacity


@pytest.mark.parametrize("seed", range(8))
def test_fixing_keeps_all_that_is_good_enough_and_fits(seed):
    """At any multiplier, also too large ones and fractions of a unit."""
    residual = Residual.of(large_problem(30, 10, density=0.15, seed=seed)).plain()
    masks, values = all_values(residual)
    weight, capacity = knapsack(seed, residual)
    fits = weight @ masks <= capacity
    target = values[fits].min() + 2.0
    node = Node(residual, np.empty(0, dtype=np.intp), -math.inf, weight=weight, capacity=capacity)
    packing = Packing(residual, weight=weight)
    found = packing.solve(residual.cost, residual.prize, capacity=capacity)
    for price in (found.price, 0.0, 0.7 * found.price + 0.1, 1e9):
        fixed = fix(node, found.dual, target, price=price)
        assert fixed.bound <= values[fits].min()
        is_open = np.isfinite(fixed.left.cost)
        for mask in masks.T[fits & (values <= target)]:
            assert mask[fixed.chosen].all()
            assert not mask[np.setdiff1d(np.flatnonzero(~is_open), fixed.chosen)].any()


@pytest.mark.parametrize("seed", range(8))
def test_fixing_after_decisions_keeps_values(seed):
    residual = Residual.of(large_problem(30, 10, density=0.15, seed=seed)).plain()
    masks, values = all_values(residual)
    target = values.min() + 2.0
    node = Node(residual, np.empty(0, dtype=np.intp), -math.inf)
    node = choose(leave_out(node, np.array([1])), np.array([2]))
    dual = Packing(residual).solve(node.left.cost, node.left.prize).dual
    good = (values <= target) & ~masks[1] & masks[2]
    fixed = fix(node, dual, target)
    assert fixed is not None or not good.any()
    for mask, value in zip(masks.T[good], values[good], strict=True):
        rest = np.flatnonzero(mask & np.isfinite(fixed.left.cost))
        assert set(np.flatnonzero(mask)) == {*fixed.chosen.tolist(), *rest.tolist()}
        assert fixed.left.value(rest) == value
        assert fixed.bound <= value


@pytest.mark.parametrize("seed", range(15))
def test_a_restart_on_the_reduced_problem_finds_the_optimum(seed, monkeypatch):
    monkeypatch.setattr(module, "_SMALLER", 0)
    problem = large_problem(30, 12, density=0.15, seed=seed)
    residual = Residual.of(problem)
    _, values = all_values(residual)
    tree = BranchAndBound(residual, float(values.max()), restart_after=1)
    while tree.bound < values.min():
        tree.grow(max_nodes=1)
        assert tree.bound <= values.min()
    assert residual.value(np.searchsorted(residual.candidates, tree.selection)) == values.min()
    assert tree.n_nodes == 1 or tree.proof(problem) is None


def test_there_is_no_restart_on_a_problem_that_is_not_much_smaller():
    one = BranchAndBound(medium_residual(), 60.0)
    other = BranchAndBound(medium_residual(), 60.0, restart_after=NEVER)
    one.grow()
    other.grow()
    assert one.n_nodes == other.n_nodes
    assert one.open_share == 0.0
    assert one.proof(large_problem(60, 90, density=0.1)) is not None


@pytest.mark.parametrize("moment", [None, 1, 5])
def test_a_tree_continues_after_each_node_and_after_an_interrupt(moment, monkeypatch):
    residual = medium_residual()
    target = float(residual.prize.sum())
    whole, steps = BranchAndBound(residual, target), BranchAndBound(residual, target)
    whole.grow()
    if moment is not None:
        solve, calls = Packing.solve, iter(range(1, 10**6))

        def interrupted(self, *args, **kwargs):
            if next(calls) == moment:
                raise KeyboardInterrupt
            return solve(self, *args, **kwargs)

        monkeypatch.setattr(Packing, "solve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            steps.grow()
    while not steps.closed:
        steps.grow(max_nodes=1)
    assert steps.bound == whole.bound
    if moment is None:
        assert steps.n_nodes == whole.n_nodes > 1
        assert steps.columns.tolist() == whole.columns.tolist()


def test_a_node_that_was_solved_in_a_trial_is_not_solved_again(monkeypatch):
    """One program at the root, then two for each node that is branched on."""
    solve, n_solved = Packing.solve, [0]

    def counted(*given, **limits):
        n_solved[0] += 1
        return solve(*given, **limits)

    monkeypatch.setattr(Packing, "solve", counted)
    residual = Residual.of(large_problem(100, 150, density=0.06)).plain()
    tree = BranchAndBound(residual, 1e9, trials=(1, 10**6))
    tree.grow(max_nodes=20)
    assert tree.n_nodes == 20
    assert n_solved[0] <= 1 + 2 * 20


def test_a_deadline_leaves_the_tree_complete(monkeypatch):
    tree = BranchAndBound(Residual.of(odd_cycle()).plain(), 2.0)
    tree.grow(deadline=time.monotonic())
    assert (tree.n_nodes, tree.columns, tree.bound) == (0, None, -math.inf)
    solve, clock = Packing.solve, iter([0.0, 2.0])
    with monkeypatch.context() as patch:
        patch.setattr(module.time, "monotonic", lambda: next(clock, math.inf))
        late = lambda *args, **limits: solve(*args, **{**limits, "deadline": 0})  # noqa: E731
        patch.setattr(Packing, "solve", late)
        tree.grow(deadline=1.0)
    assert tree.bound == -math.inf
    tree.grow()
    assert tree.bound == 3.0


def test_a_node_limit_returns_the_bound_reached():
    problem = large_problem(60, 90, density=0.1)
    solution = exact(problem, max_nodes=0, patience=0)
    assert solution.status == "node limit"
    assert 0.0 < solution.gap < 0.5
    assert verify(problem, solution).ok
    assert exact(problem).status == "optimal"


# The linear program.


def packed(residual, cost, prize):
    """The optimum of the packing by SciPy, without columns of infinite cost."""
    there = np.isfinite(cost)
    found = linprog(
        -np.ones(len(prize)),
        A_ub=residual.cover.T[there].toarray().astype(float),
        b_ub=cost[there],
        bounds=np.column_stack((np.zeros(len(prize)), prize)),
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(4))
def test_a_packing_is_right_after_any_changes_of_its_bounds(seed):
    residual = Residual.of(large_problem(40, 60, density=0.15)).plain()
    packing, rng = Packing(residual), np.random.default_rng(seed)
    cost, prize = residual.cost.copy(), residual.prize.copy()
    for step in range(12):
        column = rng.integers(len(cost))
        rows = residual.cover[:, [column]].indices
        cost[column] = np.inf
        if step % 3 == 1:  # chosen
            prize[rows] = 0.0
        if step % 3 == 2:  # a row that must be covered
            prize[rng.integers(len(prize))] += 50.0
        found = packing.solve(cost, prize)
        assert found.solved
        assert found.value == pytest.approx(packed(residual, cost, prize))
        assert not found.fraction[np.isinf(cost)].any()


def test_the_multiplier_of_a_capacity_is_the_linear_programs():
    """Five balls on a circle, each worth two points: what no longer fits costs that much."""
    residual = Residual.of(odd_cycle()).plain()
    packing = Packing(residual, weight=np.ones(5))
    found = packing.solve(residual.cost, residual.prize, capacity=2.0)
    assert found.price == pytest.approx(19.0)
    assert found.value == pytest.approx(2.0 + 10.0)


def test_the_simplex_method_checks_the_clock_and_continues(monkeypatch):
    residual = medium_residual()
    packing = Packing(residual)
    assert not packing.solve(residual.cost, residual.prize, iterations=6).solved
    looks = iter(range(10**6))
    with monkeypatch.context() as patch:
        patch.setattr(lp, "_LOOK_EVERY", 2)
        patch.setattr(lp.time, "monotonic", lambda: next(looks))
        late = packing.solve(residual.cost, residual.prize, deadline=9)
    assert not late.solved
    assert next(looks) == 10  # not checked after that
    whole = packing.solve(residual.cost, residual.prize)
    assert whole.solved
    assert whole.value == pytest.approx(relax(residual).value)
    late = Packing(residual).solve(residual.cost, residual.prize, deadline=time.monotonic())
    assert not late.solved
    assert not late.dual.any()


# The fewest prototypes.


def circulant(n_points, steps):
    """Balls of cost zero around a circle."""
    inside = np.zeros((n_points, n_points), dtype=bool)
    for step in steps:
        inside |= np.roll(np.eye(n_points, dtype=bool), step, axis=0)
    return make_problem(inside, np.zeros(n_points), np.ones(n_points), 0.0)


@pytest.mark.parametrize(
    ("problem", "fewest"),
    [(circulant(7, (0, 1, 3)), 3), (circulant(11, (0, 1, 2, 4)), 4), (circulant(13, (0, 1)), 7)],
    ids=["Fano plane", "eleven", "odd cycle"],
)
@pytest.mark.parametrize("patience", [0, 100])
def test_no_more_free_prototypes_than_needed_are_returned(problem, fewest, patience):
    solution = exact(problem, patience=patience)
    assert solution.objective == 0.0
    assert len(solution.selected) == fewest


def test_the_exact_solver_without_limits_does_not_depend_on_the_clock(monkeypatch):
    problem = large_problem(60, 90, density=0.1)
    usual = exact(problem)
    now = iter(np.arange(10**7) * 1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    slow = exact(problem)
    assert slow.selected.tolist() == usual.selected.tolist()
    assert slow.lower_bound == usual.lower_bound
