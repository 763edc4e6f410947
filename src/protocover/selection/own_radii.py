"""Problems in which every candidate may take a radius of its own.

Of all the radii of a candidate only a few can be part of an optimum. Between two points of
other classes, its rivals, a larger ball covers more and costs no more: so a ball ends just
before a rival. And a ball that takes in more weight of rivals than of points of the class,
compared with a smaller one about the same candidate, is never better than that one: so the
own weight less the rivals' must rise from each ball to the next. All others are left out
here, and so is every membership beyond the last ball that can pay for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ..balls import OrderedMembers, ordered_members
from ..cover import CoverProblem, NestedCoverProblem
from .by_class import BallsOfClass, Formulation, weight_grid
from .training import Training, over_pools

__all__ = ["OwnBalls", "Rules", "at_cost", "formulate_own", "join_own", "pool_starts"]

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def formulate_own(
    training: Training,
    *,
    eps: float,
    closed: bool,
    prototype_cost: float,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Formulation:
    """Write down each class's problem with all radii up to `eps` that may be worth choosing.

    Parameters
    ----------
    training : Training
        Points and candidates.
    eps : float
        The largest radius allowed, which may be infinite.
    closed : bool
        Whether a point at the radius exactly lies in the ball.
    prototype_cost : float
        The cost of one prototype.
    n_jobs, verbose
        As for :func:`protocover.balls.build_balls`.
    """
    rules = Rules(
        training.codes, training.weights, len(training.classes), prototype_cost, eps, closed
    )

    def build(dissimilarity: Any, X: Any, Z: Any) -> list[OwnBalls]:
        def take(members: OrderedMembers) -> OwnBalls:
            return OwnBalls.of(members, rules)

        return list(
            ordered_members(
                dissimilarity, X, Z, take, eps=eps, closed=closed, n_jobs=n_jobs, verbose=verbose
            )
        )

    found: list[OwnBalls] = []
    for start, strips in zip(pool_starts(training), over_pools(training, build), strict=True):
        found += [replace(balls, candidate=balls.candidate + start) for balls in strips]
    return join_own(found, rules, prototype_cost=prototype_cost)


def pool_starts(training: Training) -> list[int]:
    """Return the number of the first candidate of each pool among all of them."""
    sizes = [len(pool) for pool in training.pools]
    return [sum(sizes[:k]) for k in range(len(sizes))]


@dataclass(frozen=True, eq=False)
class Rules:
    """What decides which balls are worth looking at.

    Parameters
    ----------
    codes : ndarray of int, shape (n_points,)
        Class numbers.
    weights : ndarray of float, shape (n_points,)
        Positive, on a grid on which sums are exact; zero for points that are not to count,
        and then are no members either.
    n_classes : int
        Number of classes.
    least_cost : float
        No prototype costs less.
    eps : float
        The largest radius allowed, which may be infinite.
    closed : bool
        Whether a point at the radius exactly lies in the ball.
    """

    codes: Indices
    weights: Floats
    n_classes: int
    least_cost: float
    eps: float
    closed: bool

    @property
    def grid(self) -> float:
        """A number of which all weights are multiples, and their sum no large one."""
        n_points = int(np.count_nonzero(self.weights))
        return weight_grid(float(self.weights.max(initial=0.0)), n_points)

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The weights as multiples of the grid."""
        return np.rint(self.weights / self.grid).astype(np.int64)

    @cached_property
    def heaviest(self) -> int:
        """What the class of most weight weighs, in units of the grid."""
        counted = self.weights > 0.0
        return int(np.bincount(self.codes[counted], self.units[counted]).max(initial=0))

    def radius(self, last: Floats, rival: Floats) -> Floats:
        """Return the radii of balls that end before `rival`, or take in all, up to `last`.

        Where there is no rival within `eps`, which is infinity here, the ball ends there;
        with no such limit it ends with the farthest point.
        """
        if self.closed:
            ends = last if np.isinf(self.eps) else np.full_like(last, self.eps)
            return np.where(np.isinf(rival), ends, np.nextafter(rival, 0.0))
        ends = np.nextafter(last, np.inf) if np.isinf(self.eps) else np.full_like(last, self.eps)
        return np.where(np.isinf(rival), ends, rival)


