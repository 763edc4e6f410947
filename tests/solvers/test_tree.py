"""Branch and bound: right whatever HiGHS says, and able to stop and go on anywhere."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from covers import countable, large_problem, make_problem, problem_and_optimum

from protocover._cover import verify
from protocover.solvers import _branch_and_bound as tree_module
from protocover.solvers import _lp as lp
from protocover.solvers import exact
from protocover.solvers._branch_and_bound import BranchAndBound, Node, choose, fix, leave_out
from protocover.solvers._reductions import merge_identical_points
from protocover.solvers._residual import Packing, Relaxation, Residual, relax


def odd_cycle():
    """Five points on a circle, balls of two neighbours: the relaxation is off by a half."""
    inside = np.eye(5, dtype=bool) | np.roll(np.eye(5, dtype=bool), 1, axis=0)
    return make_problem(inside, np.zeros(5), np.full(5, 10.0), 1.0)


def all_values(residual):
    """Every set of columns as a column of a table, and what each costs."""
    n_columns = len(residual.cost)
    masks = (np.arange(2**n_columns) >> np.arange(n_columns)[:, None] & 1).astype(bool)
    return masks, np.array([residual.value(np.flatnonzero(mask)) for mask in masks.T])


class Liar(Packing):
    """A linear program whose answers are drawn at random."""

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


def test_a_closed_tree_means_that_nothing_better_exists():
    residual = Residual.of(odd_cycle()).plain()
    tree = BranchAndBound(residual, 2.0)
    tree.grow()
    assert tree.closed
    assert tree.columns is None
    assert tree.bound == 3.0


def test_a_tree_finds_the_best_and_knows_it():
    residual = Residual.of(odd_cycle()).plain()
    tree = BranchAndBound(residual, 10.0)
    tree.grow()
    assert residual.value(tree.columns) == 3.0 == tree.bound


@pytest.mark.parametrize("liar", [False, True], ids=["HiGHS", "a liar"])
@pytest.mark.parametrize("seed", range(60))
def test_a_tree_is_right_whatever_the_linear_program_says(seed, liar, monkeypatch):
    """Against enumeration, with ties counted: the least value, and no bound above it."""
    if liar:
        monkeypatch.setattr(tree_module, "Packing", Liar)
    residual = Residual.of(problem_and_optimum(seed)[0])
    _, values = all_values(residual)
    tree = BranchAndBound(residual, float(values.max()), restart_after=10**9)
    while not tree.closed:
        tree.grow(max_nodes=1)
        assert tree.bound <= values.min()
    assert residual.value(tree.columns) == values.min() == tree.bound


def test_a_node_that_was_tried_to_the_end_is_not_solved_again(monkeypatch):
    """One program at the root, then two for each node that is branched on."""
    solve, n_solved = Packing.solve, [0]

    def counted(*given, **limits):
        n_solved[0] += 1
        return solve(*given, **limits)

    monkeypatch.setattr(Packing, "solve", counted)
    residual = Residual.of(large_problem(100, 150, density=0.06)).plain()
    tree = BranchAndBound(residual, 1e9, trials=(1, 10**6), restart_after=10**9)
    tree.grow(max_nodes=20)
    assert tree.n_nodes == 20
    assert n_solved[0] <= 1 + 2 * 20


def burdens(seed, residual):
    """What columns take of a room, some nothing, and a room that does not hold them all."""
    rng = np.random.default_rng(seed)
    n_columns = len(residual.cost)
    burden = np.ones(n_columns) if seed % 2 else rng.integers(0, 5, n_columns).astype(float)
    return burden, float(rng.integers(0, max(int(burden.sum()), 1)))


@pytest.mark.parametrize("liar", [False, True], ids=["HiGHS", "a liar"])
@pytest.mark.parametrize("seed", range(60))
def test_a_tree_with_a_room_finds_the_best_that_fits(seed, liar, monkeypatch):
    """Against enumeration: the least value of all that fit, and no bound above it."""
    if liar:
        monkeypatch.setattr(tree_module, "Packing", Liar)
    residual = Residual.of(problem_and_optimum(seed)[0])
    burden, room = burdens(seed, residual)
    masks, values = all_values(residual)
    fits = burden @ masks <= room
    tree = BranchAndBound(residual, float(values.max()), weight=burden, capacity=room)
    while not tree.closed:
        tree.grow(max_nodes=1)
        assert tree.bound <= values[fits].min()
    assert burden[tree.columns].sum() <= room
    assert residual.value(tree.columns) == values[fits].min() == tree.bound


@pytest.mark.parametrize("seed", range(10))
def test_with_a_room_a_node_keeps_all_that_is_good_enough_and_fits(seed):
    """Whatever the price is, too high ones and fractions of a unit among them."""
    residual = Residual.of(large_problem(30, 10, density=0.15, seed=seed)).plain()
    masks, values = all_values(residual)
    burden, room = burdens(seed, residual)
    fits = burden @ masks <= room
    target = values[fits].min() + 2.0
    node = Node(residual, np.empty(0, dtype=np.intp), -math.inf, weight=burden, capacity=room)
    found = Packing(residual, weight=burden).solve(residual.cost, residual.prize, capacity=room)
    good = masks.T[fits & (values <= target)]
    for price in (found.price, 0.0, 0.7 * found.price + 0.1, 1e9):
        fixed = fix(node, found.dual, target, price=price)
        assert fixed.bound <= values[fits].min()
        is_open = np.isfinite(fixed.left.cost)
        for mask in good:
            assert mask[fixed.chosen].all()
            out = np.setdiff1d(np.flatnonzero(~is_open), fixed.chosen)
            assert not mask[out].any()


def test_the_price_of_a_room_is_the_linear_programs_own():
    """Five balls of a circle, each worth two points: what no longer fits costs that much."""
    residual = Residual.of(odd_cycle()).plain()
    found = Packing(residual, weight=np.ones(5)).solve(residual.cost, residual.prize, capacity=2.0)
    assert found.price == pytest.approx(19.0)
    assert found.value == pytest.approx(2.0 + 10.0)


@pytest.mark.parametrize("seed", range(40))
def test_a_second_tree_goes_on_where_the_first_did_not_end(seed, monkeypatch):
    """After one node, on what reductions leave: the least value, and no bound above it."""
    monkeypatch.setattr(tree_module, "_SMALLER", 0)
    problem = large_problem(30, 12, density=0.15, seed=seed)
    residual = Residual.of(problem)
    _, values = all_values(residual)
    tree = BranchAndBound(residual, float(values.max()), restart_after=1)
    while tree.bound < values.min():
        tree.grow(max_nodes=1)
        assert tree.bound <= values.min()
    assert residual.value(np.searchsorted(residual.candidates, tree.selection)) == values.min()
    assert tree.n_nodes == 1 or tree.proof(problem) is None


def test_the_first_tree_stays_where_reductions_leave_as_much():
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    one, other = (
        BranchAndBound(residual, 60.0),
        BranchAndBound(merge_identical_points(residual), 60.0),
    )
    one.grow()
    other.grow()
    assert one.n_nodes == other.n_nodes
    assert one.open_share == 0.0
    assert one.proof(large_problem(60, 90, density=0.1)) is not None


@pytest.mark.parametrize("seed", range(10))
def test_a_node_keeps_all_that_is_good_enough(seed):
    """After decisions and fixing, each good selection that fits them has its old value."""
    residual = Residual.of(large_problem(30, 10, density=0.15, seed=seed)).plain()
    masks, values = all_values(residual)
    target = values.min() + 2.0
    node = Node(residual, np.empty(0, dtype=np.intp), -math.inf)
    node = choose(leave_out(node, np.array([1])), np.array([2]))
    dual = Packing(residual).solve(node.left.cost, node.left.prize).dual
    good = (values <= target) & ~masks[1] & masks[2]
    fixed = fix(node, dual, target)
    if fixed is None:
        assert not good.any()
        return
    is_open = np.isfinite(fixed.left.cost)
    for mask, value in zip(masks.T[good], values[good], strict=True):
        assert mask[fixed.chosen].all()
        rest = np.flatnonzero(mask & is_open)
        assert set(np.flatnonzero(mask)) == {*fixed.chosen.tolist(), *rest.tolist()}
        assert fixed.left.value(rest) == value
    assert fixed.bound <= values[~masks[1] & masks[2]].min()


def test_going_on_in_steps_comes_to_the_same_as_in_one_go():
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    target = float(residual.prize.sum())
    whole, steps = (BranchAndBound(residual, target, restart_after=10**9) for _ in range(2))
    whole.grow()
    while not steps.closed:
        steps.grow(max_nodes=1)
    assert steps.n_nodes == whole.n_nodes > 1
    assert steps.columns.tolist() == whole.columns.tolist()


def test_a_tree_is_not_begun_when_time_is_up():
    tree = BranchAndBound(Residual.of(odd_cycle()).plain(), 3.0)
    tree.grow(deadline=time.monotonic())
    assert tree.n_nodes == 0
    assert tree.columns is None
    assert tree.bound == -math.inf


def test_a_node_whose_linear_program_ran_out_of_time_is_kept(monkeypatch):
    tree = BranchAndBound(Residual.of(odd_cycle()).plain(), 2.0)
    solve = Packing.solve
    clock = iter([0.0, 2.0])
    with monkeypatch.context() as patch:
        patch.setattr(tree_module.time, "monotonic", lambda: next(clock, math.inf))
        patch.setattr(
            Packing,
            "solve",
            lambda self, cost, prize, **told: solve(self, cost, prize, **{**told, "deadline": 0}),
        )
        tree.grow(deadline=1.0)
    assert tree.bound == -math.inf
    tree.grow()
    assert tree.bound == 3.0


@pytest.mark.parametrize("moment", [1, 2, 5, 9])
def test_an_interrupt_at_any_moment_leaves_the_tree_whole(moment, monkeypatch):
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    target = float(residual.prize.sum())
    whole, broken = (BranchAndBound(residual, target, restart_after=10**9) for _ in range(2))
    whole.grow()
    solve, calls = Packing.solve, iter(range(1, 10**6))

    def interrupted(self, *args, **kwargs):
        if next(calls) == moment:
            raise KeyboardInterrupt
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(Packing, "solve", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.grow()
    broken.grow()
    assert broken.bound == whole.bound


def test_the_simplex_method_looks_at_the_clock_while_it_runs(monkeypatch):
    """And what was stopped is gone on with."""
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    packing = Packing(residual)
    few = packing.solve(residual.cost, residual.prize, iterations=6)
    assert not few.solved
    looks = iter(range(10**6))
    with monkeypatch.context() as patch:
        patch.setattr(lp, "_LOOK_EVERY", 2)
        patch.setattr(lp.time, "monotonic", lambda: next(looks))
        late = packing.solve(residual.cost, residual.prize, deadline=9)
    assert not late.solved
    assert next(looks) == 10  # it was not looked at after that
    whole = packing.solve(residual.cost, residual.prize)
    assert whole.solved
    assert whole.value == pytest.approx(relax(residual).value)
    late = Packing(residual).solve(residual.cost, residual.prize, deadline=time.monotonic())
    assert not late.solved
    assert not late.dual.any()


def test_a_limit_of_nodes_ends_the_search_with_the_bound_reached():
    problem = large_problem(60, 90, density=0.1)
    solution = exact(problem, rng=np.random.default_rng(0), max_nodes=0, patience=0)
    assert solution.status == "node limit"
    assert 0.0 < solution.gap < 0.5
    assert verify(problem, solution).ok
    assert exact(problem, rng=np.random.default_rng(0)).status == "optimal"


def circulant(n_points, steps):
    """Balls of cost zero that hold some of the points after each one, around a circle."""
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
def test_of_free_prototypes_no_more_than_needed_are_returned(problem, fewest, patience):
    solution = exact(problem, rng=np.random.default_rng(0), patience=patience)
    assert solution.objective == 0.0
    assert len(solution.selected) == fewest


@pytest.mark.parametrize("seed", range(40))
def test_no_local_search_is_needed_for_the_fewest_prototypes(seed):
    problem, optimum, fewest = problem_and_optimum(seed)
    solution = exact(problem, rng=np.random.default_rng(0), patience=0)
    if countable(seed):
        assert solution.objective == float(optimum)
        assert len(solution.selected) == fewest


def test_the_effort_for_fewer_prototypes_is_limited_by_counts_not_by_the_clock(monkeypatch):
    """Without a time limit nothing that the exact solver does depends on how fast it is."""
    problem = large_problem(60, 90, density=0.1)
    usual = exact(problem, rng=np.random.default_rng(0))
    now = iter(np.arange(10**7) * 1000.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    slow = exact(problem, rng=np.random.default_rng(0))
    assert slow.selected.tolist() == usual.selected.tolist()
    assert slow.lower_bound == usual.lower_bound
