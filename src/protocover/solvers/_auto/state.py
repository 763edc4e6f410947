"""How far the default solver is: the best selection and bound, and what may still be chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._exact.grove import Grove
from .._reduced.residual import Residual

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# What could be saved at most, as a share, where large programs are not solved again and
# searches end early.
_NEAR = 1e-3
# Memberships beyond which a state is made light before it waits for others.
_HEAVY = 10_000


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

    @property
    def steps(self) -> float:
        """Objective of the best selection, in steps."""
        return self.value // self.full.ties

    @property
    def step(self) -> float:
        """The objective that a step stands for."""
        return float(self.full.unit * self.full.ties)

    @property
    def closed(self) -> bool:
        """Whether no selection has a smaller objective."""
        return self.bound >= self.steps

    @property
    def near(self) -> bool:
        """Whether so little could be saved that no large effort is worth it."""
        return self.steps - self.bound <= _NEAR * self.steps

    def __str__(self) -> str:
        return f"best {self.steps * self.step:.6g}, bound {self.bound * self.step:.6g}"

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

    def grown(self, tree: Grove) -> State:
        """Return the state with what a tree has found and proved."""
        found = tree.selection
        state = self if found is None else self.improved(found)
        return replace(state, bound=max(state.bound, min(tree.bound, state.steps)))


def lightened(state: State, tree: Grove | None) -> State:
    """Return the state with no more candidates than what comes after it looks at."""
    if state.full.cover.nnz <= _HEAVY:
        return state
    needed = state.selected if tree is None else np.union1d(state.selected, tree.left.candidates)
    return replace(state, full=state.full.keep_columns(np.isin(state.full.candidates, needed)))
