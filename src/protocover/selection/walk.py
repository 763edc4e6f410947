"""The way from each candidate outward, and what the ball about it holds at each step.

Whether a ball is worth looking at depends on the order in which points of the class and
rivals come. Members whose order is open make one step together; the order among them is
asked for only where a ball worth looking at could end between them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..balls import OrderedMembers

__all__ = ["Steps", "spans"]

Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Units = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps from candidates outward, for each class those that reach points of it.

    A group is a stretch of members whose order is open, or who are equally near; a step
    takes in those of one class in a group. A run is the steps of one class from one
    candidate. Weights are whole numbers of units.

    Parameters
    ----------
    members : OrderedMembers
        Of the balls of some candidates.
    group_end : ndarray of int, shape (n_groups,)
        The last member of each group.
    place : ndarray of int, shape (n_members,)
        The members by class, candidate and nearness: run by run.
    end : ndarray of int, shape (n_steps,)
        The last of each step in `place`.
    group : ndarray of int, shape (n_steps,)
        Its group.
    begins : ndarray of bool, shape (n_steps,)
        Whether a run begins with it.
    own : ndarray of int, shape (n_steps,)
        Weight of the class in the ball up to the step.
    total, before : ndarray of int, shape (n_steps,)
        Weight of all classes in it, and in the ball that ends before the group.
    """

    members: OrderedMembers
    group_end: Indices
    place: Indices
    end: Indices
    group: Indices
    begins: Flags
    own: Units
    total: Units
    before: Units

    @classmethod
    def of(cls, members: OrderedMembers, codes: Indices, units: Units) -> Self:
        """Walk along `members`, given the classes and weights of all points."""
        group_end = np.flatnonzero(~members.open)
        weight = units[members.point]
        total, before = _sums_since(
            np.cumsum(weight)[group_end], _changes(members.candidate[group_end])
        )
        run = _run_numbers(members, codes)
        place = np.argsort(run, kind="stable")
        run = run[place]
        group = np.repeat(np.arange(len(group_end)), np.diff(group_end, prepend=-1))[place]
        end = np.flatnonzero(np.append((_changes(run) | _changes(group))[1:], True))
        begins, group = _changes(run[end]), group[end]
        own, _ = _sums_since(np.cumsum(weight[place])[end], begins)
        return cls(
            members, group_end, place, end, group, begins, own, total[group], before[group]
        )

    @property
    def gain(self) -> Units:
        """Own weight less that of rivals in the ball up to each step."""
        return 2 * self.own - self.total

    @property
    def own_before(self) -> Units:
        """Own weight in the ball that ends before each step."""
        return np.where(self.begins, 0, np.append(0, self.own[:-1]))

    def best_before(self) -> Units:
        """Return the highest gain of the earlier steps of each run, at least zero."""
        gain = np.maximum(self.gain, 0)
        number = np.cumsum(self.begins)
        if int(gain.max()) < 2**62 // int(number[-1]):
            return _highest_before(gain, number)
        # Ranks are small where weights are not.
        values, rank = np.unique(np.append(gain, 0), return_inverse=True)
        return np.asarray(values[_highest_before(rank[:-1], number)])

    def settled(self, hopeful: Flags) -> OrderedMembers:
        """Return the members with those in order that are in the groups of some steps."""
        members = self.members
        groups = np.unique(self.group[hopeful])
        starts = np.append(-1, self.group_end)[groups] + 1
        sizes = self.group_end[groups] - starts + 1
        places, number = spans(starts, sizes), np.repeat(groups, sizes)
        distance = members.distances(places)
        order = np.lexsort((distance, number))
        distance = distance[order]
        point, undecided = members.point.copy(), members.open.copy()
        point[places] = members.point[places[order]]
        undecided[places] = ~np.append((_changes(distance) | _changes(number))[1:], True)
        return replace(members, point=point, open=undecided)


def spans(starts: Indices, sizes: Indices) -> Indices:
    """Return the numbers of all spans, each from its start on, one after the other."""
    ends = np.cumsum(sizes)
    return np.arange(sizes.sum()) + np.repeat(starts - (ends - sizes), sizes)


def _run_numbers(members: OrderedMembers, codes: Indices) -> NDArray[Any]:
    """Number each member's run, by class and then candidate, in as few bits as will do."""
    first, last = int(members.candidate[0]), int(members.candidate[-1])
    n_candidates = last - first + 1
    # Numbers of sixteen bits have the fastest sort of all.
    few = (int(codes.max()) + 1) * n_candidates <= 2**16
    number = codes[members.point] * n_candidates + (members.candidate - first)
    return number.astype(np.uint16) if few else number


def _changes(values: NDArray[Any]) -> Flags:
    """Tell of each value whether it differs from the one before it; the first does."""
    return np.append(True, values[1:] != values[:-1])


def _sums_since(sums: Units, begins: Flags) -> tuple[Units, Units]:
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
    return np.maximum(np.append(0, highest[:-1]) - level, 0)
