"""Which candidate to branch on: the one without which, and with which, the bound rises most.

What the bound does is tried out with a few iterations of the simplex method each way. A
candidate that has been tried often enough is judged by what it did on average (reliability
branching: Achterberg, Koch and Martin, Operations Research Letters 33, 2005).
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .._reduced.packing import Packing, Payments
from .nodes import Node, choose, fix, leave_out
from .proof import Place

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Candidates tried at a node with so many simplex iterations each way, by default, and trials
# until a candidate is known.
TRIALS, _KNOWN = (4, 50), 4
# Rises below this count as this: one way without a rise must not hide the other.
_LEAST_RISE = 1e-3
# A fraction nearer than this to a whole number is one.
_WHOLE = 1e-6


@dataclass(eq=False)
class History:
    """What leaving each column out, and choosing it, did to the bound for each unit of change.

    Parameters
    ----------
    total : ndarray of float, shape (2, n_columns)
        Sums of the rises.
    trials : ndarray of int, shape (n_columns,)
        How often that was tried.
    """

    total: Floats
    trials: Indices

    @classmethod
    def of(cls, n_columns: int) -> History:
        """Begin with nothing tried."""
        return cls(np.zeros((2, n_columns)), np.zeros(n_columns, dtype=np.intp))

    def expected(self, columns: Indices, fraction: Floats) -> Floats:
        """Return what branching on each of `columns` promises."""
        if not self.trials.any():
            return np.minimum(fraction, 1.0 - fraction)
        usual = self.total.sum(axis=1) / self.trials.sum()
        mean = np.where(
            self.trials[columns] > 0,
            self.total[:, columns] / np.maximum(self.trials[columns], 1),
            usual[:, None],
        )
        return _promise(mean[0] * fraction, mean[1] * (1.0 - fraction))

    def learn(self, column: int, fraction: float, rises: tuple[float, float]) -> None:
        """Remember what the bound did when `column` of that fraction was tried."""
        self.total[0, column] += rises[0] / fraction
        self.total[1, column] += rises[1] / (1.0 - fraction)
        self.trials[column] += 1


def branch_on(
    node: Node,
    payments: Payments,
    packing: Packing,
    history: History,
    target: float,
    *,
    trials: tuple[int, int] = TRIALS,
    deadline: float = math.inf,
) -> list[Node]:
    """Return nodes that together hold every selection of the node of value at most `target`.

    None where both ways are closed; one where one way is; else the two ways of the column
    that promises most of those that could be tried before the deadline. With `trials` so many
    of those of which too little is known are tried, with so many iterations of the simplex
    method each way.
    """
    node = replace(node, basis=payments.basis, payments=None)
    columns = _fractional(node, payments.fraction)
    fraction = payments.fraction[columns]
    expected = history.expected(columns, fraction)
    order = np.argsort(-expected, kind="stable")
    best: Sequence[Node | None] = ()
    best_promise, tried = -math.inf, 0
    for column, promise in zip(columns[order].tolist(), expected[order].tolist(), strict=True):
        made = _ways(node, column)
        ways: Sequence[Node | None] = made
        if history.trials[column] < _KNOWN:
            if tried >= trials[0] or (best and time.monotonic() >= deadline):
                break
            tried += 1
            ways, promise = _try(made, column, payments, packing, history, target, trials[1])
        if promise > best_promise or None in ways:
            best, best_promise = ways, promise
            node.place.column, node.place.ways = column, tuple(way.place for way in made)
        if None in ways:
            break
    return [way for way in best if way is not None]


def _fractional(node: Node, fraction: Floats) -> Indices:
    """Return the open columns that are partly chosen; if none is, the one chosen most."""
    columns = node.open_columns
    inner = np.minimum(fraction[columns], 1.0 - fraction[columns]) > _WHOLE
    return columns[inner] if inner.any() else columns[[fraction[columns].argmax()]]


def _try(
    ways: list[Node],
    column: int,
    payments: Payments,
    packing: Packing,
    history: History,
    target: float,
    iterations: int,
) -> tuple[list[Node | None], float]:
    """Look a few iterations ahead both ways; return what is left of them and the promise.

    The first of them is that without the column, whose constant is the node's own.
    """
    rises: list[float] = []
    found: list[Node | None] = []
    for way in ways:
        left = way.left
        ahead = packing.solve(
            left.cost, left.prize, room=way.room, basis=payments.basis, iterations=iterations
        )
        gone = left.constant - ways[0].left.constant
        rises.append(max(ahead.value + gone - payments.value, 0.0))
        fixed = fix(way, ahead.dual, target, price=ahead.price)
        found.append(None if fixed is None else _looked_into(fixed, ahead, left.constant))
    fraction = min(max(float(payments.fraction[column]), _WHOLE), 1.0 - _WHOLE)
    history.learn(column, fraction, (rises[0], rises[1]))
    return found, float(_promise(np.array(rises[0]), np.array(rises[1])))


def _looked_into(node: Node, ahead: Payments, constant: float) -> Node:
    """Return a node that goes on from where it was tried, when its constant was another one.

    What payments decide upon leaves them an optimum: a column that they are to leave out has
    a slack, and none of it is chosen; one that is sure is overpaid, and all of it is chosen.
    With a burden more is decided, by the room that is left.
    """
    if not ahead.solved or node.burden is not None:
        return replace(node, basis=ahead.basis)
    moved = node.left.constant - constant  # with what is sure, from the program's value to it
    return replace(node, basis=ahead.basis, payments=replace(ahead, value=ahead.value - moved))


def _ways(node: Node, column: int) -> list[Node]:
    """Return the node without a column, and with it, each in a place of its own."""
    one = np.array([column])
    return [replace(way, place=Place()) for way in (leave_out(node, one), choose(node, one))]


def _promise(without: Floats, with_it: Floats) -> Floats:
    """Weigh the rises of the two ways of a branching: both must rise."""
    return np.maximum(without, _LEAST_RISE) * np.maximum(with_it, _LEAST_RISE)
