"""One staged search: `auto` and `exact` are two efforts of it.

`auto` is limited by counts, never by the clock: the same problem has the same answer on every
machine, however busy, unless the user sets a time limit. `exact` goes through the same stages,
does more in some, and then goes on until the optimum is proved or a limit of the user is reached.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from .._cover import CoverProblem, CoverSolution, relative_gap
from .._resources import progress_line
from ._branch_and_bound import BranchAndBound
from ._budget import best_of_large, close_by_tree, solve_alone
from ._column_generation import DIVE, PROOF, ColumnSearch, suits
from ._coverage import cover_by_tree
from ._dense_stages import fewest, narrowed, relaxed, searched, searched_again, with_tree
from ._finish import describe
from ._greedy import choose_by_drop
from ._heuristics import greedy
from ._registry import check_values
from ._sparse_stages import (
    bounded,
    cut,
    cut_to_the_end,
    dived,
    kernelized,
    neighbouring,
    relaxed_kernel,
    weighted,
)
from ._state import AUTO, EXACT, Effort, State, Stop, begin, is_sparse, solved_at_once

# Memberships up to which a budget's gap is closed by branch and bound, and its nodes; and from
# which on linear programs at several prices would take long.
_BUDGETED, _BUDGET_NODES, _LARGE = 20_000, 200, 300_000
# Credit of any fit, pairs of point and candidate and memberships that make one more of it, and
# what a node costs beyond its candidates.
_LEAST_CREDIT, _PAIRS_A_CREDIT, _MEMBERS_A_CREDIT, _ANY_NODE = 1200, 6500, 600, 100
# Share of the objective below which it is as good as closed, and then so many times the credit
# goes into closing it.
_NEAR, _MORE = 2e-3, 4
# Share of the objective that is left open in the end, if so many nodes a tree suffice.
_ENOUGH, _MOST_NODES = 0.01, 60


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
        Maximum number of prototypes: the best selection of that size that is found.
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
        if is_large(problem) and len(choose_by_drop(problem, max_prototypes + 1)[0]) > (
            max_prototypes
        ):
            return best_of_large(problem, max_prototypes, time_limit=time_limit)
        return solve_alone(problem, auto, max_prototypes, time_limit=time_limit, close=close_small)
    search = begin_search(problem, verbose=verbose)
    deadline = math.inf if time_limit is None else time.monotonic() + time_limit
    search.go_on(time_limit)
    if isinstance(search, Search):
        grow_together([search], deadline=deadline)
    return search.solution()


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

    Never worse than `auto`, unless a limit ends it before. Of selections with the least
    objective one with few prototypes is returned: the fewest, unless branch and bound was cut
    short while it had only that left to show.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        There for the common signature: nothing here is left to chance.
    max_prototypes : int or None
        Maximum number of prototypes.
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
        ``"solver"`` if it rests on HiGHS's branch and cut or there were too many leaves to keep.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit)
    options: dict[str, Any] = {"max_nodes": max_nodes, "gap": gap, "patience": patience}
    if max_prototypes is not None:
        unlimited = partial(exact, rng=rng, verbose=verbose, **options)
        close = partial(close_by_tree, verbose=verbose)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit, close=close)
    search = begin_search(problem, proves=True, verbose=verbose, **options)
    search.go_on(time_limit)
    return search.solution()


def begin_search(
    problem: CoverProblem, *, proves: bool = False, verbose: int = 0, **options: Any
) -> Search | ColumnSearch:
    """Return a search for a problem, until it is closed if it `proves`.

    Problems with balls of several radii are solved by column generation, unless they are small.
    """
    if suits(problem):
        options.pop("patience", None)
        return ColumnSearch(problem, PROOF if proves else DIVE, verbose=verbose, **options)
    if proves:
        return Search.exact(problem, verbose=verbose, **options)
    return Search(problem, verbose=verbose, **options)


# A stage of the search, from a state to one at least as good.
Stage = Callable[[State, Effort, Stop], State]

close_small = partial(
    close_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=AUTO.trials
)
cover_small = partial(
    cover_by_tree, max_nodes=_BUDGET_NODES, largest=_BUDGETED, trials=AUTO.trials
)


def is_large(problem: CoverProblem) -> bool:
    """Whether linear programs at several prices would take long."""
    return problem.n_memberships > _LARGE


@dataclass(eq=False)
class Search:
    """A staged search at work on one problem, for as many rounds as it is given time.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    effort : Effort
        How much each stage does.
    stop : Stop
        Limits of the user: nodes and gap; the time of each round comes with it.
    verbose : int, default=0
        Above 0 a line that shows bound and best.
    """

    problem: CoverProblem
    effort: Effort = AUTO
    stop: Stop = field(default_factory=Stop)
    verbose: int = 0

    def __post_init__(self) -> None:
        check_values(verbose=self.verbose)
        self._state: State | None = None
        self._stages: list[Stage] = []
        self._tree: BranchAndBound | None = None
        self._has_tree = False
        # Whether there was more to do than there was time for.
        self._is_cut_short = False
        self.is_finished = False

    @classmethod
    def exact(
        cls,
        problem: CoverProblem,
        *,
        rng: np.random.Generator | None = None,
        max_nodes: int | None = None,
        gap: float = 0.0,
        patience: int = 40,
        verbose: int = 0,
    ) -> Search:
        """Return the search of the exact solver."""
        check_values(max_nodes=max_nodes, gap=gap, patience=patience)
        stop = Stop(max_nodes=math.inf if max_nodes is None else max_nodes, gap=gap)
        return cls(problem, replace(EXACT, thorough=4 * patience), stop, verbose)

    def go_on(self, seconds: float | None = None) -> None:
        """Go through the stages that are left, within so many seconds if any."""
        self.stop = replace(
            self.stop, deadline=math.inf if seconds is None else time.monotonic() + seconds
        )
        with progress_line(self.verbose) as write:
            self._begin()
            write(f"begun: {self._state}")
            while self._stages and self._goes_on():
                stage = self._stages[0]
                self._state = stage(self._begun, self.effort, self.stop)
                if self._begun.packing is None or not self.stop.is_late:
                    self._state = replace(self._begun, packing=None)
                    self._stages.pop(0)
                write(f"{stage.__name__}: {self._state}")
            if self._goes_on() and not self._has_tree and not is_sparse(self.problem, self.effort):
                state, self._tree = with_tree(self._begun, self.effort, self.stop, self.verbose)
                self._state, self._has_tree = state, True
                if not self.effort.until_closed:
                    self._state = narrowed(state, self._tree, self.effort)
            if self.effort.until_closed:
                self._grow_on()
                write(f"branch and bound: {self._state}")
        open_still = self._is_cut_short and not self._is_closed
        self.is_finished = not (self.effort.until_closed and open_still)

    @property
    def open_share(self) -> float:
        """Largest share of the objective that a better selection could save."""
        return relative_gap(self.objective, self.lower_bound)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of point and candidate."""
        return self.problem.n_points * self.problem.n_candidates

    @property
    def n_memberships(self) -> int:
        """Number of these pairs with the point in the candidate's ball."""
        return int(self.problem.parts.nnz)

    @property
    def n_candidates_left(self) -> int:
        """Number of candidates that the tree has to choose from."""
        return 0 if self._tree is None else int(self._tree.left.cover.shape[1])

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the tree that have been looked at."""
        return 0 if self._tree is None else self._tree.n_nodes

    @property
    def is_open(self) -> bool:
        """Whether the tree can grow."""
        return self._tree is not None and self._tree.open_share > 0.0

    @property
    def objective(self) -> float:
        """Objective of the best selection so far."""
        state = self._begun
        return min(state.steps, math.inf if self._tree is None else self._tree.best) * state.step

    @property
    def lower_bound(self) -> float:
        """No selection has a smaller objective, as far as is known."""
        state = self._begun
        return max(state.bound, -math.inf if self._tree is None else self._tree.bound) * state.step

    def grow(self, max_nodes: float, deadline: float = math.inf) -> None:
        """Let the tree grow by so many nodes."""
        assert self._tree is not None, "there is no tree"
        self.stop = replace(self.stop, deadline=deadline)
        self._tree.grow(deadline=deadline, max_nodes=max_nodes)
        self._is_cut_short = self.is_open and self.stop.is_late

    def solution(self) -> CoverSolution:
        """Describe the best selection so far and what is proved of it."""
        state, leaves = self._begun, None
        if self._tree is not None:
            if not state.least:
                state = state.grown(self._tree)
            leaves = self._tree.proof(self.problem)
        if state.closed and state.whole and not (state.least or self.stop.is_late):
            state = replace(fewest(state, self.effort, self.stop, self.n_nodes), least=True)
            self._state = state
        claim = _claim(self.problem, state)
        found = describe(self.problem, state.selected, dual=state.dual, proof=leaves, claim=claim)
        return replace(found, status=self._status(found, state))

    @property
    def _begun(self) -> State:
        """The state, which there is once the search has begun."""
        assert self._state is not None, "a search that was never begun has no state"
        return self._state

    def _begin(self) -> None:
        """Make the first state and list the stages that go on from it."""
        if self._state is not None:
            return
        state = solved_at_once(self.problem, self.effort, self.stop)
        self._stages = stages_of(self.problem, self.effort, at_once=state is not None)
        self._state = state or begin(self.problem, greedy(self.problem), self.effort)

    def _grow_on(self) -> None:
        """Let the tree grow as far as the user's limits allow."""
        if self._tree is None or not self._goes_on():
            return
        self._tree.grow(
            deadline=self.stop.deadline, max_nodes=self.stop.max_nodes - self._tree.n_nodes
        )
        self._state = self._begun.grown(self._tree)
        self._is_cut_short = self.is_open and self.stop.is_late

    def _goes_on(self) -> bool:
        """Whether there is something to be done for a state, and time for it."""
        if self._is_closed or not self._begun.whole:
            return False
        self._is_cut_short = self.stop.is_late
        return not self._is_cut_short

    @property
    def _is_closed(self) -> bool:
        """Whether nothing that is worth looking for is left."""
        state = self._begun
        return state.closed or state.bound > self.stop.target(state.steps)

    def _status(self, found: CoverSolution, state: State) -> str:
        """Say how the search ended."""
        if found.is_optimal:
            return "optimal"
        if state.closed:
            return "optimal up to rounding"
        if self.stop.gap > 0.0 and self._is_closed:
            return "gap reached"
        if self._is_cut_short or self.stop.is_late:
            return "time limit"
        return "node limit" if self.effort.until_closed else "bounded"