@dataclass(frozen=True, eq=False)
class OwnBalls:
    """The balls of some candidates that may be worth choosing, for all classes.

    Parameters
    ----------
    label, candidate : ndarray of int, shape (n_balls,)
        Class and candidate of each ball, by class, candidate and size.
    radius : ndarray of float, shape (n_balls,)
        Its radius.
    wrong : ndarray of float, shape (n_balls,)
        Weight of the points of other classes in it.
    miscovered : ndarray of int, shape (n_balls,)
        Their number.
    size : ndarray of int, shape (n_balls,)
        Number of points that it holds beyond the next smaller ball of its candidate.
    point : ndarray of int, shape (size.sum(),)
        These points, ball by ball.
    """

    label: Indices
    candidate: Indices
    radius: Floats
    wrong: Floats
    miscovered: Indices
    size: Indices
    point: Indices

    @classmethod
    def of(cls, members: OrderedMembers, rules: Rules) -> Self:
        """Find the balls of some candidates, given all their members."""
        if len(members.point) == 0:
            return cls(*np.empty((2, 0), np.intp), *np.empty((2, 0)), *np.empty((3, 0), np.intp))
        members = members.among(_in_reach(members, rules))
        walk = _Walk.of(members, rules)
        ends = _level_ends(walk)
        kept = ends[_pays(walk, ends, rules)]
        # Each member belongs to the first ball kept that its own list has reached by then.
        ball = np.searchsorted(kept, np.arange(len(walk.place)))
        inside = np.flatnonzero(ball < len(kept))
        inside = inside[walk.run[inside] == walk.run[kept[ball[inside]]]]
        return cls(
            label=walk.label[kept],
            candidate=members.candidate[walk.place[kept]],
            radius=rules.radius(walk.farthest[kept], walk.next_distance[kept]),
            wrong=np.asarray((walk.total[kept] - walk.own[kept]) * rules.grid, dtype=np.float64),
            miscovered=walk.n_total[kept] - walk.n_own[kept],
            size=np.bincount(ball[inside], minlength=len(kept)),
            point=members.point[walk.place[inside]],
        )


def _in_reach(members: OrderedMembers, rules: Rules) -> NDArray[np.bool_]:
    """Tell which members may lie in a ball that pays, or be the rival that one ends before.

    Such a ball holds more weight of its class than of the others, so less than twice that of
    the heaviest class: the first members that weigh as much are all that need be looked at.
    """
    units = rules.units[members.point]
    nearer = _sums(units, _run_starts(_repeats(members.candidate))) - units
    return np.asarray(nearer < 2 * rules.heaviest)


@dataclass(frozen=True, eq=False)
class _Walk:
    """The members by class and candidate, and what the ball up to each of them holds.

    Members at the same distance are in or out together: what is told of one of them is
    told of the ball that holds them all.
    """

    place: Indices  # of each in the list of members
    label: Indices
    run: Indices  # one for each class and candidate, rising
    own: NDArray[np.int64]  # weight of its class, in units of the grid
    total: NDArray[np.int64]  # weight of all classes
    n_own: Indices
    n_total: Indices
    next_distance: Floats  # of the first member beyond, infinite where there is none
    farthest: Floats  # of all members of the candidate

    @classmethod
    def of(cls, members: OrderedMembers, rules: Rules) -> Self:
        units = rules.units[members.point]
        label, candidate = rules.codes[members.point], members.candidate
        same = _repeats(candidate)
        group_end = _run_ends(same & _repeats(members.distance))
        start = _run_starts(same)
        total, n_total = _sums(units, start)[group_end], group_end - start + 1
        beyond = np.append(members.distance, np.inf)[group_end + 1]
        beyond[np.append(candidate, -1)[group_end + 1] != candidate] = np.inf
        farthest = members.distance[_run_ends(same)]

        place = np.lexsort((candidate, label))
        in_run = _repeats(label[place]) & _repeats(candidate[place])
        own_start = _run_starts(in_run)
        own_end = _run_ends(in_run & _repeats(members.distance[place]))
        return cls(
            place=place,
            label=label[place],
            run=np.concatenate(([0], np.cumsum(~in_run)))[: len(place)],
            own=_sums(units[place], own_start)[own_end],
            total=total[place],
            n_own=own_end - own_start + 1,
            n_total=n_total[place],
            next_distance=beyond[place],
            farthest=farthest[place],
        )

    @property
    def gain(self) -> NDArray[np.int64]:
        """Own weight less that of rivals."""
        return 2 * self.own - self.total


