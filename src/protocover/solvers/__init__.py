"""The table of solvers, each a function from a CoverProblem to a CoverSolution."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..cover import CoverProblem, CoverSolution
from .greedy import greedy
from .ratio_greedy import ratio_greedy

__all__ = ["SOLVERS", "Solver", "find_solver", "greedy", "ratio_greedy"]


class Solver(Protocol):
    """What every solver is: a problem in, a solution out."""

    def __call__(
        self,
        problem: CoverProblem,
        *,
        rng: np.random.Generator | None = None,
        max_prototypes: int | None = None,
    ) -> CoverSolution: ...


SOLVERS: dict[str, Solver] = {
    "greedy": greedy,
    "ratio-greedy": ratio_greedy,
}


def find_solver(name: str) -> Solver:
    """Look `name` up in the table of solvers."""
    if isinstance(name, str) and name in SOLVERS:
        return SOLVERS[name]
    known = ", ".join(repr(key) for key in SOLVERS)
    raise ValueError(f"solver must be one of {known}, got {name!r}")
