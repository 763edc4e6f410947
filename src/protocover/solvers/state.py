"""How far the default solver is: the best selection and bound, and what may still be chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..cover import Leaves
from .reduced.residual import Residual

__all__ = ["State"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# What could be saved at most, as a share, where large programs are not solved again and
# searches end early.
_NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class State:
    """How far the search is: the best selection, and the bound with the vector behind it.

    Parameters
    ----------
    full : Residual
        What may be part of a selection as good, in whole numbers, the tie rule included.
    keep : ndarray of bool
        Which of the worthwhile candidates that is.
    whole : bool
        Whether that is all of them: there were not too many to go on with.
    selected : ndarray of int
        Candidates of the best selection.
    value : float
        What it costs in units, ties broken.
    bound : float
        No selection has an objective of fewer steps, `full.ties` units each.
    dual : ndarray of float
        Payments of the problem's points that prove this, or all of it that a vector proves.
    start : ndarray of int
        Candidates to search from.
    least : bool
        Whether no selection is better, nor as good with fewer prototypes.
    leaves : Leaves or None
        Of the tree, where there was one.
    """

    full: Residual
    keep: NDArray[np.bool_]
    whole: bool
    selected: Indices
    value: float
    bound: float
    dual: Floats
    start: Indices
    least: bool = False
    leaves: Leaves | None = None

    @property
    def steps(self) -> float:
        """Objective of the best selection, in steps."""
        return self.value // self.full.ties

    @property
    def closed(self) -> bool:
        """Whether no selection has a smaller objective."""
        return self.bound >= self.steps

    @property
    def near(self) -> bool:
        """Whether so little could be saved that no large effort is worth it."""
        return self.steps - self.bound <= _NEAR * self.steps

    def __str__(self) -> str:
        step = self.full.unit * self.full.ties
        return f"best {float(self.steps * step):.6g}, bound {float(self.bound * step):.6g}"

    @property
    def plain(self) -> Residual:
        """The problem without the tie rule."""
        return self.full.plain()

    def payments(self, residual: Residual) -> Floats:
        """Return the dual vector in the units of `residual`."""
        return self.dual / float(residual.unit)

    def improved(self, selected: Indices) -> State:
        """Return the state with `selected` if that is better."""
        value = self.full.value(np.searchsorted(self.full.candidates, selected))
        return replace(self, selected=selected, value=value) if value < self.value else self
