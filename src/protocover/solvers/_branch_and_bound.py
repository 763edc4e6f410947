"""Branch and bound on what reductions and fixing leave, with every node bounded exactly.

HiGHS proposes dual variables at each node and fractions to branch on. The bound of a node is what
the dual variables prove in exact arithmetic. On covers the linear relaxation is so close to the
optimum that trees are small: most have tens of nodes, the largest of USPS some hundreds. Cutting
planes and heuristics at each node, most of what HiGHS and SCIP do, would cost more than they save.

A tree on identical points merged alone can be checked by others. On sparse covers, exchange
arguments reduce the problem much further, but leave no proof. So the search restarts on the
reduced problem only if the first tree does not end soon.

All nodes share the root's rows and columns. A decided candidate has infinite cost from there on;
if it is chosen, its cost is in the constant and the prizes of its points are zero. So a node is a
residual, and its linear program differs from the root's only in bounds.

With a capacity (a knapsack row), a multiplier relaxes it: for any multiplier, no selection within
the capacity costs less than it does with its weight charged and the whole capacity credited.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._cover import CoverProblem, ProofTree
from .._cover.proof import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR
from .._cover.table import line_members
from .._typing import Floats, Indices, Mask
from ._local_search import search
from ._reductions import merge_identical_points, reduce_cover
from ._residual import MARGIN, Packing, Relaxation, Residual, bound_of

# Candidates tried at a node with a number of simplex iterations each way, by default, and trials
# until the average of a candidate is used instead.
TRIALS, _RELIABLE = (4, 50), 4
# Smaller increases of the bound count as this: both ways matter, even if one has none.
_LEAST_RISE = 1e-3
# A fraction nearer than this to an integer is one.
_INTEGRAL = 1e-6
# Sums of prizes up to here are exact with dual variables and multipliers in fractions of a unit.
_LARGEST = 2.0**50
# How many times smaller the reduced problem must be for a restart, and memberships from which on
# reductions take longer than nodes.
_SMALLER, _MOST_REDUCED = 4, 60_000
# Memberships beyond which no proof is kept: checking a vector takes a tenth of a second.
_MOST_CHECKED = 3_000_000


@dataclass(eq=False)
class BranchAndBound:
    """A search for the best selection of value at most `target`, which can be continued.

    Parameters
    ----------
    left : Residual
        What is searched.
    target : float
        Largest value, in units, that is looked for; decreases as selections are found.
    gap : float, default=0.0
        Fraction of its value by which the next selection must be better than the best found.
    trials : (int, int), default=(4, 50)
        Candidates tried at a node before branching, and simplex iterations each way.
    verbose : int, default=0
        Above 1 HiGHS writes its log.
    restart_after : int, default=40
        Nodes after which a restart on the reduced problem is considered.
    weight : ndarray of float, shape (n_columns,), or None, default=None
        How much of the capacity each column uses, integers. If given there is no restart.
    capacity : float, default=inf
        Largest total weight of a selection.

    Attributes
    ----------
    columns : ndarray of int or None
        The best selection found since the last restart, as columns of `root`.
    n_nodes : int
        Number of nodes solved.
    """

    left: Residual
    target: float
    gap: float = 0.0
    trials: tuple[int, int] = TRIALS
    verbose: int = 0
    restart_after: int = 40
    weight: Floats | None = None
    capacity: float = math.inf
    columns: Indices | None = field(default=None, init=False)
    n_nodes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._bound_before = -math.inf
        self._found_before: Indices | None = None
        self._trace: Trace | None = None
        self._n_made, has_capacity = 0, self.weight is not None
        self._may_restart = not has_capacity and self.left.cover.nnz <= _MOST_REDUCED
        self._start(self.left if has_capacity else merge_identical_points(self.left))
        if has_capacity:  # a proof tree has no multiplier
            self._trace = None

    def _start(self, root: Residual) -> None:
        """Begin a tree on a residual."""
        self.root, self.columns = root, None
        self._packing = Packing(root, weight=self.weight, verbose=self.verbose)
        self._history = History.of(root.cover.shape[1])
        nothing = np.empty(0, dtype=np.intp)
        node = Node(root, nothing, -math.inf, weight=self.weight, capacity=self.capacity)
        self._trace = node.trace
        # Nodes of least bound first, of equal ones the last made: the deepest.
        self._open: list[tuple[float, int, Node]] = []
        self._add(node)

    @property
    def _tree_bound(self) -> float:
        """Bound of the tree since the last restart; at most one above the target."""
        return min(self._open[0][0] if self._open else math.inf, self.target + 1.0)

    @property
    def bound(self) -> float:
        """No selection has a smaller value; at most one above what is still looked for."""
        return max(self._bound_before, self._tree_bound)

    @property
    def closed(self) -> bool:
        """Whether no selection of value at most `target` is left to be found."""
        return self._tree_bound > self.target

    @property
    def best(self) -> float:
        """Value of the best selection known, found here or before."""
        return self.target + 1.0

    @property
    def open_share(self) -> float:
        """Largest fraction of the best value that a better selection could save."""
        return max(self.best - self.bound, 0.0) / max(self.best, 1.0)

    @property
    def selection(self) -> Indices | None:
        """Candidates of the best selection found, None if there is none.

        It is completed, because reductions assume that no addition would improve it.
        """
        if self.columns is None:
            return self._found_before
        start, rng = self.root.candidates[self.columns], np.random.default_rng(0)
        return self.root.selection(search(self.root, rng, patience=0, start=start))

    def proof(self, problem: CoverProblem) -> ProofTree | None:
        """Return the tree so far as a proof in the problem's terms; None if it is too large.

        There is none with a capacity or after a restart.
        """
        return None if self._trace is None else _proof_of(problem, self.root, self._trace)

    def grow(
        self,
        *,
        deadline: float = math.inf,
        max_nodes: float = math.inf,
        first: bool = False,
    ) -> None:
        """Solve up to `max_nodes` nodes until the tree is closed or the deadline has passed.

        With `first` until any selection is found, too.
        """
        last = self.n_nodes + max_nodes
        if self._may_restart:
            self._grow_until(min(last, self.restart_after), deadline, first)
            if not self.closed and self.n_nodes >= self.restart_after:
                self._restart(deadline)
        self._grow_until(last, deadline, first)

    def _grow_until(self, last: float, deadline: float, first: bool) -> None:
        """Solve nodes until there are `last` of them."""
        while not self.closed and self.n_nodes < last and time.monotonic() < deadline:
            if first and self.columns is not None:
                break
            node = heapq.heappop(self._open)[-1]
            try:
                children = self._expand(node, deadline)
            except BaseException:
                self._add(node)  # after an interrupt the tree is complete
                raise
            for child in children:
                self._add(child)

    def _restart(self, deadline: float) -> None:
        """Continue with a tree on the reduced problem if that is much smaller."""
        self._may_restart = False
        reduced = reduce_cover(self.left, deadline=deadline)
        if _SMALLER * math.prod(reduced.cover.shape) > math.prod(self.root.cover.shape):
            return
        self._found_before, self._bound_before = self.selection, self._tree_bound
        self._start(reduced)
        self._trace = None

    def _add(self, node: Node) -> None:
        """Keep a node for later."""
        self._n_made += 1
        if self._n_made > min(MOST_STEPS // 3, MOST_NUMBERS // max(len(self.root.rows), 1)):
            self._trace = None  # the proof would be too large
        heapq.heappush(self._open, (node.bound, -self._n_made, node))

    def _expand(self, node: Node, deadline: float) -> list[Node]:
        """Solve a node; return nodes that contain all of it that is worth finding."""
        left = node.left
        relaxation = node.relaxation or self._packing.solve(
            left.cost, left.prize, capacity=node.capacity, basis=node.basis, deadline=deadline
        )
        if not relaxation.solved and time.monotonic() >= deadline:
            return [node]
        self.n_nodes += 1
        self._keep_if_good(node.rounded(relaxation.fraction))
        fixed = fix(node, relaxation.dual, self.target, price=relaxation.price)
        if fixed is None:
            return []
        if len(fixed.open_columns) == 0:  # all is decided
            self._keep_if_good(fixed.chosen)
            fixed.trace.duals.append(fixed.left.prize)  # proves the exact value
            return []
        return branch_on(
            fixed,
            relaxation,
            self._packing,
            self._history,
            self.target,
            trials=self.trials,
            deadline=deadline,
        )

    def _keep_if_good(self, columns: Indices) -> None:
        """Keep a selection of value at most `target`, and lower the target."""
        columns = np.unique(columns)
        value = self.root.value(columns)
        if value <= self.target:
            self.columns = columns
            self.target = min(value - 1.0, math.floor(value * (1.0 - self.gap)))


# Proofs.


@dataclass(eq=False)
class Trace:
    """What is kept of a node for a proof, filled in as the node is solved.

    Parameters
    ----------
    duals : list of ndarray of float
        Dual vectors that bound the node and fix columns, in units of the root's rows.
    column : int
        The column branched on, if any.
    children : tuple of Trace
        Without that column, and with it.
    """

    duals: list[Floats] = field(default_factory=list)
    column: int = -1
    children: tuple[Trace, ...] = ()


def _proof_of(problem: CoverProblem, root: Residual, trace: Trace) -> ProofTree | None:
    """Return a tree in the problem's candidates and points; None if it is too large."""
    steps: list[int] = []
    vectors: list[Floats] = []
    waiting = [trace]
    while waiting:
        here = waiting.pop()
        vectors += here.duals
        steps += [VECTOR] * len(here.duals)
        steps.append(int(root.candidates[here.column]) if here.children else LEAF)
        waiting += reversed(here.children)
    too_large = len(steps) > MOST_STEPS or len(vectors) * problem.n_points > MOST_NUMBERS
    if too_large or problem.n_memberships > _MOST_CHECKED:
        return None
    snapped = np.empty((len(vectors), problem.n_points))
    for row, dual in zip(snapped, vectors, strict=True):
        row[:] = problem.snap(root.spread(problem, dual))
    return ProofTree(np.array(steps, dtype=np.intp), snapped)


