"""The textbook greedy of weighted set cover: at each step the least cost per new point."""

from __future__ import annotations

import numpy as np

from .._cover import CoverProblem, CoverSolution
from ._budget import solve_alone
from ._duals import ascend
from ._stepwise import choose_by_ratio
from ._values import check_values


def ratio_greedy(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
) -> CoverSolution:
    """Add the candidate with the most newly covered prize per cost until none is worth it.

    Ties go to the lower candidate index. A ``prototype_cost`` of zero, or one so small that
    ratios would overflow, ranks as a very small one: of two pure balls the larger comes first.
    The bound is
    that of dual ascent. `rng` and `time_limit` are there for the common signature.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit)
    if max_prototypes is not None:
        return solve_alone(problem, ratio_greedy, max_prototypes, time_limit=time_limit)
    selected, score = choose_by_ratio(problem)
    # A small pure ball may come before a larger one of the same candidate, which holds it: then
    # the ratios are those of choices among which it was, and the drops say what is left.
    outer = problem.outermost(selected)
    return CoverSolution.of(
        problem, selected[outer], score=score if outer.all() else None, dual=ascend(problem)
    )
