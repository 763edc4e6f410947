"""The members of balls, nearest first, a strip of candidates at a time.

Where every candidate has a radius of its own, a ball is a beginning of this list. Bounds
on the distances tell most of the order; where they leave it open it is said so, and who
needs to know asks for the distances. Strips are taken one after the other and given up
again: nothing of the size of the whole table of memberships is held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._resources import limited_threads, progress_bar, row_count, worker_map
from .._typing import Floats, Indices, Mask
from .build import TILE_ROWS, table_tile
from .halves import Half, half_is_held, whole_strip
from .levels import within
from .traits import (
    Dissimilarity,
    DistanceSearch,
    DistanceTest,
    Near,
    Tile,
    Trim,
    map_if_faster,
    traits_of,
)

# Members of a strip, each of which takes some eighty bytes while it is put in order.
STRIP_MEMBERS = 1 << 18
# Narrower strips would spend their time on making points ready for the product.
_LEAST_COLUMNS, MOST_COLUMNS = 64, 1024
# Candidates whose members are counted beforehand, here and there so many in a row.
_SAMPLE, _SAMPLES = 8, 3
# Members looked at together: few enough to stay in the processor's cache.
BLOCK_MEMBERS = 1 << 17

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class OrderedMembers:
    """Members of the balls of some candidates, by candidate and then nearest first.

    Parameters
    ----------
    candidate, point : ndarray of int, shape (n_members,)
        Who lies in whose ball; the candidates rise.
    open : ndarray of bool, shape (n_members,)
        Whether the next member is of the same candidate and may be as near, or nearer.
    low : ndarray of float, shape (n_members,)
        What they were put in order by.
    measure : callable or None
        Gives the dissimilarities of pairs, points and candidates; None where they are `low`.
    decided : ndarray of bool, shape (n_members,)
        Whether all of the same group, that is all whose order is open, are equally near.
    """

    candidate: Indices
    point: Indices
    open: Mask
    low: NDArray[Any]
    measure: Callable[[Indices, Indices], Floats] | None
    decided: Mask

    @classmethod
    def of(cls, candidate: Indices, point: Indices, distance: Floats) -> Self:
        """Put members in order whose distances are known."""
        order = np.lexsort((distance, candidate))
        candidate, distance = candidate[order], distance[order]
        tied = (candidate[1:] == candidate[:-1]) & (distance[1:] == distance[:-1])
        undecided = np.append(tied, False)[: len(order)]
        return cls(candidate, point[order], undecided, distance, None, np.ones_like(undecided))

    @property
    def distance(self) -> Floats:
        """The dissimilarities of all members."""
        return self.distances(np.arange(len(self.point)))

    def remembering(self) -> OrderedMembers:
        """Return the members with a measure that is taken of each once, however often asked."""
        if self.measure is None:
            return self
        return replace(self, measure=_Memory.of(self.measure, self.point, self.candidate))

    def among(self, kept: Mask) -> OrderedMembers:
        """Return the members that are kept, in the same order."""
        group: Indices = np.cumsum(~self.open)[kept] - (~self.open)[kept]
        undecided = np.append(group[1:] == group[:-1], False)[: len(group)]
        return OrderedMembers(
            self.candidate[kept],
            self.point[kept],
            undecided,
            self.low[kept],
            self.measure,
            self.decided[kept],
        )

    def distances(self, places: Indices) -> Floats:
        """Return the dissimilarities of the members at `places`."""
        if self.measure is None:
            return np.asarray(self.low[places], dtype=np.float64)
        return self.measure(self.point[places], self.candidate[places])

    @cached_property
    def group_end(self) -> Indices:
        """The last member of each group, a stretch of members whose order is open."""
        return np.flatnonzero(~self.open)

    def group_spans(self, groups: Indices) -> tuple[Indices, Indices]:
        """Return the first member of each of some groups, and how many there are."""
        start = np.where(groups > 0, self.group_end[groups - 1] + 1, 0)
        return start, self.group_end[groups] - start + 1

    def settled(self, groups: Indices) -> OrderedMembers:
        """Return the members with those of some groups in the order of their distances."""
        start, size = self.group_spans(groups)
        places, number = spans(start, size), np.repeat(groups, size)
        distance = self.distances(places)
        order = np.lexsort((distance, number))
        point, undecided = self.point.copy(), self.open.copy()
        point[places] = point[places[order]]
        equal = np.diff(distance[order], append=np.inf) == 0.0
        undecided[places] &= equal
        decided = self.decided.copy()
        decided[places] = True
        return replace(self, point=point, open=undecided, decided=decided)

    def blocks(self, size: int) -> Iterator[OrderedMembers]:
        """Cut into blocks of about `size` members, none through a candidate's."""
        ends = np.append(np.flatnonzero(np.diff(self.candidate)) + 1, len(self.candidate))
        number = (ends - 1) // size
        cuts = ends[np.append(number[1:] != number[:-1], True)]
        for start, stop in pairwise([0, *cuts.tolist()]):
            some = slice(start, stop)
            parts = (self.candidate[some], self.point[some], self.open[some], self.low[some])
            yield OrderedMembers(*parts, self.measure, self.decided[some])


