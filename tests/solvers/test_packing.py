"""The linear program in HiGHS's memory: what its bounds say, however they change."""

from __future__ import annotations

import numpy as np
import pytest
from covers import large_problem
from scipy.optimize import linprog

from protocover.solvers._residual import Packing, Residual


def packed(residual, cost, prize):
    """The most that rows can pay, by SciPy, a column of infinite cost left out."""
    there = np.isfinite(cost)
    found = linprog(
        -np.ones(len(prize)),
        A_ub=residual.cover.T[there].toarray().astype(float),
        b_ub=cost[there],
        bounds=np.column_stack((np.zeros(len(prize)), prize)),
    )
    return -found.fun


@pytest.mark.parametrize("seed", range(10))
def test_a_column_that_is_left_out_or_chosen_may_take_in_anything(seed):
    """One bound after the other changes, as in a tree, prizes that rise among them."""
    residual = Residual.of(large_problem(40, 60, density=0.15)).plain()
    packing, rng = Packing(residual), np.random.default_rng(seed)
    cost, prize = residual.cost.copy(), residual.prize.copy()
    for step in range(12):
        column = rng.integers(len(cost))
        rows = residual.cover[:, [column]].indices
        cost[column] = np.inf
        if step % 3 == 1:  # chosen
            prize[rows] = 0.0
        if step % 3 == 2:  # a point that must be covered
            prize[rng.integers(len(prize))] += 50.0
        found = packing.solve(cost, prize)
        assert found.solved
        assert found.value == pytest.approx(packed(residual, cost, prize))
        assert not found.fraction[np.isinf(cost)].any()
