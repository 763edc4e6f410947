"""The stages of the search, each from a state to one at least as good.

A small problem starts with its linear program: where what it rounds to reaches its bound, that is
all. Others start with both greedies and dual ascent. Then there are two ways to go on. Sparse
covers are reduced to a kernel, on which a row-weighting local search, a linear program, HiGHS's
branch and cut and large neighbourhoods run, as far as its size allows. Dense ones, those of
labelled samples, have a linear program so close to the optimum that local search from what it
rounds to and our own tree are faster. Every stage is limited by counts that depend on the size of
the problem; a clock ends it only where the user sets a time limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from scipy.sparse.csgraph import connected_components

from .._cover import CoverProblem, CoverSolution
from ._branch_and_bound import BranchAndBound
from ._duals import ascend, ascend_best, mend
from ._finish import best_selection
from ._greedy import choose_by_drop, choose_by_ratio
from ._local_search import search
from ._lp import solve_mip, solve_relaxation
from ._neighbourhoods import must_be_covered, search_neighbourhoods
from ._reductions import reduce_cover
from ._residual import MARGIN, Packing, Residual, bound_of, leave_possible, relax
from ._weighting import search_by_weights

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Stage = Callable[["State", "Effort", "Stop"], "State"]

# The shakes of the local search are the same in every fit: the answer is the problem's alone.
_SEED = 0
# Memberships up to which there is a linear program (nor may balls of several radii, written
# out, be more than they are without), its simplex iterations for each point and candidate, and
# programs that take in candidates which the one before has overpaid.
_LARGEST_PROGRAM, _ITERATIONS, _PROGRAMS = 20_000_000, 5, 4
# Memberships from which on a program is large: not solved again where the gap is near closed.
_LARGE = 300_000
# Memberships up to which the linear program comes first and is that of all candidates.
_SMALL = 20_000
# Memberships up to which our own tree, which leaves a proof, is as fast as any.
_TINY = 5000
# Memberships a point up to which a cover of more than so many points is sparse, and one all of
# whose points are worth covering.
_SPARSE, _MANY, _SPARSE_PLAIN = 40, 5000, 1000
# Points for each candidate beyond which one linear program is small, whatever its memberships.
_FEW_CANDIDATES = 10
# What sums of payments may be off by, as a share of all prizes, and what a bound of HiGHS may.
_ROUNDING, _CLAIM_ROUNDING = 1e-9, 1e-6
# What could be saved at most, as a share, where large programs are not solved again and
# searches end early.
_NEAR = 1e-3
# Memberships beyond which a state is made light before it waits for others.
_HEAVY = 10_000
# Columns that the row-weighting search has all its moves for; for others it has two.
_WELL_SEARCHED = 20_000
# Steps along subgradients, those that fail before they are halved, and the share of the last
# direction in the next.
_STEPS, _FAILED, _MOMENTUM = 400, 8, 0.9
# Work of the longest row-weighting search, in units of which a move takes 100 and more.
_MOST_WORK = 2 * 10**9


@dataclass(frozen=True)
class Effort:
    """How much each stage does; all limits are counts.

    Parameters
    ----------
    moves, moves_a_column : int
        Moves of the row-weighting search, and more of them for each column.
    lp_memberships : float
        Memberships up to which the linear program of a sparse kernel is solved.
    mip_columns, mip_memberships, mip_nodes : int
        Columns of the largest component that branch and cut is tried on, memberships of all
        of them together, and nodes of each.
    mip_gap : float
        Gap up to which it is tried.
    neighbourhoods, neighbourhood_columns : int
        Neighbourhoods that are searched by branch and cut, and columns of each.
    shakes : int
        Shakes of the local search without success; one more for each `pairs_a_shake` pairs of
        point and candidate, but at most one for each `columns_a_shake` candidates left.
    thorough : int
        Shakes without success of a second local search.
    branched, branched_near : float
        Memberships up to which there is a tree, and where the gap is nearly closed.
    trials, trials_of_many : (int, int)
        Candidates tried at a node and simplex iterations each way, and in programs of more
        than 500 candidates.
    tied, tied_work : int
        Memberships up to which fewer prototypes of the same objective are looked for by
        branching, and what memberships times nodes may be.
    until_closed : bool
        Whether the tree, or branch and cut, goes on until limits of the user end it.
    """

    moves: int = 30_000
    moves_a_column: int = 10
    lp_memberships: float = 150_000
    mip_columns: int = 600
    mip_memberships: int = 30_000
    mip_nodes: int = 20
    mip_gap: float = 0.08
    neighbourhoods: int = 0
    neighbourhood_columns: int = 250
    shakes: int = 10
    pairs_a_shake: int = 400_000
    columns_a_shake: int = 10
    thorough: int = 0
    branched: float = 40_000
    branched_near: float = 120_000
    trials: tuple[int, int] = (1, 100)
    trials_of_many: tuple[int, int] = (1, 20)
    tied: float = 100
    tied_work: int = 4_000
    until_closed: bool = False


AUTO = Effort()
EXACT = Effort(
    lp_memberships=math.inf,
    neighbourhoods=10**6,
    thorough=160,
    branched=math.inf,
    branched_near=math.inf,
    trials=(4, 50),
    trials_of_many=(4, 50),
    tied=math.inf,
    tied_work=2 * 10**6,
    until_closed=True,
)


@dataclass(frozen=True)
class Stop:
    """When a search ends: at a time, after so many nodes, or at a gap."""

    deadline: float = math.inf
    max_nodes: float = math.inf
    gap: float = 0.0

    @property
    def is_late(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def after(self, share: float) -> float:
        """Return the time when a share of what is left of it will have passed."""
        now = time.monotonic()
        return now + share * max(self.deadline - now, 0.0)

    def target(self, value: float) -> float:
        """Value that a selection worth looking for has at most."""
        return min(value - 1.0, math.floor(value * (1.0 - self.gap)))


@dataclass(frozen=True, eq=False)
class State:
    """How far the search is: the best selection, and the bound with the vector behind it.

    Parameters
    ----------
    problem : CoverProblem
        What is solved.
    full : Residual
        What may be part of a selection as good, in integers, the tie rule included.
    keep : ndarray of bool
        Which of the worthwhile candidates that is.
    whole : bool
        Whether that is all of them: there were not too many to go on with.
    selected : ndarray of int
        Candidates of the best selection.
    value : float
        What it costs in units, ties broken.
    bound : float
        No selection has an objective of fewer steps, `full.ties` units each.
    dual : ndarray of float
        Payments of the problem's points that prove this, or all of it that a vector proves.
    start : ndarray of int
        Candidates to search from.
    least : bool
        Whether fewer prototypes of the same objective need not be looked for any more.
    kernel : Residual or None
        What reductions leave of a sparse cover, in steps.
    ceiling : float
        The kernel has an optimum of all selections of fewer steps than this.
    packing : Packing or None
        A linear program that was not solved in time.
    """

    problem: CoverProblem
    full: Residual
    keep: NDArray[np.bool_]
    whole: bool
    selected: Indices
    value: float
    bound: float
    dual: Floats
    start: Indices
    least: bool = False
    kernel: Residual | None = None
    ceiling: float = math.inf
    packing: Packing | None = None

    @property
    def steps(self) -> float:
        """Objective of the best selection, in steps."""
        return self.value // self.full.ties

    @property
    def step(self) -> float:
        """The objective of a step."""
        return float(self.full.unit * self.full.ties)

    @property
    def closed(self) -> bool:
        """Whether no selection has a smaller objective."""
        return self.bound >= self.steps

    @property
    def near(self) -> bool:
        """Whether so little could be saved that no large effort is worth it."""
        return self.steps - self.bound <= _NEAR * self.steps

    @property
    def plain(self) -> Residual:
        """The problem without the tie rule."""
        return self.full.plain()

    def __str__(self) -> str:
        return f"best {self.steps * self.step:.6g}, bound {self.bound * self.step:.6g}"

    def payments(self, residual: Residual) -> Floats:
        """Return the dual vector in the units of `residual`."""
        return self.dual / float(residual.unit)

    def improved(self, selected: Indices) -> State:
        """Return the state with `selected` if that is better."""
        value = self.full.value(np.searchsorted(self.full.candidates, selected))
        return replace(self, selected=selected, value=value) if value < self.value else self

    def with_dual(self, payments: Floats, *, mended: bool = True) -> State:
        """Return the state with the bound that payments prove, mended and raised, if better."""
        dual = ascend(self.problem, mend(self.problem, payments)) if mended else payments
        proved = _proved(self.problem, self.full, dual)
        return replace(self, bound=proved, dual=dual) if proved > self.bound else self

    def grown(self, tree: BranchAndBound) -> State:
        """Return the state with what a tree has found and proved."""
        found = tree.selection
        state = self if found is None else self.improved(found)
        return replace(state, bound=max(state.bound, min(tree.bound, state.steps)))


def stages_of(state: State, *, at_once: bool) -> tuple[Stage, ...]:
    """Return the stages that go on from a first state."""
    if is_sparse(state.problem):
        return (kernelized, weighted, relaxed_kernel, cut, neighbouring, cut_to_the_end)
    return (searched, searched_again) if at_once else (relaxed, searched, searched_again)


def is_sparse(problem: CoverProblem) -> bool:
    """Whether reductions and search on a kernel promise more than one linear program.

    They do if all points are worth covering, as in a plain set cover, and in large problems with
    few memberships per point, unless there are few candidates.
    """
    core = problem.core
    members, n_points = core.n_memberships, max(problem.n_points, 1)
    if problem.is_nested or members <= _TINY:
        return False
    if _FEW_CANDIDATES * core.n_candidates < n_points:
        return False
    if members > _SPARSE_PLAIN * n_points:
        return False
    if n_points > _MANY and members <= _SPARSE * n_points:
        return True
    held = np.flatnonzero(core.n_holders)
    is_labelled = problem.prototype_cost > 0.0 and core.wrong.any()
    if len(held) == 0 or is_labelled:
        return False
    cheapest = np.minimum.reduceat(core.cost[core.by_point.indices], core.by_point.indptr[held])
    return bool((core.prize[held] > cheapest).all())


def solved_at_once(problem: CoverProblem, stop: Stop) -> State | None:
    """Solve the linear program of a small problem as it is; None where it is not small.

    Most are closed by what it rounds to, in less time than dual ascent and a second program would
    take. The tie rule is in its costs, so that then no selection as good has fewer prototypes.
    """
    if problem.core.n_memberships > _SMALL:
        return None
    full = Residual.of(problem)
    packing, iterations = Packing(full), _iterations(full)
    found = relax(full, deadline=stop.deadline, iterations=iterations, packing=packing)
    if found is None:
        return None
    start = full.candidates[found.fraction > 0.5]
    keep = np.ones(len(full.candidates), dtype=bool)
    dual = _without_ties(full, found.dual) * float(full.unit)
    bound = _proved(problem, full, dual)
    state = State(problem, full, keep, True, start, math.inf, bound, dual, start)
    least = math.ceil(bound_of(full, found.dual)[0])
    for selected in _first_choices(problem, start):
        state = state.improved(selected)
        if state.closed and least >= state.value:
            return replace(state, least=True)
    plain = full.plain()
    again = relax(plain, deadline=stop.deadline, iterations=iterations, packing=packing)
    if again is not None:
        state = state.with_dual(again.dual * float(plain.unit))
        start = plain.candidates[again.fraction > 0.5]
        state = replace(state, start=start).improved(start)
    return state


def _first_choices(problem: CoverProblem, rounded: Indices) -> Iterator[Indices]:
    """Yield the selections of both greedies, then what a linear program rounds to.

    Of equally good selections the first is taken: a greedy's does not depend on whether a point
    is there twice or counts twice, as the vertex that is found of a program does.
    """
    yield choose_by_drop(problem)[0]
    yield choose_by_ratio(problem)[0]
    yield rounded


def begin(problem: CoverProblem, first: CoverSolution) -> State:
    """Take the better greedy and the bound of dual ascent, and leave out what that excludes."""
    selected = best_selection(problem, (first.selected, choose_by_ratio(problem)[0]))
    dual = ascend_best(problem, selected, first.dual)
    core = problem.core
    if is_sparse(problem):
        keep, whole = np.ones(len(problem.worthwhile), dtype=bool), True
    else:
        keep = np.isin(problem.worthwhile, selected)
        if problem.objective(selected) > problem.lower_bound(dual):
            # What has room for more than is missing in the payments is in no selection as good.
            missing = problem.objective(selected) - dual.sum() + _ROUNDING * problem.prize.sum()
            keep |= core.cost - core.prize_sums(dual) <= missing
        whole = int(core.sizes[keep].sum()) <= min(_LARGEST_PROGRAM, core.parts.nnz)
        if not whole:
            keep = np.isin(problem.worthwhile, selected)
    full = Residual.of(problem, keep)
    state = State(problem, full, keep, whole, selected, math.inf, 0.0, dual, selected)
    return replace(state.improved(selected), bound=_proved(problem, full, dual))


# Stages of sparse covers.


def kernelized(state: State, effort: Effort, stop: Stop) -> State:
    """Reduce the cover to its kernel."""
    kernel = reduce_cover(state.plain, deadline=stop.deadline)
    return replace(state, kernel=kernel)


def weighted(state: State, effort: Effort, stop: Stop) -> State:
    """Search the kernel by row weights."""
    kernel = _kernel(state)
    n_rows, n_columns = kernel.cover.shape
    if n_columns == 0:
        return state.improved(kernel.selection(np.empty(0, dtype=np.intp)))
    start = np.flatnonzero(np.isin(kernel.candidates, state.selected))
    # A move covers as many rows again as a selected column does, in all columns with them.
    touched = n_rows / max(len(start), 1) * kernel.cover.nnz / n_rows
    moves = effort.moves + effort.moves_a_column * min(n_columns, _WELL_SEARCHED)
    moves += 2 * max(n_columns - _WELL_SEARCHED, 0)
    moves = min(moves, int(_MOST_WORK / (100 + 2 * touched)), int(moves * 150 / (100 + touched)))
    found = search_by_weights(
        kernel.cover,
        kernel.cost,
        kernel.prize,
        start,
        moves=moves,
        seed=_SEED,
        enough=state.bound - kernel.constant,
        deadline=stop.after(0.5),
    )
    return state.improved(kernel.selection(_completed(kernel, found)))


def relaxed_kernel(state: State, effort: Effort, stop: Stop) -> State:
    """Bound the objective by the kernel's linear program, by multipliers if it is large."""
    kernel = _kernel(state)
    if kernel.cover.nnz > effort.lp_memberships or 0 in kernel.cover.shape:
        payments = _climbed(kernel, _kernel_dual(state), state.steps - kernel.constant, stop)
        return state.with_dual(kernel.spread(state.problem, payments), mended=False)
    limit = None if math.isinf(stop.deadline) else max(stop.after(0.5) - time.monotonic(), 0.01)
    relaxed = solve_relaxation(kernel.cover, kernel.cost, kernel.prize, time_limit=limit)
    if not relaxed.solved:
        return state
    state = state.with_dual(kernel.spread(state.problem, relaxed.dual))
    return _fixed(state, stop, relaxed.dual)


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
            proved = max(proved, found.bound - _CLAIM_ROUNDING * max(1.0, found.bound))
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
    bound = found.bound - _CLAIM_ROUNDING * max(1.0, found.bound)
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


