"""The members of balls with their distances, nearest first, a strip of candidates at a time.

Where every candidate has a radius of its own, a ball is a beginning of this list. Strips
are taken one after the other and given up again: nothing of the size of the whole table of
memberships is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from ..resources import limited_threads, progress_bar, row_count, worker_map
from .build import table_tile
from .levels import within
from .traits import Dissimilarity, DistanceSearch, DistanceTest, traits_of

__all__ = ["OrderedMembers", "balls_of_radii", "ordered_members"]

# Pairs of a strip, each of which takes some fifty bytes while it is put in order.
_STRIP_PAIRS = 1 << 20
_MOST_COLUMNS = 1024

T = TypeVar("T")
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OrderedMembers:
    """Members of the balls of some candidates, by candidate and then by distance.

    Parameters
    ----------
    candidate, point : ndarray of int, shape (n_members,)
        Who lies in whose ball; the candidates rise.
    distance : ndarray of float, shape (n_members,)
        Their distance, rising along each candidate's members.
    """

    candidate: Indices
    point: Indices
    distance: Floats

    def among(self, kept: NDArray[np.bool_]) -> OrderedMembers:
        """Return the members that are kept, in the same order."""
        return OrderedMembers(self.candidate[kept], self.point[kept], self.distance[kept])

    def within(self, eps: Any, *, closed: bool) -> OrderedMembers:
        """Return the members within a radius, or each within its own."""
        return self.among(within(self.distance, eps, closed=closed))


def ordered_members(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    take: Callable[[OrderedMembers], T],
    *,
    eps: float,
    closed: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Iterator[T]:
    """Yield what `take` makes of the members of the balls of each strip of candidates.

    The further arguments are those of :func:`protocover.balls.build_balls`; `eps` may be
    infinite.
    """
    with limited_threads(n_jobs):
        test = _distance_test(dissimilarity, X, Z, eps=eps, closed=closed)
    every, n_candidates = slice(0, row_count(X)), row_count(Z)
    width = max(1, min(_MOST_COLUMNS, _STRIP_PAIRS // max(1, row_count(X))))
    strips = [slice(j, min(j + width, n_candidates)) for j in range(0, n_candidates, width)]

    def taken(columns: slice) -> T:
        i, j, distance = test(every, columns)
        order = np.lexsort((distance, j))
        return take(OrderedMembers(j[order] + columns.start, i[order], distance[order]))

    thread_safe = traits_of(dissimilarity).thread_safe
    with (
        worker_map(n_jobs, thread_safe=thread_safe) as run,
        progress_bar(run(taken, strips), len(strips), "balls", verbose) as found,
    ):
        yield from found


def balls_of_radii(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    radii: Floats,
    closed: bool = False,
    n_jobs: int | None = None,
) -> csr_array:
    """Tell which points lie in which candidate's ball, each with a radius of its own.

    The arguments are those of :func:`protocover.balls.build_balls`.
    """

    def members(nearest_first: OrderedMembers) -> OrderedMembers:
        return nearest_first.within(radii[nearest_first.candidate], closed=closed)

    widest = float(radii.max(initial=0.0))
    found = list(
        ordered_members(dissimilarity, X, Z, members, eps=widest, closed=closed, n_jobs=n_jobs)
    )
    rows = np.concatenate([strip.point for strip in found] or [np.empty(0, np.intp)])
    columns = np.concatenate([strip.candidate for strip in found] or [np.empty(0, np.intp)])
    inside = np.ones(len(rows), dtype=bool)
    return coo_array((inside, (rows, columns)), shape=(row_count(X), row_count(Z))).tocsr()


def _distance_test(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, closed: bool
) -> DistanceTest:
    """Return the test of `dissimilarity`: its own fast one, or compute and compare."""
    if isinstance(dissimilarity, DistanceSearch):
        return dissimilarity.distance_test(X, Z, eps=eps, closed=closed)
    tile = table_tile(dissimilarity, X, Z)

    def test(rows: slice, columns: slice) -> tuple[Indices, Indices, Floats]:
        table = np.asarray(tile(rows, columns), dtype=np.float64)
        i, j = np.nonzero(within(table, eps, closed=closed))
        return i, j, table[i, j]

    return test
