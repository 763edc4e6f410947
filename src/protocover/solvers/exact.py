"""The exact optimum: reductions, one linear program, local search, fixing, branch and bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray
from tqdm.auto import tqdm

from ..cover import CoverProblem, CoverSolution
from .duals import ascend
from .finish import cut_to, describe
from .fixing import bound_of, exclude, probe
from .local_search import search
from .reductions import reduce_cover
from .relaxation import Relaxation, relax
from .residual import Residual
from .scip_tree import search_scip_tree
from .stepwise import choose_by_drop, choose_by_ratio
from .tree import TreeAnswer, search_tree

__all__ = ["exact"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Backend = Callable[..., TreeAnswer]

# Linear programs after the first, each on what fixing by the last one left.
_ROUNDS = 4
# Memberships times candidates up to which each candidate is probed.
_PROBE_WORK = 10**8
# Patience of the searches between those rounds, and of the last one.
_BRIEF, _THOROUGH = 0.25, 4.0
# The search for fewer prototypes at the same objective takes at most this share of the time
# that the search for the objective took, or so many seconds.
_TIE_EFFORT, _TIE_SECONDS = 0.25, 1.0


@dataclass(frozen=True, eq=False)
class _State:
    """How far the search is: what is left, the best selection and the bound, in units."""

    left: Residual
    selected: Indices
    value: float
    bound: float
    dual: Floats
    relaxation: Relaxation | None = None


@dataclass(frozen=True, eq=False)
class _Task:
    """What stays the same throughout: the problem before reductions, and the limits."""

    full: Residual
    rng: np.random.Generator
    patience: int
    gap: float
    deadline: float
    branch: Backend
    verbose: int
    line: tqdm

    @property
    def time_left(self) -> float | None:
        """Seconds until the deadline, None if there is none."""
        return None if math.isinf(self.deadline) else max(self.deadline - time.monotonic(), 0.0)

    def target(self, state: _State) -> float:
        """Value that a selection worth looking for has at most."""
        return min(state.value - 1.0, math.floor(state.value * (1.0 - self.gap)))

    def closed(self, state: _State) -> bool:
        """Tell whether there is nothing left to look for."""
        return state.bound > self.target(state)

    def show(self, what: str, state: _State) -> None:
        """Write the progress line."""
        best, bound = float(state.value * self.full.unit), float(state.bound * self.full.unit)
        n_rows, n_columns = state.left.cover.shape
        self.line.set_description_str(
            f"{what}: best {best:.6g}, bound {bound:.6g}, {n_rows} points x {n_columns} candidates"
        )

    def improved(self, state: _State, selected: Indices) -> _State:
        """Return the state with `selected` if that is better."""
        value = self.value(selected)
        return state if value >= state.value else replace(state, selected=selected, value=value)

    def value(self, selected: Indices) -> float:
        """Count what choosing the candidates `selected` costs, in units."""
        return self.full.value(np.searchsorted(self.full.candidates, selected))


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
        SCIP where it is installed.
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
    branch = _find_backend(backend)
    begun = time.monotonic()
    deadline = math.inf if time_limit is None else begun + time_limit
    rng = np.random.default_rng() if rng is None else rng
    full = Residual.of(problem)
    left = reduce_cover(full)
    with tqdm(bar_format="{desc}", disable=verbose <= 0, leave=False) as line:
        task = _Task(full.plain(), rng, patience, gap, deadline, branch, verbose, line)
        state = _relaxed(task, problem, _begin(task, problem, left.plain()))
        state = _branch(task, _narrow(task, _searched(task, state)))
        bound, closed = state.bound, task.closed(state)
        if full.ties > 1 and task.time_left != 0.0:
            pause = max(_TIE_SECONDS, _TIE_EFFORT * (time.monotonic() - begun))
            limit = min(deadline, time.monotonic() + pause)
            state = _fewest(replace(task, full=full, deadline=limit), state, left)
    solution = describe(
        problem,
        state.selected,
        dual=state.dual,
        claim=_claim(task.full, problem.n_points, bound),
    )
    solution = replace(solution, status=_status(solution, closed=closed, gap=gap))
    return cut_to(problem, solution, max_prototypes)


def _begin(task: _Task, problem: CoverProblem, left: Residual) -> _State:
    """Take the better greedy and the bound of dual ascent."""
    dual = ascend(problem)
    bound = math.ceil(bound_of(task.full, dual / float(task.full.unit))[0])
    selected = choose_by_drop(problem)[0]
    state = _State(left, selected, task.value(selected), bound, dual)
    return task.improved(state, choose_by_ratio(problem)[0])


def _relaxed(task: _Task, problem: CoverProblem, state: _State) -> _State:
    """Solve the linear program for a better bound."""
    task.show("linear program", state)
    # A problem too large for the linear program still gets its local search.
    share = None if task.time_left is None else task.time_left / 2
    relaxation = relax(state.left, time_limit=share)
    if relaxation is None:
        return state
    return replace(
        state,
        bound=max(state.bound, math.ceil(bound_of(state.left, relaxation.dual)[0])),
        dual=state.left.lift_dual(problem, relaxation.dual),
        relaxation=relaxation,
    )


def _searched(task: _Task, state: _State, *, effort: float = 1.0) -> _State:
    """Search from the best selection or, where that is known, from what the program rounds to."""
    start = state.selected
    if state.relaxation is not None:
        start = state.left.candidates[state.relaxation.fraction > 0.5]
    task.show("local search", state)
    if task.closed(state):
        return state
    found = search(
        state.left,
        task.rng,
        patience=math.ceil(effort * task.patience),
        deadline=task.deadline,
        start=start,
        enough=state.bound,
    )
    return task.improved(state, state.left.selection(found))


def _narrow(task: _Task, state: _State) -> _State:
    """Fix by reduced costs, reduce, solve the smaller linear program, and again."""
    for _ in range(_ROUNDS):
        if task.closed(state) or state.relaxation is None or task.time_left == 0.0:
            break
        size = state.left.cover.shape
        left = exclude(state.left, state.relaxation.dual, task.target(state))
        if left.cover.nnz * left.cover.shape[1] <= _PROBE_WORK:
            left = probe(left, state.relaxation.dual, task.target(state))
        left = reduce_cover(left)
        relaxation = relax(left, time_limit=task.time_left)
        state = replace(state, left=left, relaxation=relaxation)
        if relaxation is not None:
            # Nothing at most the target was excluded, so a bound holds up to there.
            bound = math.ceil(bound_of(left, relaxation.dual)[0])
            state = replace(state, bound=max(state.bound, min(bound, task.target(state) + 1.0)))
        state = _searched(task, state, effort=_BRIEF)
        if left.cover.shape[0] * left.cover.shape[1] > 0.8 * size[0] * size[1]:
            break
    return state


def _branch(task: _Task, state: _State) -> _State:
    """Let branch and bound find what is better, or that nothing is."""
    # It is quickest where it has only to show the latter: the last search is the longest.
    state = _searched(task, replace(state, relaxation=None), effort=_THOROUGH)
    task.show("branch and bound", state)
    if task.closed(state) or task.time_left == 0.0:
        return state
    target = task.target(state)
    answer = task.branch(state.left, target, time_limit=task.time_left, verbose=task.verbose)
    state = replace(state, bound=max(state.bound, answer.bound))
    if answer.columns is not None:
        start = state.left.selection(answer.columns)
        found = search(state.left, task.rng, patience=0, start=start)
        state = task.improved(state, state.left.selection(found))
    return state


def _fewest(task: _Task, state: _State, left: Residual) -> _State:
    """Look for a selection with the same objective and fewer prototypes.

    The best objective is known or time is up; in units that break ties there is only the
    number of prototypes to gain, and only as much effort is spent as the task allows.
    """
    bound = state.bound * task.full.ties
    tied = replace(state, left=left, value=task.value(state.selected), bound=bound)
    tied = _searched(task, replace(tied, relaxation=None))
    tied = replace(tied, relaxation=relax(left, time_limit=task.time_left))
    return replace(_branch(task, _narrow(task, tied)), dual=state.dual)


def _find_backend(name: str) -> Backend:
    """Return the branch and bound of that name; of "auto" the best that is installed."""
    backends: dict[str, Backend] = {"highs": search_tree, "scip": search_scip_tree}
    if name == "auto":
        name = "highs" if find_spec("pyscipopt") is None else "scip"
    if name not in backends:
        raise ValueError(f"backend must be 'auto' or one of {list(backends)}, got {name!r}")
    return backends[name]


def _claim(full: Residual, n_points: int, bound: float) -> Fraction:
    """Objective that no selection goes below if `bound` units are right.

    Where costs and prizes were rounded to units, each choice may be off by a unit (its wrong
    weight and its price) and each prize by half of one; no more of either than points count.
    """
    return Fraction(math.floor(bound) - (0 if full.exact else 2 * n_points)) * full.unit


def _status(solution: CoverSolution, *, closed: bool, gap: float) -> str:
    """Say how the search ended."""
    if solution.certificate in ("proved", "solver-proved"):
        return "optimal"
    if not closed:
        return "time limit"
    return "gap reached" if gap > 0.0 else "optimal up to rounding"
