"""The changing selection keeps its sums, and the search around it finds what swaps can find."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem, make_problem, random_problem

from protocover.solvers import greedy, local_search
from protocover.solvers.local_search import search
from protocover.solvers.moves import Working
from protocover.solvers.residual import Residual


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
    working = Working.empty(Residual.of(large_problem(60, 80, density=density)))
    for _ in range(200):
        column = int(rng.integers(len(working.chosen)))
        (working.remove if working.chosen[column] else working.add)(column)
        check_sums(working)


@pytest.mark.parametrize("seed", range(60))
def test_a_settled_selection_gains_by_no_addition_and_no_removal(seed):
    working = Working.empty(Residual.of(random_problem(seed)))
    working.settle()
    check_sums(working)
    residual, chosen = working.residual, working.chosen
    assert (working.reach[~chosen] <= residual.cost[~chosen]).all()
    assert (working.losses()[chosen] > residual.cost[chosen]).all()


def test_a_swap_that_greedy_misses_is_found():
    """Greedy takes the large middle ball first and then needs both of the others too."""
    inside = [[0, 1, 0], [1, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1], [0, 0, 1]]
    problem = make_problem(inside, [0, 0, 0], [1] * 6, 0.5)
    assert sorted(greedy(problem).selected.tolist()) == [0, 1, 2]
    found = local_search(problem, rng=np.random.default_rng(0))
    assert sorted(found.selected.tolist()) == [1, 2]
    assert found.certificate == "proved"


def test_a_search_ends_once_it_has_enough():
    residual = Residual.of(large_problem(60, 80, density=0.1))
    rng = np.random.default_rng(0)
    first = search(residual, rng, patience=0)
    enough = residual.value(first)
    assert search(residual, rng, patience=10**9, enough=enough).tolist() == first.tolist()
