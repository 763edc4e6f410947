"""What every solver that searches does last: put its selection in order and describe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cover import CoverProblem, CoverSolution, first_cover
from .stepwise import choose_stepwise

__all__ = ["best_selection", "describe"]

Indices = NDArray[np.intp]


def best_selection(problem: CoverProblem, selections: Iterable[Indices]) -> Indices:
    """Return the selection of least objective; of equal ones that with fewest prototypes."""

    def rank(selected: Indices) -> tuple[Fraction, int]:
        first = first_cover(problem.cover, selected)
        return problem.exact_objective(selected, first), len(selected)

    return min(selections, key=rank)


def describe(
    problem: CoverProblem,
    selected: Indices,
    *,
    max_prototypes: int | None = None,
    dual: NDArray[np.float64] | None = None,
    claim: Fraction | None = None,
    status: str = "heuristic",
    details: Mapping[str, Any] | None = None,
) -> CoverSolution:
    """Describe a selection in its gain order, of which a budget keeps the first.

    The gain order is what the paper's greedy makes of the selection alone. A choice that
    lowers the objective by nothing is left out, which breaks ties toward fewer prototypes.
    """
    inner = np.sort(selected)
    own = problem.narrowed(inner)
    order, score = choose_stepwise(own, np.subtract, own.wrong, max_prototypes)
    solution = CoverSolution.of(
        problem, inner[order], score=score, dual=dual, claim=claim, status=status, details=details
    )
    cut = max_prototypes is not None and len(solution.selected) == max_prototypes < len(selected)
    return replace(solution, status=f"{status}, cut to {max_prototypes}") if cut else solution