# Nodes.


@dataclass(frozen=True, eq=False)
class Node:
    """A part of the selections: those with some columns chosen and others excluded.

    Parameters
    ----------
    left : Residual
        The root's, with infinite cost of decided columns.
    chosen : ndarray of int
        Columns chosen.
    bound : float
        No selection of the node has a smaller value, in units.
    basis : object
        Basis of the simplex method from which to start.
    relaxation : Relaxation or None
        Solution of its linear program, if that was found when the node was tried.
    trace : Trace
        What is kept of it for a proof.
    weight : ndarray of float, shape (n_columns,), or None
        How much of the capacity each column uses, integers; None if there is no capacity.
    capacity : float
        Capacity that is left.
    """

    left: Residual
    chosen: Indices
    bound: float
    basis: Any = None
    relaxation: Relaxation | None = None
    trace: Trace = field(default_factory=Trace)
    weight: Floats | None = None
    capacity: float = math.inf

    @property
    def open_columns(self) -> Indices:
        """Columns that are not decided."""
        return np.flatnonzero(np.isfinite(self.left.cost))

    def rounded(self, fraction: Floats) -> Indices:
        """Return the columns chosen and those with a fraction above 0.5.

        With a capacity, those with the largest fractions that fit.
        """
        if self.weight is None:
            return np.concatenate((self.chosen, np.flatnonzero(fraction > 0.5)))
        wanted = np.flatnonzero((fraction > 0.0) & np.isfinite(self.left.cost))
        wanted = wanted[np.argsort(-fraction[wanted], kind="stable")]
        fits = np.cumsum(self.weight[wanted]) <= self.capacity
        return np.concatenate((self.chosen, wanted[fits]))

    def priced(self, price: float) -> Residual:
        """Return what is left with the capacity relaxed by a multiplier.

        The multiplier is rounded down to a grid on which all sums are exact.
        """
        if self.weight is None:
            return self.left
        total = max(float(self.left.prize.sum()), abs(self.left.constant), 1.0)
        grid = 2.0 ** min(0.0, math.ceil(math.log2(total)) - 50)
        paid = math.floor(min(price, total / max(self.capacity, 1.0)) / grid) * grid
        return replace(
            self.left,
            cost=self.left.cost + paid * self.weight,
            constant=self.left.constant - paid * self.capacity,
        )


