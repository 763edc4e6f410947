"""The sweep from each candidate outward, and the members that it need not look at.

Whether a radius is worth looking at depends on the order in which samples of the class and of
other classes come. Consecutive members of one class make one segment. Members whose order is
not decided make one group; their order is computed only if a radius worth looking at could end
between them.

Before members are sorted, they are counted by candidate, class and distance bin. The counts
bound the gain of every neighbourhood that ends in a bin, its own weight less that of other
classes. If a smaller neighbourhood of the candidate certainly gains as much, none that ends in
the bin is worth choosing. Without a maximum radius, few members are beyond the last bin for
which this is not certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._balls import OrderedMembers, spans
from .._balls.ordered import Near
from .._typing import Floats, Indices, Mask

Units = NDArray[np.int64]
Bins = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Segments:
    """Members of balls, cut where the class changes or may change."""

    # Where several classes are in a group, those of each stand side by side
    members: OrderedMembers
    end: Indices  # The last member of each segment, shape (n_segments,)
    # Its class and candidate, shape (n_segments,)
    label: Indices
    candidate: Indices
    open: Mask  # Whether the next segment is of the same group, shape (n_segments,)

    @classmethod
    def of(cls, members: OrderedMembers, codes: Indices) -> Self:
        """Cut `members`, given the classes of all points."""
        label = codes[members.point]
        mixed = np.flatnonzero((label[1:] != label[:-1]) & members.open[:-1])
        groups = np.searchsorted(members.group_end, mixed)
        groups = groups[_first_of_each(groups)]
        start, size = members.group_spans(groups)
        places = spans(start, size)
        order = places[np.lexsort((label[places], np.repeat(groups, size)))]
        point = members.point.copy()
        point[places], label[places] = point[order], label[order]
        cut = _last_of_each(label) | _last_of_each(members.candidate)
        cut[members.group_end[groups]] = True
        # Before the first of all stands the last of all, which is cut anyway.
        cut[start - 1] = True
        end = np.flatnonzero(cut)
        return cls(
            members=replace(members, point=point),
            end=end,
            label=label[end],
            candidate=members.candidate[end],
            open=members.open[end],
        )

    @property
    def start(self) -> Indices:
        """The first member of each segment."""
        return np.append(0, self.end[:-1] + 1)


@dataclass(frozen=True, eq=False)
class RadiusSweep:
    """The steps from candidates outward, for each class those that reach samples of it.

    A step takes in a segment. A run is the steps of one class from one candidate. Weights
    are integers of units.
    """

    segments: Segments  # Of the balls of some candidates
    # The segment of each step: by class, candidate and nearness, that is run by run, shape
    # (n_steps,)
    place: Indices
    begins: Mask  # Whether a run begins with it, shape (n_steps,)
    group: Indices  # Its group, shape (n_steps,)
    group_end: Indices  # The last segment of each group, shape (n_groups,)
    own: Units  # Weight of the class in the ball up to the step, shape (n_steps,)
    # Weight of all classes in it, and in the ball that ends before the group, shape (n_steps,)
    total: Units
    before: Units

    @classmethod
    def of(cls, segments: Segments, units: Units, served: Indices | None = None) -> Self:
        """Walk along `segments`, given the weights of all points.

        `served` is the class that each candidate may serve, -1 for any, None if all may serve
        any: there are no steps for other classes.
        """
        sums = np.cumsum(units[segments.members.point])[segments.end]
        group_end = np.flatnonzero(~segments.open)
        center = segments.candidate[group_end]
        total, before = _since(sums[group_end], _first_of_each(center))
        run = _run_numbers(segments)
        place = np.argsort(run, kind="stable")
        if served is not None and (served >= 0).any():
            only = served[segments.candidate]
            place = place[((only < 0) | (only == segments.label))[place]]
        begins = _first_of_each(run[place])
        group: Indices = np.repeat(np.arange(len(group_end)), np.diff(group_end, prepend=-1))[
            place
        ]
        weight = np.diff(sums, prepend=0)[place]
        own, _ = _since(np.cumsum(weight), begins)
        return cls(segments, place, begins, group, group_end, own, total[group], before[group])

    @property
    def gain(self) -> Units:
        """Own weight less that of rivals in the ball up to each step."""
        return 2 * self.own - self.total

    @property
    def own_before(self) -> Units:
        """Own weight in the ball that ends before each step."""
        return np.where(self.begins, 0, np.append(0, self.own[:-1]))

    @property
    def last(self) -> Indices:
        """The last member, of whatever class, in the ball up to each step."""
        return self.segments.end[self.group_end[self.group]]

    @property
    def size(self) -> Indices:
        """Number of samples that each step takes in."""
        return np.diff(self.segments.end, prepend=-1)[self.place]

    def points(self, first: Indices, last: Indices) -> NDArray[Any]:
        """Return the samples that are taken in from each of some steps to another."""
        segment = self.place[spans(first, last - first + 1)]
        start, end = self.segments.start[segment], self.segments.end[segment]
        return np.asarray(self.segments.members.point[spans(start, end - start + 1)])

    def best_before(self) -> Units:
        """Return the highest gain of the earlier steps of each run, at least zero."""
        gain = np.maximum(self.gain, 0)
        number = np.cumsum(self.begins, dtype=np.int64)
        if len(gain) == 0:
            return gain
        if int(gain.max()) < 2**62 // int(number[-1]):
            return _highest_before(gain, number)
        # Ranks are small where weights are not.
        values, rank = np.unique(np.append(gain, 0), return_inverse=True)
        return np.asarray(values[_highest_before(rank[:-1], number)])


def _run_numbers(segments: Segments) -> NDArray[Any]:
    """Return the number of each segment's run, by class and candidate, in as few bits as do."""
    first = int(segments.candidate[0])
    n_candidates = int(segments.candidate[-1]) - first + 1
    number = segments.label * n_candidates + (segments.candidate - first)
    # Numbers of sixteen bits have the fastest sort of all.
    few = (int(segments.label.max()) + 1) * n_candidates <= 2**16
    return number.astype(np.uint16) if few else number


