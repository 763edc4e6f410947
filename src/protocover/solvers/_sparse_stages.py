"""The stages of sparse covers, which run on the kernel that reductions leave.

Multipliers bound the objective and lead a dive to a first good selection. A row-weighting local
search improves it, then HiGHS's branch and cut, on all of a small kernel or in neighbourhoods.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from ._lagrangian import climb, dive_along, steps_for
from ._local_search import search
from ._lp import solve_mip, solve_relaxation
from ._neighbourhoods import must_be_covered, search_neighbourhoods
from ._reductions import reduce_cover
from ._residual import MARGIN, Residual, bound_of
from ._state import CLAIM_ROUNDING, SEED, Effort, State, Stop
from ._weighting import search_by_weights

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def kernelized(state: State, effort: Effort, stop: Stop) -> State:
    """Reduce the cover to its kernel."""
    kernel = reduce_cover(state.plain, deadline=stop.deadline)
    return replace(state, kernel=kernel)


def bounded(state: State, effort: Effort, stop: Stop) -> State:
    """Bound the objective by the linear program of a small kernel, else by multipliers."""
    kernel = _kernel(state)
    if 0 in kernel.cover.shape:
        return state
    if min(kernel.cover.shape) <= effort.lp_rows and kernel.cover.nnz <= effort.lp_memberships:
        return relaxed_kernel(state, effort, stop)
    found = climb(
        csr_array(kernel.cover, dtype=float),
        kernel.cost,
        kernel.prize,
        _kernel_dual(state) / 2.0,
        target=state.steps - kernel.constant,
        steps=steps_for(kernel.cover.nnz),
        deadline=stop.after(0.3),
    )
    return state.with_dual(kernel.spread(state.problem, found.dual))


def relaxed_kernel(state: State, effort: Effort, stop: Stop) -> State:
    """Bound the objective by the kernel's linear program."""
    kernel = _kernel(state)
    if 0 in kernel.cover.shape:
        return state
    limit = _seconds(stop.after(0.5))
    relaxed = solve_relaxation(kernel.cover, kernel.cost, kernel.prize, time_limit=limit)
    if not relaxed.solved:
        return state
    state = state.with_dual(kernel.spread(state.problem, relaxed.dual))
    return _fixed(state, stop, relaxed.dual)


def dived(state: State, effort: Effort, stop: Stop) -> State:
    """Fix columns along the payments of the rows until a selection is complete."""
    kernel = _kernel(state)
    if 0 in kernel.cover.shape or state.closed:
        return state
    payments = _kernel_dual(state)
    found = dive_along(kernel.cover, kernel.cost, kernel.prize, payments, deadline=stop.after(0.3))
    state = state.improved(kernel.selection(_completed(kernel, found)))
    return _fixed(state, stop, payments)


def weighted(state: State, effort: Effort, stop: Stop) -> State:
    """Search the kernel by row weights, the longer the larger the gap."""
    kernel = _kernel(state)
    n_columns = kernel.cover.shape[1]
    if n_columns == 0:
        return state.improved(kernel.selection(np.empty(0, dtype=np.intp)))
    start = np.flatnonzero(np.isin(kernel.candidates, state.selected))
    # A move covers as many rows again as a selected column does, in all columns with them.
    touched = kernel.cover.nnz / max(len(start), 1)
    moves = effort.moves + effort.moves_a_column * min(n_columns, effort.well_searched)
    moves = min(
        moves, int(effort.weighting_work / (100 + 2 * touched)), int(moves * 150 / (100 + touched))
    )
    moves = math.ceil(moves * min(state.gap / effort.searched_gap, 1.0))
    found = search_by_weights(
        kernel.cover,
        kernel.cost,
        kernel.prize,
        start,
        moves=moves,
        seed=SEED,
        enough=state.bound - kernel.constant,
        deadline=stop.after(0.6),
    )
    state = state.improved(kernel.selection(_completed(kernel, found)))
    return _fixed(state, stop, _kernel_dual(state))


def cut(state: State, effort: Effort, stop: Stop) -> State:
    """Solve the kernel, or those of its components that are small, by branch and cut."""
    kernel, left = _kernel(state), effort.mip_memberships
    if state.steps - state.bound > effort.mip_gap * state.steps:
        return state
    bound, payments = kernel.constant, _kernel_dual(state)
    columns = np.isin(kernel.candidates, state.selected)
    for rows, part in _components(kernel, effort.mip_columns):
        table = csc_array(kernel.cover[:, part].tocsr()[rows])
        cost, prize = kernel.cost[part], kernel.prize[rows]
        slack = cost - table.T @ payments[rows]
        proved = float(payments[rows].sum() + np.minimum(slack, 0.0).sum())
        if len(part) <= effort.mip_columns and table.nnz <= left and not stop.is_late:
            left -= table.nnz
            found = solve_mip(
                table,
                cost,
                must_be_covered(table, cost, prize),
                max_nodes=effort.mip_nodes,
                time_limit=_seconds(stop.after(0.3)),
            )
            proved = max(proved, found.bound - CLAIM_ROUNDING * max(1.0, found.bound))
            old = np.flatnonzero(columns[part])
            if found.selected is not None and found.value < _value(table, cost, prize, old):
                columns[part] = False
                columns[part[found.selected]] = True
        bound += proved
    state = state.improved(kernel.selection(_completed(kernel, np.flatnonzero(columns))))
    return _claimed(state, bound)


