"""Both greedy solvers compared with recomputing everything at every step."""

from __future__ import annotations

import numpy as np
import pytest
from covers import chain_problem, large_problem, make_problem, random_problem, written_out

import naive
from protocover._cover import verify
from protocover.solvers import greedy, ratio_greedy


def slow_greedy(problem):
    """Choices and scores of the greedy."""
    inside = problem.cover.toarray()
    chosen, gains = [], []
    uncovered = np.ones(problem.n_points, dtype=bool)
    while True:
        gain = problem.prize @ (inside & uncovered[:, None]) - problem.wrong
        if not len(gain) or not gain.max() > problem.prototype_cost:
            return chosen, gains
        chosen.append(int(gain.argmax()))
        gains.append(float(gain.max()))
        uncovered &= ~inside[:, chosen[-1]]


def problems():
    yield from (problem for problem in map(random_problem, range(120)) if problem.on_grid)
    yield large_problem(60, 90, density=0.05)
    yield large_problem(40, 1500, density=0.05)  # several blocks of candidates
    # Balls that overlap in one point only, some with equal gains.
    inside = np.eye(6, dtype=bool)[:, [0, 1, 2, 3, 4, 5, 0, 1, 5]]
    yield make_problem(inside, [0, 0, 1, 0, 1, 0, 0, 1, 0], [1, 2, 3, 2, 1, 2], 0.5)


def test_greedy_takes_the_largest_decrease_at_every_step():
    for problem in problems():
        solution = greedy(problem)
        chosen, gains = slow_greedy(problem)
        assert solution.selected.tolist() == chosen
        assert solution.score.tolist() == gains
        for budget in range(min(len(chosen), 4)):
            assert greedy(problem, max_prototypes=budget).selected.tolist() == chosen[:budget]
        free = greedy(problem.at_cost(0.0)).selected.tolist()
        assert free[: len(chosen)] == chosen


def test_ratio_greedy_takes_the_least_cost_per_point_at_every_step():
    for problem in problems():
        if problem.prototype_cost > 0 and problem.n_candidates < 100:
            assert ratio_greedy(problem).selected.tolist() == naive.ratio_greedy(problem)


@pytest.mark.parametrize("seed", range(60))
def test_chains_give_the_same_choices_as_all_balls_written_out(seed):
    """The ratio greedy then drops balls that are inside others."""
    chains = chain_problem(seed)
    plain = written_out(chains)
    one, other = greedy(chains), greedy(plain)
    assert one.selected.tolist() == other.selected.tolist()
    assert one.score.tolist() == other.score.tolist()
    one, other = ratio_greedy(chains), ratio_greedy(plain)
    outer = other.selected[chains.outermost(other.selected)]
    assert one.selected.tolist() == outer.tolist()
    assert one.objective == plain.objective(outer) <= other.objective


def test_a_tiny_cost_ranks_like_no_cost():
    """Prize per cost would overflow, and every pure ball would rank alike."""
    inside = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    tiny, free = (
        make_problem(inside, np.zeros(3), [1e12, 2e12, 1e12], cost) for cost in (1e-300, 0.0)
    )
    solution = ratio_greedy(tiny)
    assert solution.selected.tolist() == ratio_greedy(free).selected.tolist() == [1, 2]
    assert np.isfinite(solution.score).all()
    assert verify(tiny, solution, order_by="ratio").ok
