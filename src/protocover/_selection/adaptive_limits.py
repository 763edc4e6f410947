"""Problems with radii of their own for several limits and parts of the points, in one pass.

The members of a strip of candidates are put in order once. Those of a part, within
a limit, are a filter away and in the same order: they are reduced to the balls that may
be worth choosing before the next strip comes, and nothing else of the strip is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._balls import OrderedMembers, inside_radii, ordered_members
from .._cover import snap_weights
from .._typing import Indices
from .adaptive_radii import OwnBalls, Rules, join_own, pool_starts
from .by_class import ClassProblem
from .part import Part
from .training import Training, over_pools
from .walk import Steps, Stretches

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LimitedBalls:
    """The balls of a part that may be worth choosing, for several limits to the radii.

    Parameters
    ----------
    rules : list of Rules
        One for each limit.
    found : list of lists of OwnBalls, [limit][strip]
        What each strip of candidates has, these numbered as in the part.
    """

    rules: Sequence[Rules]
    found: Sequence[Sequence[OwnBalls]]

    def problems(self) -> Iterator[list[ClassProblem]]:
        """Yield each class's problem at the least cost, limit by limit."""
        for rules, strips in zip(self.rules, self.found, strict=True):
            written = join_own(strips, rules, prototype_cost=rules.least_cost)
            pairs = zip(written.problems, written.balls or (), strict=True)
            yield [ClassProblem(problem, balls) for problem, balls in pairs]


def balls_of_parts(
    training: Training,
    parts: Sequence[Part],
    *,
    limits: Floats,
    closed: bool,
    least_cost: float,
    n_jobs: int | None,
    verbose: int,
) -> list[LimitedBalls]:
    """Find the balls of each part that may be worth choosing, within each of rising `limits`.

    `n_jobs` and `verbose` are those of :func:`protocover._balls.build_balls`.
    """
    rules = [
        [part.rules(limit, least_cost=least_cost, closed=closed) for limit in limits.tolist()]
        for part in parts
    ]
    every = _together(training, parts, least_cost=least_cost, closed=closed)
    starts = iter(pool_starts(training))

    def build(dissimilarity: Any, X: Any, Z: Any) -> list[list[list[OwnBalls]]]:
        start = next(starts)

        def take(members: OrderedMembers) -> list[list[OwnBalls]]:
            members = _settled(members.remembering(), parts, every.of_pool(start))
            limit = _first_limits(members, limits, closed=closed)
            return [
                _within_limits(part, members, limit, some, start)
                for part, some in zip(parts, rules, strict=True)
            ]

        widest = float(limits[-1])
        return list(
            ordered_members(
                dissimilarity,
                X,
                Z,
                take,
                eps=widest,
                closed=closed,
                n_jobs=n_jobs,
                verbose=verbose,
            )
        )

    strips = [strip for pool in over_pools(training, build) for strip in pool]
    return [
        LimitedBalls(some, [[strip[k][i] for strip in strips] for i in range(len(some))])
        for k, some in enumerate(rules)
    ]


def _together(
    training: Training, parts: Sequence[Part], *, least_cost: float, closed: bool
) -> Rules:
    """Return rules for all points, each with the highest weight that it has in a part."""
    highest = np.max([part.weights for part in parts], axis=0, initial=0.0)
    codes, n_classes = training.codes, len(training.classes)
    served = training.candidate_classes
    return Rules(codes, snap_weights(highest), n_classes, least_cost, np.inf, closed, served)


def _settled(members: OrderedMembers, parts: Sequence[Part], every: Rules) -> OrderedMembers:
    """Return members in an order that is certain wherever a ball of some part may end.

    So that it need not be found out part by part. What a part's ball can gain is no more
    than the weight of the class in all parts, less that of rivals where it is the least.
    """
    if members.decided.all():
        return members
    steps = Steps.of(Stretches.of(members, every.codes), every.units, every.served)
    first = np.flatnonzero(np.diff(members.candidate, prepend=-1))
    start, _ = members.group_spans(np.arange(len(members.group_end)))
    base = first[np.searchsorted(first, start, side="right") - 1]
    least = np.full(len(start), np.iinfo(np.int64).max)
    for part in parts:
        units = np.rint(part.weights[members.point] / every.grid).astype(np.int64)
        sums = np.append(0, np.cumsum(units))
        np.minimum(least, sums[start] - sums[base], out=least)
    mixed = steps.total - steps.before > steps.own - steps.own_before
    group = np.searchsorted(members.group_end, steps.last)
    hoped = steps.own + steps.own_before - least[group]
    return members.settled(np.unique(group[mixed & every.pays(hoped)]))


def _first_limits(members: OrderedMembers, limits: Floats, *, closed: bool) -> Indices:
    """Return the number of the first of the rising `limits` that each member is within."""
    n_candidates = int(members.candidate.max(initial=-1)) + 1
    number = np.full(len(members.point), len(limits) - 1)
    for limit in limits[:-1].tolist():  # all are within the last
        number -= inside_radii(members, np.full(n_candidates, limit), closed=closed)
    return number


def _within_limits(
    part: Part, members: OrderedMembers, limit: Indices, rules: Sequence[Rules], start: int
) -> list[OwnBalls]:
    """Reduce members to the balls of a part, for the rules of each limit."""
    of_part = part.holds(members, start)
    found = []
    for k, one in enumerate(rules):
        within = members.among(of_part & (limit <= k))
        balls = OwnBalls.of(within, one.of_pool(start))
        found.append(replace(balls, candidate=part.candidate[start + balls.candidate]))
    return found
