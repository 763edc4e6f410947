"""The changing selection keeps its sums, and the search around it finds what swaps can find."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem, make_problem, random_problem

import naive
from protocover.solvers import _local_search as moves_module
from protocover.solvers import greedy, local_search
from protocover.solvers._local_search import Working, search
from protocover.solvers._residual import Residual

NOTHING = np.empty(0, dtype=np.intp)


def check_sums(working):
    """All that is kept up to date equals what is computed afresh."""
    residual, chosen = working.residual, np.flatnonzero(working.chosen)
    inside = residual.cover.toarray()
    count = inside[:, chosen].sum(axis=1)
    assert working.count.tolist() == count.tolist()
    assert working.owner.tolist() == (inside[:, chosen] @ chosen).tolist()
    np.testing.assert_array_equal(working.reach, (residual.prize * (count == 0)) @ inside)
    assert working.value + residual.constant == residual.value(chosen)


@pytest.mark.parametrize("density", [0.02, 0.3])
def test_sums_stay_right_through_any_changes(density):
    rng = np.random.default_rng(0)
    working = Working.of(Residual.of(large_problem(60, 80, density=density)), NOTHING)
    for _ in range(200):
        column = int(rng.integers(len(working.chosen)))
        (working.remove if working.chosen[column] else working.add)(column)
        check_sums(working)


@pytest.mark.parametrize("seed", range(5))
def test_a_start_has_the_sums_of_its_columns(seed):
    residual = Residual.of(large_problem(60, 80, density=0.1))
    columns = np.random.default_rng(seed).choice(len(residual.cost), 8 * seed, replace=False)
    check_sums(Working.of(residual, np.sort(columns)))


def check_settled(working):
    """No addition lowers the value, and every removal raises it."""
    check_sums(working)
    cost, chosen = working.residual.cost, working.chosen
    assert (working.reach[~chosen] <= cost[~chosen]).all()
    assert (working.losses()[chosen] > cost[chosen]).all()


@pytest.mark.parametrize("seed", range(60))
def test_a_settled_selection_gains_by_no_addition_and_no_removal(seed):
    """In units that break ties, and in those in which there are ties."""
    counted = Residual.of(random_problem(seed))
    for residual in (counted, counted.plain()):
        working = Working.of(residual, NOTHING)
        working.settle()
        check_settled(working)


@pytest.mark.parametrize("seed", range(20))
def test_settling_goes_on_where_a_removal_lets_an_addition_pay(seed):
    working = Working.of(
        Residual.of(large_problem(40, 60, density=0.1, seed=seed)).plain(), NOTHING
    )
    for column in np.random.default_rng(seed).permutation(len(working.chosen))[::2].tolist():
        working.add(column)
    working.settle()
    check_settled(working)


def test_what_is_banned_is_not_added():
    working = Working.of(Residual.of(large_problem(40, 60, density=0.1)), NOTHING)
    best = (working.reach - working.residual.cost).argmax()
    working.settle(banned=np.array([best]))
    assert not working.chosen[best]
    working.settle()
    assert working.chosen.any()


@pytest.mark.parametrize("seed", range(20))
def test_no_exchange_of_two_columns_pays_more(seed):
    """Against all pairs of a settled selection, one after the other until none pays."""
    residual = Residual.of(large_problem(40, 50, density=0.1, seed=seed)).plain()
    working = Working.of(residual, NOTHING)
    working.settle()
    while (found := working.best_exchange()) is not None:
        change = naive.exchanges(residual, np.flatnonzero(working.chosen))
        assert change[found] == min(change.values()) < 0.0
        working.remove(found[0])
        working.add(found[1])
        working.settle()
        check_sums(working)
    assert min(naive.exchanges(residual, np.flatnonzero(working.chosen)).values()) >= 0.0


def test_exchanges_are_found_that_additions_and_removals_miss():
    """Never worse, and sometimes better."""
    improved = 0
    for seed in range(20):
        residual = Residual.of(large_problem(100, 150, density=0.1, seed=seed)).plain()
        settled, exchanged = Working.of(residual, NOTHING), Working.of(residual, NOTHING)
        settled.settle()
        exchanged.improve()
        check_settled(exchanged)
        assert exchanged.value <= settled.value
        improved += exchanged.value < settled.value
    assert improved


@pytest.mark.parametrize("chosen", ["none", "all"])
def test_there_is_no_exchange_where_nothing_is_chosen_or_nothing_left(chosen):
    residual = Residual.of(large_problem(10, 12, density=0.3))
    every = np.arange(len(residual.cost))
    assert Working.of(residual, NOTHING if chosen == "none" else every).best_exchange() is None


def test_a_large_table_is_left_without_exchanges(monkeypatch):
    monkeypatch.setattr(moves_module, "_MOST_SWAPPED", 0)
    working = Working.of(Residual.of(large_problem(40, 50, density=0.1)), NOTHING)
    working.improve()
    check_settled(working)


def test_a_swap_that_greedy_misses_is_found():
    """Greedy takes the large middle ball first and then needs both of the others too."""
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
