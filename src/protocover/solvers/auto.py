"""The default: near the optimum with a bound that says how near, in a few greedy fits.

In a small problem the linear program comes first: where what it rounds to is as good as its
bound, that is all. In others both greedies and dual ascent come before it, and it is over the
candidates that could be part of something better. Where a gap is left, local search from what the
program rounds to, and branch and bound where reduced costs leave little. Each stage is limited by
counts, of memberships, simplex iterations, shakes and nodes, never by the clock: the same problem
has the same answer on every machine, however busy, unless the user sets a time limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..cover import CoverProblem, CoverSolution, exact_sum, first_cover
from ..resources import progress_line
from .budget import best_of_large, solve_alone, supply_large
from .budget.demand import Demand, Supplied
from .duals import ascend, ascend_best, mend
from .exact import close_by_tree, supply_by_tree
from .exact.fixing import bound_of, leave_possible
from .exact.grove import Grove
from .finish import best_selection, describe
from .greedy import greedy
from .local_search import search
from .reduced.packing import Packing
from .reduced.relaxation import relax
from .reduced.residual import Residual
from .state import State
from .stepwise import choose_by_drop, choose_by_ratio
from .values import check_values

__all__ = ["auto", "close_small", "is_large", "supply_small"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Stage = Callable[[CoverProblem, State, float], State]

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
# What sums of payments may be off by, as a share of all prizes.
_ROUNDING = 1e-9
# Shakes without success, at least so many, and one more for so many pairs of point and
# candidate: what a fit costs grows with the pairs, too.
_PATIENCE, _PAIRS_A_SHAKE = 20, 200_000
# Nodes of the branch and bound: until no more than this share could be saved, but so many at most;
# beyond that one for so many pairs, at least so many times the memberships branched on, and two
# where the gap is as good as closed.
_ENOUGH, _MOST_NODES, _PAIRS_A_NODE, _PAIRS_A_MEMBERSHIP = 0.01, 40, 300_000, 10
# Memberships of the largest table that is branched on: beyond, a node takes long, and far more of
# them than these would be needed.
_BRANCHED = 40_000
# Nodes after which reductions are tried.
_SOON = 10
# Candidates tried at a node and simplex iterations each way: the fewer, the more nodes.
_TRIALS = (2, 50)
# Memberships up to which a budget's gap is closed by branch and bound, and its nodes.
_BUDGETED, _BUDGET_NODES = 20_000, 200
# Memberships up to which a plain cover, of which only the number counts, is thinned by exchanges.
_THINNED = 1_000_000
# Memberships up to which fewer prototypes with the same objective are looked for by branching.
_TIED = 100


def auto(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    verbose: int = 0,
) -> CoverSolution:
    """Find a selection near the optimum, and a bound that says how near.

    Never worse than either greedy, nor than the paper's greedy within the same budget.
    Prototypes come in the order of what they add: each lowers the objective most of those
    selected that are left.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        There for the common signature: nothing here is left to chance.
    max_prototypes : int or None
        Choose so many at most: the best of that number that is found.
    time_limit : float or None, default=None
        Seconds after which no further stage is begun and the best so far returned. Without
        one the answer does not depend on how fast the machine is.
    verbose : int, default=0
        Above 0 a line that shows bound and best.

    Returns
    -------
    CoverSolution
        With status ``"optimal"`` where the gap is closed (for weights finer than can be
        counted ``"optimal up to rounding"``), ``"time limit"`` or ``"bounded"``.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, verbose=verbose)
    if max_prototypes is not None:
        return _within(problem, max_prototypes, time_limit)
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    state, late = at_once(problem, deadline), False
    stages: tuple[Stage, ...] = (searched, thinned, branched, fewest)
    if state is None:
        first = greedy(problem)
        # Where no two selections can tie, one that is proved is the one with fewest prototypes.
        if first.certificate == "proved" and problem.weight_step > problem.step * problem.n_points:
            return replace(first, status="optimal")
        state, stages = begin(problem, first), (relaxed, *stages)
    with progress_line(verbose) as write:
        write(f"begun: {state}")
        for stage in stages:
            late = time.monotonic() >= deadline
            if late or state.least or not state.whole:
                break
            if state.closed == (stage is fewest):
                state = stage(problem, state, deadline)
            write(f"{stage.__name__}: {state}")
    solution = describe(
        problem,
        state.selected,
        dual=state.dual,
        leaves=state.leaves,
        claim=_claim(problem, state),
    )
    return replace(solution, status=_status(solution, closed=state.closed, late=late))


close_small = partial(close_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=_TRIALS)
supply_small = partial(supply_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=_TRIALS)


def is_large(problem: CoverProblem) -> bool:
    """Whether linear programs at several prices would take long."""
    return problem.n_memberships > _LARGE