def _first_of_each(values: NDArray[Any]) -> Mask:
    """Return which values differ from the one before."""
    flags = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=flags[1:])
    return flags


def _last_of_each(values: NDArray[Any]) -> Mask:
    """Return which values differ from the one after."""
    flags = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=flags[:-1])
    return flags


def _since(sums: Units, begins: Mask) -> tuple[Units, Units]:
    """Turn running sums into those since the last beginning, with and without the last item.

    The sums may wrap around; their differences are right all the same.
    """
    earlier = np.append(0, sums[:-1])
    base = earlier[begins][np.cumsum(begins) - 1]
    return sums - base, earlier - base


def _highest_before(height: Units, number: Units) -> Units:
    """Return the highest of the earlier heights with the same number, at least zero."""
    # Raised by number, each of a later number is above all of an earlier one.
    level = number * (height.max() + 1)
    highest = np.maximum.accumulate(level + height)
    return np.asarray(np.maximum(np.append(0, highest[:-1]) - level, 0))


_MANTISSA = 23

# The leading bits of a distance in single precision tell its bin. More bins to a factor of two
# let fewer members through; each bin must have a few members to be worth its counter.
_FEWEST_BITS, _MOST_BITS, _OCTAVES = 3, 7, 6
_LEAST_PER_COUNTER = 2