def ordered_members(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    take: Callable[[OrderedMembers], T],
    *,
    eps: float,
    closed: bool = False,
    trim: Trim | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Iterator[T]:
    """Yield what `take` makes of the members of the balls of some candidates after the other.

    `trim` leaves out members of a strip, given its first candidate, that `take` does not need.
    The further arguments are those of :func:`protocover._balls.build_balls`; `eps` may be
    infinite.
    """
    traits, n_points, n_candidates = traits_of(dissimilarity), row_count(X), row_count(Z)
    with limited_threads(n_jobs):
        test = _distance_test(dissimilarity, X, Z, eps=eps, closed=closed)
    with worker_map(n_jobs, thread_safe=traits.thread_safe) as run:
        expected = _members_of_a_ball(test, n_points, n_candidates)
        strips = _strips(n_candidates, strip_width(expected))
        find = partial(_test_strip, test, n_points, strips)
        if trim is not None and np.isinf(eps) and isinstance(test, Compared):
            find, trim = partial(_trim_tables, test, n_points, strips, trim), None
        elif Z is X and traits.symmetric and half_is_held(test, expected * n_candidates):
            half = partial(Half.of, test, strips)
            with progress_bar(run(half, range(len(strips))), len(strips), "half", verbose) as bar:
                find = partial(whole_strip, list(bar), strips)

        def taken(number: int) -> list[T]:
            first = strips[number].start
            near = find(number) if trim is None else trim(find(number), first)
            members = _put_in_order(first, *near, test.measure)
            return [take(block) for block in members.blocks(BLOCK_MEMBERS)]

        with progress_bar(run(taken, range(len(strips))), len(strips), "balls", verbose) as found:
            for some in found:
                yield from some


def spans(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers of all spans, each from its start on, one after the other."""
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(sizes.sum()) + np.repeat(starts - (ends - sizes), sizes))


def _members_of_a_ball(test: DistanceTest, n_points: int, n_candidates: int) -> float:
    """Return the number of members of a ball, as it is of some of them."""
    starts = np.linspace(0, max(0, n_candidates - _SAMPLE), _SAMPLES).astype(int).tolist()
    samples = [slice(start, min(start + _SAMPLE, n_candidates)) for start in starts]
    counts = [len(test(slice(0, n_points), some)[0]) for some in samples]
    return sum(counts) / max(1, _SAMPLES * min(_SAMPLE, n_candidates))


def strip_width(members: float) -> int:
    """Return how many candidates a strip has, given the expected number of members of a ball."""
    return max(_LEAST_COLUMNS, min(MOST_COLUMNS, int(STRIP_MEMBERS / max(1.0, members))))


def _strips(n_candidates: int, width: int) -> list[slice]:
    """Cut the candidates into strips of that width."""
    return [slice(j, min(j + width, n_candidates)) for j in range(0, n_candidates, width)]


def _test_strip(test: DistanceTest, n_points: int, strips: list[slice], number: int) -> Near:
    """Return all members of the balls of a strip."""
    return test(slice(0, n_points), strips[number])


def _trim_tables(
    test: Compared, n_points: int, strips: list[slice], trim: Trim, number: int
) -> Near:
    """Return the members of a strip that are needed if all points are members."""
    table = test.table(slice(0, n_points), strips[number])
    return trim.of_table(table, strips[number].start)


def _put_in_order(
    first: int,
    point: Indices,
    candidate: Indices,
    low: NDArray[Any],
    slack: NDArray[np.float32],
    measure: Callable[[Indices, Indices], Floats] | None,
) -> OrderedMembers:
    """Put the members of a strip, whose candidates are counted from `first`, in order."""
    # Numbers of sixteen bits have the fastest sort of all, and no strip is wider.
    order = candidate.astype(np.uint16, copy=False).argsort(kind="stable")
    sizes = np.bincount(candidate)
    there = sizes.nonzero()[0]
    sizes = sizes[there]
    ends = sizes.cumsum()
    starts = ends - sizes
    widest = np.maximum.reduceat(slack[order], starts) if len(starts) else slack
    near = low[order]
    within = np.empty(len(near), dtype=np.intp)
    for start, stop in zip(starts.tolist(), ends.tolist(), strict=True):
        within[start:stop] = near[start:stop].argsort()
    within += np.repeat(starts, sizes)
    order, near = order[within], near[within]
    reach = near + np.repeat(widest.astype(np.float64), sizes)
    may_follow = near[1:] <= reach[:-1]
    undecided = np.append(may_follow, False)[: len(near)]
    undecided[ends - 1] = False
    decided = np.full(len(near), measure is None)
    center = np.repeat(there + first, sizes)
    return OrderedMembers(center, point[order], undecided, near, measure, decided)


def _distance_test(
    dissimilarity: Dissimilarity, X: Any, Z: Any, *, eps: float, closed: bool
) -> DistanceTest:
    """Return the test of `dissimilarity`: its own fast one, or compute and compare."""
    quick, left, right = map_if_faster(dissimilarity, X, Z)
    if isinstance(quick, DistanceSearch):
        return quick.distance_test(left, right, eps=eps, closed=closed)
    return Compared(table_tile(dissimilarity, X, Z), eps, closed)


@dataclass(frozen=True, eq=False)
class _Memory:
    """A measure of some pairs that keeps what it has told.

    Parameters
    ----------
    measure : callable
        Gives the dissimilarities of pairs, points and candidates.
    extent : int
        No point has so high a number.
    pair : ndarray of int, shape (n_pairs,)
        The pairs that may be asked for, as rising numbers.
    known : ndarray of float, shape (n_pairs,)
        What was told of each, NaN where nothing was.
    """

    measure: Callable[[Indices, Indices], Floats]
    extent: int
    pair: NDArray[np.int64]
    known: Floats

    @classmethod
    def of(
        cls, measure: Callable[[Indices, Indices], Floats], point: Indices, to: Indices
    ) -> Self:
        """Make room for the measures of pairs."""
        extent = int(point.max(initial=0)) + 1
        pair = np.sort(to.astype(np.int64) * extent + point)
        return cls(measure, extent, pair, np.full(len(pair), np.nan))

    def __call__(self, point: Indices, candidate: Indices) -> Floats:
        place = np.searchsorted(self.pair, candidate.astype(np.int64) * self.extent + point)
        new = np.flatnonzero(np.isnan(self.known[place]))
        self.known[place[new]] = self.measure(point[new], candidate[new])
        return self.known[place]


@dataclass(frozen=True, eq=False)
class Compared:
    """The test that computes all dissimilarities and compares them with `eps`."""

    tile: Tile
    eps: float
    closed: bool
    measure: None = None

    def __call__(self, rows: slice, columns: slice) -> Near:
        found = []
        for some in self._cut(rows):
            table = np.asarray(self.tile(some, columns), dtype=np.float64)
            i, j = np.nonzero(within(table, self.eps, closed=self.closed))
            found.append((i + (some.start - rows.start), j, table[i, j]))
        point, candidate, distance = (np.concatenate(part) for part in zip(*found, strict=True))
        return point, candidate, distance, np.zeros(len(distance), dtype=np.float32)

    def table(self, rows: slice, columns: slice) -> Floats:
        """Return all dissimilarities, within `eps` or not."""
        parts = [np.asarray(self.tile(some, columns)) for some in self._cut(rows)]
        return np.concatenate(parts, dtype=np.float64)

    def _cut(self, rows: slice) -> list[slice]:
        """Cut rows into tiles."""
        starts = range(rows.start, rows.stop, TILE_ROWS)
        return [slice(start, min(start + TILE_ROWS, rows.stop)) for start in starts]
