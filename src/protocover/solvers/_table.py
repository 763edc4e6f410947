"""The table of solvers, each a function from a CoverProblem to a CoverSolution."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, cast

import numpy as np

from .._cover import CoverProblem, CoverSolution
from ._greedy import greedy
from ._local_search import local_search
from ._lp_rounding import lp_rounding
from ._ratio_greedy import ratio_greedy
from ._search import auto, exact


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


def name_of(solver: Any) -> str:
    """Return what a solver is called in messages."""
    function = unwrapped(solver)
    for name, ours in SOLVERS.items():
        if function is ours:
            return repr(name)
    return str(getattr(function, "__name__", repr(function)))


def is_ours(solver: Any) -> bool:
    """Whether a solver is one of the table, some of its options set or not."""
    return any(unwrapped(solver) is ours for ours in SOLVERS.values())


def unwrapped(solver: Any) -> Any:
    """Return the function behind a solver some of whose options are set."""
    return unwrapped(solver.func) if isinstance(solver, partial) else solver


def preset(solver: Any) -> dict[str, Any]:
    """Return the options of a solver that are set already."""
    return {**preset(solver.func), **solver.keywords} if isinstance(solver, partial) else {}
