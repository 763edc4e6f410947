"""Dual vectors: feasible, maximal, and mended without loss."""

from __future__ import annotations

import numpy as np
import pytest
from covers import make_problem, problem_and_optimum
from scipy.sparse import csc_array

from protocover._cover import CoverProblem
from protocover.solvers._duals import ascend, mend


def overpaid(problem, u):
    """How much each ball is paid beyond its cost."""
    return problem.prize_sums(u) - problem.cost


@pytest.mark.parametrize("seed", range(200))
def test_ascent_stays_in_the_box_overpays_no_ball_and_cannot_be_raised(seed):
    problem, optimum, _ = problem_and_optimum(seed)
    u = ascend(problem)
    slack = -overpaid(problem, u)
    assert (u >= 0).all()
    assert (u <= problem.prize).all()
    assert slack.min(initial=0.0) > -1e-12
    tight = problem.cover.toarray()[:, slack < 1e-12].any(axis=1)
    assert (tight | (u > problem.prize - 1e-12)).all()
    assert problem.lower_bound(u) <= float(optimum)


@pytest.mark.parametrize("seed", range(100))
def test_ascent_from_a_start_only_raises_it(seed):
    problem = problem_and_optimum(seed)[0]
    start = ascend(problem) / 2
    assert (ascend(problem, start) >= start).all()


@pytest.mark.parametrize("seed", range(200))
def test_mending_overpays_no_ball_and_lowers_no_bound(seed):
    problem = problem_and_optimum(seed)[0]
    u = np.random.default_rng(seed).uniform(-0.5, 2.0, problem.n_points)
    mended = mend(problem, u)
    assert overpaid(problem, mended).max(initial=0.0) < 1e-12
    assert problem.lower_bound(mended) >= problem.lower_bound(u) - 1e-9


def test_rare_points_pay_first():
    """The two outer points pay both balls in full; from the middle one it would be half."""
    problem = make_problem([[1, 0], [1, 1], [0, 1]], [0, 0], [1, 1, 1], 0.5)
    assert ascend(problem).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize("members", [1, 3, 12])
@pytest.mark.parametrize("seed", range(5))
def test_points_charged_together_pay_what_they_pay_one_by_one(members, seed, monkeypatch):
    """To the last bit: small balls leave many points apart, larger ones hardly any."""
    rng = np.random.default_rng(seed)
    n = 400
    rows = rng.integers(n, size=(n, members)) // [1, n // 9][seed % 2]
    table = np.zeros((n, n), dtype=bool)
    table[rows, np.arange(n)[:, None]] = True
    wrong, prize = rng.integers(0, 3, n) / 8.0, rng.integers(1, 9, n) / 4.0
    problem = CoverProblem(csc_array(table), wrong, prize, prototype_cost=1 / 3)
    together = ascend(problem)
    # Balls of several radii are charged one by one: take these for such.
    monkeypatch.setattr(CoverProblem, "is_nested", True)
    np.testing.assert_array_equal(together, ascend(problem))
