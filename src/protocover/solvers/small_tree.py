"""Branch and bound by plain linear programs, for problems of which little is left.

HiGHS's own goes through rounds of cuts and heuristics before it branches at all, which suits
hard problems; of easy ones a dozen linear programs, with reduced costs fixing what they can in
between, make an end many times sooner. The number of programs is the limit, not the clock, so
that the answer is the same on every machine.
"""

from __future__ import annotations

import heapq
import math
import time

import numpy as np
from numpy.typing import NDArray

from .exact.fixing import bound_of, exclude
from .reduced.relaxation import Relaxation, relax
from .reduced.residual import Residual

__all__ = ["search_small_tree"]

Indices = NDArray[np.intp]
# Bound, number in order of birth, and what is left to choose from.
Node = tuple[float, int, Residual]


def search_small_tree(
    residual: Residual, target: float, *, programs: int, deadline: float = math.inf
) -> tuple[Indices | None, float]:
    """Look for the best selection of value at most `target`, both in units.

    The node of least bound goes first, so that the bound of the whole rises throughout.

    Parameters
    ----------
    residual : Residual
        What to choose from.
    target : float
        Value, a whole number, that a selection worth looking for has at most.
    programs : int
        Linear programs after which the search ends.
    deadline : float
        When it ends in any case, by time.monotonic().

    Returns
    -------
    selected : ndarray of int or None
        Candidates of the best selection found, if one is at most the target.
    bound : float
        No selection has a smaller value; at most the target and one.
    """
    nodes: list[Node] = [(-math.inf, 0, residual)]
    selected, born = None, 0
    for _ in range(programs):
        if not nodes or nodes[0][0] > target or time.monotonic() >= deadline:
            break
        bound, _, node = nodes[0]
        relaxation = relax(node, deadline=deadline)
        if relaxation is None:
            break
        heapq.heappop(nodes)
        bound = max(bound, math.ceil(bound_of(node, relaxation.dual)[0]))
        rounded = np.flatnonzero(relaxation.fraction > 0.5)
        value = node.value(rounded)
        if value <= target:
            selected, target = node.selection(rounded), value - 1.0
        for child in _branches(node, relaxation, target) if bound <= target else ():
            born += 1
            heapq.heappush(nodes, (bound, born, child))
    least = min((bound for bound, _, _ in nodes), default=math.inf)
    return selected, min(least, target + 1.0)


def _branches(node: Residual, relaxation: Relaxation, target: float) -> list[Residual]:
    """Return what is left with a candidate chosen, and without it.

    The one that the program is least sure of; of several such the largest ball.
    """
    left = exclude(node, relaxation.dual, target)
    if len(left.candidates) == 0:
        return [left]
    fraction = relaxation.fraction[np.searchsorted(node.candidates, left.candidates)]
    sizes = np.diff(left.cover.indptr)
    chosen = np.zeros(len(fraction), dtype=bool)
    chosen[np.lexsort((-sizes, np.abs(fraction - 0.5)))[0]] = True
    return [left.take(chosen), left.keep_columns(~chosen)]
