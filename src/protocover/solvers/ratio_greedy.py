"""The textbook greedy of weighted set cover: at each step the least cost per new point."""

from __future__ import annotations

import numpy as np

from ..cover import CoverProblem, CoverSolution
from .stepwise import choose_stepwise

__all__ = ["ratio_greedy"]


def ratio_greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
) -> CoverSolution:
    """Add the candidate with the most newly covered prize per cost until none is worth it.

    Ties go to the lower candidate index. A ``prototype_cost`` of zero ranks as an
    infinitely small one, so that of two pure balls the larger comes first.
    """
    cost = problem.cost
    if problem.prototype_cost == 0.0:
        cost = cost + 1e-9 * min(1.0, problem.prize.max(initial=0.0))
    selected, score = choose_stepwise(problem, np.divide, cost, max_prototypes)
    return CoverSolution.of(problem, selected, score=score)
