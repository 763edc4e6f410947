"""Both greedy solvers against recomputing everything at every step."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem, make_problem, random_problem

import naive
from protocover._cover import CoverProblem, verify
from protocover.solvers import greedy, ratio_greedy


def slow_greedy(problem):
    """The naive greedy of all classes, given the one class that the problem is of."""
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


def on_grid(seeds):
    return [problem for problem in map(random_problem, seeds) if problem.on_grid]


def test_greedy_takes_the_largest_drop_at_every_step():
    for problem in [*on_grid(range(300)), large_problem(60, 90, density=0.05)]:
        solution = greedy(problem)
        chosen, gains = slow_greedy(problem)
        assert solution.selected.tolist() == chosen
        assert solution.score.tolist() == gains


def test_ratio_greedy_takes_the_least_cost_per_point_at_every_step():
    for problem in [*on_grid(range(300)), large_problem(60, 90, density=0.05)]:
        if problem.prototype_cost > 0:
            assert ratio_greedy(problem).selected.tolist() == naive.ratio_greedy(problem)


def test_the_sweep_of_single_points_is_what_single_steps_would_do():
    """Balls that overlap in one point only, of falling worth, some of equal worth."""
    inside = np.eye(6, dtype=bool)[:, [0, 1, 2, 3, 4, 5, 0, 1, 5]]
    problem = make_problem(inside, [0, 0, 1, 0, 1, 0, 0, 1, 0], [1, 2, 3, 2, 1, 2], 0.5)
    chosen, gains = slow_greedy(problem)
    solution = greedy(problem)
    assert (solution.selected.tolist(), solution.score.tolist()) == (chosen, gains)
    for budget in range(len(chosen)):
        assert greedy(problem, max_prototypes=budget).selected.tolist() == chosen[:budget]


def test_more_candidates_than_a_block_are_searched():
    problem = large_problem(40, 1500, density=0.05)
    assert greedy(problem).selected.tolist() == slow_greedy(problem)[0]


@pytest.mark.parametrize("seed", range(20))
def test_greedy_for_any_cost_is_a_prefix_of_greedy_for_none(seed):
    problem = random_problem(4 * seed)
    free = CoverProblem(problem.cover, problem.wrong, problem.prize, 0.0)
    whole = greedy(free).selected.tolist()
    part = greedy(problem).selected.tolist()
    assert whole[: len(part)] == part


def test_a_cost_next_to_nothing_ranks_as_none_does():
    """Prize per cost would overflow, and every pure ball would rank alike."""
    inside = [[1, 1, 0], [0, 1, 0], [0, 0, 1]]
    tiny, free = (
        make_problem(inside, np.zeros(3), [1e12, 2e12, 1e12], cost) for cost in (1e-300, 0.0)
    )
    solution = ratio_greedy(tiny)
    assert solution.selected.tolist() == ratio_greedy(free).selected.tolist() == [1, 2]
    assert np.isfinite(solution.score).all()
    assert verify(tiny, solution, order_by="ratio").ok