def stages_of(problem: CoverProblem, effort: Effort, *, at_once: bool) -> list[Stage]:
    """Return the stages that go on from a first state."""
    stages: list[Stage] = [searched, searched_again]
    if is_sparse(problem, effort):
        stages = [kernelized, bounded, dived, weighted, cut]
        if effort.until_closed:
            stages += [relaxed_kernel, cut, neighbouring, cut_to_the_end]
    elif not at_once:
        stages = [relaxed, *stages]
    return stages


def grow_together(searches: Sequence[Search], *, deadline: float = math.inf) -> None:
    """Let the trees of all searches grow, smallest first; they share one effort, in counts.

    What a node takes grows with the candidates of its linear program, what a greedy fit takes
    with the pairs of point and candidate and with the members of the balls: so these of all
    problems make a credit, and a node is paid for by its candidates. What one tree saves the
    others get. Beyond the credit trees grow only until no more than a hundredth of the objective
    of all problems together could be saved.

    Parameters
    ----------
    searches : sequence of Search
        Each as far as its stages before the tree have come.
    deadline : float, default=inf
        Time on the monotonic clock when no further node is begun.
    """
    trees = sorted((one for one in searches if one.is_open), key=lambda one: one.n_candidates_left)
    credit = float(_LEAST_CREDIT)
    for one in searches:
        credit += one.n_pairs / _PAIRS_A_CREDIT + one.n_memberships / _MEMBERS_A_CREDIT
    left = _share_out(trees, credit, deadline)
    if _open_share(searches) <= _NEAR:
        _share_out(trees, left + _MORE * credit, deadline)
    for tree in trees:
        while _open_share(searches) > _ENOUGH and _can_grow(tree, deadline):
            tree.grow(1, deadline)


