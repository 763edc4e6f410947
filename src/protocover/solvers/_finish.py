"""What every solver that searches does last: put its selection in order and describe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cover import NO_LIMIT, CoverProblem, CoverSolution, Limit, ProofTree, first_cover
from ._greedy import choose_by_drop

Indices = NDArray[np.intp]


def best_selection(problem: CoverProblem, selections: Iterable[Indices]) -> Indices:
    """Return the selection of least objective; of equal ones that with fewest prototypes."""

    def rank(selected: Indices) -> tuple[Fraction, int]:
        first = first_cover(problem, selected)
        return problem.exact_objective(selected, first), len(selected)

    return min(selections, key=rank)


def describe(
    problem: CoverProblem,
    selected: Indices,
    *,
    dual: NDArray[np.float64] | None = None,
    proof: ProofTree | None = None,
    claim: Fraction | None = None,
    status: str = "heuristic",
    details: Mapping[str, Any] | None = None,
    limit: Limit = NO_LIMIT,
    price: float | None = None,
) -> CoverSolution:
    """Describe a selection in its gain order: what the paper's greedy makes of it alone.

    A choice that lowers the objective by nothing is left out, which breaks ties toward
    fewer prototypes.
    """
    inner = np.sort(selected)
    order, score = choose_by_drop(problem.narrowed(inner))
    return CoverSolution.of(
        problem,
        inner[order],
        score=score,
        dual=dual,
        proof=proof,
        claim=claim,
        status=status,
        details=details,
        limit=limit,
        price=price,
    )
