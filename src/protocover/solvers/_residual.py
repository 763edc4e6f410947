"""What is left of a cover problem during a search, in integers, and its linear relaxation.

Costs and prizes are counted in units so small that every objective is an integer and, of two
selections with equal objective, the one with fewer prototypes is cheaper by one unit for each.
So ties are exact, and every comparison in a reduction is exact.

The dual of the linear relaxation is a packing: the largest sum of dual variables, each at most
its row's prize, such that those of a column sum to at most its cost. Branching (a candidate
excluded or chosen, a row that must be covered) only changes bounds of this program, so the
simplex method continues from its last basis.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from .._cover import CoverProblem
from .._cover.table import line_members
from .._typing import Floats, Indices, Mask
from ._duals import ascend, mend
from ._lp import PackingProgram, make_packing, scale_of

logger = logging.getLogger(__name__)


# Integers up to here, and differences of their sums, are exact as floats.
_LARGEST = 2**50
# A bound must exceed a value by this, in units, so that it still does after its dual vector has
# been rounded down to the grid of the problem.
MARGIN = 2.0**-20


@dataclass(frozen=True, eq=False)
class Residual:
    """A prize-collecting set cover that is left of another one.

    Parameters
    ----------
    cover : csc_array of bool, shape (n_rows, n_columns)
        Points that are left, candidates that are left.
    cost, prize : ndarray of float
        Integers, of the columns and of the rows.
    candidates : ndarray of int, shape (n_columns,)
        The candidate of each column.
    rows : ndarray of int, shape (n_points,)
        The row of each point of the original problem; -1 if it has none.
    share : ndarray of float, shape (n_points,)
        Dual variable of each point without a row, as a fraction of its prize.
    taken : ndarray of int
        Candidates already chosen.
    constant : float
        Their cost and that of points left uncovered, an integer.
    unit : Fraction
        The objective of one unit, with the tie rule.
    ties : int
        Units per step of the true objective, more than one if ties are broken.
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
    def of(cls, problem: CoverProblem, keep: Mask | None = None) -> Residual:
        """Count the worthwhile candidates of `problem`, or those of them to `keep`, in units."""
        core, candidates = problem.core, problem.worthwhile
        if keep is not None:
            core, candidates = core.narrowed(np.flatnonzero(keep)), candidates[keep]
        unit, ties, exact = _units(problem)
        scale = 1 / unit
        exact_cost = round(problem.exact_cost * scale) + (1 if ties > 1 else 0)
        return cls(
            cover=core.cover,
            # At a cost above the largest no candidate is worthwhile.
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

    def keep_columns(self, keep: Mask) -> Residual:
        """Exclude all other candidates."""
        if keep.all():
            return self
        return replace(
            self,
            cover=self.cover[:, keep],
            cost=self.cost[keep],
            candidates=self.candidates[keep],
        )

    def keep_rows(self, keep: Mask, share: Floats | None = None) -> Residual:
        """Drop other rows; their dual variables are `share` (default 0) of their prizes."""
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
        """Return the row of each original point after row r became ``number[r]``."""
        rows = self.rows.copy()
        there = rows >= 0
        rows[there] = number[rows[there]]
        return rows

    def take(self, columns: Mask) -> Residual:
        """Choose candidates and drop the rows that they cover."""
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
        """Return the objective, in units, of `columns` and what is taken."""
        missed = np.ones(len(self.prize), dtype=bool)
        missed[line_members(self.cover, columns)] = False
        return self.constant + float(self.cost[columns].sum() + self.prize[missed].sum())

    def selection(self, columns: Indices) -> Indices:
        """Return the candidates of `columns` and those taken."""
        return np.concatenate((self.taken, self.candidates[columns]))

    def plain(self) -> Residual:
        """Return the residual without the tie rule, counted in steps of the objective."""
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
        """Return a feasible dual vector of the original points for one of the rows, in units.

        Candidates that reductions dropped exceed their cost by rounding alone; this is repaired,
        and the vector raised where possible.
        """
        return ascend(problem, mend(problem, self.spread(problem, dual)))

    def spread(self, problem: CoverProblem, dual: Floats) -> Floats:
        """Divide dual variables of the rows, in units, among their points by prize."""
        share = np.divide(dual, self.prize, out=np.zeros_like(dual), where=self.prize > 0)
        shares = self.share.copy()
        shares[self.rows >= 0] = share[self.rows[self.rows >= 0]]
        return np.asarray(shares * problem.prize)


def bound_of(residual: Residual, dual: Floats) -> tuple[float, Floats, Floats]:
    """Return the bound in units that `dual` proves, `dual` on a grid, and the reduced costs.

    The grid is a binary fraction of a unit on which all sums are exact.
    """
    total = max(float(residual.prize.sum()), 1.0)
    grid = 2.0 ** min(0.0, np.ceil(np.log2(total)) - 52)
    u = np.floor(np.clip(dual, 0.0, residual.prize) / grid) * grid
    slack = residual.cost - residual.cover.T @ u
    return residual.constant + float(u.sum() + np.minimum(slack, 0.0).sum()), u, slack


def leave_possible(residual: Residual, dual: Floats, target: float) -> Residual:
    """Exclude, by reduced cost, candidates of no selection with a value of at most `target`."""
    bound, _, slack = bound_of(residual, dual)
    return residual.keep_columns(bound - MARGIN + np.maximum(slack, 0.0) <= target)


@dataclass(frozen=True, eq=False)
class Relaxation:
    """A solution of the linear relaxation, in the residual's units.

    Parameters
    ----------
    dual : ndarray of float, shape (n_rows,)
        Dual variable of each row, between 0 and its prize.
    fraction : ndarray of float, shape (n_columns,)
        Fraction of each column that is chosen, between 0 and 1.
    value : float
        Its objective without the residual's constant; an estimate unless `solved`.
    solved : bool
        Whether it is optimal, rather than cut off by a limit on iterations or time.
    basis : object
        The last basis of the simplex method.
    price : float
        Multiplier of the capacity.
    """

    dual: Floats
    fraction: Floats
    value: float
    solved: bool
    basis: Any
    price: float = 0.0


class Packing:
    """The packing of a residual in HiGHS's memory; its bounds may change with each solve.

    Parameters
    ----------
    residual : Residual
        The rows and columns of the program.
    weight : ndarray of float, shape (n_columns,), or None, default=None
        How much of a capacity each column uses; None if there is no capacity. The capacity's
        multiplier is one more variable of the packing.
    verbose : int, default=0
        Above 1 HiGHS writes its log.
    """

    def __init__(
        self, residual: Residual, *, weight: Floats | None = None, verbose: int = 0
    ) -> None:
        self.residual, self._weight, self._verbose = residual, weight, verbose
        self._scale = scale_of(residual.cost, residual.prize)
        # Divided by this the multiplier's coefficients are at most one.
        self._portion = 1.0 if weight is None else max(float(weight.max(initial=1.0)), 1.0)

    def solve(
        self,
        cost: Floats,
        prize: Floats,
        *,
        capacity: float = math.inf,
        basis: Any = None,
        iterations: float = math.inf,
        deadline: float = math.inf,
    ) -> Relaxation:
        """Maximize the dual variables, each at most its `prize`, within the columns' `cost`.

        An infinite cost does not constrain. Starts from `basis`, by default the last one.
        """
        if 0 in self.residual.cover.shape:  # nothing for HiGHS to do; each row pays its prize
            return Relaxation(prize, np.zeros(len(cost)), float(prize.sum()), True, None)
        if time.monotonic() >= deadline:
            return Relaxation(np.zeros(len(prize)), np.zeros(len(cost)), 0.0, False, basis)
        found = self._program.solve(
            prize / self._scale,
            self._ceilings(cost, prize) / self._scale,
            price=0.0 if self._weight is None else max(capacity, 0.0) / self._portion,
            basis=basis,
            iterations=iterations,
            deadline=deadline,
        )
        price = max(float(found.columns[len(prize) :].sum()), 0.0)
        return Relaxation(
            dual=_between(found.columns[: len(prize)] * self._scale, prize),
            fraction=_between(found.multipliers, 1.0),
            value=found.value * self._scale,
            solved=found.solved,
            basis=found.basis,
            price=price * self._scale / self._portion,
        )

    @cached_property
    def _program(self) -> PackingProgram:
        """The packing in HiGHS."""
        price = None if self._weight is None else -self._weight / self._portion
        return make_packing(self.residual.cover, price, verbose=self._verbose > 1)

    def _ceilings(self, cost: Floats, prize: Floats) -> Floats:
        """Return the upper bound of each column: its cost, or if infinite a sum never reached.

        After a bound has moved, even far, the basis stays dual feasible. After it has become
        infinite it does not, and the simplex method would have to look for another first.
        """
        is_open = np.isfinite(cost)
        if is_open.all():
            return cost
        if (prize > self.residual.prize).any():
            return np.where(is_open, cost, self._beyond(np.maximum(prize, self.residual.prize)))
        return np.where(is_open, cost, self._beyond_unraised)

    @cached_property
    def _beyond_unraised(self) -> Floats:
        """Above the sum that each column can reach while no prize is raised."""
        return self._beyond(self.residual.prize)

    def _beyond(self, prize: Floats) -> Floats:
        """Return one unit more than all the prizes in each column."""
        return np.asarray(self.residual.cover.T @ prize + 1.0)


def relax(
    residual: Residual,
    *,
    deadline: float = math.inf,
    iterations: int | None = None,
    packing: Packing | None = None,
) -> Relaxation | None:
    """Solve the relaxation (paper, section 3.1) as a packing; None if a limit ended it.

    As a packing it has a column per row instead of two per pair, and no slacks; the fractions
    are its multipliers. The solution is clipped to its box and its objective recomputed, so
    neither needs to be optimal: the dual vector proves what it proves. A limit on `iterations`
    has the same effect on every machine. A `packing` of this residual continues.
    """
    found = (packing or Packing(residual)).solve(
        residual.cost,
        residual.prize,
        iterations=math.inf if iterations is None else iterations,
        deadline=deadline,
    )
    if not found.solved:
        logger.info("the relaxation was not solved in time")
        return None
    missed_share = np.maximum(1.0 - residual.cover @ found.fraction, 0.0)
    # NumPy's sums: those of a linear algebra library depend on the processor.
    value = (residual.cost * found.fraction).sum() + (residual.prize * missed_share).sum()
    return replace(found, value=float(value))


def _between(amounts: Floats, most: Floats | float) -> Floats:
    """Clip amounts to the range from 0 to `most`."""
    return np.minimum(np.maximum(amounts, 0.0), most)


def _units(problem: CoverProblem) -> tuple[Fraction, int, bool]:
    """Return the unit, the number of units per step of the objective, and if all is exact."""
    total = Fraction(float(problem.prize.sum()))
    most, step = problem.n_points, problem.step
    if not step or total > step * _LARGEST:
        # Too fine to count: use a grid on which all sums are exact.
        return Fraction(problem.grid) * 4, 1, False
    # Equal objectives with k more prototypes on one side need the cost of k to be whole weights.
    possible = problem.weight_step <= step * most
    ties = most + 1 if possible and total * (most + 1) <= step * _LARGEST else 1
    return step / ties, ties, True


def _count(amounts: Floats, scale: Fraction) -> Floats:
    """Return amounts in units, rounded to integers; exact below `_LARGEST`."""
    return np.round(amounts * float(scale))
