"""The linear relaxation as a packing that stays in HiGHS while its bounds change.

The dual of the relaxation is a packing: the most that the rows can pay, each up to its
prize, so that no column is paid more than it costs. Whatever branching does to a residual
(a candidate left out or chosen, a point that must be covered) changes bounds of that program
and nothing else, so that the simplex method goes on from where it last was.

Where what is chosen must fit into a room, the packing has one payment more, the price of that
room, which is paid for all of it and raises what each column may be paid by its burden.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from .residual import Residual

__all__ = ["Packing", "Payments", "magnitude"]

Floats = NDArray[np.float64]

# Of its types only the arrays are told.
_HIGHSPY: Any = highspy

# HiGHS compares with absolute tolerances around 1e-7; beyond this its numbers blur.
_COMFORTABLE = 2.0**30
# More iterations than there ever are.
_NO_LIMIT = 2**31 - 1
# Iterations from one look at the clock to the next: a tenth of a second at 60,000 points.
_LOOK_EVERY = 25


@dataclass(frozen=True, eq=False)
class Payments:
    """What the packing came to, in the residual's units.

    Parameters
    ----------
    dual : ndarray of float, shape (n_rows,)
        What each row pays, between 0 and its prize.
    fraction : ndarray of float, shape (n_columns,)
        How much of each column is chosen, between 0 and 1.
    value : float
        Sum of the payments as HiGHS counts it; an estimate unless `solved`.
    solved : bool
        Whether that is the optimum, and not what iterations or time allowed.
    basis : object
        Where the simplex method stood.
    price : float
        What a unit of the room is worth.
    """

    dual: Floats
    fraction: Floats
    value: float
    solved: bool
    basis: Any
    price: float = 0.0


class Packing:
    """A packing in HiGHS's memory, of which each solve may change the bounds.

    Parameters
    ----------
    residual : Residual
        Whose cover is packed.
    burden : ndarray of float, shape (n_columns,), or None, default=None
        What each column takes of a room; None where there is none.
    verbose : int, default=0
        Above 1 HiGHS writes its log.
    """

    def __init__(
        self, residual: Residual, *, burden: Floats | None = None, verbose: int = 0
    ) -> None:
        self.residual, self._burden, self._verbose = residual, burden, verbose
        self._scale = magnitude(residual)
        # In these the price's coefficients are at most one.
        self._portion = 1.0 if burden is None else max(float(burden.max(initial=1.0)), 1.0)
        self._rows = np.arange(residual.cover.shape[0], dtype=np.int32)
        self._columns = np.arange(residual.cover.shape[1], dtype=np.int32)
        self._nothing = np.zeros(len(self._rows))
        self._no_floor = np.full(len(self._columns), -np.inf)
        self._highs: Any = None

    def solve(
        self,
        cost: Floats,
        prize: Floats,
        *,
        room: float = math.inf,
        basis: Any = None,
        iterations: float = math.inf,
        deadline: float = math.inf,
    ) -> Payments:
        """Find the largest payments up to `prize` that pay no column more than `cost`.

        A column of infinite cost may take in anything. With a burden a price for all of the
        `room` is taken from the payments and given to the columns. Starts from `basis`, by
        default from where the last solve ended.
        """
        if 0 in self.residual.cover.shape:  # HiGHS would have nothing to do; all rows pay all
            return Payments(prize, np.zeros(len(cost)), float(prize.sum()), True, None)
        if time.monotonic() >= deadline:
            return Payments(self._nothing, np.zeros(len(cost)), 0.0, False, basis)
        if self._highs is None:
            self._highs = self._begin()
        highs = self._highs
        ceilings = self._ceilings(cost, prize)
        highs.changeColsBounds(len(prize), self._rows, self._nothing, prize / self._scale)
        highs.changeRowsBounds(len(cost), self._columns, self._no_floor, ceilings / self._scale)
        if self._burden is not None:
            highs.changeColCost(len(prize), max(room, 0.0) / self._portion)
        if basis is not None:
            highs.setBasis(basis)
        solved = self._run(iterations, deadline)
        values, fraction = self._answer()
        return Payments(
            dual=_between(values[: len(prize)] * self._scale, prize),
            fraction=_between(fraction, 1.0),
            value=-highs.getObjectiveValue() * self._scale,
            solved=solved,
            basis=highs.getBasis(),
            price=max(float(values[len(prize) :].sum()), 0.0) * self._scale / self._portion,
        )

    def _answer(self) -> tuple[Floats, Floats]:
        """Return HiGHS's payments, its price last if there is one, and how much of each column.

        All numbers, also where it came to no end.
        """
        answer = self._highs.getSolution()
        values, fraction = np.array(answer.col_value), -np.array(answer.row_dual)
        if len(values) < len(self._rows) or len(fraction) != len(self._columns):
            return self._nothing, np.zeros(len(self._columns))  # it was not even begun
        if not (np.isfinite(values).all() and np.isfinite(fraction).all()):
            return np.nan_to_num(values), np.nan_to_num(fraction)
        return values, fraction

    def _ceilings(self, cost: Floats, prize: Floats) -> Floats:
        """Return what each column may be paid: its cost, if infinite more than ever comes in.

        A bound that moves, even far, leaves the simplex method its dual feasible basis; one
        that vanishes does not, and it would have to look for another first.
        """
        is_open = np.isfinite(cost)
        if is_open.all():
            return cost
        raised = prize > self.residual.prize
        most = (
            self._most
            if not raised.any()
            else self._come_in(np.maximum(prize, self.residual.prize))
        )
        return np.where(is_open, cost, most)

    @cached_property
    def _most(self) -> Floats:
        """More than each column can be paid while no prize is raised."""
        return self._come_in(self.residual.prize)

    def _come_in(self, prize: Floats) -> Floats:
        """Return one unit more than all the prizes in each column."""
        return np.asarray(self.residual.cover.T @ prize + 1.0)

    def _begin(self) -> Any:
        """Return HiGHS with the packing in its memory."""
        price = None if self._burden is None else -self._burden / self._portion
        return _highs_with(self.residual, price, verbose=self._verbose)

    def _run(self, iterations: float, deadline: float) -> bool:
        """Run the simplex method; tell whether it came to an end."""
        highs = self._highs
        highs.setOptionValue("simplex_iteration_limit", int(min(iterations, _NO_LIMIT)))
        highs.setCallback(_Watch(deadline), None)
        highs.startCallback(_HIGHSPY.cb.HighsCallbackType.kCallbackSimplexInterrupt)
        try:
            highs.run()
        except BaseException:
            # Ctrl-C went right through HiGHS, which is in no state to be asked again.
            self._highs = None
            raise
        return bool(highs.getModelStatus() == _HIGHSPY.HighsModelStatus.kOptimal)


class _Watch:
    """What HiGHS calls at each iteration: Ctrl-C is heard, and now and then the clock looked at.

    Limits of iterations would do for that as well, if the simplex method went on as it was.
    It does not: begun anew it perturbs the costs anew, and in slices of a hundred it goes
    round for ever on programs of 60,000 points that take it two thousand at one go.
    """

    def __init__(self, deadline: float) -> None:
        self._deadline, self._calls = deadline, 0

    def __call__(self, kind: Any, message: str, state: Any, answer: Any, data: Any) -> None:
        """Have the run end if time is up."""
        self._calls += 1
        if self._calls % _LOOK_EVERY == 0 and time.monotonic() >= self._deadline:
            answer.user_interrupt = True


def _between(amounts: Floats, most: Floats | float) -> Floats:
    """Bring amounts between 0 and the most that they can be."""
    return np.minimum(np.maximum(amounts, 0.0), most)


def magnitude(residual: Residual) -> float:
    """Power of two to divide costs by so that HiGHS's absolute tolerances suit them."""
    largest = max(residual.cost.max(initial=1.0), residual.prize.max(initial=1.0))
    return float(2.0 ** max(0, np.ceil(np.log2(largest / _COMFORTABLE))))


