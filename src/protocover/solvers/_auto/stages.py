"""The stages of the default solver, each from a state of the search to a better one.

In a small problem the linear program comes first: where what it rounds to is as good as its
bound, that is all. In others both greedies and dual ascent come before it, and it is over the
candidates that could be part of something better. Where a gap is left, local search from what the
program rounds to, and branch and bound where reduced costs leave little. Each stage is limited by
counts, of memberships, simplex iterations, shakes and nodes, never by the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..._cover import CoverProblem, CoverSolution, Limit, exact_sum, first_cover
from .._budget import Incumbent, cover_large
from .._duals import ascend, ascend_best, mend
from .._exact.fixing import bound_of, leave_possible
from .._exact.grove import Grove
from .._finish import best_selection
from .._local_search import search
from .._reduced.packing import Packing
from .._reduced.relaxation import relax
from .._reduced.residual import Residual
from .._stepwise import choose_by_drop, choose_by_ratio
from .state import State

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# The shakes of the local search are the same in every fit: the answer is the problem's alone.
_SEED = 0
# Memberships up to which there is a linear program (nor may balls of several radii, written
# out, be more than they are without), its simplex iterations for each point and candidate, and
# programs that take in candidates which the one before has overpaid.
_LARGEST_PROGRAM, _ITERATIONS, _PROGRAMS = 20_000_000, 5, 4
# Memberships from which on a program is large: not solved again where the gap is near closed.
LARGE = 300_000
# Memberships up to which the linear program comes first and is that of all candidates.
_SMALL = 20_000
# What sums of payments may be off by, as a share of all prizes.
_ROUNDING = 1e-9
# Shakes without success, at least so many, and one more for so many pairs of point and
# candidate: what a fit costs grows with the pairs, too. No more than one for so many candidates
# left: of a few the tree makes short work.
_PATIENCE, _PAIRS_A_SHAKE, _COLUMNS_A_SHAKE = 10, 400_000, 10
# What is left to be saved, as a share, above which a plain cover is thinned.
_WIDE = 0.01
# Memberships of the largest table that is branched on: beyond, a node takes long, and far more of
# them would be needed than there can be; of a larger one where the gap is near closed.
_BRANCHED, _BRANCHED_NEAR = 40_000, 120_000
# Nodes after which reductions are tried.
_SOON = 40
# Candidates tried at a node and simplex iterations each way; in programs of more than so many
# candidates, where an iteration takes longer, fewer.
TRIALS, _MANY, _TRIALS_OF_MANY = (1, 100), 500, (1, 20)
# Memberships up to which a plain cover, of which only the number counts, is thinned by exchanges.
_THINNED = 1_000_000
# Memberships up to which fewer prototypes with the same objective are looked for by branching, and
# its nodes.
_TIED, _MOST_TIED = 100, 40


def at_once(problem: CoverProblem, deadline: float) -> State | None:
    """Solve the linear program of a small problem as it is; None where it is not small.

    Most are closed by what it rounds to, in less time than dual ascent and a second program would
    take. The tie rule is in its costs, so that then no selection as good has fewer prototypes.
    """
    if problem.core.n_memberships > _SMALL:
        return None
    full = Residual.of(problem)
    packing, iterations = Packing(full), _iterations(full)
    found = relax(full, deadline=deadline, iterations=iterations, packing=packing)
    if found is None:
        return None
    start = full.candidates[found.fraction > 0.5]
    keep = np.ones(len(full.candidates), dtype=bool)
    dual = _without_ties(full, found.dual) * float(full.unit)
    bound = _proved(problem, full, dual)
    state = State(full, keep, True, start, math.inf, bound, dual, start)
    least = math.ceil(bound_of(full, found.dual)[0])
    for selected in _first_choices(problem, start):
        state = state.improved(selected)
        if state.closed and least >= state.value:
            return replace(state, least=True)
    plain = full.plain()
    again = relax(plain, deadline=deadline, iterations=iterations, packing=packing)
    if again is not None:
        state = _with_dual(problem, state, again.dual * float(plain.unit))
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
    keep = np.isin(problem.worthwhile, selected)
    if problem.objective(selected) > problem.lower_bound(dual):
        # What has room for more than is missing in the payments is in no selection as good.
        missing = problem.objective(selected) - dual.sum() + _ROUNDING * problem.prize.sum()
        keep |= core.cost - core.prize_sums(dual) <= missing
    whole = int(core.sizes[keep].sum()) <= min(_LARGEST_PROGRAM, core.parts.nnz)
    if not whole:
        keep = np.isin(problem.worthwhile, selected)
    full = Residual.of(problem, keep)
    state = State(full, keep, whole, selected, math.inf, 0.0, dual, selected).improved(selected)
    return replace(state, bound=_proved(problem, full, dual))


def relaxed(problem: CoverProblem, state: State, deadline: float) -> State:
    """Solve the linear program over the candidates that its own solution does not overpay.

    It begins with those that the bound so far does not exclude, and takes in what its
    payments turn out to overpay, which is little.
    """
    core, slop = problem.core, _ROUNDING * problem.prize.sum()
    for _ in range(_PROGRAMS):
        plain = state.plain
        found = relax(plain, deadline=deadline, iterations=_iterations(plain))
        if found is None:
            break
        payments = found.dual * float(plain.unit)
        state = _with_dual(problem, state, payments)
        start = plain.candidates[found.fraction > 0.5]
        state = replace(state, start=start).improved(start)
        overpaid = core.prize_sums(payments) > core.cost + slop
        enough = state.closed or (state.near and plain.cover.nnz > LARGE)
        if enough or not (overpaid & ~state.keep).any():
            break
        state = _with_more(problem, state, overpaid)
    return state


def searched(problem: CoverProblem, state: State, deadline: float) -> State:
    """Search around what the linear program rounds to, among what could be better.

    In a large problem that is one valley of several: half of the effort goes into the search
    around the best selection known.
    """
    full = state.full
    starts = [state.start, state.selected][: 2 if full.cover.nnz > LARGE else 1]
    left = leave_possible(full, state.payments(full), state.value - 1.0)
    more = 0 if state.near else problem.n_points * problem.n_candidates // _PAIRS_A_SHAKE
    patience = min(_PATIENCE + more // len(starts), len(left.candidates) // _COLUMNS_A_SHAKE)
    for start in starts:
        found = search(
            left,
            np.random.default_rng(_SEED),
            patience=patience,
            deadline=deadline,
            start=start,
            enough=(state.bound + 1.0) * full.ties - 1.0,
        )
        state = state.improved(left.selection(found))
    return state


def thinned(problem: CoverProblem, state: State, deadline: float) -> State:
    """Cover the same by fewer, where nothing else counts and the gap is wide."""
    wide = state.steps - state.bound > _WIDE * state.steps
    if not wide or problem.n_memberships > _THINNED or not _is_pure(problem):
        return state
    missed = first_cover(problem, state.selected) == len(state.selected)
    limit = Limit(uncovered=exact_sum(problem.prize[missed]))
    known = Incumbent(state.selected)
    left = deadline - time.monotonic()
    found = cover_large(problem.at_cost(1.0), limit, known, time_limit=left)
    return state.improved(found.selected)


def planted(problem: CoverProblem, state: State) -> tuple[State, Grove | None]:
    """Plant a tree on what could be better, where that is little; no node is looked at."""
    state = _with_room(problem, state)
    return state, _tree(state.plain, state, state.steps - 1.0)


def fewest(problem: CoverProblem, state: State, deadline: float) -> State:
    """Look for fewer prototypes with the same objective in a very small problem."""
    full = state.full
    if full.ties == 1 or full.cover.nnz > _TIED:
        return state
    tree = _tree(full, state, state.value - 1.0)
    assert tree is not None, "very small problems are branched on"
    tree.grow(deadline=deadline, max_nodes=_MOST_TIED)
    found = tree.selection
    return state if found is None else state.improved(found)


def _tree(residual: Residual, state: State, target: float) -> Grove | None:
    """Return a tree for what has a value of at most `target`; None where too much is left."""
    left = leave_possible(residual, state.payments(residual), target)
    if left.cover.nnz > (_BRANCHED_NEAR if state.near else _BRANCHED):
        return None
    trials = TRIALS if len(left.candidates) <= _MANY else _TRIALS_OF_MANY
    return Grove(left, target, trials=trials, soon=_SOON)


def _is_pure(problem: CoverProblem) -> bool:
    """Whether candidates cost the same, and all together less than the lightest point weighs."""
    lightest = float(problem.prize[problem.prize > 0.0].min(initial=math.inf))
    return not problem.wrong.any() and problem.prototype_cost * problem.n_points < lightest


def _with_room(problem: CoverProblem, state: State) -> State:
    """Let all be chosen that the vector has room for in anything better.

    So it proves of the others that they are not needed, whatever led to leaving them out.
    """
    core = problem.core
    missing = problem.objective(state.selected) - state.dual.sum()
    slack = core.cost - core.prize_sums(state.dual)
    return _with_more(problem, state, slack <= missing + _ROUNDING * problem.prize.sum())


def _with_more(problem: CoverProblem, state: State, more: NDArray[np.bool_]) -> State:
    """Let `more` of the worthwhile candidates be chosen."""
    keep = state.keep | more
    if not (keep & ~state.keep).any():
        return state
    return replace(state, full=Residual.of(problem, keep), keep=keep)


def _iterations(residual: Residual) -> int:
    """Return after how many iterations the simplex method gives up."""
    return _ITERATIONS * int(sum(residual.cover.shape)) + 1000


def _with_dual(problem: CoverProblem, state: State, payments: Floats) -> State:
    """Return the state with the bound that payments prove, mended and raised, if it is better."""
    dual = ascend(problem, mend(problem, payments))
    proved = _proved(problem, state.full, dual)
    return replace(state, bound=proved, dual=dual) if proved > state.bound else state


def _without_ties(full: Residual, dual: Floats) -> Floats:
    """Lower payments that overpay no ball until that is so without the tie rule, too."""
    cheapest = full.cost.min(initial=math.inf)
    return dual if full.ties == 1 else dual * (1.0 - 1.0 / cheapest)


def _proved(problem: CoverProblem, full: Residual, dual: Floats) -> float:
    """Return the least objective, in steps, that the payments leave possible."""
    return float(math.ceil(problem.exact_bound(dual) / (full.unit * full.ties)))