def _share_out(trees: Sequence[Search], credit: float, deadline: float) -> float:
    """Give each tree an equal share of the credit that is left, then all; return the rest."""
    for n_left, tree in zip(range(len(trees), 0, -1), trees, strict=True):
        credit -= _spend(tree, credit / n_left, deadline)
    for tree in trees:
        credit -= _spend(tree, credit, deadline)
    return credit


def _spend(tree: Search, credit: float, deadline: float) -> int:
    """Let a tree grow by the nodes that a credit pays for; return what they cost."""
    price, before = tree.n_candidates_left + _ANY_NODE, tree.n_nodes
    if _can_grow(tree, deadline):
        tree.grow(min(int(credit // price), _MOST_NODES - before), deadline)
    return (tree.n_nodes - before) * price


def _can_grow(tree: Search, deadline: float) -> bool:
    """Whether there is a node to look at, and time for it."""
    return tree.is_open and tree.n_nodes < _MOST_NODES and time.monotonic() < deadline


def _open_share(searches: Iterable[Search]) -> float:
    """Return the largest share of all objectives together that something better could save."""
    objective = math.fsum(one.objective for one in searches)
    return relative_gap(objective, math.fsum(one.lower_bound for one in searches))


def _claim(problem: CoverProblem, state: State) -> Fraction:
    """Objective that no selection goes below if the bound is right.

    Where costs and prizes were rounded to units, each choice may be off by a unit (its wrong
    weight and its cost) and each prize by half of one; no more of either than points count.
    """
    full = state.full
    off = 0 if full.exact else 2 * problem.n_points
    return (Fraction(math.floor(state.bound)) - off) * full.unit * full.ties
