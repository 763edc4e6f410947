"""Solvers: functions from a CoverProblem to a CoverSolution, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from .._cover import CoverProblem, CoverSolution, Limit, ProofTree, Verification, verify
from ._answers import ask_solver
from ._greedy import greedy
from ._local_search import local_search
from ._lp_rounding import lp_rounding
from ._options import check_options, parameter_names
from ._ratio_greedy import ratio_greedy
from ._search import auto, exact
from ._table import SOLVERS, Solver

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


def solve(
    problem: CoverProblem,
    *,
    solver: str | Callable[..., CoverSolution] = "auto",
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> CoverSolution:
    """Choose candidates of least objective, with a bound that says how near the optimum they are.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    solver : str or callable, default="auto"
        ``"auto"`` is near the optimum in bounded effort, ``"exact"`` goes on until the optimum is
        proved; or another solver by its name, or a function.
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
    told = check_options(found, options)
    return ask_solver(found, problem, max_prototypes=max_prototypes, options=told)


def find_solver(solver: str | Callable[..., CoverSolution], *, verbose: int = 0) -> Solver:
    """Look a name up in the table of solvers; a function is its own solver.

    With `verbose` above 0 a solver that has such an option is to show its progress.
    """
    found: Any = SOLVERS.get(solver) if isinstance(solver, str) else solver
    names = parameter_names(found) if callable(found) else set()
    if names is not None and not {"rng", "max_prototypes"} <= names:
        known = ", ".join(repr(key) for key in SOLVERS)
        raise ValueError(
            f"solver must be one of {known} or a function (problem, *, rng, max_prototypes) -> "
            f"CoverSolution, got {solver!r}"
        )
    if verbose > 0 and names is not None and "verbose" in names:
        return cast(Solver, partial(found, verbose=verbose))
    return cast(Solver, found)