def leave_out(node: Node, columns: Indices) -> Node:
    """Return the node with some of its open columns excluded."""
    cost = node.left.cost.copy()
    cost[columns] = np.inf
    return replace(node, left=replace(node.left, cost=cost))


def choose(node: Node, columns: Indices) -> Node:
    """Return the node with some of its open columns chosen."""
    left = node.left
    prize = left.prize.copy()
    prize[line_members(left.cover, columns)] = 0.0
    constant = left.constant + float(left.cost[columns].sum())
    chosen = np.concatenate((node.chosen, columns))
    used = 0.0 if node.weight is None else float(node.weight[columns].sum())
    left = replace(left, prize=prize, constant=constant)
    return leave_out(
        replace(node, left=left, chosen=chosen, capacity=node.capacity - used), columns
    )


def fix(node: Node, dual: Floats, target: float, *, price: float = 0.0) -> Node | None:
    """Fix columns by reduced cost, for values of at most `target`; None if the node is closed.

    A column is excluded if the bound with it is above the target, and chosen if the bound
    without it is. `price` is the multiplier of the capacity.
    """
    seen = node.trace.duals
    if not seen or seen[-1] is not dual:  # seen again if the target has decreased
        seen.append(dual)
    node = _fitting(node)
    bound, u, slack = bound_of(node.priced(price), dual)
    bound -= MARGIN
    node = replace(node, bound=max(node.bound, np.ceil(bound)))
    if node.bound > target or node.capacity < 0.0:
        return None
    is_open = np.isfinite(node.left.cost)
    out = is_open & (bound + np.maximum(slack, 0.0) > target)
    sure = is_open & (bound - np.minimum(slack, 0.0) > target)
    if node.weight is not None:
        node = _covering(node, bound + (node.left.prize - u) > target, target)
    node = leave_out(node, np.flatnonzero(out)) if out.any() else node
    return choose(node, np.flatnonzero(sure)) if sure.any() else node


