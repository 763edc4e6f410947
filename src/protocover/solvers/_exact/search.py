"""The exact optimum: a linear program, local search, fixing, reductions, branch and bound."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..._cover import CoverProblem, CoverSolution, relative_gap
from ..._resources import progress_line
from .._budget import solve_alone
from .._finish import describe
from .._reduced.residual import Residual
from .._values import check_values
from .closing import close_by_tree
from .proof import one_leaf
from .stages import State, Task, begin, branch, fewest, improve, relaxed


def exact(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    max_nodes: int | None = None,
    gap: float = 0.0,
    patience: int = 40,
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
        Decides the shakes of the local search; None for a fixed seed.
    max_prototypes : int or None
        Keep so many at most, the first in gain order of the optimum for any number.
    time_limit : float or None
        Seconds after which the best so far is returned with the bound reached.
    max_nodes : int or None
        Nodes of branch and bound after which the same is done: unlike seconds, they are the
        same on every machine.
    gap : float, default=0.0
        Stop once no selection can save more than this share of the objective.
    patience : int, default=40
        Shakes without success before the local search ends.
    verbose : int, default=0
        Above 0 a line that shows bound and best; above 1 HiGHS's log too.

    Returns
    -------
    CoverSolution
        With status ``"optimal"``, ``"gap reached"``, ``"time limit"``, ``"node limit"`` or,
        for weights finer than can be counted, ``"optimal up to rounding"``; and certificate
        ``"verified"`` if the dual vector or the kept leaves of branch and bound prove the bound,
        ``"solver"`` if there were too many leaves to keep.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit)
    options: dict[str, Any] = {"max_nodes": max_nodes, "gap": gap, "patience": patience}
    if max_prototypes is not None:
        unlimited = partial(exact, rng=rng, verbose=verbose, **options)
        close = partial(close_by_tree, verbose=verbose)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit, close=close)
    search = ExactSearch(problem, rng=rng, verbose=verbose, **options)
    search.go_on(time_limit)
    return search.solution()


@dataclass(eq=False)
class ExactSearch:
    """The exact solver at work on one problem, for as many rounds as it is given time.

    Parameters are those of :func:`exact`, without a budget. Each round goes on where the
    last one ended, and after the first there is a solution at any time.
    """

    problem: CoverProblem
    rng: np.random.Generator | None = None
    max_nodes: int | None = None
    gap: float = 0.0
    patience: int = 40
    verbose: int = 0

    def __post_init__(self) -> None:
        check_values(max_nodes=self.max_nodes, gap=self.gap)
        check_values(patience=self.patience, verbose=self.verbose)
        self._rng = np.random.default_rng(0) if self.rng is None else self.rng
        self._state: State | None = None
        self._is_relaxed = self._is_closed = self.is_finished = False

    def go_on(self, seconds: float | None = None) -> None:
        """Search for so many seconds at most, None for as many as it takes."""
        with progress_line(self.verbose) as write:
            task = self._limited(seconds, write)
            self._state = state = branch(task, self._relax(task))
            self._is_closed = task.closed(state)
            self.is_finished = self._is_closed or not task.time_is_up
            if self._full.ties > 1 and self.is_finished and not task.time_is_up:
                self._state = fewest(replace(task, full=self._full), state)

    @cached_property
    def _full(self) -> Residual:
        """The problem in whole numbers; counted when there is time for it."""
        return Residual.of(self.problem)

    @property
    def open_share(self) -> float:
        """Largest share of the objective that a better selection could save, as far as known."""
        state = self._state
        return math.inf if state is None else relative_gap(state.value, state.bound)

    def solution(self) -> CoverSolution:
        """Describe the best selection so far and what is proved of it."""
        state = self._state
        assert state is not None, "a search that was never begun has no solution"
        claim = _claim(self._full.plain(), self.problem.n_points, state.bound)
        if state.tree is None:
            leaves = one_leaf(self.problem, state.vectors)
        else:
            leaves = state.tree.leaves(self.problem)
        found = describe(self.problem, state.selected, dual=state.dual, proof=leaves, claim=claim)
        return replace(found, status=self._status(found))

    def _limited(self, seconds: float | None, write: Callable[[str], None]) -> Task:
        """Return the task with limits: all of the tree's nodes, but the time of one round."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        return Task(
            self._full.plain(),
            self._rng,
            self.patience,
            self.gap,
            deadline,
            math.inf if self.max_nodes is None else self.max_nodes,
            self.verbose,
            write,
        )

    def _relax(self, task: Task) -> State:
        """Solve the linear program, unless that is done; then search from there."""
        state = self._state
        if state is not None and self._is_relaxed:
            return state
        if state is None:
            state = begin(task, self.problem)
        self._state = state = relaxed(task, self.problem, state)
        self._is_relaxed = state.relaxation is not None
        return improve(task, state)

    def _status(self, found: CoverSolution) -> str:
        """Say how the search ended."""
        if found.is_optimal:
            return "optimal"
        if self._is_closed:
            return "gap reached" if self.gap > 0.0 else "optimal up to rounding"
        return "node limit" if self.is_finished else "time limit"


def _claim(full: Residual, n_points: int, bound: float) -> Fraction:
    """Objective that no selection goes below if `bound` units are right.

    Where costs and prizes were rounded to units, each choice may be off by a unit (its wrong
    weight and its cost) and each prize by half of one; no more of either than points count.
    """
    return Fraction(math.floor(bound) - (0 if full.exact else 2 * n_points)) * full.unit