def _climbed(kernel: Residual, start: Floats, target: float, stop: Stop) -> Floats:
    """Raise the bound that payments of the rows prove by steps along smoothed subgradients.

    The length of a step is that of Polyak for a bound of `target`, halved where steps fail.
    """
    down, across = csr_array(kernel.cover.T.astype(float)), csr_array(kernel.cover.astype(float))
    u, best, along = start, start, np.zeros(len(start))
    most, scale, failed = -math.inf, 1.0, 0
    for _ in range(_STEPS):
        slack = kernel.cost - down @ u
        taken = slack < 0.0
        value = float(u.sum() + slack[taken].sum())
        failed += 1
        if value > most:
            best, most, failed = u, value, 0
        if failed == _FAILED:
            u, along, scale, failed = best, np.zeros(len(u)), scale / 2.0, 0
            continue
        uphill = 1.0 - across @ taken.astype(float)
        along = _MOMENTUM * along + (1.0 - _MOMENTUM) * uphill if along.any() else uphill
        held = ((u <= 0.0) & (along < 0.0)) | ((u >= kernel.prize) & (along > 0.0))
        along = np.where(held, 0.0, along)
        steepness = float((along * along).sum())
        if steepness == 0.0 or stop.is_late:
            break
        u = np.clip(u + scale * (target - value) / steepness * along, 0.0, kernel.prize)
    return best


