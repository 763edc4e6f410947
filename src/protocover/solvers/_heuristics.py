"""The heuristic solvers: both greedy algorithms, LP rounding and local search."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np

from .._cover import CoverProblem, CoverSolution
from .._typing import Floats, Mask
from ._budget import keep_first, solve_alone
from ._duals import ascend
from ._finish import best_selection, describe
from ._greedy import choose_by_drop, choose_by_ratio
from ._local_search import search
from ._reductions import reduce_cover
from ._registry import check_values
from ._residual import Residual, relax

_DRAWS_AT_ONCE = 64


def greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    bound: bool = True,
) -> CoverSolution:
    """Add the candidate that lowers the objective most until none lowers it (paper, section 3.2).

    The decrease is compared before ``prototype_cost``, which is the same for every candidate
    and only decides when to stop. So the greedy selection for any cost is a prefix of the one
    for cost zero. Ties go to the lower candidate index. The bound is from dual ascent, and
    omitted if `bound` is false. `rng` and `time_limit` are ignored.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, bound=bound)
    if max_prototypes is not None:
        order = choose_by_drop(problem, max_prototypes + 1)
        return keep_first([problem], [order], max_prototypes, bound=bound)[0][0]
    selected, score = choose_by_drop(problem)
    return CoverSolution.of(
        problem, selected, score=score, dual=ascend(problem) if bound else None
    )


def ratio_greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
) -> CoverSolution:
    """Add the candidate with the most newly covered prize per cost until none is worth it.

    This is the cost-effectiveness greedy of weighted set cover. Ties go to the lower candidate
    index. A cost of zero, or one so small that ratios would overflow, counts as a very small
    one. The bound is from dual ascent. `rng` and `time_limit` are ignored.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit)
    if max_prototypes is not None:
        return solve_alone(problem, ratio_greedy, max_prototypes, time_limit=time_limit)
    selected, score = choose_by_ratio(problem)
    # A small ball may be chosen before a larger one of its chain, which contains it. The ratios
    # are then not those of the outermost balls alone, so the decreases are the scores.
    outer = problem.outermost(selected)
    return CoverSolution.of(
        problem, selected[outer], score=score if outer.all() else None, dual=ascend(problem)
    )


def local_search(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    patience: int = 250,
) -> CoverSolution:
    """Improve both greedy selections by removals, swaps and small perturbations.

    Never worse than either greedy solver. Ties are broken in favour of fewer prototypes. The
    bound is from dual ascent.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        For the perturbations; None for a fixed seed. The same generator gives the same
        selection, unless time runs out.
    max_prototypes : int or None
        Maximum number of prototypes.
    time_limit : float or None
        Seconds after which the best selection so far is returned.
    patience : int, default=250
        Perturbations without improvement before the search ends.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, patience=patience)
    rng = np.random.default_rng(0) if rng is None else rng
    if max_prototypes is not None:
        unlimited = partial(local_search, rng=rng, patience=patience)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit)
    begun = time.monotonic()
    deadline = math.inf if time_limit is None else begun + time_limit
    greedy, ratio = choose_by_drop(problem)[0], choose_by_ratio(problem)[0]
    residual = reduce_cover(Residual.of(problem), deadline=(begun + deadline) / 2)
    start = best_selection(problem, (greedy, ratio))
    found = search(residual, rng, patience=patience, deadline=deadline, start=start)
    return describe(
        problem,
        best_selection(problem, (residual.selection(found), start)),
        dual=ascend(problem),
        status="time limit" if time.monotonic() >= deadline else "local optimum",
    )


def lp_rounding(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    n_draws: int = 500,
) -> CoverSolution:
    """Solve the linear relaxation, round it at random and keep the best (paper, section 3.1).

    In each draw a candidate is chosen with its fraction in the relaxation as probability.
    The expected objective of a draw is at most ``sum(prize) / e + OPT_LP``. Choices of the
    best draw that do not lower the objective are removed.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        For the draws; None for a fixed seed.
    max_prototypes : int or None
        Maximum number of prototypes.
    time_limit : float or None
        Seconds. If the relaxation takes longer, the greedy selection is returned with status
        ``"time limit"``.
    n_draws : int, default=500
        Number of draws.

    Returns
    -------
    CoverSolution
        Its details are ``fraction`` of each candidate, ``lp_value`` (OPT_LP),
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
    best = np.lexsort((draws.sum(axis=0), objectives))[0]  # ties: the smallest
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
) -> tuple[Mask, Floats]:
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
