"""The members of balls strip by strip, where each pair of a symmetric table is tested once.

A strip of candidates is tested against its own points and those after them. What it finds
there counts for the later candidates too, as points of theirs: until they are taken it is
held, half of all members at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Indices
from .traits import DistanceTest, Near

# What may be held, and what each member takes of it.
_MOST_BYTES = 1 << 29
_BYTES_PER_MEMBER = 12


@dataclass(frozen=True, eq=False)
class Half:
    """What a strip of candidates found among its own points and those after them.

    Parameters
    ----------
    candidate, point : ndarray of int, shape (n_members,)
        Counted from the start of the strip, and of the strip that the point is in.
    low, slack : ndarray of float, shape (n_members,)
        As of :class:`~protocover._balls.traits.DistanceTest`.
    bounds : ndarray of int, shape (n_strips_from_here + 1,)
        Where the points of each strip from this one on begin.
    """

    candidate: NDArray[np.uint16]
    point: NDArray[np.uint16]
    low: NDArray[Any]
    slack: NDArray[np.float32]
    bounds: Indices

    @classmethod
    def of(cls, test: DistanceTest, strips: Sequence[slice], number: int) -> Self:
        """Test the strip of that number."""
        width = strips[0].stop
        rows = slice(strips[number].start, strips[-1].stop)
        point, candidate, low, slack = test(rows, strips[number])
        strip = (point // width).astype(np.uint16)
        order = strip.argsort(kind="stable")
        bounds = np.searchsorted(strip[order], np.arange(len(strips) - number + 1))
        local = (point - strip * np.intp(width)).astype(np.uint16)
        return cls(
            candidate.astype(np.uint16)[order], local[order], low[order], slack[order], bounds
        )

    def among(self, later: int) -> tuple[NDArray[Any], ...]:
        """Return candidates, points, low and slack where the point is so many strips later."""
        some = slice(self.bounds[later], self.bounds[later + 1])
        return self.candidate[some], self.point[some], self.low[some], self.slack[some]


def half_is_held(test: DistanceTest, n_members: float) -> bool:
    """Tell whether half of the members is little enough to be held."""
    return half_bytes(n_members, quick=test.measure is not None) > 0.0


def half_bytes(n_members: float, *, quick: bool) -> float:
    """Return the memory that half of the members takes; 0 where that is not held.

    Where bounds do, testing a pair twice is `quick`, and memory is worth more.
    """
    n_bytes = n_members / 2 * _BYTES_PER_MEMBER
    return n_bytes if n_bytes <= _MOST_BYTES / (4 if quick else 1) else 0.0


def whole_strip(halves: Sequence[Half], strips: Sequence[slice], number: int) -> Near:
    """Return all members of the balls of a strip, from its own half and those before."""
    found = []
    for later in range(len(strips) - number):
        candidate, point, low, slack = halves[number].among(later)
        found.append((point + np.intp(strips[number + later].start), candidate, low, slack))
    for earlier in range(number):
        candidate, point, low, slack = halves[earlier].among(number - earlier)
        found.append((candidate + np.intp(strips[earlier].start), point, low, slack))
    point, candidate, low, slack = (np.concatenate(part) for part in zip(*found, strict=True))
    return point, candidate, low, slack
