"""The table of solvers, each a function from a CoverProblem to a CoverSolution."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, cast

import numpy as np

from ..cover import CoverProblem, CoverSolution
from .answers import ask_solver, unwrapped
from .auto import auto
from .exact import exact
from .greedy import greedy
from .local_search import local_search
from .lp_rounding import lp_rounding
from .options import check_options, default_time_limit, parameter_names
from .ratio_greedy import ratio_greedy

__all__ = [
    "SOLVERS",
    "Solver",
    "ask_solver",
    "auto",
    "check_options",
    "default_time_limit",
    "exact",
    "find_solver",
    "greedy",
    "local_search",
    "lp_rounding",
    "ratio_greedy",
    "unwrapped",
]


class Solver(Protocol):
    """What every solver is: a problem in, a solution out.

    `options` are the solver's own, by keyword; all of ours know ``time_limit`` in seconds.
    """

    def __call__(
        self,
        problem: CoverProblem,
        *,
        rng: np.random.Generator | None = None,
        max_prototypes: int | None = None,
        **options: Any,
    ) -> CoverSolution: ...


SOLVERS: dict[str, Solver] = {
    "greedy": cast(Solver, greedy),
    "ratio-greedy": cast(Solver, ratio_greedy),
    "lp-rounding": cast(Solver, lp_rounding),
    "local-search": cast(Solver, local_search),
    "exact": cast(Solver, exact),
    "auto": cast(Solver, auto),
}


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