def _within(problem: CoverProblem, budget: int, time_limit: float | None) -> CoverSolution:
    """Choose at most `budget` candidates."""
    if is_large(problem) and len(choose_by_drop(problem, budget + 1)[0]) > budget:
        return best_of_large(problem, budget, time_limit=time_limit)
    return solve_alone(problem, auto, budget, time_limit=time_limit, close=close_small)


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
    # Of equally good selections a greedy's is taken, which does not depend on whether a point
    # is there twice or counts twice, as the vertex that is found of a program does.
    for selected in (choose_by_drop(problem)[0], choose_by_ratio(problem)[0], start):
        state = state.improved(selected)
    if state.closed and math.ceil(bound_of(full, found.dual)[0]) >= state.value:
        return replace(state, least=True)
    plain = full.plain()
    again = relax(plain, deadline=deadline, iterations=iterations, packing=packing)
    if again is not None:
        state = _with_dual(problem, state, again.dual * float(plain.unit))
        start = plain.candidates[again.fraction > 0.5]
        state = replace(state, start=start).improved(start)
    return state


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
        enough = state.closed or (state.near and plain.cover.nnz > _LARGE)
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
    starts = [state.start, state.selected][: 2 if full.cover.nnz > _LARGE else 1]
    left = leave_possible(full, state.payments(full), state.value - 1.0)
    more = 0 if state.near else _pairs(problem) // _PAIRS_A_SHAKE
    for start in starts:
        found = search(
            left,
            np.random.default_rng(_SEED),
            patience=_PATIENCE + more // len(starts),
            deadline=deadline,
            start=start,
            enough=(state.bound + 1.0) * full.ties - 1.0,
        )
        state = state.improved(left.selection(found))
    return state


def thinned(problem: CoverProblem, state: State, deadline: float) -> State:
    """Cover the same by fewer, where nothing else counts and the gap is wide."""
    wide = state.steps - state.bound > _ENOUGH * state.steps
    if not wide or problem.n_memberships > _THINNED or not _is_pure(problem):
        return state
    missed = first_cover(problem, state.selected) == len(state.selected)
    demand = Demand(problem.cover, problem.prize, None, exact_sum(problem.prize[missed]))
    known = Supplied(state.selected, Fraction(0), 0.0, None, False)
    found = supply_large(demand, known, time_limit=deadline - time.monotonic())
    return state.improved(found.selected)


def branched(problem: CoverProblem, state: State, deadline: float) -> State:
    """Close the gap by branch and bound where little is left."""
    state = _with_room(problem, state)
    pairs = 2 * _pairs(problem) if state.near else _pairs(problem)
    tree = _grown(state.plain, state, state.steps - 1.0, pairs, deadline)
    if tree is None:
        return state
    state = _with_found(state, tree)
    bound = max(state.bound, min(tree.bound, state.steps))
    return replace(state, bound=bound, leaves=tree.leaves(problem))


def fewest(problem: CoverProblem, state: State, deadline: float) -> State:
    """Look for fewer prototypes with the same objective in a very small problem."""
    full = state.full
    if full.ties == 1 or full.cover.nnz > _TIED:
        return state
    tree = _grown(full, state, state.value - 1.0, math.inf, deadline)
    return state if tree is None else _with_found(state, tree)


def _grown(
    residual: Residual, state: State, target: float, pairs: float, deadline: float
) -> Grove | None:
    """Look for something of value at most `target`; None where too much is left for that.

    After the nodes that so many pairs allow that is given up if the best is good enough.
    """
    left = leave_possible(residual, state.payments(residual), target)
    if left.cover.nnz > _BRANCHED:
        return None
    tree = Grove(left, target, trials=_TRIALS, soon=_SOON)
    a_node = max(_PAIRS_A_NODE, _PAIRS_A_MEMBERSHIP * left.cover.nnz)
    nodes = math.floor(min(pairs / a_node, _MOST_NODES))
    tree.grow(deadline=deadline, max_nodes=nodes)
    while tree.open_share > _ENOUGH and nodes < _MOST_NODES:
        tree.grow(deadline=deadline, max_nodes=1)
        nodes += 1
    return tree


def _with_found(state: State, tree: Grove) -> State:
    """Return the state with what the tree has found, if that is anything."""
    found = tree.selection
    return state if found is None else state.improved(found)


def _is_pure(problem: CoverProblem) -> bool:
    """Whether candidates cost the same, and all together less than the lightest point weighs."""
    lightest = float(problem.prize[problem.prize > 0.0].min(initial=math.inf))
    return not problem.wrong.any() and problem.prototype_cost * problem.n_points < lightest


def _status(solution: CoverSolution, *, closed: bool, late: bool) -> str:
    """Say how the search ended."""
    if solution.certificate in ("proved", "solver-proved"):
        return "optimal"
    if closed:
        return "optimal up to rounding"
    return "time limit" if late else "bounded"


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


def _pairs(problem: CoverProblem) -> int:
    """Return how many pairs of point and candidate there are."""
    return problem.n_points * problem.n_candidates


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


def _claim(problem: CoverProblem, state: State) -> Fraction:
    """Objective that no selection goes below if the bound is right; see the exact solver's."""
    full = state.full
    off = 0 if full.exact else 2 * problem.n_points
    return (Fraction(math.floor(state.bound)) - off) * full.unit * full.ties