def _level_ends(walk: _Walk) -> Indices:
    """Return the members that are the last of their class before a rival, or of all."""
    rivals = walk.total - walk.own
    return np.flatnonzero(~np.append(_repeats(walk.run) & _repeats(rivals), False))


def _pays(walk: _Walk, ends: Indices, rules: Rules) -> NDArray[np.bool_]:
    """Tell which balls gain more than every smaller one of their run, and than they cost."""
    gain = walk.gain[ends]
    # A rank for each gain, above those of all runs before: one running maximum serves all.
    _, rank = np.unique(gain, return_inverse=True)
    height = walk.run[ends] * (len(ends) + 1) + rank
    before = np.concatenate(([-1], np.maximum.accumulate(height)))[: len(ends)]
    return (height > before) & (gain > 0) & (gain * rules.grid >= rules.least_cost)


def _repeats(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell of each value but the last whether the next one is the same."""
    return np.asarray(values[1:] == values[:-1])


def _run_starts(same: NDArray[np.bool_]) -> Indices:
    """For each place the first of its run; `same` tells whether the next place is of it too."""
    places = np.arange(len(same) + 1)
    return np.maximum.accumulate(np.where(np.append(False, same), 0, places))


def _run_ends(same: NDArray[np.bool_]) -> Indices:
    """For each place the last of its run."""
    return len(same) - _run_starts(same[::-1])[::-1]


def _sums(units: NDArray[np.int64], start: Indices) -> NDArray[np.int64]:
    """Add up from each start on; the whole may wrap around, the differences are right."""
    sums = np.concatenate(([0], np.cumsum(units)))
    return np.asarray(sums[1:] - sums[start])


def join_own(found: Sequence[OwnBalls], rules: Rules, *, prototype_cost: float) -> Formulation:
    """Write down each class's problem, and what its columns are, from all candidates' balls."""
    by_class = [_of_class(found, label) for label in range(rules.n_classes)]
    problems, described = [], []
    for label, balls in enumerate(by_class):
        rows = np.flatnonzero(rules.codes == label)
        number = np.empty(len(rules.codes), dtype=np.int32)
        number[rows] = np.arange(len(rows))
        ends = np.concatenate(([0], np.cumsum(balls.size)))
        inside = np.ones(len(balls.point), dtype=bool)
        shells = csc_array((inside, number[balls.point], ends), shape=(len(rows), len(balls.size)))
        shells.sort_indices()
        first = _run_starts(_repeats(balls.candidate))[: len(balls.size)]
        problems.append(
            NestedCoverProblem(shells, first, balls.wrong, rules.weights[rows], prototype_cost)
        )
        described.append(
            BallsOfClass(balls.candidate, balls.radius, ends[1:] - ends[first], balls.miscovered)
        )
    return Formulation(problems, described)


def at_cost(problem: CoverProblem, prototype_cost: float) -> tuple[Indices, CoverProblem]:
    """Return a problem as a fit with a higher cost writes it down, and its columns in this one.

    Of balls of their own radii those are left out that cannot pay that cost.
    """
    columns = np.arange(problem.n_candidates)
    if isinstance(problem, NestedCoverProblem):
        pays = problem.prize_sums() - problem.wrong >= prototype_cost
        columns, problem = (
            columns[pays],
            problem if pays.all() else problem.narrowed(columns[pays]),
        )
    return columns, problem.at_cost(prototype_cost)


def _of_class(found: Sequence[OwnBalls], label: int) -> OwnBalls:
    """Join the balls of one class, strip after strip."""
    parts: dict[str, list[Any]] = {field.name: [] for field in fields(OwnBalls)}
    for balls in found:
        low, high = np.searchsorted(balls.label, [label, label + 1])
        ends = np.concatenate(([0], np.cumsum(balls.size)))
        for name in parts:
            cut = slice(ends[low], ends[high]) if name == "point" else slice(low, high)
            parts[name].append(getattr(balls, name)[cut])
    return OwnBalls(**{name: np.concatenate(some) for name, some in parts.items()})
