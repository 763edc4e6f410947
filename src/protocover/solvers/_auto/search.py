"""The default: near the optimum with a bound that says how near, in a few greedy fits.

Every effort is limited by counts, never by the clock: the same problem has the same answer on
every machine, however busy, unless the user sets a time limit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from ..._cover import CoverProblem, CoverSolution, relative_gap
from ..._resources import progress_line
from .._budget import best_of_large, solve_alone
from .._exact import close_by_tree, cover_by_tree
from .._exact.grove import Grove
from .._finish import describe
from .._greedy import greedy
from .._stepwise import choose_by_drop
from .._values import check_values
from .effort import grow_together
from .stages import LARGE, TRIALS, at_once, begin, fewest, planted, relaxed, searched, thinned
from .state import State, lightened

Stage = Callable[[CoverProblem, State, float], State]

# Memberships up to which a budget's gap is closed by branch and bound, and its nodes.
_BUDGETED, _BUDGET_NODES = 20_000, 200


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
    search = AutoSearch(problem, verbose=verbose)
    search.go_on(time_limit)
    grow_together([search], deadline=deadline)
    return search.solution()


close_small = partial(close_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=TRIALS)
cover_small = partial(cover_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=TRIALS)


def is_large(problem: CoverProblem) -> bool:
    """Whether linear programs at several prices would take long."""
    return problem.n_memberships > LARGE


def _within(problem: CoverProblem, budget: int, time_limit: float | None) -> CoverSolution:
    """Choose at most `budget` candidates."""
    if is_large(problem) and len(choose_by_drop(problem, budget + 1)[0]) > budget:
        return best_of_large(problem, budget, time_limit=time_limit)
    return solve_alone(problem, auto, budget, time_limit=time_limit, close=close_small)


@dataclass(eq=False)
class AutoSearch:
    """The default at work on one problem: its stages once, then its tree as far as it is let.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    verbose : int, default=0
        Above 0 a line that shows bound and best.
    """

    problem: CoverProblem
    verbose: int = 0

    def __post_init__(self) -> None:
        check_values(verbose=self.verbose)
        self._state: State | None = None
        self._tree: Grove | None = None
        self._deadline = math.inf
        # Whether there was more to do than there was time for.
        self._is_cut_short = False
        self.is_finished = False

    def go_on(self, seconds: float | None = None) -> None:
        """Go through the stages up to the planting of a tree, within so many seconds if any."""
        self._deadline = math.inf if seconds is None else time.monotonic() + seconds
        self.is_finished = True
        with progress_line(self.verbose) as write:
            state, stages = self._begun()
            write(f"begun: {state}")
            for stage in stages:
                if not self._goes_on(state):
                    break
                state = stage(self.problem, state, self._deadline)
                write(f"{stage.__name__}: {state}")
        if self._goes_on(state):
            state, self._tree = planted(self.problem, state)
        self._state = lightened(state, self._tree)

    @property
    def open_share(self) -> float:
        """Largest share of the objective that a better selection could save."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def n_pairs(self) -> int:
        """How many pairs of point and candidate there are."""
        return self.problem.n_points * self.problem.n_candidates

    @property
    def n_memberships(self) -> int:
        """How many of these pairs there are with the point in the candidate's ball."""
        return int(self.problem.parts.nnz)

    @property
    def n_candidates_left(self) -> int:
        """How many candidates the tree has to choose from."""
        return 0 if self._tree is None else int(self._tree.left.cover.shape[1])

    @property
    def n_nodes(self) -> int:
        """How many nodes of the tree have been looked at."""
        return 0 if self._tree is None else self._tree.n_nodes

    @property
    def is_open(self) -> bool:
        """Whether the tree can grow."""
        return self._tree is not None and self._tree.open_share > 0.0

    @property
    def objective(self) -> float:
        """Objective of the best selection so far."""
        state = self._begun_state
        return (state.steps if self._tree is None else self._tree.best) * state.step

    @property
    def lower_bound(self) -> float:
        """No selection has a smaller objective, as far as is known."""
        state = self._begun_state
        return max(state.bound, -math.inf if self._tree is None else self._tree.bound) * state.step

    def grow(self, max_nodes: float, deadline: float) -> None:
        """Let the tree grow by so many nodes."""
        assert self._tree is not None, "there is no tree"
        self._deadline = deadline
        self._tree.grow(deadline=deadline, max_nodes=max_nodes)
        self._is_cut_short = self.is_open and self._is_late

    def solution(self) -> CoverSolution:
        """Describe the best selection so far and what is proved of it."""
        state = self._begun_state
        leaves = None
        if self._tree is not None:
            state = state.grown(self._tree)
            leaves = self._tree.leaves(self.problem)
        if state.closed and state.whole and not state.least and not self._is_late:
            state = fewest(self.problem, state, self._deadline)
        claim = _claim(self.problem, state)
        found = describe(self.problem, state.selected, dual=state.dual, proof=leaves, claim=claim)
        return replace(found, status=self._status(found, state))

    @property
    def _begun_state(self) -> State:
        """The state after the stages."""
        assert self._state is not None, "a search that was never begun has no state"
        return self._state

    @property
    def _is_late(self) -> bool:
        """Whether time is up."""
        return time.monotonic() >= self._deadline

    def _begun(self) -> tuple[State, tuple[Stage, ...]]:
        """Return the first state and the stages that go on from it."""
        state = at_once(self.problem, self._deadline)
        if state is not None:
            return state, (searched, thinned)
        return begin(self.problem, greedy(self.problem)), (relaxed, searched, thinned)

    def _goes_on(self, state: State) -> bool:
        """Whether there is something to be done for a state, and time for it."""
        if state.closed or not state.whole:
            return False
        self._is_cut_short = self._is_late
        return not self._is_cut_short

    def _status(self, found: CoverSolution, state: State) -> str:
        """Say how the search ended."""
        if found.is_optimal:
            return "optimal"
        if state.closed:
            return "optimal up to rounding"
        return "time limit" if self._is_cut_short else "bounded"


def _claim(problem: CoverProblem, state: State) -> Fraction:
    """Objective that no selection goes below if the bound is right; see the exact solver's."""
    full = state.full
    off = 0 if full.exact else 2 * problem.n_points
    return (Fraction(math.floor(state.bound)) - off) * full.unit * full.ties
