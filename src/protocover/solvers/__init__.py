"""Solvers: functions from a CoverProblem to a CoverSolution, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from .._cover import (
    CoverageTarget,
    CoverProblem,
    CoverSolution,
    Leaves,
    NestedCoverProblem,
    SharedBudget,
    Verification,
    verify,
)
from ._greedy import greedy
from ._local_search import local_search
from ._lp_rounding import lp_rounding
from ._options import parameter_names
from ._ratio_greedy import ratio_greedy
from ._search import auto, exact
from ._table import SOLVERS, Solver

__all__ = [
    "CoverProblem",
    "CoverSolution",
    "CoverageTarget",
    "Leaves",
    "NestedCoverProblem",
    "SharedBudget",
    "Verification",
    "auto",
    "exact",
    "greedy",
    "local_search",
    "lp_rounding",
    "ratio_greedy",
    "verify",
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
