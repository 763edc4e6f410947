"""What a search works on: its effort, when it stops, and the state it has come to."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem, CoverSolution
from ._branch_and_bound import BranchAndBound
from ._duals import ascend, ascend_best, mend
from ._finish import best_selection
from ._greedy import choose_by_drop, choose_by_ratio
from ._residual import Packing, Residual, bound_of, relax

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# The perturbations of local searches are the same in every fit.
SEED = 0
# What sums of payments may be off by, as a fraction of all prizes, and what a bound of HiGHS may.
ROUNDING, CLAIM_ROUNDING = 1e-9, 1e-6


@dataclass(frozen=True)
class Effort:
    """How much each stage does and which problems it is for; all limits are counts.

    Parameters
    ----------
    small : int
        Memberships up to which a search begins with the linear program of all candidates.
    sparse, many : int
        Memberships per point up to which a cover of more than `many` points is sparse.
    very_many : int
        Points beyond which every cover is sparse, as a linear program would take long.
    sparse_plain, tiny : int
        Memberships per point up to which a cover is sparse all of whose points are worth
        covering, and memberships up to which none is.
    few_candidates : int
        Points per candidate from which on none is sparse.
    lp_rows, lp_memberships : float
        Rows, or columns if fewer, and memberships up to which the linear program of a sparse
        kernel is solved.
    moves, moves_a_column, well_searched : int
        Moves of the row-weighting search, and more for each column up to `well_searched`.
    weighting_work : int
        Work of the longest row-weighting search; a move takes 100 and more.
    searched_gap : float
        Gap below which it has fewer moves in proportion.
    mip_columns, mip_memberships, mip_nodes : int
        Columns of the largest component that branch and cut is tried on, memberships of all
        of them together, and nodes of each.
    mip_gap : float
        Gap up to which it is tried.
    neighbourhoods, neighbourhood_columns : int
        Neighbourhoods that are searched by branch and cut, and columns of each.
    largest_program, iterations, programs : int
        For dense covers: memberships up to which there is a linear program, its simplex
        iterations per point and candidate, and the number of programs that add candidates which
        the one before has overpaid.
    large : int
        Memberships from which on it is not solved again if the gap is small.
    shakes : int
        Perturbations of the local search without success; one more for each `pairs_a_shake`
        pairs of point and candidate, but at most one for each `columns_a_shake` candidates left.
    thorough : int
        Perturbations without success of a second local search.
    branched, branched_near : float
        Memberships up to which there is a tree, and up to which if the gap is small.
    trials, trials_of_many : (int, int)
        Candidates tried at a node and simplex iterations each way, and in programs of more
        than 500 candidates.
    tied, tied_work : int
        Memberships up to which fewer prototypes of the same objective are looked for by
        branching, and what memberships times nodes may be.
    heavy : int
        Memberships beyond which a state is made small before it waits for others.
    until_closed : bool
        Whether the tree, or branch and cut, goes on until limits of the user end it.
    """

    small: int = 20_000
    sparse: int = 40
    many: int = 5000
    very_many: int = 10_000
    sparse_plain: int = 1000
    tiny: int = 5000
    few_candidates: int = 10
    lp_rows: float = 2000
    lp_memberships: float = 150_000
    moves: int = 30_000
    moves_a_column: int = 10
    well_searched: int = 20_000
    weighting_work: int = 2 * 10**9
    searched_gap: float = 0.01
    mip_columns: int = 600
    mip_memberships: int = 30_000
    mip_nodes: int = 20
    mip_gap: float = 0.08
    neighbourhoods: int = 0
    neighbourhood_columns: int = 250
    largest_program: int = 20_000_000
    iterations: int = 5
    programs: int = 4
    large: int = 300_000
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
    heavy: int = 10_000
    until_closed: bool = False


AUTO = Effort()
EXACT = Effort(
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
    def gap(self) -> float:
        """Largest fraction of the objective that a better selection could save."""
        return (self.steps - self.bound) / self.steps if self.steps > self.bound else 0.0

    @property
    def near(self) -> bool:
        """Whether so little could be saved that no large effort is worth it."""
        return self.steps - self.bound <= 1e-3 * self.steps

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


def is_sparse(problem: CoverProblem, effort: Effort) -> bool:
    """Whether reductions and search on a kernel promise more than one linear program.

    They do if all points are worth covering, as in a plain set cover, and in large problems with
    few memberships per point, unless there are few candidates.
    """
    core = problem.core
    members, n_points = core.n_memberships, max(problem.n_points, 1)
    if problem.is_nested or members <= effort.tiny:
        return False
    if effort.few_candidates * core.n_candidates < n_points:
        return False
    if n_points > effort.very_many:
        return True
    if members > effort.sparse_plain * n_points:
        return False
    if n_points > effort.many and members <= effort.sparse * n_points:
        return True
    held = np.flatnonzero(core.n_holders)
    is_labelled = problem.prototype_cost > 0.0 and core.wrong.any()
    if len(held) == 0 or is_labelled:
        return False
    cheapest = np.minimum.reduceat(core.cost[core.by_point.indices], core.by_point.indptr[held])
    return bool((core.prize[held] > cheapest).all())


def solved_at_once(problem: CoverProblem, effort: Effort, stop: Stop) -> State | None:
    """Solve the linear program of a small problem as it is; None where it is not small.

    Most are closed by what it rounds to, in less time than dual ascent and a second program would
    take. The tie rule is in its costs, so that then no selection as good has fewer prototypes.
    """
    if problem.core.n_memberships > effort.small or is_sparse(problem, effort):
        return None
    full = Residual.of(problem)
    packing, iterations = Packing(full), simplex_limit(full, effort)
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


def begin(problem: CoverProblem, first: CoverSolution, effort: Effort) -> State:
    """Take the better greedy and the bound of dual ascent, and leave out what that excludes."""
    selected = best_selection(problem, (first.selected, choose_by_ratio(problem)[0]))
    dual = ascend_best(problem, selected, first.dual)
    core = problem.core
    if is_sparse(problem, effort):
        keep, whole = np.ones(len(problem.worthwhile), dtype=bool), True
    else:
        keep = np.isin(problem.worthwhile, selected)
        if problem.objective(selected) > problem.lower_bound(dual):
            # What has room for more than is missing in the payments is in no selection as good.
            missing = problem.objective(selected) - dual.sum() + ROUNDING * problem.prize.sum()
            keep |= core.cost - core.prize_sums(dual) <= missing
        whole = int(core.sizes[keep].sum()) <= min(effort.largest_program, core.parts.nnz)
        if not whole:
            keep = np.isin(problem.worthwhile, selected)
    full = Residual.of(problem, keep)
    state = State(problem, full, keep, whole, selected, math.inf, 0.0, dual, selected)
    return replace(state.improved(selected), bound=_proved(problem, full, dual))


def simplex_limit(residual: Residual, effort: Effort) -> int:
    """Return after how many iterations the simplex method gives up."""
    return effort.iterations * int(sum(residual.cover.shape)) + 1000


def _without_ties(full: Residual, dual: Floats) -> Floats:
    """Lower payments that overpay no ball until that is so without the tie rule, too."""
    cheapest = full.cost.min(initial=math.inf)
    return dual if full.ties == 1 else dual * (1.0 - 1.0 / cheapest)


def _proved(problem: CoverProblem, full: Residual, dual: Floats) -> float:
    """Return the least objective, in steps, that the payments leave possible."""
    return float(math.ceil(problem.exact_bound(dual) / (full.unit * full.ties)))