def _highs_with(residual: Residual, price: Floats | None, *, verbose: int) -> Any:
    """Return HiGHS with the packing of a residual in its memory."""
    highs = _HIGHSPY.Highs()
    # Our reductions leave HiGHS's presolve nothing to do; it would take longer than the
    # simplex method after it, and does not look at the clock.
    highs.setOptionValue("presolve", "off")
    highs.setOptionValue("solver", "simplex")
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("output_flag", verbose > 1)
    _pass_program(highs, residual)
    if price is not None:
        columns = np.arange(len(price), dtype=np.int32)
        highs.addCol(0.0, 0.0, np.inf, len(price), columns, price)
    return highs


def _pass_program(highs: Any, residual: Residual) -> None:
    """Write the packing down for HiGHS, which minimises; its bounds come with each solve.

    As plain arrays: of the lists of its own program HiGHS makes copies number by number.
    """
    table = residual.cover.tocsr()
    n_rows, n_columns = table.shape
    status = highs.passModel(
        n_rows,
        n_columns,
        table.nnz,
        int(_HIGHSPY.MatrixFormat.kColwise),
        int(_HIGHSPY.ObjSense.kMinimize),
        0.0,
        -np.ones(n_rows),
        np.zeros(n_rows),
        np.zeros(n_rows),
        np.full(n_columns, -np.inf),
        np.zeros(n_columns),
        table.indptr.astype(np.int32, copy=False),
        table.indices.astype(np.int32, copy=False),
        np.ones(table.nnz),
        np.zeros(n_rows, dtype=np.int32),
    )
    assert status == _HIGHSPY.HighsStatus.kOk, "HiGHS does not take the program"
