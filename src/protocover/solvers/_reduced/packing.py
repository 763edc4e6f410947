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

import numpy as np
from numpy.typing import NDArray

from .. import _lp as lp
from .residual import Residual

Floats = NDArray[np.float64]


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
        self._scale = lp.scale_of(residual.cost, residual.prize)
        # In these the price's coefficients are at most one.
        self._portion = 1.0 if burden is None else max(float(burden.max(initial=1.0)), 1.0)

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
            return Payments(np.zeros(len(prize)), np.zeros(len(cost)), 0.0, False, basis)
        found = self._program.solve(
            prize / self._scale,
            self._ceilings(cost, prize) / self._scale,
            price=0.0 if self._burden is None else max(room, 0.0) / self._portion,
            basis=basis,
            iterations=iterations,
            deadline=deadline,
        )
        price = max(float(found.columns[len(prize) :].sum()), 0.0)
        return Payments(
            dual=_between(found.columns[: len(prize)] * self._scale, prize),
            fraction=_between(found.multipliers, 1.0),
            value=found.value * self._scale,
            solved=found.solved,
            basis=found.basis,
            price=price * self._scale / self._portion,
        )

    @cached_property
    def _program(self) -> lp.PackingProgram:
        """The packing as HiGHS has it."""
        price = None if self._burden is None else -self._burden / self._portion
        return lp.make_packing(self.residual.cover, price, verbose=self._verbose > 1)

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


def _between(amounts: Floats, most: Floats | float) -> Floats:
    """Bring amounts between 0 and the most that they can be."""
    return np.minimum(np.maximum(amounts, 0.0), most)
