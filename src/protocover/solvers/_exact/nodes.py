"""Nodes of the tree: the residual at its root with some candidates left out, some chosen.

All nodes share the root's rows and columns. A candidate that is decided upon costs infinitely
much from there on; if it is chosen, its cost has gone into the constant and the prizes of its
points are zero. So a node is a residual like any other, payments bound it as they bound any
other, in exact arithmetic, and the linear program differs from the root's in bounds alone.

Where what is chosen must fit into a room, a budget of candidates or of what they cost, each
takes its burden of that. A price on it keeps to the room: for any price that is not negative
no selection that fits costs less than it does with the price paid for its burden and given back
for the whole room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._cover.runs import line_members
from .._reduced.packing import Payments
from .._reduced.residual import Residual
from .fixing import MARGIN, bound_of
from .proof import Place

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Sums of prizes up to here are exact with room for payments in fractions of a unit; prices are
# such fractions, too.
_LARGEST = 2.0**50


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
    payments : Payments or None
        The optimum of its linear program, where that was found when the node was tried.
    place : Place
        What is kept of it to be checked.
    burden : ndarray of float, shape (n_columns,), or None
        What choosing each column takes of the room, whole numbers; None for nothing.
    room : float
        How much may still be taken, a whole number where there is a burden.
    """

    left: Residual
    chosen: Indices
    bound: float
    basis: Any = None
    payments: Payments | None = None
    place: Place = field(default_factory=Place)
    burden: Floats | None = None
    room: float = math.inf

    @property
    def open_columns(self) -> Indices:
        """Columns that are not decided upon."""
        return np.flatnonzero(np.isfinite(self.left.cost))

    def rounded(self, fraction: Floats) -> Indices:
        """Return the columns chosen, and of those chosen in part the largest that fit.

        Where all fit these are those that are more than half.
        """
        if self.burden is None:
            return np.concatenate((self.chosen, np.flatnonzero(fraction > 0.5)))
        wanted = np.flatnonzero((fraction > 0.0) & np.isfinite(self.left.cost))
        wanted = wanted[np.argsort(-fraction[wanted], kind="stable")]
        fits = np.cumsum(self.burden[wanted]) <= self.room
        return np.concatenate((self.chosen, wanted[fits]))

    def priced(self, price: float) -> Residual:
        """Return what is left with a price on the burden, which bounds what fits into the room.

        The price is brought down to a grid on which all sums are exact.
        """
        if self.burden is None:
            return self.left
        total = max(float(self.left.prize.sum()), abs(self.left.constant), 1.0)
        grid = 2.0 ** min(0.0, math.ceil(math.log2(total)) - 50)
        paid = math.floor(min(price, total / max(self.room, 1.0)) / grid) * grid
        return replace(
            self.left,
            cost=self.left.cost + paid * self.burden,
            constant=self.left.constant - paid * self.room,
        )


def leave_out(node: Node, columns: Indices) -> Node:
    """Return the node without some of its open columns."""
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
    room = node.room if node.burden is None else node.room - float(node.burden[columns].sum())
    left = replace(left, prize=prize, constant=constant)
    return leave_out(replace(node, left=left, chosen=chosen, room=room), columns)


def fix(node: Node, dual: Floats, target: float, *, price: float = 0.0) -> Node | None:
    """Decide what `dual`, with a `price` on the room, decides for values of at most `target`.

    A column is out if the bound with it is above the target, and in if the bound without it
    is. None if the bound itself is above the target, or there is no room: no such selection
    goes through the node.
    """
    seen = node.place.payments
    if not seen or seen[-1] is not dual:  # looked at again, as the target may have fallen
        seen.append(dual)
    node = _fitting(node)
    bound, u, slack = bound_of(node.priced(price), dual)
    bound -= MARGIN
    node = replace(node, bound=max(node.bound, np.ceil(bound)))
    if node.bound > target or node.room < 0.0:
        return None
    is_open = np.isfinite(node.left.cost)
    out = is_open & (bound + np.maximum(slack, 0.0) > target)
    sure = is_open & (bound - np.minimum(slack, 0.0) > target)
    if node.burden is not None:
        node = _covering(node, bound + (node.left.prize - u) > target, target)
    node = leave_out(node, np.flatnonzero(out)) if out.any() else node
    return choose(node, np.flatnonzero(sure)) if sure.any() else node


def _covering(node: Node, must: NDArray[np.bool_], target: float) -> Node:
    """Return the node with prizes so large that no selection worth finding leaves out `must`."""
    prize = node.left.prize
    enough = min(target - node.left.constant + 1.0, np.floor(_LARGEST / len(prize)))
    prize = np.where(must, np.maximum(prize, enough), prize)
    return replace(node, left=replace(node.left, prize=prize))


def _fitting(node: Node) -> Node:
    """Return the node without the columns that no longer fit into the room."""
    if node.burden is None:
        return node
    large = np.isfinite(node.left.cost) & (node.burden > node.room)
    return leave_out(node, np.flatnonzero(large)) if large.any() else node
