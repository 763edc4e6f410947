"""The way from each candidate outward, and what the ball about it holds at each step.

Whether a ball is worth looking at depends on the order in which points of the class and
rivals come. Members of one class that come one after the other make one stretch. Members
whose order is open make one group; the order among them is asked for only where a ball
worth looking at could end between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._balls import OrderedMembers, spans
from .._typing import Indices

Flags = NDArray[np.bool_]
Units = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stretches:
    """Members of balls, cut where the class changes or may change.

    Parameters
    ----------
    members : OrderedMembers
        Where several classes are in a group, those of each stand side by side.
    end : ndarray of int, shape (n_stretches,)
        The last member of each stretch.
    label, candidate : ndarray of int, shape (n_stretches,)
        Its class and candidate.
    open : ndarray of bool, shape (n_stretches,)
        Whether the next stretch is of the same group.
    """

    members: OrderedMembers
    end: Indices
    label: Indices
    candidate: Indices
    open: Flags

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
        """The first member of each stretch."""
        return np.append(0, self.end[:-1] + 1)


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps from candidates outward, for each class those that reach points of it.

    A step takes in a stretch. A run is the steps of one class from one candidate. Weights
    are whole numbers of units.

    Parameters
    ----------
    stretches : Stretches
        Of the balls of some candidates.
    place : ndarray of int, shape (n_steps,)
        The stretch of each step: by class, candidate and nearness, that is run by run.
    begins : ndarray of bool, shape (n_steps,)
        Whether a run begins with it.
    group : ndarray of int, shape (n_steps,)
        Its group.
    group_end : ndarray of int, shape (n_groups,)
        The last stretch of each group.
    own : ndarray of int, shape (n_steps,)
        Weight of the class in the ball up to the step.
    total, before : ndarray of int, shape (n_steps,)
        Weight of all classes in it, and in the ball that ends before the group.
    """

    stretches: Stretches
    place: Indices
    begins: Flags
    group: Indices
    group_end: Indices
    own: Units
    total: Units
    before: Units

    @classmethod
    def of(cls, stretches: Stretches, units: Units, served: Indices | None = None) -> Self:
        """Walk along `stretches`, given the weights of all points.

        `served` is the class that each candidate may serve, -1 for any, None if all may serve
        any: there are no steps for other classes.
        """
        sums = np.cumsum(units[stretches.members.point])[stretches.end]
        group_end = np.flatnonzero(~stretches.open)
        center = stretches.candidate[group_end]
        total, before = _since(sums[group_end], _first_of_each(center))
        run = _run_numbers(stretches)
        place = np.argsort(run, kind="stable")
        if served is not None and (served >= 0).any():
            only = served[stretches.candidate]
            place = place[((only < 0) | (only == stretches.label))[place]]
        begins = _first_of_each(run[place])
        group: Indices = np.repeat(np.arange(len(group_end)), np.diff(group_end, prepend=-1))[
            place
        ]
        weight = np.diff(sums, prepend=0)[place]
        own, _ = _since(np.cumsum(weight), begins)
        return cls(stretches, place, begins, group, group_end, own, total[group], before[group])

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
        return self.stretches.end[self.group_end[self.group]]

    @property
    def size(self) -> Indices:
        """Number of points that each step takes in."""
        return np.diff(self.stretches.end, prepend=-1)[self.place]

    def points(self, first: Indices, last: Indices) -> NDArray[Any]:
        """Return the points that are taken in from each of some steps to another."""
        stretch = self.place[spans(first, last - first + 1)]
        start, end = self.stretches.start[stretch], self.stretches.end[stretch]
        return np.asarray(self.stretches.members.point[spans(start, end - start + 1)])

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


def _run_numbers(stretches: Stretches) -> NDArray[Any]:
    """Return the number of each stretch's run, by class and candidate, in as few bits as do."""
    first = int(stretches.candidate[0])
    n_candidates = int(stretches.candidate[-1]) - first + 1
    number = stretches.label * n_candidates + (stretches.candidate - first)
    # Numbers of sixteen bits have the fastest sort of all.
    few = (int(stretches.label.max()) + 1) * n_candidates <= 2**16
    return number.astype(np.uint16) if few else number


def _first_of_each(values: NDArray[Any]) -> Flags:
    """Tell which values differ from the one before."""
    flags = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=flags[1:])
    return flags


def _last_of_each(values: NDArray[Any]) -> Flags:
    """Tell which values differ from the one after."""
    flags = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=flags[:-1])
    return flags


def _since(sums: Units, begins: Flags) -> tuple[Units, Units]:
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
