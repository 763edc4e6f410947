"""The paper's greedy (section 3.2): at each step the largest drop in the objective."""

from __future__ import annotations

import numpy as np

from .._cover import CoverProblem, CoverSolution
from ._budget import keep_first
from ._duals import ascend
from ._stepwise import choose_by_drop
from ._values import check_values


def greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    bound: bool = True,
) -> CoverSolution:
    """Add the candidate that lowers the objective most until none lowers it.

    The drop is compared before ``prototype_cost``, which is the same for every
    candidate and only decides when to stop: the greedy selection for any cost is a
    prefix of the one for cost zero. Ties go to the lower candidate index. The bound is
    that of dual ascent, left out where `bound` is false. `rng` and
    `time_limit` are there for the common signature.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, bound=bound)
    if max_prototypes is not None:
        order = choose_by_drop(problem, max_prototypes + 1)
        return keep_first([problem], [order], max_prototypes, bound=bound)[0][0]
    selected, score = choose_by_drop(problem)
    return CoverSolution.of(
        problem, selected, score=score, dual=ascend(problem) if bound else None
    )
