"""The stages of dense covers, those of labelled samples.

Their linear program is close to the optimum, so that local search from what it rounds to and a
tree on the few candidates that it leaves are fast.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ._branch_and_bound import BranchAndBound
from ._local_search import search
from ._residual import Packing, Residual, leave_possible, relax
from ._state import ROUNDING, SEED, Effort, State, Stop, simplex_limit

Indices = NDArray[np.intp]


def relaxed(state: State, effort: Effort, stop: Stop) -> State:
    """Solve the linear program over the candidates that its own solution does not overpay.

    It begins with those that the bound so far does not exclude, and takes in what its
    payments turn out to overpay, which is little.
    """
    problem = state.problem
    core, slop = problem.core, ROUNDING * problem.prize.sum()
    for _ in range(effort.programs):
        plain, packing = state.plain, state.packing
        if packing is None or packing.residual.cover is not plain.cover:
            packing = Packing(plain)
        iterations = None if effort.until_closed else simplex_limit(plain, effort)
        found = relax(plain, deadline=stop.deadline, iterations=iterations, packing=packing)
        if found is None:
            return replace(state, packing=packing)
        payments = found.dual * float(plain.unit)
        state = replace(state, packing=None).with_dual(payments)
        start = plain.candidates[found.fraction > 0.5]
        state = replace(state, start=start).improved(start)
        overpaid = core.prize_sums(payments) > core.cost + slop
        enough = state.closed or (state.near and plain.cover.nnz > effort.large)
        if enough or not (overpaid & ~state.keep).any():
            break
        state = _with_more(state, overpaid)
    return state


def searched(state: State, effort: Effort, stop: Stop) -> State:
    """Search around what the linear program rounds to, among what could be better.

    In a large problem that is one valley of several: half of the effort goes into the search
    around the best selection known.
    """
    full, problem = state.full, state.problem
    starts = [state.start, state.selected][: 2 if full.cover.nnz > effort.large else 1]
    left = leave_possible(full, state.payments(full), state.value - 1.0)
    more = 0 if state.near else problem.n_points * problem.n_candidates // effort.pairs_a_shake
    most = len(left.candidates) // effort.columns_a_shake
    patience = min(effort.shakes + more // len(starts), most)
    for start in starts:
        state = _perturbed(state, left, start, patience, stop)
    return state


def searched_again(state: State, effort: Effort, stop: Stop) -> State:
    """Search longer among what the bound leaves, before a tree has to prove the rest."""
    if effort.thorough == 0:
        return state
    plain = state.plain
    left = leave_possible(plain, state.payments(plain), stop.target(state.steps))
    return _perturbed(state, left, state.selected, effort.thorough, stop)


def _perturbed(state: State, left: Residual, start: Indices, patience: int, stop: Stop) -> State:
    """Return the state after a local search."""
    found = search(
        left,
        np.random.default_rng(SEED),
        patience=patience,
        deadline=stop.deadline,
        start=start,
        enough=(state.bound + 1.0) * left.ties - 1.0 if left.ties > 1 else state.bound,
    )
    return state.improved(left.selection(found))


def with_tree(
    state: State, effort: Effort, stop: Stop, verbose: int
) -> tuple[State, BranchAndBound | None]:
    """Begin a tree on what could be better, where that is little; no node is looked at."""
    state = _with_room(state)
    return state, _tree(state.plain, state, stop.target(state.steps), effort, stop.gap, verbose)


def fewest(state: State, effort: Effort, stop: Stop, nodes_before: int) -> State:
    """Look for fewer prototypes with the same objective, as far as that is little work."""
    full = state.full
    if full.ties == 1 or full.cover.nnz > effort.tied:
        return state
    if effort.thorough:
        left = leave_possible(full, state.payments(full), state.value - 1.0)
        state = _perturbed(state, left, state.selected, effort.thorough, stop)
    tree = _tree(full, state, state.value - 1.0, effort)
    if tree is None:
        return state
    nodes = max(nodes_before // 4, effort.tied_work // max(tree.left.cover.nnz, 100))
    tree.grow(deadline=stop.deadline, max_nodes=min(nodes, stop.max_nodes))
    found = tree.selection
    return state if found is None else state.improved(found)


def narrowed(state: State, tree: BranchAndBound | None, effort: Effort) -> State:
    """Return the state with no more candidates than what comes after it looks at."""
    if state.full.cover.nnz <= effort.heavy:
        return state
    needed = state.selected if tree is None else np.union1d(state.selected, tree.left.candidates)
    full = state.full.keep_columns(np.isin(state.full.candidates, needed))
    return replace(state, full=full, kernel=None)


def _tree(
    residual: Residual,
    state: State,
    target: float,
    effort: Effort,
    gap: float = 0.0,
    verbose: int = 0,
) -> BranchAndBound | None:
    """Return a tree for what has a value of at most `target`; None where too much is left."""
    left = leave_possible(residual, state.payments(residual), target)
    if left.cover.nnz > (effort.branched_near if state.near else effort.branched):
        return None
    trials = effort.trials if len(left.candidates) <= 500 else effort.trials_of_many
    return BranchAndBound(left, target, gap=gap, trials=trials, verbose=verbose)


def _with_room(state: State) -> State:
    """Let all be chosen that the vector has room for in anything better.

    So it proves of the others that they are not needed, whatever led to leaving them out.
    """
    problem = state.problem
    core = problem.core
    missing = problem.objective(state.selected) - state.dual.sum()
    slack = core.cost - core.prize_sums(state.dual)
    return _with_more(state, slack <= missing + ROUNDING * problem.prize.sum())


def _with_more(state: State, more: NDArray[np.bool_]) -> State:
    """Let `more` of the worthwhile candidates be chosen."""
    keep = state.keep | more
    if not (keep & ~state.keep).any():
        return state
    return replace(state, full=Residual.of(state.problem, keep), keep=keep)
