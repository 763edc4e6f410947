"""Proof trees: the tree of a branch and bound with dual vectors, which anyone can check.

A tree divides the selections, again and again, into those without some candidate and those with
it. A dual vector bounds the selections of a node and fixes candidates by reduced cost: one is
excluded if no selection with it is below the objective reached, and chosen if none without it
is. So each node is bounded by its vectors, and all selections by the least bound of a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._typing import Floats, Indices, Mask
from .problem import CoverProblem

# Steps other than a candidate to branch on.
VECTOR, LEAF = -1, -2
# Largest number of steps, and of numbers in all vectors (eight megabytes).
MOST_STEPS, MOST_NUMBERS = 4096, 2**20
# Above all sums of prizes, in units.
_BEYOND = 2**54

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProofTree:
    """A branch-and-bound tree whose leaves together contain every selection.

    At most 4,096 steps and 1,048,576 numbers (eight megabytes) in all vectors are kept.

    Parameters
    ----------
    steps : ndarray of int, shape (n_steps,)
        The tree in preorder. A candidate, as numbered in the problem, branches: first follows
        the subtree without it, then the one with it. -1 applies the next vector to the current
        node, and -2 ends a leaf.
    vectors : ndarray of float, shape (n_vectors, n_points)
        Dual vectors, with numbers between 0 and the points' prizes.
    """

    steps: Indices
    vectors: Floats

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int((self.steps == LEAF).sum())

    def renumbered(self, candidates: Indices) -> ProofTree:
        """Return the tree of a problem in which candidate j is ``candidates[j]``."""
        steps = self.steps.copy()
        branched = steps >= 0
        steps[branched] = candidates[steps[branched]]
        return replace(self, steps=steps)


def bound_by_proof(
    problem: CoverProblem,
    proof: ProofTree,
    *,
    dual: Floats | None,
    objective: Fraction,
) -> tuple[Fraction | None, list[str]]:
    """Return the bound that a proof tree proves, and its faults.

    All sums are of integers. The vector `dual`, if given, is applied before all others.
    `objective` is that of some selection: nodes with this bound are closed.
    """
    faults = _faults(problem, proof)
    if faults or problem.step == 0:
        return None, faults
    numbers = _Integers.of(problem, objective)
    root = _Node.of(numbers)
    if dual is not None:
        root = numbers.bounded(root, _in_units(problem, dual))
        if 2 * int(root.is_out.sum()) > len(root.is_out):  # else a smaller table does not pay
            numbers, root = numbers.without(root.is_out), root.without(root.is_out)
    try:
        vectors = (_in_units(problem, vector) for vector in proof.vectors)
        bounds = _bounds(numbers, root, proof.steps.tolist(), vectors)
    except _NoTreeError as error:
        return None, [f"the proof must be a tree, but {error}"]
    least = min((bound * Fraction(problem.grid) for bound in bounds), default=objective)
    return min(math.ceil(least / problem.step) * problem.step, objective), []


class _NoTreeError(Exception):
    """The steps are not a tree."""


def _faults(problem: CoverProblem, proof: ProofTree) -> list[str]:
    """Return faults in the form of a proof tree."""
    steps, vectors, n_points = proof.steps, proof.vectors, problem.n_points
    if not problem.on_grid:
        return ["a proof tree needs prizes on a common grid"]
    if steps.ndim != 1 or steps.dtype.kind != "i" or len(steps) > MOST_STEPS:
        return [f"steps of the proof must be at most {MOST_STEPS} integers"]
    if not ((steps >= LEAF) & (steps < problem.n_candidates)).all():
        return [f"steps of the proof must lie between {LEAF} and {problem.n_candidates - 1}"]
    expected = (int((steps == VECTOR).sum()), n_points)
    if vectors.shape != expected:
        return [f"vectors of the proof must have shape {expected}, got {vectors.shape}"]
    if vectors.size > MOST_NUMBERS:
        return [f"vectors of the proof must hold at most {MOST_NUMBERS} numbers"]
    if not ((vectors >= 0.0) & (vectors <= problem.prize)).all():
        return ["vectors of the proof must hold numbers between 0 and the points' prizes"]
    return []


def _in_units(problem: CoverProblem, amounts: Floats) -> Counts:
    """Return amounts, rounded down, as integer multiples of the problem's grid."""
    return np.floor(amounts / problem.grid).astype(np.int64)


def _bounds(
    numbers: _Integers, root: _Node, steps: Sequence[int], vectors: Iterator[Counts]
) -> list[Fraction]:
    """Return the bounds of all leaves that contain selections."""
    waiting, found = [root], []
    for step in steps:
        if not waiting:
            raise _NoTreeError("it goes on after its last leaf")
        node = waiting.pop()
        if step == VECTOR:
            waiting.append(numbers.bounded(node, next(vectors)))
        elif step == LEAF:
            found += [] if node.is_empty else [node.bound]
        else:
            waiting += [node.decided(numbers.place(step), chosen) for chosen in (True, False)]
    if waiting:
        raise _NoTreeError(f"{len(waiting)} of its leaves are missing")
    return found


