"""Solvers: functions from a CoverProblem to a CoverSolution, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from ..cover import CoverSolution
from .answers import ask_solver
from .budget import Budgeted, total_value
from .greedy import greedy
from .joint import solve_jointly
from .local_search import local_search
from .lp_rounding import lp_rounding
from .options import check_options, default_time_limit, parameter_names
from .ratio_greedy import ratio_greedy
from .rounds import solve_together
from .search import auto, exact
from .table import SOLVERS, Solver, is_ours, unwrapped

__all__ = [
    "SOLVERS",
    "Budgeted",
    "Solver",
    "ask_solver",
    "auto",
    "check_options",
    "default_time_limit",
    "exact",
    "find_solver",
    "greedy",
    "is_ours",
    "local_search",
    "lp_rounding",
    "ratio_greedy",
    "solve_jointly",
    "solve_together",
    "total_value",
    "unwrapped",
]


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
