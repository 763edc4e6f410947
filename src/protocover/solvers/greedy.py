"""The paper's greedy (section 3.2): at each step the largest drop in the objective."""

from __future__ import annotations

import numpy as np

from ..cover import CoverProblem, CoverSolution
from .stepwise import choose_stepwise

__all__ = ["greedy"]


def greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
) -> CoverSolution:
    """Add the candidate that lowers the objective most until none lowers it.

    The drop is compared before ``prototype_cost``, which is the same for every
    candidate and only decides when to stop: the greedy selection for any cost is a
    prefix of the one for cost zero. Ties go to the lower candidate index.
    """
    selected, score = choose_stepwise(problem, np.subtract, problem.wrong, max_prototypes)
    return CoverSolution.of(problem, selected, score=score)
