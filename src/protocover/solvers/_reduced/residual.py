"""What is left of a cover problem while it is being reduced, in whole numbers, and the way back.

Costs and prizes are counted in units so small that the objective is a whole number and,
of two selections with equal objective, the one with fewer prototypes is cheaper by one
unit for each. So ties are ties, and every comparison that a reduction makes is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ..._cover import CoverProblem
from ..._cover.runs import line_members
from .._duals import ascend, mend

# Whole numbers up to here, and differences of their sums, are exact as floats.
_LARGEST = 2**50

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Residual:
    """A prize-collecting set cover that came out of another one.

    Parameters
    ----------
    cover : csc_array of bool, shape (n_rows, n_columns)
        Points that are left by candidates that are left.
    cost, prize : ndarray of float
        Whole numbers, of the columns and of the rows.
    candidates : ndarray of int, shape (n_columns,)
        Which candidate each column is.
    rows : ndarray of int, shape (n_points,)
        Which row each point of the original problem went into; -1 if it is gone.
    share : ndarray of float, shape (n_points,)
        Share of its prize that a point which is gone pays in the dual.
    taken : ndarray of int
        Candidates already chosen.
    constant : float
        What those and the points paid for cost, a whole number.
    unit : Fraction
        The objective that one unit stands for, the tie rule included.
    ties : int
        Units to a step of the true objective, more than one where ties are broken.
    exact : bool
        Whether costs and prizes are exactly those of the original problem.
    """

    cover: csc_array
    cost: Floats
    prize: Floats
    candidates: Indices
    rows: Indices
    share: Floats
    taken: Indices
    constant: float
    unit: Fraction
    ties: int
    exact: bool

    @classmethod
    def of(cls, problem: CoverProblem, keep: NDArray[np.bool_] | None = None) -> Residual:
        """Count the worthwhile part of `problem` in whole numbers, or what is to be kept of it."""
        core, candidates = problem.core, problem.worthwhile
        if keep is not None:
            core, candidates = core.narrowed(np.flatnonzero(keep)), candidates[keep]
        unit, ties, exact = _units(problem)
        scale = 1 / unit
        exact_cost = round(problem.exact_cost * scale) + (1 if ties > 1 else 0)
        return cls(
            cover=core.cover,
            # A cost beyond the largest leaves no candidate worthwhile.
            cost=_count(core.wrong, scale) + float(min(exact_cost, _LARGEST)),
            prize=_count(problem.prize, scale),
            candidates=candidates,
            rows=np.arange(problem.n_points),
            share=np.zeros(problem.n_points),
            taken=np.empty(0, dtype=np.intp),
            constant=0.0,
            unit=unit,
            ties=ties,
            exact=exact,
        )

    def keep_columns(self, keep: NDArray[np.bool_]) -> Residual:
        """Let only some of the candidates be chosen."""
        if keep.all():
            return self
        return replace(
            self,
            cover=self.cover[:, keep],
            cost=self.cost[keep],
            candidates=self.candidates[keep],
        )

    def keep_rows(self, keep: NDArray[np.bool_], share: Floats | None = None) -> Residual:
        """Leave out points, whose dual payments are `share` of their prizes, by default none."""
        if keep.all():
            return self
        rows = self.renumbered(np.where(keep, np.cumsum(keep) - 1, -1))
        gone = np.flatnonzero((rows < 0) & (self.rows >= 0))
        shares = self.share.copy()
        shares[gone] = 0.0 if share is None else share[self.rows[gone]]
        return replace(
            self, cover=self.cover[keep], prize=self.prize[keep], rows=rows, share=shares
        )

    def renumbered(self, number: Indices) -> Indices:
        """Where each original point is after row r became ``number[r]``."""
        rows = self.rows.copy()
        there = rows >= 0
        rows[there] = number[rows[there]]
        return rows

    def take(self, columns: NDArray[np.bool_]) -> Residual:
        """Choose candidates for good, with all the points they cover."""
        if not columns.any():
            return self
        covered = np.zeros(self.cover.shape[0], dtype=bool)
        covered[line_members(self.cover, np.flatnonzero(columns))] = True
        chosen = replace(
            self,
            taken=np.concatenate((self.taken, self.candidates[columns])),
            constant=self.constant + float(self.cost[columns].sum()),
        )
        return chosen.keep_columns(~columns).keep_rows(~covered)

    def value(self, columns: Indices) -> float:
        """Objective of choosing `columns` besides what is taken, in units."""
        missed = np.ones(len(self.prize), dtype=bool)
        missed[line_members(self.cover, columns)] = False
        return self.constant + float(self.cost[columns].sum() + self.prize[missed].sum())

    def selection(self, columns: Indices) -> Indices:
        """Candidates of the original problem that choosing `columns` comes to."""
        return np.concatenate((self.taken, self.candidates[columns]))

    def plain(self) -> Residual:
        """Return the same without the tie rule, counted in steps of the objective."""
        if self.ties == 1:
            return self
        return replace(
            self,
            cost=(self.cost - 1.0) / self.ties,
            prize=self.prize / self.ties,
            constant=(self.constant - len(self.taken)) / self.ties,
            unit=self.unit * self.ties,
            ties=1,
        )

    def lift_dual(self, problem: CoverProblem, dual: Floats) -> Floats:
        """Turn a dual vector of the rows, in units, into one of the original points.

        Points merged into a row share what it pays in proportion to their prizes. What the
        reductions drop is overpaid by rounding alone; that is mended, and the vector is
        raised where it can be.
        """
        return ascend(problem, mend(problem, self.spread(problem, dual)))

    def spread(self, problem: CoverProblem, dual: Floats) -> Floats:
        """Share out what rows pay, in units, among the original points in them."""
        share = np.divide(dual, self.prize, out=np.zeros_like(dual), where=self.prize > 0)
        shares = self.share.copy()
        shares[self.rows >= 0] = share[self.rows[self.rows >= 0]]
        return np.asarray(shares * problem.prize)


def _units(problem: CoverProblem) -> tuple[Fraction, int, bool]:
    """Choose the unit; return it, how many make a step of the objective, and if all is exact."""
    total = Fraction(float(problem.prize.sum()))
    most, step = problem.n_points, problem.step
    if not step or total > step * _LARGEST:
        # Too fine to count: a grid on which at least every sum is exact.
        return Fraction(problem.grid) * 4, 1, False
    # Equal objectives with k more prototypes on one side need the cost of k to be whole weights.
    possible = problem.weight_step <= step * most
    ties = most + 1 if possible and total * (most + 1) <= step * _LARGEST else 1
    return step / ties, ties, True


def _count(amounts: Floats, scale: Fraction) -> Floats:
    """Amounts in units, as whole numbers; exact below `_LARGEST`."""
    return np.round(amounts * float(scale))
