"""Members of neighbourhoods in the order of their distances, a strip of candidates at a time.

If every candidate has a radius of its own, a neighbourhood is a beginning of this list. Bounds
on the distances determine most of the order; members whose order they leave open are marked, and
their distances computed on demand. Strips are processed one after the other: the memberships of
all candidates are never held together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from .._resources import limited_threads, progress_bar, row_count, worker_map
from .._typing import Floats, Indices, Mask
from .pairs import Pairs, TablePairs, bind, near_members, rounded_up
from .traits import Dissimilarity, traits_of, within

# Members of a strip, each of which takes some eighty bytes while it is put in order.
STRIP_MEMBERS = 1 << 18
# Narrower strips would spend their time on preparing samples for the product.
_LEAST_COLUMNS, MOST_COLUMNS = 64, 1024
# Candidates whose members are counted beforehand: in `_SAMPLES` runs of `_SAMPLE`.
_SAMPLE, _SAMPLES = 8, 3
# Members processed together: few enough to stay in the processor's cache.
BLOCK_MEMBERS = 1 << 17
# Covers that bounds are rounded to single precision and that squares may have equal roots.
_ROUNDING = 2.0**-22
# Memory for members of later strips, and what each member takes of it.
_MOST_BYTES = 1 << 29
_BYTES_PER_MEMBER = 12

T = TypeVar("T")
Measure = Callable[[Indices, Indices], Floats]
# Samples, candidates, the values that they are put in order by, and the slack of these.
Near = tuple[Indices, Indices, NDArray[Any], NDArray[np.float32]]


class Trim(Protocol):
    """Removes members of a strip of candidates that are not needed."""

    def __call__(self, near: Near, first: int) -> Near:
        """Return the members that are needed, given the number of the first candidate."""
        ...

    def of_table(self, table: Floats, first: int) -> Near:
        """Return the members that are needed, given the distances of all samples."""
        ...


@dataclass(frozen=True, eq=False)
class OrderedMembers:
    """Members of the neighbourhoods of some candidates, by candidate and then nearest first.

    Parameters
    ----------
    candidate, point : ndarray of int, shape (n_members,)
        The pairs; the candidates rise.
    open : ndarray of bool, shape (n_members,)
        Whether the next member is of the same candidate and may be as near, or nearer.
    low : ndarray of float, shape (n_members,)
        The values they were sorted by.
    measure : callable or None
        Computes the distances of pairs of samples and candidates; None if they are `low`.
    decided : ndarray of bool, shape (n_members,)
        Whether all of the same group, that is all whose order is open, are equally near.
    """

    candidate: Indices
    point: Indices
    open: Mask
    low: NDArray[Any]
    measure: Measure | None
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
        """Return the members with a measure that computes each distance once."""
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
    """Yield what `take` returns for the members of the next few candidates.

    `trim` removes members of a strip, given its first candidate, that `take` does not need.
    The further arguments are those of :func:`protocover._balls.build_balls`; `eps` may be
    infinite.
    """
    traits, n_candidates = traits_of(dissimilarity), row_count(Z)
    with limited_threads(n_jobs):
        pairs = bind(dissimilarity, X, Z, radii=np.array([eps]), outward=True)
    search = StripSearch(pairs, slice(0, row_count(X)), eps, closed)
    with worker_map(n_jobs, thread_safe=traits.thread_safe) as run:
        expected = _members_of_a_ball(search, n_candidates)
        strips = _strips(n_candidates, strip_width(expected))
        n_bytes = upper_bytes(expected * n_candidates, bounded=pairs.bounded)
        find: Callable[[int], Near] = partial(_find, search, strips)
        if trim is not None and np.isinf(eps) and isinstance(pairs, TablePairs):
            find, trim = partial(_find_in_table, search, strips, trim), None
        elif Z is X and traits.symmetric and n_bytes > 0.0:
            upper = partial(UpperStrip.of, search, strips)
            found = run(upper, range(len(strips)))
            with progress_bar(found, len(strips), "half", verbose) as bar:
                find = partial(whole_strip, list(bar), strips)

        def taken(number: int) -> list[T]:
            first = strips[number].start
            near = find(number) if trim is None else trim(find(number), first)
            members = _put_in_order(first, *near, search.measure)
            return [take(block) for block in members.blocks(BLOCK_MEMBERS)]

        with progress_bar(run(taken, range(len(strips))), len(strips), "balls", verbose) as done:
            for some in done:
                yield from some


@dataclass(frozen=True, eq=False)
class StripSearch:
    """The search of strips of candidates for their members, with bounds to sort these by.

    Parameters
    ----------
    pairs : Pairs
        Bound for a search outward.
    every : slice
        All samples.
    eps : float
        The radius, which may be infinite.
    closed : bool
        Whether a pair at the radius exactly is within it.
    """

    pairs: Pairs
    every: slice
    eps: float
    closed: bool

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return samples and candidates of members, lower bounds, and the width of intervals."""
        pairs, radii = self.pairs, np.array([self.eps])
        i, j, _, low = near_members(pairs, rows, columns, radii, closed=self.closed)
        if not pairs.bounded:
            return i, j, low, np.zeros(len(low), dtype=np.float32)
        low = np.maximum(low, 0.0).astype(np.float32)
        farthest = min(pairs.largest, float(pairs.reduced(radii)[0]))
        width = pairs.slack(rows.start + i, columns.start + j) + _ROUNDING * farthest
        return i, j, low, rounded_up(width, low.dtype)

    @property
    def measure(self) -> Measure | None:
        """Computes the distances of pairs; None if they are known."""
        return self.pairs.exact if self.pairs.bounded else None

    def table(self, columns: slice) -> Floats:
        """Return the distances of all samples from a strip of candidates."""
        step, stop = self.pairs.tile[0], self.every.stop
        blocks = [slice(start, min(start + step, stop)) for start in range(0, stop, step)]
        return np.concatenate([self.pairs.table(rows, columns) for rows in blocks])


