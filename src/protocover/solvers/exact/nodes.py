"""Nodes of the tree: the residual at its root with some candidates left out, some chosen.

All nodes share the root's rows and columns. A candidate that is decided upon costs infinitely
much from there on; if it is chosen, its cost has gone into the constant and the prizes of its
points are zero. So a node is a residual like any other, payments bound it as they bound any
other, in exact arithmetic, and the linear program differs from the root's in bounds alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reduced.residual import Residual
from .fixing import MARGIN, bound_of
from .proof import Place

__all__ = ["Node", "choose", "fix", "leave_out"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Node:
    """What is left at a node, what was chosen on the way, and what is known of it.

    Parameters
    ----------
    left : Residual
        The root's, with what is decided closed.
    chosen : ndarray of int
        Columns chosen on the way.
    bound : float
        No selection that goes through this node has a smaller value, in units.
    basis : object
        Where the simplex method stood when this node was made.
    place : Place
        What is kept of it to be checked.
    """

    left: Residual
    chosen: Indices
    bound: float
    basis: Any = None
    place: Place = field(default_factory=Place)

    @property
    def open_columns(self) -> Indices:
        """Columns that are not decided upon."""
        return np.flatnonzero(np.isfinite(self.left.cost))


def leave_out(node: Node, columns: Indices) -> Node:
    """Return the node without some of its open columns."""
    cost = node.left.cost.copy()
    cost[columns] = np.inf
    return replace(node, left=replace(node.left, cost=cost))


def choose(node: Node, columns: Indices) -> Node:
    """Return the node with some of its open columns chosen."""
    left = node.left
    prize = left.prize.copy()
    prize[left.cover[:, columns].indices] = 0.0
    constant = left.constant + float(left.cost[columns].sum())
    chosen = np.concatenate((node.chosen, columns))
    paid = replace(node, left=replace(left, prize=prize, constant=constant), chosen=chosen)
    return leave_out(paid, columns)


def fix(node: Node, dual: Floats, target: float) -> Node | None:
    """Decide what `dual` decides for selections of value at most `target`.

    A column is out if the bound with it is above the target, and in if the bound without it
    is. None if the bound itself is above the target: no such selection goes through the node.
    """
    node.place.payments.append(dual)
    bound, _, slack = bound_of(node.left, dual)
    bound -= MARGIN
    node = replace(node, bound=max(node.bound, np.ceil(bound)))
    if node.bound > target:
        return None
    is_open = np.isfinite(node.left.cost)
    out = is_open & (bound + np.maximum(slack, 0.0) > target)
    sure = is_open & (bound - np.minimum(slack, 0.0) > target)
    node = leave_out(node, np.flatnonzero(out)) if out.any() else node
    return choose(node, np.flatnonzero(sure)) if sure.any() else node