def _covering(node: Node, must: Mask, target: float) -> Node:
    """Return the node with larger prizes for rows that must be covered to reach the target."""
    prize = node.left.prize
    enough = min(target - node.left.constant + 1.0, np.floor(_LARGEST / len(prize)))
    prize = np.where(must, np.maximum(prize, enough), prize)
    return replace(node, left=replace(node.left, prize=prize))


def _fitting(node: Node) -> Node:
    """Return the node without columns of more weight than the capacity left."""
    if node.weight is None:
        return node
    large = np.isfinite(node.left.cost) & (node.weight > node.capacity)
    return leave_out(node, np.flatnonzero(large)) if large.any() else node


# Branching.


@dataclass(eq=False)
class History:
    """Increases of the bound per unit of change, when columns were excluded and chosen.

    Parameters
    ----------
    total : ndarray of float, shape (2, n_columns)
        Sums of the increases.
    trials : ndarray of int, shape (n_columns,)
        Number of trials.
    """

    total: Floats
    trials: Indices

    @classmethod
    def of(cls, n_columns: int) -> History:
        """Return a history without trials."""
        return cls(np.zeros((2, n_columns)), np.zeros(n_columns, dtype=np.intp))

    def expected(self, columns: Indices, fraction: Floats) -> Floats:
        """Return the expected score of branching on each of `columns`."""
        if not self.trials.any():
            return np.minimum(fraction, 1.0 - fraction)
        usual = self.total.sum(axis=1) / self.trials.sum()
        mean = np.where(
            self.trials[columns] > 0,
            self.total[:, columns] / np.maximum(self.trials[columns], 1),
            usual[:, None],
        )
        return _score(mean[0] * fraction, mean[1] * (1.0 - fraction))

    def learn(self, column: int, fraction: float, rises: tuple[float, float]) -> None:
        """Add the increases of the bound when `column` of that fraction was tried."""
        self.total[0, column] += rises[0] / fraction
        self.total[1, column] += rises[1] / (1.0 - fraction)
        self.trials[column] += 1


