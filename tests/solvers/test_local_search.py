"""Local search: correct sums after any change, and no better swap is left."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem, make_problem, random_problem

import naive
from protocover.solvers import _local_search as module
from protocover.solvers import greedy, local_search
from protocover.solvers._greedy import choose_by_drop
from protocover.solvers._local_search import Working, improve_at_size, search
from protocover.solvers._residual import Residual

NOTHING = np.empty(0, dtype=np.intp)


def check_sums(working):
    """All sums equal those computed from the chosen columns."""
    chosen, inside = np.flatnonzero(working.chosen), working.cover.toarray()
    count = inside[:, chosen].sum(axis=1)
    uncovered = working.prize * (count == 0)
    assert working.count.tolist() == count.tolist()
    assert working.owner.tolist() == (inside[:, chosen] @ chosen).tolist()
    np.testing.assert_array_equal(working.reach, uncovered @ inside)
    assert working.value == working.cost[chosen].sum() + uncovered.sum()


def check_settled(working):
    """No addition lowers the value, and every removal raises it."""
    check_sums(working)
    cost, chosen = working.cost, working.chosen
    assert (working.reach[~chosen] <= cost[~chosen]).all()
    assert (working.losses()[chosen] > cost[chosen]).all()


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_sums_are_correct_after_any_changes(density):
    rng = np.random.default_rng(0)
    residual = Residual.of(large_problem(60, 80, density=density))
    working = Working.of(residual, np.arange(0, len(residual.cost), 3))
    check_sums(working)
    for _ in range(100):
        column = int(rng.integers(len(working.chosen)))
        (working.remove if working.chosen[column] else working.add)(column)
        check_sums(working)


@pytest.mark.parametrize("seed", range(24))
def test_a_settled_selection_gains_by_no_addition_and_no_removal(seed):
    """In units that break ties and without; from nothing and from half of the columns."""
    counted = Residual.of(random_problem(seed))
    large = Residual.of(large_problem(40, 60, density=0.1, seed=seed)).plain()
    half = np.random.default_rng(seed).permutation(len(large.cost))[::2]
    for residual, start in ((counted, NOTHING), (counted.plain(), NOTHING), (large, half)):
        working = Working.of(residual, start)
        working.settle()
        check_settled(working)


def test_banned_columns_are_not_added():
    working = Working.of(Residual.of(large_problem(40, 60, density=0.1)), NOTHING)
    best = (working.reach - working.cost).argmax()
    working.settle(banned=np.array([best]))
    assert not working.chosen[best]


@pytest.mark.parametrize("seed", range(8))
def test_the_best_swap_is_found(seed):
    """Compared with all pairs of a settled selection, until no swap pays."""
    residual = Residual.of(large_problem(40, 50, density=0.1, seed=seed)).plain()
    working = Working.of(residual, NOTHING)
    working.settle()
    while (found := working.best_exchange()) is not None:
        change = naive.exchanges(residual, np.flatnonzero(working.chosen))
        assert change[found] == min(change.values()) < 0.0
        working.remove(found[0])
        working.add(found[1])
        working.settle()
    assert min(naive.exchanges(residual, np.flatnonzero(working.chosen)).values()) >= 0.0


def test_swaps_improve_settled_selections(monkeypatch):
    improved = 0
    for seed in range(12):
        residual = Residual.of(large_problem(100, 150, density=0.1, seed=seed)).plain()
        settled, swapped = Working.of(residual, NOTHING), Working.of(residual, NOTHING)
        settled.settle()
        swapped.improve()
        check_settled(swapped)
        assert swapped.value <= settled.value
        improved += swapped.value < settled.value
    assert improved
    monkeypatch.setattr(module, "_MOST_SWAPPED", 0)  # too large for swaps
    working = Working.of(residual, NOTHING)
    working.improve()
    assert working.value == settled.value


@pytest.mark.parametrize("chosen", ["none", "all"])
def test_there_is_no_swap_if_nothing_or_everything_is_chosen(chosen):
    residual = Residual.of(large_problem(10, 12, density=0.3))
    every = np.arange(len(residual.cost))
    assert Working.of(residual, NOTHING if chosen == "none" else every).best_exchange() is None


def test_a_swap_that_greedy_misses_is_found():
    """Greedy takes the large middle ball first and then needs both of the others, too."""
    inside = [[0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1], [0, 0, 1]]
    problem = make_problem(inside, [0, 0, 0], [1] * 6, 0.5)
    assert sorted(greedy(problem).selected.tolist()) == [0, 1, 2]
    found = local_search(problem, rng=np.random.default_rng(0))
    assert sorted(found.selected.tolist()) == [1, 2]
    assert found.certificate == "verified"


def test_a_search_ends_once_it_has_enough():
    residual = Residual.of(large_problem(60, 80, density=0.1))
    rng = np.random.default_rng(0)
    first = search(residual, rng, patience=0)
    enough = residual.value(first)
    assert search(residual, rng, patience=10**9, enough=enough).tolist() == first.tolist()


# Selections of one size.


def swaps(problem, selected):
    """All selections in which one candidate is another."""
    for place in range(len(selected)):
        for other in set(range(problem.n_candidates)) - set(selected):
            yield [*selected[:place], other, *selected[place + 1 :]]


@pytest.mark.parametrize("patience", [0, 5])
@pytest.mark.parametrize("seed", range(32))
def test_no_better_swap_is_left_at_a_fixed_size(seed, patience):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, problem.n_candidates + 1))
    start = rng.permutation(problem.n_candidates)[:size]
    found = improve_at_size(problem, start, rng, patience=patience).tolist()
    value = naive.exact_value(problem, found)
    assert len(set(found)) == size
    assert value <= naive.exact_value(problem, start.tolist())
    slop = 0 if problem.on_grid else 1e-9  # sums off the grid are rounded
    assert all(naive.exact_value(problem, one) >= value - slop for one in swaps(problem, found))


def test_perturbations_at_a_fixed_size_improve_until_there_is_enough():
    problem = large_problem(300, 200, density=0.03)
    start = choose_by_drop(problem, 25)[0]

    def improved(start, **options):
        return improve_at_size(problem, start, np.random.default_rng(0), **options)

    values = [problem.objective(improved(start, patience=n)) for n in (0, 100)]
    assert values[1] < values[0] <= problem.objective(start)
    enough = improved(np.arange(25), patience=50, enough=1e9)
    assert enough.tolist() == improved(np.arange(25), patience=0).tolist()


@pytest.mark.parametrize("seed", range(3))
def test_sums_are_correct_after_perturbations_at_a_fixed_size(seed):
    problem = large_problem(100, 60, density=0.08, seed=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(60)[:10]
    working = Working(problem.parts, problem.by_point, problem.wrong, problem.prize, order)
    for _ in range(5):
        module._replace_some(working, order, rng)
        check_sums(working)
        assert sorted(order.tolist()) == np.flatnonzero(working.chosen).tolist()