@dataclass(frozen=True, eq=False)
class _Node:
    """The selections with all candidates that are in and none of those that are out.

    `bound` is in units. There are none if a candidate is both in and out.
    """

    is_in: Mask
    is_out: Mask
    bound: Fraction
    is_empty: bool = False

    @classmethod
    def of(cls, numbers: _Integers) -> _Node:
        """Return the node of all selections."""
        none = np.zeros(len(numbers.wrong), dtype=bool)
        return cls(none, none, Fraction(0))

    def decided(self, place: int | None, chosen: bool) -> _Node:
        """Return the child with a candidate or without it; None is one that is never needed."""
        if place is None:
            return replace(self, is_empty=self.is_empty or chosen)
        mine, other = (self.is_in, self.is_out) if chosen else (self.is_out, self.is_in)
        more = mine.copy()
        more[place] = True
        is_empty = self.is_empty or bool(other[place])
        if chosen:
            return replace(self, is_in=more, is_empty=is_empty)
        return replace(self, is_out=more, is_empty=is_empty)

    def without(self, out: Mask) -> _Node:
        """Return the node without candidates that are out."""
        return replace(self, is_in=self.is_in[~out], is_out=self.is_out[~out])


@dataclass(frozen=True, eq=False)
class _Integers:
    """The worthwhile candidates of a problem, in integer multiples of its grid (units).

    Parameters
    ----------
    table : csr_array of int, shape (n_kept, n_points)
        Whether a ball contains a point.
    wrong : ndarray of int, shape (n_kept,)
        Weight of other classes in each ball.
    candidates : ndarray of int, shape (n_kept,)
        The candidates that cost less than the prize they cover; no other is ever needed.
    cost, share : int and Fraction
        The cost of a prototype is ``cost + share``, with a share below 1. So an integer
        comparison decides whether a candidate receives more than it costs.
    below : Fraction
        The next possible value below the objective reached.
    """

    table: csr_array
    wrong: Counts
    candidates: Indices
    cost: int
    share: Fraction
    below: Fraction

    @classmethod
    def of(cls, problem: CoverProblem, objective: Fraction) -> _Integers:
        """Convert a problem whose weights are on its grid."""
        unit = Fraction(problem.grid)
        # Larger costs and wrong weights than any ball can cover make no difference.
        cost = min(math.floor(problem.exact_cost / unit), _BEYOND)
        wrong = _in_units(problem, np.minimum(problem.wrong, _BEYOND * problem.grid))
        balls = csr_array(problem.cover.T)
        pays = np.flatnonzero(wrong + cost < balls @ _in_units(problem, problem.prize))
        below = (math.ceil(objective / problem.step) - 1) * problem.step
        return cls(
            table=balls[pays].astype(np.int64),
            wrong=wrong[pays],
            candidates=pays,
            cost=cost,
            share=problem.exact_cost / unit % 1,
            below=below / unit,
        )

    def without(self, out: Mask) -> _Integers:
        """Exclude candidates."""
        kept = ~out
        return replace(
            self, table=self.table[kept], wrong=self.wrong[kept], candidates=self.candidates[kept]
        )

    def place(self, candidate: int) -> int | None:
        """Return the row of a candidate, None if it is not worthwhile."""
        place = int(np.searchsorted(self.candidates, candidate))
        there = place < len(self.candidates) and self.candidates[place] == candidate
        return place if there else None

    def bounded(self, node: _Node, u: Counts) -> _Node:
        """Return a node with the bound of a dual vector, and candidates fixed by reduced cost.

        The bound is ``sum(u) + sum_j (cost_j - u(ball j))`` over the candidates that are in,
        and open candidates that receive more than they cost.
        """
        slack = self.wrong + self.cost - self.table @ u
        is_open = ~(node.is_in | node.is_out)
        overpaid = is_open & (slack < 0)  # if by less than 1, the share makes up for it
        counted = np.flatnonzero((node.is_in & ~node.is_out) | overpaid)
        found = sum(slack[counted].tolist(), int(u.sum())) + len(counted) * self.share
        missing = self.below - found
        if missing < 0:
            return replace(node, bound=max(node.bound, found))
        # Choosing an open candidate adds its slack; excluding an overpaid one adds the excess.
        out = is_open & ~overpaid & (slack > math.floor(missing - self.share))
        sure = overpaid & (-slack > math.floor(missing + self.share))
        bound = max(node.bound, found)
        return replace(node, is_in=node.is_in | sure, is_out=node.is_out | out, bound=bound)