def neighbouring(state: State, effort: Effort, stop: Stop) -> State:
    """Search large neighbourhoods of the best selection by branch and cut.

    Without a time limit there are as many as cover the kernel twice.
    """
    kernel, size = _kernel(state), effort.neighbourhood_columns
    n_columns = kernel.cover.shape[1]
    rounds = effort.neighbourhoods
    if math.isinf(stop.deadline):
        rounds = min(rounds, 2 * n_columns // size)
    if rounds == 0 or n_columns == 0:
        return state
    found = search_neighbourhoods(
        kernel.cover,
        kernel.cost,
        must_be_covered(kernel.cover, kernel.cost, kernel.prize),
        _completed(kernel, np.flatnonzero(np.isin(kernel.candidates, state.selected))),
        rounds=rounds,
        size=size,
        max_nodes=20,
        enough=state.bound - kernel.constant,
        deadline=stop.after(0.4),
    )
    state = state.improved(kernel.selection(_completed(kernel, found)))
    return _fixed(state, stop, _kernel_dual(state))


def cut_to_the_end(state: State, effort: Effort, stop: Stop) -> State:
    """Solve what is left of the kernel by branch and cut, as far as the user's limits allow."""
    kernel = _kernel(state)
    if not effort.until_closed or kernel.cover.shape[1] == 0:
        return state
    found = solve_mip(
        kernel.cover,
        kernel.cost,
        must_be_covered(kernel.cover, kernel.cost, kernel.prize),
        max_nodes=None if math.isinf(stop.max_nodes) else int(stop.max_nodes),
        time_limit=_seconds(stop.deadline),
    )
    if found.selected is not None:
        state = state.improved(kernel.selection(_completed(kernel, found.selected)))
    bound = found.bound - CLAIM_ROUNDING * max(1.0, found.bound)
    return _claimed(state, kernel.constant + bound)


def _kernel(state: State) -> Residual:
    """Return the kernel, which there is by now."""
    assert state.kernel is not None, "the cover is not reduced yet"
    return state.kernel


def _kernel_dual(state: State) -> Floats:
    """Return the payments of the kernel's rows: of what was merged, together."""
    kernel = _kernel(state)
    there = kernel.rows >= 0
    paid = state.payments(kernel)[there]
    sums = np.bincount(kernel.rows[there], paid, minlength=len(kernel.prize))
    return np.minimum(np.asarray(sums, dtype=np.float64), kernel.prize)


def _fixed(state: State, stop: Stop, dual: Floats) -> State:
    """Leave out of the kernel what nothing better contains, and reduce it again."""
    kernel = _kernel(state)
    target = stop.target(state.steps)
    bound, _, slack = bound_of(kernel, dual)
    possible = bound - MARGIN + np.maximum(slack, 0.0) <= target
    left = kernel.keep_columns(possible | np.isin(kernel.candidates, state.selected))
    if left.cover.shape[1] == kernel.cover.shape[1]:
        return state
    kernel = reduce_cover(left, deadline=stop.deadline)
    return replace(state, kernel=kernel, ceiling=min(state.ceiling, target + 1.0))


def _claimed(state: State, bound: float) -> State:
    """Return the state with a bound of the kernel, in steps.

    What was left out of the kernel is in no selection below the ceiling.
    """
    claim = min(math.ceil(bound), state.steps, state.ceiling)
    return replace(state, bound=max(state.bound, claim))


def _completed(kernel: Residual, columns: Indices) -> Indices:
    """Add columns that pay and remove those that do not; reductions count on that."""
    if len(kernel.candidates) == 0:
        return columns
    start = kernel.candidates[columns]
    return search(kernel, np.random.default_rng(0), patience=0, start=start)


def _components(kernel: Residual, most: int) -> list[tuple[Indices, Indices]]:
    """Return rows and columns of the components, small ones joined up to `most` columns."""
    n_rows, n_columns = kernel.cover.shape
    if n_columns == 0:
        return []
    columns = np.repeat(np.arange(n_columns), np.diff(kernel.cover.indptr)) + n_rows
    links = csr_array(
        (np.ones(len(columns), dtype=bool), (kernel.cover.indices, columns)),
        shape=(n_rows + n_columns,) * 2,
    )
    label = connected_components(links, directed=False)[1]
    size = np.bincount(label[n_rows:], minlength=label.max() + 1)
    # Small components in batches by running total, each large one in a batch of its own.
    small = np.flatnonzero(size <= most)
    batch = np.empty(len(size), dtype=np.intp)
    batch[small] = np.cumsum(size[small]) // (most + 1)
    large = np.flatnonzero(size > most)
    batch[large] = batch[small].max(initial=-1) + 1 + np.arange(len(large))
    of_row, of_column = batch[label[:n_rows]], batch[label[n_rows:]]
    return [
        (np.flatnonzero(of_row == one), np.flatnonzero(of_column == one))
        for one in np.unique(batch)
    ]


def _seconds(deadline: float) -> float | None:
    """Return the seconds until a deadline; None where there is none."""
    return None if math.isinf(deadline) else max(deadline - time.monotonic(), 0.01)


def _value(table: csc_array, cost: Floats, prize: Floats, columns: Indices) -> float:
    """Return the objective of choosing columns."""
    missed = np.ones(len(prize), dtype=bool)
    missed[table[:, columns].indices] = False
    return float(cost[columns].sum() + prize[missed].sum())