def spans(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers of all spans, each from its start on, one after the other."""
    ends = np.cumsum(sizes)
    return np.asarray(np.arange(sizes.sum()) + np.repeat(starts - (ends - sizes), sizes))


def _members_of_a_ball(search: StripSearch, n_candidates: int) -> float:
    """Estimate the mean number of members of a neighbourhood from a few of them."""
    starts = np.linspace(0, max(0, n_candidates - _SAMPLE), _SAMPLES).astype(int).tolist()
    samples = [slice(start, min(start + _SAMPLE, n_candidates)) for start in starts]
    counts = [len(search(search.every, some)[0]) for some in samples]
    return sum(counts) / max(1, _SAMPLES * min(_SAMPLE, n_candidates))


def strip_width(members: float) -> int:
    """Return how many candidates a strip has, given the expected number of members of a ball."""
    return max(_LEAST_COLUMNS, min(MOST_COLUMNS, int(STRIP_MEMBERS / max(1.0, members))))


def _strips(n_candidates: int, width: int) -> list[slice]:
    """Cut the candidates into strips of that width."""
    return [slice(j, min(j + width, n_candidates)) for j in range(0, n_candidates, width)]


def _find(search: StripSearch, strips: list[slice], number: int) -> Near:
    """Return all members of the neighbourhoods of a strip."""
    return search(search.every, strips[number])


def _find_in_table(search: StripSearch, strips: list[slice], trim: Trim, number: int) -> Near:
    """Return the members of a strip that are needed if all samples are members."""
    return trim.of_table(search.table(strips[number]), strips[number].start)


def _put_in_order(
    first: int,
    point: Indices,
    candidate: Indices,
    low: NDArray[Any],
    slack: NDArray[np.float32],
    measure: Measure | None,
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


@dataclass(frozen=True, eq=False)
class _Memory:
    """A measure of some pairs that remembers the distances it has computed.

    Parameters
    ----------
    measure : callable
        Computes the distances of pairs of samples and candidates.
    extent : int
        No sample has a number this high.
    pair : ndarray of int, shape (n_pairs,)
        The pairs that may be measured, as rising numbers.
    known : ndarray of float, shape (n_pairs,)
        Their distances, NaN if not computed yet.
    """

    measure: Measure
    extent: int
    pair: NDArray[np.int64]
    known: Floats

    @classmethod
    def of(cls, measure: Measure, point: Indices, to: Indices) -> Self:
        """Prepare for the distances of pairs."""
        extent = int(point.max(initial=0)) + 1
        pair = np.sort(to.astype(np.int64) * extent + point)
        return cls(measure, extent, pair, np.full(len(pair), np.nan))

    def __call__(self, point: Indices, candidate: Indices) -> Floats:
        place = np.searchsorted(self.pair, candidate.astype(np.int64) * self.extent + point)
        new = np.flatnonzero(np.isnan(self.known[place]))
        self.known[place[new]] = self.measure(point[new], candidate[new])
        return self.known[place]


@dataclass(frozen=True, eq=False)
class UpperStrip:
    """Members of a strip of candidates among its own samples and those of later strips.

    If `Z` is `X` and distances are symmetric, each pair is found once: a member of a later strip
    is held until that strip is processed, half of all members at most.

    Parameters
    ----------
    candidate, point : ndarray of int, shape (n_members,)
        Counted from the start of the strip, and of the strip that the point is in.
    low, slack : ndarray of float, shape (n_members,)
        As in `Near`.
    bounds : ndarray of int, shape (n_strips_from_here + 1,)
        Where the points of each strip from this one on begin.
    """

    candidate: NDArray[np.uint16]
    point: NDArray[np.uint16]
    low: NDArray[Any]
    slack: NDArray[np.float32]
    bounds: Indices

    @classmethod
    def of(cls, search: StripSearch, strips: Sequence[slice], number: int) -> Self:
        """Test the strip of that number."""
        width = strips[0].stop
        rows = slice(strips[number].start, strips[-1].stop)
        point, candidate, low, slack = search(rows, strips[number])
        strip = (point // width).astype(np.uint16)
        order = strip.argsort(kind="stable")
        bounds = np.searchsorted(strip[order], np.arange(len(strips) - number + 1))
        local = (point - strip * np.intp(width)).astype(np.uint16)
        return cls(
            candidate.astype(np.uint16)[order], local[order], low[order], slack[order], bounds
        )

    def among(self, later: int) -> tuple[NDArray[Any], ...]:
        """Return candidates, points, low and slack whose point is this many strips later."""
        some = slice(self.bounds[later], self.bounds[later + 1])
        return self.candidate[some], self.point[some], self.low[some], self.slack[some]


def upper_bytes(n_members: float, *, bounded: bool) -> float:
    """Return the memory that half of the members takes; 0 if it is too much to be held.

    Less is held if pairs have bounds, since finding them twice is then fast.
    """
    n_bytes = n_members / 2 * _BYTES_PER_MEMBER
    return n_bytes if n_bytes <= _MOST_BYTES / (4 if bounded else 1) else 0.0


def whole_strip(upper: Sequence[UpperStrip], strips: Sequence[slice], number: int) -> Near:
    """Return all members of the balls of a strip, from its own upper part and those before."""
    found = []
    for later in range(len(strips) - number):
        candidate, point, low, slack = upper[number].among(later)
        found.append((point + np.intp(strips[number + later].start), candidate, low, slack))
    for earlier in range(number):
        candidate, point, low, slack = upper[earlier].among(number - earlier)
        found.append((candidate + np.intp(strips[earlier].start), point, low, slack))
    point, candidate, low, slack = (np.concatenate(part) for part in zip(*found, strict=True))
    return point, candidate, low, slack


def balls_of_radii(
    dissimilarity: Dissimilarity,
    X: Any,
    Z: Any,
    *,
    radii: Floats,
    closed: bool = False,
    n_jobs: int | None = None,
) -> csr_array:
    """Find the samples within each candidate's own radius.

    The arguments are those of :func:`protocover._balls.build_balls`.
    """

    def cut(members: OrderedMembers) -> tuple[Indices, Indices]:
        kept = inside_radii(members, radii, closed=closed)
        return members.point[kept], members.candidate[kept]

    widest = float(radii.max(initial=0.0))
    found = ordered_members(dissimilarity, X, Z, cut, eps=widest, closed=closed, n_jobs=n_jobs)
    none = np.empty(0, dtype=np.intp)
    rows, columns = (np.concatenate(part) for part in zip((none, none), *found, strict=True))
    inside = np.ones(len(rows), dtype=bool)
    return coo_array((inside, (rows, columns)), shape=(row_count(X), row_count(Z))).tocsr()


def inside_radii(members: OrderedMembers, radii: Floats, *, closed: bool) -> Mask:
    """Return which members are within their candidate's radius, measuring only a few of them.

    Groups come in the order of their distances: where the first members of two in a row are
    inside, all of the first is, and where both are outside all of the second is.
    """
    groups = np.arange(len(members.group_end))
    start, size = members.group_spans(groups)
    center = members.candidate[start]
    first = np.flatnonzero(np.diff(center, prepend=-1))
    last = np.append(first, len(groups))[1:]
    outside = _bisect(members, radii[center[first]], start, first, last, closed=closed)
    outside = np.repeat(outside, last - first)
    inside = np.repeat(groups + 1 < outside, size)
    near_the_end = (groups == outside) | (groups + 1 == outside)
    places = spans(start[near_the_end], size[near_the_end])
    inside[places] = within(
        members.distances(places), radii[members.candidate[places]], closed=closed
    )
    return inside


def _bisect(
    members: OrderedMembers,
    radii: Floats,
    start: Indices,
    low: Indices,
    high: Indices,
    *,
    closed: bool,
) -> Indices:
    """Find for each candidate the first group, from `low` on, whose first member is outside."""
    while (low < high).any():
        middle = np.minimum((low + high) // 2, len(start) - 1)
        inside = within(members.distances(start[middle]), radii, closed=closed) & (low < high)
        low = np.where(inside, middle + 1, low)
        high = np.where(inside, high, np.minimum(middle, high))
    return low
