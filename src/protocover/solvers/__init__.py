"""Solvers: functions from a CoverProblem to a CoverSolution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from .._cover import CoverProblem, CoverSolution, Limit, ProofTree, Verification, verify
from ._heuristics import greedy, local_search, lp_rounding, ratio_greedy
from ._registry import SOLVERS, Solver, ask_solver, check_options, find_solver
from ._search import auto, exact

__all__ = [
    "CoverProblem",
    "CoverSolution",
    "Limit",
    "ProofTree",
    "Verification",
    "auto",
    "exact",
    "greedy",
    "local_search",
    "lp_rounding",
    "ratio_greedy",
    "solve",
    "verify",
]

SOLVERS.update(
    {
        "greedy": cast(Solver, greedy),
        "ratio-greedy": cast(Solver, ratio_greedy),
        "lp-rounding": cast(Solver, lp_rounding),
        "local-search": cast(Solver, local_search),
        "exact": cast(Solver, exact),
        "auto": cast(Solver, auto),
    }
)


def solve(
    problem: CoverProblem,
    *,
    solver: str | Callable[..., CoverSolution] = "auto",
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> CoverSolution:
    """Choose candidates of least objective, with a lower bound on the optimum.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    solver : str or callable, default="auto"
        ``"auto"`` is near-optimal with bounded effort, ``"exact"`` continues until the optimum
        is proved; or the name of another solver, or a function.
    max_prototypes : int or None, default=None
        Maximum number of candidates chosen.
    time_limit : float or None, default=None
        Seconds after which the best selection so far is returned.
    **options
        Further options of the solver.

    Returns
    -------
    CoverSolution
        Recheck it with :func:`verify`.

    Examples
    --------
    >>> import numpy as np
    >>> cover = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    >>> problem = CoverProblem(cover, np.zeros(3), np.ones(3), prototype_cost=0.1)
    >>> solution = solve(problem)
    >>> len(solution.selected), solution.is_optimal
    (2, True)
    """
    found = find_solver(solver)
    if time_limit is not None:
        options["time_limit"] = time_limit
    return ask_solver(
        found, problem, max_prototypes=max_prototypes, options=check_options(found, options)
    )