@dataclass(frozen=True, eq=False)
class GainTrim:
    """Leaves out members beyond the last ball that can be worth choosing."""

    codes: Indices  # Class numbers, shape (n_points,)
    units: Units  # Weights, as integers, shape (n_points,)
    n_classes: int  # Number of classes
    # The class that each candidate may serve, -1 for any; None if all may serve any, shape
    # (n_candidates,)
    served: Indices | None = None

    def __call__(self, near: Near, first: int) -> Near:
        """Return members of candidates, counted from `first`, but for those that no ball needs."""
        point, candidate, low, slack = near
        kept = self._needed(first, point, candidate, low, float(slack.max(initial=0.0)))
        if kept is None:
            return near
        return point[kept], candidate[kept], low[kept], slack[kept]

    def of_table(self, table: Floats, first: int) -> Near:
        """Return the members that a ball needs, given all samples' distances from candidates."""
        points, candidates = (np.arange(size) for size in table.shape)
        kept = self._needed(first, points[:, None], candidates, table, 0.0)
        if kept is None:
            kept = np.ones(table.shape, dtype=bool)
        # NumPy finds places in a flat table several times faster.
        places = np.flatnonzero(kept.ravel())
        point, candidate = np.divmod(places, max(1, len(candidates)))
        no_slack = np.zeros(len(places), dtype=np.float32)
        return point, candidate, table.ravel()[places], no_slack

    def _needed(
        self, first: int, point: Indices, candidate: Indices, low: NDArray[Any], slack: float
    ) -> NDArray[np.bool_] | None:
        """Return which members a ball needs; None if they are too few to be worth asking.

        Samples and candidates are those of each member, or of each row and column of a table.
        """
        n_candidates = int(candidate.max(initial=0)) + 1
        served = None if self.served is None else self.served[first : first + n_candidates]
        if served is not None and (served < 0).any():
            served = None  # all classes are looked at
        n_ways = self.n_classes if served is None else 2
        most = low.size / (n_candidates * n_ways) / (_LEAST_PER_COUNTER * _OCTAVES)
        n_bits = min(_MOST_BITS, int(math.log2(max(1.0, most))))
        if n_bits < _FEWEST_BITS:
            return None
        bins = _bin_numbers(low, slack, n_bits)
        way = self.codes[point]
        if served is not None:
            way = (way != served[candidate]).astype(np.intp)
        shape = n_candidates, n_ways, _n_bins(n_bits)
        place = (candidate * np.intp(n_ways) + way) * shape[2] + bins
        weights = self._count(point, place, shape)
        own = weights if served is None else weights[:, :1]
        last = _last_needed(own, weights.sum(axis=1), blurred=int(slack > 0.0))
        return np.asarray(bins <= last[candidate])

    def _count(self, point: Indices, place: Indices, shape: tuple[int, int, int]) -> Units:
        """Return the weights of members by candidate, class or whether it is its own, and bin."""
        if (self.units == 1).all():
            return np.bincount(place.ravel(), minlength=math.prod(shape)).reshape(shape)
        units = self.units[point].astype(np.float64)  # integers whose sums are exact
        weights = np.broadcast_to(units, place.shape).ravel()
        counts = np.bincount(place.ravel(), weights, minlength=math.prod(shape))
        return counts.astype(np.int64).reshape(shape)


def _n_bins(n_bits: int) -> int:
    """Return the number of bins, all nearer distances being in the first one."""
    return _OCTAVES << n_bits


def _bin_numbers(low: NDArray[Any], slack: float, n_bits: int) -> Bins:
    """Return the bin of each member; two that are more than one apart differ by the slack."""
    with np.errstate(over="ignore"):  # huge distances share the last bin
        bits = low.astype(np.float32).view(np.int32)
    bits >>= _MANTISSA - n_bits
    # From here on a bin is wider than twice the slack: its width is its start's fraction of that.
    wide = np.array(slack * (4 << n_bits), dtype=np.float32).view(np.int32)
    n_bins = _n_bins(n_bits)
    bits -= max(int(bits.max()) - (n_bins - 1), int(wide) >> (_MANTISSA - n_bits))
    return np.clip(bits, 0, n_bins - 1, out=bits)


def _last_needed(own: Units, total: Units, *, blurred: int) -> Indices:
    """Return the last bin of each candidate whose members are needed.

    `own` are weights by candidate, class and bin, `total` those of all classes. The order of
    members is certain if their bins are more than `blurred` apart.
    """
    n_bins = own.shape[2]
    held = np.cumsum(own, axis=2)
    rivals = np.cumsum(total, axis=1)[:, None] - held
    # A ball that ends in a bin holds no less of its rivals and no more of its class than this.
    most_own = _shifted(held, blurred, held[..., -1:])
    fewest_rivals = _shifted(rivals, -1 - blurred)
    # The ball of all members up to a bin, which is smaller than those that end later.
    certain = held - _shifted(rivals, blurred, rivals[..., -1:])
    best = np.maximum.accumulate(certain, axis=2)
    before = _shifted(best, -1 - blurred, np.iinfo(np.int64).min)
    hoped = (own > 0) & (most_own - fewest_rivals > before)
    place = np.arange(n_bins)
    last = np.where(hoped.any(axis=1), place, 0).max(axis=1) + blurred
    # The radius ends at the next member, whatever its class.
    following = (place > last[:, None]) & (total > 0)
    next_one = np.where(following.any(axis=1), following.argmax(axis=1), n_bins)
    return np.asarray(next_one + blurred)


def _shifted(values: Units, by: int, fill: Any = 0) -> Units:
    """Return for each bin the value `by` bins further on, `fill` beyond the ends."""
    found = np.empty_like(values)
    n_bins = values.shape[-1]
    if by >= 0:
        found[..., : n_bins - by] = values[..., by:]
        found[..., n_bins - by :] = fill
    else:
        found[..., :-by] = fill
        found[..., -by:] = values[..., :by]
    return found
