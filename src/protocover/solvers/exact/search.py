"""The exact optimum: reductions, one linear program, local search, fixing, branch and bound."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from functools import partial
from importlib.util import find_spec

import numpy as np

from ...cover import CoverProblem, CoverSolution
from ...resources import progress_line
from ..budget import close_by_tree, solve_alone
from ..finish import describe
from ..reduced.reductions import reduce_cover
from ..reduced.residual import Residual
from ..values import check_values
from .scip_tree import search_scip_tree
from .stages import Backend, Task, begin, branch, fewest, improve, narrow, relaxed
from .tree import search_tree

__all__ = ["exact"]

# The search for fewer prototypes at the same objective takes at most this share of the time
# that the search for the objective took, or so many seconds.
_TIE_EFFORT, _TIE_SECONDS = 0.25, 1.0


def exact(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    gap: float = 0.0,
    patience: int = 100,
    backend: str = "auto",
    verbose: int = 0,
) -> CoverSolution:
    """Find a selection of least objective and prove that none is better.

    Of selections with the least objective one with few prototypes is returned: the fewest,
    unless branch and bound was cut short while it had only that left to show.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        Decides the shakes of the local search.
    max_prototypes : int or None
        Keep so many at most, the first in gain order of the optimum for any number.
    time_limit : float or None
        Seconds after which the best so far is returned with the bound reached.
    gap : float, default=0.0
        Stop once no selection can save more than this share of the objective.
    patience : int, default=100
        Shakes without success before the local search ends.
    backend : {"auto", "highs", "scip"}, default="auto"
        Who does the branch and bound: HiGHS, which comes with SciPy, or SCIP, which needs
        the package pyscipopt and is a few times faster on the hardest problems. By default
        SCIP where it is installed. Ctrl-C ends SCIP at once and HiGHS when its time is up.
    verbose : int, default=0
        Above 0 a line that shows bound and best; above 1 the backend's log too.

    Returns
    -------
    CoverSolution
        With status ``"optimal"``, ``"gap reached"``, ``"time limit"`` or, for weights finer
        than can be counted, ``"optimal up to rounding"``; and certificate
        ``"proved"`` where a dual vector closes the gap, ``"solver-proved"`` where branch
        and bound did, else ``"bounded"`` or ``"solver-bounded"``.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, gap=gap)
    check_values(patience=patience, backend=backend, verbose=verbose)
    tree = _find_backend(backend)
    rng = np.random.default_rng() if rng is None else rng
    if max_prototypes is not None:
        unlimited = partial(
            exact, rng=rng, gap=gap, patience=patience, backend=backend, verbose=verbose
        )
        close = partial(close_by_tree, verbose=verbose)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit, close=close)
    begun = time.monotonic()
    deadline = math.inf if time_limit is None else begun + time_limit
    full = Residual.of(problem)
    # Reductions save time later on; where there is little of it they are cut short.
    left = reduce_cover(full, deadline=(begun + deadline) / 2)
    with progress_line(verbose) as write:
        task = Task(full.plain(), rng, patience, gap, deadline, tree, verbose, write)
        state = relaxed(task, problem, begin(task, problem, left.plain()))
        state = branch(task, narrow(task, improve(task, state)))
        bound, closed = state.bound, task.closed(state)
        if full.ties > 1 and not task.time_is_up:
            pause = max(_TIE_SECONDS, _TIE_EFFORT * (time.monotonic() - begun))
            limit = min(deadline, time.monotonic() + pause)
            state = fewest(replace(task, full=full, deadline=limit), state, left)
    solution = describe(
        problem,
        state.selected,
        dual=state.dual,
        claim=_claim(task.full, problem.n_points, bound),
    )
    return replace(solution, status=_status(solution, closed=closed, gap=gap))


def _find_backend(name: str) -> Backend:
    """Return the branch and bound of that name; of "auto" the best that is installed."""
    backends: dict[str, Backend] = {"highs": search_tree, "scip": search_scip_tree}
    if name == "auto":
        name = "highs" if find_spec("pyscipopt") is None else "scip"
    return backends[name]


def _claim(full: Residual, n_points: int, bound: float) -> Fraction:
    """Objective that no selection goes below if `bound` units are right.

    Where costs and prizes were rounded to units, each choice may be off by a unit (its wrong
    weight and its cost) and each prize by half of one; no more of either than points count.
    """
    return Fraction(math.floor(bound) - (0 if full.exact else 2 * n_points)) * full.unit


def _status(solution: CoverSolution, *, closed: bool, gap: float) -> str:
    """Say how the search ended."""
    if solution.certificate in ("proved", "solver-proved"):
        return "optimal"
    if not closed:
        return "time limit"
    return "gap reached" if gap > 0.0 else "optimal up to rounding"
