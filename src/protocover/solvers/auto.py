"""The best that a few seconds allow: the exact solver where that is quick, else local search."""

from __future__ import annotations

import numpy as np

from ..cover import CoverProblem, CoverSolution
from .exact import exact
from .local_search import local_search
from .values import check_values

__all__ = ["auto"]

# Memberships beyond which reductions and the linear program take longer than seconds.
_LARGEST_EXACT = 4_000_000


def auto(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = 5.0,
    verbose: int = 0,
) -> CoverSolution:
    """Solve exactly if `time_limit` seconds are enough, else return the best found by then.

    Problems so large that the linear program alone would take longer go to local search,
    with the bound of dual ascent.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        Decides the shakes of the local search.
    max_prototypes : int or None
        Keep so many at most, the first in gain order of what was found.
    time_limit : float or None, default=5.0
        Seconds; None for as many as it takes. The estimators share the five seconds out
        among the classes, like any other limit.
    verbose : int, default=0
        Above 0 a line that shows bound and best, where the exact solver is at work.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, verbose=verbose)
    if problem.core.n_memberships > _LARGEST_EXACT and time_limit is not None:
        return local_search(problem, rng=rng, max_prototypes=max_prototypes, time_limit=time_limit)
    return exact(
        problem,
        rng=rng,
        max_prototypes=max_prototypes,
        time_limit=time_limit,
        verbose=verbose,
    )
