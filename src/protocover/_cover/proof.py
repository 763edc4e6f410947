"""A bound proved case by case: the tree of a branch and bound, with vectors that anyone can check.

A tree parts the selections, again and again, into those without some candidate and those with
it. A vector of payments bounds all selections of a part, and decides upon candidates there: one
is out if no selection with it is below the objective reached, and in if none without it is. So
each part is bounded by what its vectors say, and all selections by the least that is said of a
leaf.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .problem import CoverProblem

# Steps other than a candidate to branch on.
VECTOR, LEAF = -1, -2
# What a proof may hold: steps, and numbers in all of its vectors (eight megabytes).
MOST_STEPS, MOST_NUMBERS = 4096, 2**20
# Above all sums of prizes, in units.
_BEYOND = 2**54

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ProofTree:
    """A tree of cases that together hold every selection, each case with its vectors.

    At most 4,096 steps and 1,048,576 numbers (eight megabytes) in all vectors are kept.

    Parameters
    ----------
    steps : ndarray of int, shape (n_steps,)
        The tree as it is walked from its root. A candidate, from 0 on as the problem numbers
        them, parts the selections: first comes all that is said of those without it, then all
        of those with it. -1 stands for the next vector, which bounds the case at hand, and -2
        ends a case.
    vectors : ndarray of float, shape (n_vectors, n_points)
        Payments of the points, each between 0 and the point's prize.
    """

    steps: NDArray[np.intp]
    vectors: NDArray[np.float64]

    @property
    def n_leaves(self) -> int:
        """Number of cases."""
        return int((self.steps == LEAF).sum())

    def renumbered(self, candidates: NDArray[np.intp]) -> ProofTree:
        """Return the same of a problem in which candidate j is ``candidates[j]``."""
        steps = self.steps.copy()
        branched = steps >= 0
        steps[branched] = candidates[steps[branched]]
        return replace(self, steps=steps)


def bound_by_proof(
    problem: CoverProblem,
    proof: ProofTree,
    *,
    dual: NDArray[np.float64] | None,
    objective: Fraction,
) -> tuple[Fraction | None, list[str]]:
    """Return the bound that a proof tree proves, and its faults.

    All sums are of whole numbers. The vector `dual`, if there is one, comes before all others.
    `objective` is that of some selection: whatever is not below it needs no closer look.
    """
    faults = _faults(problem, proof)
    if faults or problem.step == 0:
        return None, faults
    count = _Count.of(problem, objective)
    root = _Case.of(count)
    if dual is not None:
        root = count.bounded(root, _whole(problem, dual))
        if 2 * int(root.is_out.sum()) > len(root.is_out):  # else a smaller table is not worth it
            count, root = count.without(root.is_out), root.without(root.is_out)
    try:
        vectors = (_whole(problem, vector) for vector in proof.vectors)
        bounds = _bounds(count, root, proof.steps.tolist(), vectors)
    except _NoTreeError as error:
        return None, [f"the proof must be a tree, but {error}"]
    least = min((bound * Fraction(problem.grid) for bound in bounds), default=objective)
    return min(math.ceil(least / problem.step) * problem.step, objective), []


class _NoTreeError(Exception):
    """Steps do not make up a tree."""


def _faults(problem: CoverProblem, proof: ProofTree) -> list[str]:
    """Say what is wrong with the form of a proof tree."""
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


def _whole(problem: CoverProblem, amounts: NDArray[np.float64]) -> Counts:
    """Return amounts, rounded down, as whole numbers of the problem's grid."""
    return np.floor(amounts / problem.grid).astype(np.int64)


def _bounds(
    count: _Count, root: _Case, steps: Sequence[int], vectors: Iterator[Counts]
) -> list[Fraction]:
    """Walk the tree and return the bounds of the leaves that hold any selections."""
    waiting, found = [root], []
    for step in steps:
        if not waiting:
            raise _NoTreeError("it goes on after its last leaf")
        case = waiting.pop()
        if step == VECTOR:
            waiting.append(count.bounded(case, next(vectors)))
        elif step == LEAF:
            found += [] if case.is_empty else [case.bound]
        else:
            waiting += [case.decided(count.place(step), chosen) for chosen in (True, False)]
    if waiting:
        raise _NoTreeError(f"{len(waiting)} of its leaves are missing")
    return found