def branch_on(
    node: Node,
    relaxation: Relaxation,
    packing: Packing,
    history: History,
    target: float,
    *,
    trials: tuple[int, int] = TRIALS,
    deadline: float = math.inf,
) -> list[Node]:
    """Return nodes that together contain every selection of the node of value at most `target`.

    There are none if both ways are closed and one if one way is. Otherwise they are the two ways
    of the column with the best score, among columns tried before the deadline. Columns with a
    reliable history are not tried (reliability branching: Achterberg, Koch and Martin,
    Operations Research Letters 33, 2005).
    """
    node = replace(node, basis=relaxation.basis, relaxation=None)
    columns = _fractional(node, relaxation.fraction)
    fraction = relaxation.fraction[columns]
    expected = history.expected(columns, fraction)
    order = np.argsort(-expected, kind="stable")
    best: Sequence[Node | None] = ()
    best_score, tried = -math.inf, 0
    for column, score in zip(columns[order].tolist(), expected[order].tolist(), strict=True):
        made = _children(node, column)
        children: Sequence[Node | None] = made
        if history.trials[column] < _RELIABLE:
            if tried >= trials[0] or (best and time.monotonic() >= deadline):
                break
            tried += 1
            children, score = _try(made, column, relaxation, packing, history, target, trials[1])
        if score > best_score or None in children:
            best, best_score = children, score
            node.trace.column, node.trace.children = column, tuple(one.trace for one in made)
        if None in children:
            break
    return [child for child in best if child is not None]


def _fractional(node: Node, fraction: Floats) -> Indices:
    """Return the open columns with fractions inside (0, 1), else the one with the largest."""
    columns = node.open_columns
    inner = np.minimum(fraction[columns], 1.0 - fraction[columns]) > _INTEGRAL
    return columns[inner] if inner.any() else columns[[fraction[columns].argmax()]]


def _children(node: Node, column: int) -> list[Node]:
    """Return the node without a column, and with it, each with a trace of its own."""
    one = np.array([column])
    return [replace(child, trace=Trace()) for child in (leave_out(node, one), choose(node, one))]


def _try(
    children: list[Node],
    column: int,
    relaxation: Relaxation,
    packing: Packing,
    history: History,
    target: float,
    iterations: int,
) -> tuple[list[Node | None], float]:
    """Solve both children with a few iterations; return what is left of them and the score."""
    rises: list[float] = []
    found: list[Node | None] = []
    for child in children:
        left = child.left
        ahead = packing.solve(
            left.cost,
            left.prize,
            capacity=child.capacity,
            basis=relaxation.basis,
            iterations=iterations,
        )
        gone = left.constant - children[0].left.constant  # the first has the node's constant
        rises.append(max(ahead.value + gone - relaxation.value, 0.0))
        fixed = fix(child, ahead.dual, target, price=ahead.price)
        found.append(None if fixed is None else _continued(fixed, ahead, left.constant))
    fraction = min(max(float(relaxation.fraction[column]), _INTEGRAL), 1.0 - _INTEGRAL)
    history.learn(column, fraction, (rises[0], rises[1]))
    return found, float(_score(np.array(rises[0]), np.array(rises[1])))


def _continued(node: Node, ahead: Relaxation, constant: float) -> Node:
    """Return a node that continues from its trial, when its constant was `constant`.

    Fixing by reduced cost leaves the dual vector optimal: an excluded column has a positive
    reduced cost and fraction 0, and a chosen one a negative reduced cost and fraction 1. With a
    capacity more is fixed, so the node is solved again.
    """
    if not ahead.solved or node.weight is not None:
        return replace(node, basis=ahead.basis)
    moved = node.left.constant - constant  # the cost of chosen columns leaves the program
    return replace(node, basis=ahead.basis, relaxation=replace(ahead, value=ahead.value - moved))


def _score(without: Floats, with_it: Floats) -> Floats:
    """Return the product of the increases: a good branching raises both bounds."""
    return np.maximum(without, _LEAST_RISE) * np.maximum(with_it, _LEAST_RISE)
