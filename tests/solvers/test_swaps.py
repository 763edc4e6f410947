"""Local search among selections of one size, with every exchange tried as the judge."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem, random_problem

import naive
from protocover.solvers._greedy import choose_by_drop
from protocover.solvers._local_search import Working, _replace_some, improve_at_size


def exchanges(problem, selected):
    """All selections in which one candidate is another."""
    for place in range(len(selected)):
        for other in set(range(problem.n_candidates)) - set(selected):
            yield [*selected[:place], other, *selected[place + 1 :]]


@pytest.mark.parametrize("patience", [0, 5])
@pytest.mark.parametrize("seed", range(60))
def test_no_exchange_is_left_that_is_better(seed, patience):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    size = int(rng.integers(0, problem.n_candidates + 1))
    start = rng.permutation(problem.n_candidates)[:size]
    found = improve_at_size(problem, start, rng, patience=patience).tolist()
    value = naive.exact_value(problem, found)
    assert len(set(found)) == size
    assert value <= naive.exact_value(problem, start.tolist())
    # Sums of weights off the grid are rounded, and what they leave is not counted.
    slop = 0 if problem.on_grid else 1e-9
    assert all(
        naive.exact_value(problem, one) >= value - slop for one in exchanges(problem, found)
    )


def test_shakes_find_more_than_exchanges_do():
    problem = large_problem(300, 200, density=0.03)
    start = choose_by_drop(problem, 25)[0]
    values = [
        problem.objective(improve_at_size(problem, start, np.random.default_rng(0), patience=n))
        for n in (0, 200)
    ]
    assert values[1] < values[0] <= problem.objective(start)


def test_enough_is_enough():
    problem = large_problem(300, 200, density=0.03)
    start = np.arange(25)
    found = improve_at_size(problem, start, np.random.default_rng(0), patience=50, enough=1e9)
    exchanged = improve_at_size(problem, start, np.random.default_rng(0), patience=0)
    assert found.tolist() == exchanged.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_what_candidates_are_worth_is_kept_up_to_date(seed):
    problem = large_problem(100, 60, density=0.08, seed=seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(60)[:10]
    tables = problem.parts, problem.by_point, problem.wrong, problem.prize
    working = Working(*tables, order)
    for _ in range(5):
        _replace_some(working, order, rng)
        fresh = Working(*tables, order)
        assert working.reach.tolist() == fresh.reach.tolist()
        assert working.count.tolist() == fresh.count.tolist()
        assert working.value == fresh.value
        assert len(set(order.tolist())) == 10
