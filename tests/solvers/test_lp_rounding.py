"""The relaxation with randomized rounding, as the paper has it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from covers import large_problem, make_problem, problem_and_optimum
from scipy.optimize import linprog

from protocover.solvers import lp_rounding


def fractional_problem():
    """Three points, each pair in one ball: the relaxation takes half of each ball."""
    return make_problem([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [0, 0, 0], [1, 1, 1], 0.75)


def test_the_fractions_and_the_optimum_of_the_relaxation_are_kept():
    details = lp_rounding(fractional_problem(), rng=np.random.default_rng(0)).details
    assert details["fraction"].tolist() == [0.5, 0.5, 0.5]
    assert details["lp_value"] == pytest.approx(1.125)
    assert details["expected_at_most"] == pytest.approx(3 / math.e + 1.125)
    assert len(details["draw_objectives"]) == 500


def whole_program(problem):
    """Value of the linear program as the paper writes it."""
    rows = np.hstack((problem.cover.toarray(), np.eye(problem.n_points)))
    return linprog(
        np.concatenate((problem.cost, problem.prize)), A_ub=-rows, b_ub=-np.ones(problem.n_points)
    ).fun


def check_relaxation(problem):
    """The value is the linear program's, and the fractions have it; return them."""
    details = lp_rounding(problem, n_draws=1).details
    fraction = details["fraction"]
    missed = np.maximum(1.0 - problem.cover @ fraction, 0.0)
    assert details["lp_value"] == pytest.approx(whole_program(problem), abs=1e-9)
    assert problem.cost @ fraction + problem.prize @ missed == pytest.approx(details["lp_value"])
    return fraction


def test_reductions_do_not_change_the_value_of_the_linear_program():
    for seed in range(40):
        check_relaxation(problem_and_optimum(seed)[0])
    for seed in range(2):
        fraction = check_relaxation(large_problem(60, 80, density=0.1, seed=seed))
        assert ((fraction > 0.01) & (fraction < 0.99)).any()


@pytest.mark.parametrize("problem", [fractional_problem(), large_problem(60, 80, density=0.05)])
def test_the_mean_of_the_draws_keeps_the_bound_of_the_paper(problem):
    """E[OBJ] <= n/e + OPT_LP; the sample mean within four standard errors."""
    details = lp_rounding(problem, rng=np.random.default_rng(1), n_draws=2000).details
    draws = details["draw_objectives"]
    error = draws.std() / math.sqrt(len(draws))
    assert draws.mean() <= details["expected_at_most"] + 4 * error
    assert draws.mean() >= details["lp_value"] - 4 * error


def test_draws_choose_each_candidate_as_often_as_its_fraction_says():
    """Mean objective of the three half balls, computed by hand: 0.75 x 1.5 + 3 / 4."""
    details = lp_rounding(
        fractional_problem(), rng=np.random.default_rng(2), n_draws=20_000
    ).details
    assert details["draw_objectives"].mean() == pytest.approx(1.125 + 0.75, abs=0.02)


def test_the_best_draw_is_returned_and_more_draws_are_no_worse():
    problem = large_problem(60, 80, density=0.05)
    one = lp_rounding(problem, rng=np.random.default_rng(0), n_draws=1)
    many = lp_rounding(problem, rng=np.random.default_rng(0), n_draws=300)
    assert many.objective <= many.details["draw_objectives"].min() + 1e-9
    assert many.objective <= one.objective


def test_a_number_of_draws_below_one_is_refused():
    with pytest.raises(ValueError, match="n_draws must be at least 1, got 0"):
        lp_rounding(fractional_problem(), n_draws=0)