# Stages of dense covers.


def relaxed(state: State, effort: Effort, stop: Stop) -> State:
    """Solve the linear program over the candidates that its own solution does not overpay.

    It begins with those that the bound so far does not exclude, and takes in what its
    payments turn out to overpay, which is little.
    """
    problem = state.problem
    core, slop = problem.core, _ROUNDING * problem.prize.sum()
    for _ in range(_PROGRAMS):
        plain, packing = state.plain, state.packing
        if packing is None or packing.residual.cover is not plain.cover:
            packing = Packing(plain)
        iterations = None if effort.until_closed else _iterations(plain)
        found = relax(plain, deadline=stop.deadline, iterations=iterations, packing=packing)
        if found is None:
            return replace(state, packing=packing)
        payments = found.dual * float(plain.unit)
        state = replace(state, packing=None).with_dual(payments)
        start = plain.candidates[found.fraction > 0.5]
        state = replace(state, start=start).improved(start)
        overpaid = core.prize_sums(payments) > core.cost + slop
        enough = state.closed or (state.near and plain.cover.nnz > _LARGE)
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
    starts = [state.start, state.selected][: 2 if full.cover.nnz > _LARGE else 1]
    left = leave_possible(full, state.payments(full), state.value - 1.0)
    more = 0 if state.near else problem.n_points * problem.n_candidates // effort.pairs_a_shake
    most = len(left.candidates) // effort.columns_a_shake
    patience = min(effort.shakes + more // len(starts), most)
    for start in starts:
        state = _shaken(state, left, start, patience, stop)
    return state


def searched_again(state: State, effort: Effort, stop: Stop) -> State:
    """Search longer among what the bound leaves, before a tree has to prove the rest."""
    if effort.thorough == 0:
        return state
    plain = state.plain
    left = leave_possible(plain, state.payments(plain), stop.target(state.steps))
    return _shaken(state, left, state.selected, effort.thorough, stop)


def _shaken(state: State, left: Residual, start: Indices, patience: int, stop: Stop) -> State:
    """Return the state after a local search."""
    found = search(
        left,
        np.random.default_rng(_SEED),
        patience=patience,
        deadline=stop.deadline,
        start=start,
        enough=(state.bound + 1.0) * left.ties - 1.0 if left.ties > 1 else state.bound,
    )
    return state.improved(left.selection(found))


def planted(
    state: State, effort: Effort, stop: Stop, verbose: int
) -> tuple[State, BranchAndBound | None]:
    """Plant a tree on what could be better, where that is little; no node is looked at."""
    state = _with_room(state)
    return state, _tree(state.plain, state, stop.target(state.steps), effort, stop.gap, verbose)


def fewest(state: State, effort: Effort, stop: Stop, nodes_before: int) -> State:
    """Look for fewer prototypes with the same objective, as far as that is little work."""
    full = state.full
    if full.ties == 1 or full.cover.nnz > effort.tied:
        return state
    if effort.thorough:
        left = leave_possible(full, state.payments(full), state.value - 1.0)
        state = _shaken(state, left, state.selected, effort.thorough, stop)
    tree = _tree(full, state, state.value - 1.0, effort)
    if tree is None:
        return state
    nodes = max(nodes_before // 4, effort.tied_work // max(tree.left.cover.nnz, 100))
    tree.grow(deadline=stop.deadline, max_nodes=min(nodes, stop.max_nodes))
    found = tree.selection
    return state if found is None else state.improved(found)


def lightened(state: State, tree: BranchAndBound | None) -> State:
    """Return the state with no more candidates than what comes after it looks at."""
    if state.full.cover.nnz <= _HEAVY:
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
    return _with_more(state, slack <= missing + _ROUNDING * problem.prize.sum())


def _with_more(state: State, more: NDArray[np.bool_]) -> State:
    """Let `more` of the worthwhile candidates be chosen."""
    keep = state.keep | more
    if not (keep & ~state.keep).any():
        return state
    return replace(state, full=Residual.of(state.problem, keep), keep=keep)


def _iterations(residual: Residual) -> int:
    """Return after how many iterations the simplex method gives up."""
    return _ITERATIONS * int(sum(residual.cover.shape)) + 1000


def _without_ties(full: Residual, dual: Floats) -> Floats:
    """Lower payments that overpay no ball until that is so without the tie rule, too."""
    cheapest = full.cost.min(initial=math.inf)
    return dual if full.ties == 1 else dual * (1.0 - 1.0 / cheapest)


def _proved(problem: CoverProblem, full: Residual, dual: Floats) -> float:
    """Return the least objective, in steps, that the payments leave possible."""
    return float(math.ceil(problem.exact_bound(dual) / (full.unit * full.ties)))