@dataclass(frozen=True, eq=False)
class _Case:
    """Selections that have some candidates in common, and lack some others.

    `bound` is in units; where something is both in and out there are no such selections.
    """

    is_in: NDArray[np.bool_]
    is_out: NDArray[np.bool_]
    bound: Fraction
    is_empty: bool = False

    @classmethod
    def of(cls, count: _Count) -> _Case:
        """All selections, none of which costs less than nothing."""
        nothing = np.zeros(len(count.wrong), dtype=bool)
        return cls(nothing, nothing, Fraction(0))

    def decided(self, place: int | None, chosen: bool) -> _Case:
        """Return those with a candidate, or without it; None is one that none has."""
        if place is None:
            return replace(self, is_empty=self.is_empty or chosen)
        mine, other = (self.is_in, self.is_out) if chosen else (self.is_out, self.is_in)
        more = mine.copy()
        more[place] = True
        is_empty = self.is_empty or bool(other[place])
        if chosen:
            return replace(self, is_in=more, is_empty=is_empty)
        return replace(self, is_out=more, is_empty=is_empty)

    def without(self, out: NDArray[np.bool_]) -> _Case:
        """Return the same, some candidates that are out forgotten."""
        return replace(self, is_in=self.is_in[~out], is_out=self.is_out[~out])


@dataclass(frozen=True, eq=False)
class _Count:
    """The problem in whole numbers of its grid, the units, but for the cost of a prototype.

    That is ``cost + share`` of them, the share below 1: whether a candidate is overpaid whole
    numbers tell. Only candidates that cost less than the prize they cover are counted: no
    other is needed for an optimum.

    Parameters
    ----------
    table : csr_array of int, shape (n_counted, n_points)
        Whether a ball holds a point.
    wrong : ndarray of int, shape (n_counted,)
        Weight of other classes in each ball.
    candidates : ndarray of int, shape (n_counted,)
        Which candidates these are.
    cost, share : int and Fraction
        The cost of a prototype.
    below : Fraction
        The next value below the objective reached that one can have.
    """

    table: csr_array
    wrong: Counts
    candidates: NDArray[np.intp]
    cost: int
    share: Fraction
    below: Fraction

    @classmethod
    def of(cls, problem: CoverProblem, objective: Fraction) -> _Count:
        """Count a problem whose weights lie on its grid."""
        unit = Fraction(problem.grid)
        # Beyond what any ball can cover neither cost nor wrong weights need be counted.
        cost = min(math.floor(problem.exact_cost / unit), _BEYOND)
        wrong = _whole(problem, np.minimum(problem.wrong, _BEYOND * problem.grid))
        balls = csr_array(problem.cover.T)
        pays = np.flatnonzero(wrong + cost < balls @ _whole(problem, problem.prize))
        below = (math.ceil(objective / problem.step) - 1) * problem.step
        return cls(
            table=balls[pays].astype(np.int64),
            wrong=wrong[pays],
            candidates=pays,
            cost=cost,
            share=problem.exact_cost / unit % 1,
            below=below / unit,
        )

    def without(self, out: NDArray[np.bool_]) -> _Count:
        """Leave out candidates."""
        kept = ~out
        return replace(
            self, table=self.table[kept], wrong=self.wrong[kept], candidates=self.candidates[kept]
        )

    def place(self, candidate: int) -> int | None:
        """Return where a candidate is counted, None where it is not."""
        place = int(np.searchsorted(self.candidates, candidate))
        there = place < len(self.candidates) and self.candidates[place] == candidate
        return place if there else None

    def bounded(self, case: _Case, u: Counts) -> _Case:
        """Return a case with what payments prove of it.

        ``sum(u) + sum_j (cost_j - u(ball j))`` over the candidates that are in, and those of
        the others that are overpaid, bounds it: a point pays at most its prize where it is
        uncovered, and else to the balls that hold it.
        """
        slack = self.wrong + self.cost - self.table @ u
        is_open = ~(case.is_in | case.is_out)
        overpaid = is_open & (slack < 0)  # by less than one, the share makes up for it
        counted = np.flatnonzero((case.is_in & ~case.is_out) | overpaid)
        found = sum(slack[counted].tolist(), int(u.sum())) + len(counted) * self.share
        missing = self.below - found
        if missing < 0:
            return replace(case, bound=max(case.bound, found))
        # With an open one comes its slack; without one what it is overpaid by comes back.
        out = is_open & ~overpaid & (slack > math.floor(missing - self.share))
        sure = overpaid & (-slack > math.floor(missing + self.share))
        bound = max(case.bound, found)
        return replace(case, is_in=case.is_in | sure, is_out=case.is_out | out, bound=bound)
