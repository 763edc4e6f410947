"""The stages of the exact solver, each from a state of the search to a better one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem
from .._duals import ascend_best
from .._local_search import search
from .._reduced.packing import Packing
from .._reduced.relaxation import Relaxation, relax
from .._reduced.residual import Residual
from .._stepwise import choose_by_drop, choose_by_ratio
from .fixing import bound_of, leave_possible
from .grove import Grove

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Share of the time left that linear programs may take, and how many there are, each with what
# the one before has overpaid.
_PROGRAM_SHARE, _ROUNDS = 0.75, 4
# Memberships above which the first is not solved again for the sake of its vector, and what
# sums of payments may be off by, as a share of all prizes.
_LARGE, _ROUNDING = 300_000, 1e-9
# Patience of the last search.
_THOROUGH = 4.0
# Memberships times nodes that the search for fewer prototypes at the same objective may take,
# and the share of the nodes that the search for the objective took.
_TIE_WORK, _TIE_SHARE = 2 * 10**6, 0.25


@dataclass(frozen=True, eq=False)
class State:
    """How far the search is: what is left, the best selection and the bound, in units.

    What took longer than there was time, the linear program as a packing or the tree, is kept
    to be gone on with, and whether the long local search before the tree is done with. `vectors`
    are what bounds before the tree rest on, each on what those before it leave possible.
    """

    left: Residual
    selected: Indices
    value: float
    bound: float
    dual: Floats
    relaxation: Relaxation | None = None
    packing: Packing | None = None
    tree: Grove | None = None
    is_searched: bool = False
    vectors: tuple[Floats, ...] = ()


@dataclass(frozen=True, eq=False)
class Task:
    """What stays the same throughout: the problem before reductions, and the limits."""

    full: Residual
    rng: np.random.Generator
    patience: int
    gap: float
    deadline: float
    max_nodes: float
    verbose: int
    write: Callable[[str], None]

    @property
    def time_is_up(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def rest(self, share: float) -> float:
        """Return the time when a share of what is left of it will have passed."""
        now = time.monotonic()
        return now + share * (self.deadline - now)

    def target(self, state: State) -> float:
        """Value that a selection worth looking for has at most."""
        return min(state.value - 1.0, math.floor(state.value * (1.0 - self.gap)))

    def closed(self, state: State) -> bool:
        """Tell whether there is nothing left to look for."""
        return state.bound > self.target(state)

    def show(self, what: str, state: State) -> None:
        """Write how far the search is."""
        best, bound = float(state.value * self.full.unit), float(state.bound * self.full.unit)
        n_rows, n_columns = state.left.cover.shape
        self.write(
            f"{what}: best {best:.6g}, bound {bound:.6g}, {n_rows} points x {n_columns} candidates"
        )

    def improved(self, state: State, selected: Indices) -> State:
        """Return the state with `selected` if that is better."""
        value = self.value(selected)
        return state if value >= state.value else replace(state, selected=selected, value=value)

    def value(self, selected: Indices) -> float:
        """Count what choosing the candidates `selected` costs, in units."""
        return self.full.value(np.searchsorted(self.full.candidates, selected))


def begin(task: Task, problem: CoverProblem) -> State:
    """Take the better greedy and the bound of dual ascent, and leave out what that excludes."""
    full = task.full
    drop, ratio = choose_by_drop(problem)[0], choose_by_ratio(problem)[0]
    selected = min((drop, ratio), key=task.value)
    dual = ascend_best(problem, selected)
    payments = dual / float(full.unit)
    bound = math.ceil(bound_of(full, payments)[0])
    state = State(full, selected, task.value(selected), bound, dual, vectors=(dual,))
    return replace(state, left=leave_possible(full, payments, task.target(state)))


def relaxed(task: Task, problem: CoverProblem, state: State) -> State:
    """Solve the linear program for a better bound, on the candidates that can be of use.

    Its payments need not mind the others, and may overpay them: a bound still, but one that
    no vector proves for all. So those that turn out to be overpaid are taken in, and it is
    solved again, unless that takes long.
    """
    task.show("linear program", state)
    # A problem too large for the linear program still gets its local search.
    deadline = task.rest(_PROGRAM_SHARE)
    if state.packing is not None:
        # The program resumes with its own columns, even if fewer are possible by now.
        state = replace(state, left=state.packing.residual)
    solved = state
    for _ in range(_ROUNDS):
        packing = state.packing or Packing(state.left)
        relaxation = relax(state.left, deadline=deadline, packing=packing)
        if relaxation is None and solved.relaxation is None:
            return replace(state, packing=packing)
        if relaxation is None:
            break
        overpaid = _overpaid(task.full, state.left, relaxation.dual)
        vectors = (*state.vectors, state.left.spread(problem, relaxation.dual))
        state = replace(state, relaxation=relaxation, packing=None, vectors=vectors)
        solved = _bounded(task, state)
        if not overpaid.any() or solved.left.cover.nnz > _LARGE:
            break
        kept = np.isin(task.full.candidates, solved.left.candidates)
        state = replace(solved, left=task.full.keep_columns(kept | overpaid))
    # What was taken in last, and not solved again, is of no use to what was solved.
    assert solved.relaxation is not None
    return replace(solved, dual=solved.left.lift_dual(problem, solved.relaxation.dual))


def _overpaid(full: Residual, left: Residual, dual: Floats) -> NDArray[np.bool_]:
    """Tell which columns that are not left the payments overpay, by more than rounding."""
    out = ~np.isin(full.candidates, left.candidates)
    paid = np.asarray(full.cover.T @ dual)
    return np.asarray(out & (paid > full.cost + _ROUNDING * full.prize.sum()))


def _bounded(task: Task, state: State) -> State:
    """Take over the bound of the linear program.

    Nothing of value at most the target was excluded, so that it holds up to there.
    """
    assert state.relaxation is not None
    bound = math.ceil(bound_of(state.left, state.relaxation.dual)[0])
    return replace(state, bound=max(state.bound, min(bound, task.target(state) + 1.0)))


def improve(task: Task, state: State, *, effort: float = 1.0) -> State:
    """Search from the best selection or, where that is known, from what the program rounds to."""
    start = state.selected
    if state.relaxation is not None:
        start = state.left.candidates[state.relaxation.fraction > 0.5]
    task.show("local search", state)
    if task.closed(state) or task.time_is_up:
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


def branch(task: Task, state: State) -> State:
    """Let branch and bound find what is better, or that nothing is; go on with it if begun.

    It is quickest where it has only to show the latter: the last search is the longest.
    """
    if state.tree is None:
        if not state.is_searched and not task.closed(state):
            narrowed = replace(state, left=_possible(task, state), relaxation=None)
            state = replace(improve(task, narrowed, effort=_THOROUGH), is_searched=True)
        if task.closed(state) or task.time_is_up:
            return state
        left, target = _possible(task, state), task.target(state)
        tree = Grove(left, target, gap=task.gap, verbose=task.verbose)
        state = replace(state, left=left, tree=tree)
    task.show("branch and bound", state)
    return _grown(task, state)


def _grown(task: Task, state: State) -> State:
    """Let the tree grow, and take over the bound that it proves and the selection it finds."""
    tree = state.tree
    assert tree is not None
    tree.grow(deadline=task.deadline, max_nodes=task.max_nodes - tree.n_nodes)
    state = replace(state, bound=max(state.bound, tree.bound))
    found = tree.selection
    return state if found is None else task.improved(state, found)


def _possible(task: Task, state: State) -> Residual:
    """Return what the vector leaves room for in a selection worth looking for."""
    dual = state.dual / float(task.full.unit)
    return leave_possible(task.full, dual, task.target(state))


def fewest(task: Task, state: State) -> State:
    """Look for a selection with the same objective and fewer prototypes.

    In units that break ties there is only the number of prototypes to gain, so that effort
    is limited, by counts: the same answer on every machine unless time is up.
    """
    value, bound = task.value(state.selected), state.bound * task.full.ties
    tied = replace(state, value=value, bound=bound, tree=None, is_searched=False)
    before = 0 if state.tree is None else state.tree.n_nodes
    nodes = max(_TIE_SHARE * before, _TIE_WORK // max(_possible(task, tied).cover.nnz, 1))
    tied = branch(replace(task, max_nodes=min(task.max_nodes, nodes)), tied)
    return replace(state, selected=tied.selected)
