"""The paper's linear relaxation with randomized rounding (section 3.1)."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem, CoverSolution
from ._budget import solve_alone
from ._duals import ascend
from ._finish import describe
from ._reduced.reductions import reduce_cover
from ._reduced.relaxation import relax
from ._reduced.residual import Residual
from ._stepwise import choose_by_drop
from ._values import check_values

Floats = NDArray[np.float64]

_DRAWS_AT_ONCE = 64


def lp_rounding(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    n_draws: int = 500,
) -> CoverSolution:
    """Solve the linear relaxation, round it at random again and again, and keep the best.

    In each draw a candidate is chosen with its fraction in the relaxation as probability.
    The expected objective of a draw is at most ``sum(prize) / e + OPT_LP``. Choices of the
    best draw that do not lower the objective are left out.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        Makes the draws; None for a fixed seed.
    max_prototypes : int or None
        Keep so many at most, the first in gain order of what was found.
    time_limit : float or None
        Seconds; where they do not suffice for the relaxation the greedy selection is
        returned, with status ``"time limit"``.
    n_draws : int, default=500
        Number of draws.

    Returns
    -------
    CoverSolution
        Its details hold ``fraction`` of each candidate, ``lp_value`` (OPT_LP),
        ``draw_objectives`` and ``expected_at_most``, the bound on their mean.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, n_draws=n_draws)
    rng = np.random.default_rng(0) if rng is None else rng
    if max_prototypes is not None:
        unlimited = partial(lp_rounding, rng=rng, n_draws=n_draws)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit)
    begun = time.monotonic()
    deadline = math.inf if time_limit is None else begun + time_limit
    left = reduce_cover(Residual.of(problem), deadline=(begun + deadline) / 2).plain()
    relaxation = relax(left, deadline=deadline)
    if relaxation is None:
        selected = choose_by_drop(problem)[0]
        return describe(problem, selected, dual=ascend(problem), status="time limit")
    fraction = np.zeros(problem.n_candidates)
    fraction[left.taken] = 1.0
    fraction[left.candidates] = relaxation.fraction
    lp_value = (relaxation.value + left.constant) * float(left.unit)
    draws, objectives = _draw(problem, fraction, n_draws, rng)
    best = np.lexsort((draws.sum(axis=0), objectives))[0]  # of equal ones the smallest
    return describe(
        problem,
        np.flatnonzero(draws[:, best]),
        dual=left.lift_dual(problem, relaxation.dual),
        status="best of draws",
        details={
            "fraction": fraction,
            "lp_value": lp_value,
            "draw_objectives": objectives,
            "expected_at_most": float(problem.prize.sum()) / math.e + lp_value,
        },
    )


def _draw(
    problem: CoverProblem, fraction: Floats, n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], Floats]:
    """Draw selections, shape (n_candidates, n_draws), and compute their objectives."""
    draws = np.zeros((problem.n_candidates, n_draws), dtype=bool)
    support = np.flatnonzero(fraction)
    draws[support] = rng.random((len(support), n_draws)) < fraction[support, None]
    cover = problem.cover[:, support].astype(np.float64)
    objectives = np.empty(n_draws)
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        chosen = draws[support, start : start + _DRAWS_AT_ONCE].astype(np.float64)
        missed = np.where(cover @ chosen == 0, problem.prize[:, None], 0.0).sum(axis=0)
        spent = (problem.cost[support, None] * chosen).sum(axis=0)
        objectives[start : start + _DRAWS_AT_ONCE] = missed + spent
    return draws, objectives
