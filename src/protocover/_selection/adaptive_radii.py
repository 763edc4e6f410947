"""Problems in which every candidate may take a radius of its own.

Of all the radii of a candidate only a few can be part of an optimum. Between two points of
other classes, its rivals, a larger ball covers more and costs no more: so a ball ends just
before a rival. And a ball that takes in more weight of rivals than of points of the class,
compared with a smaller one about the same candidate, is never better than that one: so the
own weight less the rivals' must rise from each ball to the next. All others are left out
here, and so is every membership beyond the last ball that can pay for itself. If no ball
of a class pays, the best one stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._balls import OrderedMembers, ordered_members, spans
from .._balls.adaptive_forecast import warn_if_own_too_large
from .._cover import CoverProblem, weight_grid
from .._resources import row_count, say
from .._typing import Floats, Indices
from .by_class import BallsOfClass, Formulation
from .training import Training, over_pools
from .trimming import GainTrim
from .walk import Steps, Stretches

Flags = NDArray[np.bool_]
Units = NDArray[np.int64]


def formulate_own(
    training: Training,
    *,
    eps: float,
    closed: bool,
    prototype_cost: float,
    rng: np.random.Generator | None = None,
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
    rng : numpy.random.Generator or None
        Draws the candidates that the memory needed is estimated from; None for no estimate.
    n_jobs, verbose
        As for :func:`protocover._balls.build_balls`.
    """
    rules = Rules(
        training.codes,
        training.weights,
        len(training.classes),
        prototype_cost,
        eps,
        closed,
        training.candidate_classes,
    )
    starts = iter(pool_starts(training))

    def build(dissimilarity: Any, X: Any, Z: Any) -> list[OwnBalls]:
        here = rules.of_pool(next(starts))

        def take(members: OrderedMembers) -> OwnBalls:
            return OwnBalls.of(members, here)

        asked: dict[str, Any] = {"eps": eps, "closed": closed, "n_jobs": n_jobs}
        if rng is not None:
            warn_if_own_too_large(dissimilarity, X, Z, partial(_counting, here), rng=rng, **asked)
        asked |= {"trim": here.trim, "verbose": verbose}
        found = list(ordered_members(dissimilarity, X, Z, take, **asked))
        limit = f"up to {eps:.4g}" if np.isfinite(eps) else "without a limit"
        say(
            f"per-prototype radii {limit}: {row_count(X)} points x {row_count(Z)} candidates, "
            f"{sum(len(balls.radius) for balls in found)} balls that may be chosen, with "
            f"{sum(len(balls.point) for balls in found)} memberships",
            verbose,
        )
        return found

    found: list[OwnBalls] = []
    for start, strips in zip(pool_starts(training), over_pools(training, build), strict=True):
        found += [replace(balls, candidate=balls.candidate + start) for balls in strips]
    return join_own(found, rules, prototype_cost=prototype_cost)


def _counting(rules: Rules, candidates: Indices) -> Callable[[OrderedMembers], tuple[int, int]]:
    """Return what counts the balls of some candidates, and what these hold."""
    some = rules.among(candidates)

    def count(members: OrderedMembers) -> tuple[int, int]:
        balls = OwnBalls.of(members, some)
        return len(balls.radius), len(balls.point)

    return count


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
    served : ndarray of int, shape (n_candidates,), or None
        The class that each candidate may serve, -1 for any; None if all may serve any.
    """

    codes: Indices
    weights: Floats
    n_classes: int
    least_cost: float
    eps: float
    closed: bool
    served: Indices | None = None

    def of_pool(self, start: int) -> Rules:
        """Return the rules for candidates that are counted from number `start` on."""
        return self if start == 0 else self.among(slice(start, None))

    def among(self, candidates: Indices | slice) -> Rules:
        """Return the rules for some of the candidates, which are then counted among these."""
        return self if self.served is None else replace(self, served=self.served[candidates])

    @property
    def trim(self) -> GainTrim:
        """What leaves out members that no ball worth looking at holds."""
        return GainTrim(self.codes, self.units, self.n_classes, self.served)

    @cached_property
    def grid(self) -> float:
        """The largest number of which all weights are multiples."""
        n_points = int(np.count_nonzero(self.weights))
        fine = weight_grid(float(self.weights.max(initial=0.0)), n_points)
        multiples = np.rint(self.weights / fine).astype(np.int64)
        # Small whole numbers make for short work with many balls at once.
        return fine * max(1, int(np.gcd.reduce(multiples, initial=0)))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The weights as multiples of the grid."""
        return np.rint(self.weights / self.grid).astype(np.int64)

    def pays(self, gain: NDArray[np.int64]) -> Flags:
        """Tell which gains, in units of the grid, are worth a prototype."""
        return (gain > 0) & (gain * self.grid >= self.least_cost)

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
            return cls.none()
        steps = _settled_steps(members, rules)
        if len(steps.place) == 0:
            return cls.none()
        kept = np.flatnonzero(_worth_looking_at(steps, rules) | _best_of_classes(steps, rules))
        center, held = steps.stretches.candidate[steps.place[kept]], np.cumsum(steps.size)
        run_start = np.flatnonzero(steps.begins)[np.cumsum(steps.begins)[kept] - 1]
        # Each ball holds what the last one before it does not, or all since its run began.
        start = np.maximum(np.append(0, kept[:-1] + 1), run_start)
        sizes = held[kept] - np.append(0, held)[start]
        n_own = held[kept] - np.append(0, held)[run_start]
        first = np.searchsorted(steps.stretches.members.candidate, center)
        return cls(
            label=steps.stretches.label[steps.place[kept]],
            candidate=center,
            radius=_radii(steps, kept, rules),
            wrong=np.asarray((steps.total[kept] - steps.own[kept]) * rules.grid, dtype=np.float64),
            miscovered=steps.last[kept] - first + 1 - n_own,
            size=sizes,
            point=steps.points(start, kept).astype(np.int32),
        )

    @classmethod
    def none(cls) -> Self:
        """Return no balls."""
        counts, amounts = np.empty(0, dtype=np.intp), np.empty(0)
        return cls(counts, counts, amounts, amounts, counts, counts, counts.astype(np.int32))


def _settled_steps(members: OrderedMembers, rules: Rules) -> Steps:
    """Walk along the members, in an order that is certain wherever a ball may end."""
    steps = Steps.of(Stretches.of(members, rules.codes), rules.units, rules.served)
    if len(steps.place) == 0:
        return steps
    ends = steps.last[_could_end_within(steps, rules)]
    ends = np.unique(ends[~members.decided[ends]])
    if len(ends) == 0:
        return steps
    settled = members.settled(np.searchsorted(members.group_end, ends))
    return Steps.of(Stretches.of(settled, rules.codes), rules.units, rules.served)


def _before_rival(steps: Steps) -> Flags:
    """Tell which steps are the last before a rival, or of all."""
    rivals = steps.total - steps.own
    return np.append(steps.begins[1:] | (rivals[1:] != rivals[:-1]), True)


def _worth_looking_at(steps: Steps, rules: Rules) -> Flags:
    """Tell which steps end a ball: before a rival, and with more gain than all before."""
    return _before_rival(steps) & (steps.gain > steps.best_before()) & rules.pays(steps.gain)


def _best_of_classes(steps: Steps, rules: Rules) -> Flags:
    """Tell which step has the highest gain of its class, where none of the class pays.

    The first of equals: that of the lowest candidate, and of its smallest ball.
    """
    best, _, none_pays = _highest_of_classes(steps, rules)
    flags = np.zeros(len(steps.place), dtype=bool)
    flags[best[none_pays]] = True
    return flags


def _highest_of_classes(steps: Steps, rules: Rules) -> tuple[Indices, Units, Flags]:
    """Return each class's first step of highest gain before a rival, that, and if none pays."""
    label = steps.stretches.label[steps.place]
    first = np.flatnonzero(np.diff(label, prepend=-1))
    gain = np.where(_before_rival(steps), steps.gain, np.iinfo(np.int64).min)
    highest = np.maximum.reduceat(gain, first)
    sizes = np.diff(np.append(first, len(label)))
    at_best = np.flatnonzero(gain == np.repeat(highest, sizes))
    best = at_best[np.searchsorted(at_best, first)]
    return best, highest, ~rules.pays(highest)


def _could_end_within(steps: Steps, rules: Rules) -> Flags:
    """Tell of which steps an inner part could be worth it if the own points came first."""
    own_before = steps.own_before
    mixed = steps.total - steps.before > steps.own - own_before
    hoped = steps.own - (steps.before - own_before)
    worth_it = (hoped > steps.best_before()) & rules.pays(hoped)
    best, highest, none_pays = _highest_of_classes(steps, rules)
    if none_pays.any():  # then the best ball of the class is wanted, though it does not pay
        label = steps.stretches.label[steps.place]
        wanted = np.full(int(label[-1]) + 1, np.iinfo(np.int64).max)
        wanted[label[best[none_pays]]] = highest[none_pays]
        worth_it |= hoped >= wanted[label]
    return mixed & worth_it


def _radii(steps: Steps, kept: Indices, rules: Rules) -> Floats:
    """Return the radii of the balls that end with the steps `kept`."""
    members = steps.stretches.members
    last = steps.last[kept]
    group = np.searchsorted(members.group_end, last)
    center = np.append(members.candidate, -1)
    has_rival = center[last + 1] == center[last]
    nearest, farthest = np.full((2, len(kept)), np.inf)
    nearest[has_rival] = _extreme(members, group[has_rival] + 1, np.minimum)
    if np.isinf(rules.eps):
        farthest[~has_rival] = _extreme(members, group[~has_rival], np.maximum)
    return rules.radius(farthest, nearest)


def _extreme(members: OrderedMembers, groups: Indices, pick: np.ufunc) -> Floats:
    """Return the distance of the nearest or farthest member of each of some groups."""
    if len(groups) == 0:
        return np.empty(0)
    start, size = members.group_spans(groups)
    distances = members.distances(spans(start, size))
    return np.asarray(pick.reduceat(distances, np.cumsum(size) - size))


def join_own(found: Sequence[OwnBalls], rules: Rules, *, prototype_cost: float) -> Formulation:
    """Write down each class's problem, and what its columns are, from all candidates' balls."""
    problems, described = [], []
    for label in range(rules.n_classes):
        balls = _of_class(found, label)
        rows = np.flatnonzero(rules.codes == label)
        number = np.empty(len(rules.codes), dtype=np.int32)
        number[rows] = np.arange(len(rows))
        ends = np.concatenate(([0], np.cumsum(balls.size)))
        inside = np.ones(len(balls.point), dtype=bool)
        shells = csc_array((inside, number[balls.point], ends), shape=(len(rows), len(balls.size)))
        shells.sort_indices()
        fresh = np.append(True, balls.candidate[1:] != balls.candidate[:-1])[: len(balls.size)]
        first = np.flatnonzero(fresh)[np.cumsum(fresh) - 1]
        prize = rules.weights[rows]
        written = CoverProblem(shells, balls.wrong, prize, prototype_cost, first=first)
        held = BallsOfClass(
            balls.candidate, balls.radius, ends[1:] - ends[first], balls.miscovered
        )
        # Each strip of candidates brought its best ball if none of its own pays.
        columns, problem = at_cost(written, prototype_cost)
        problems.append(problem)
        described.append(held if len(columns) == len(balls.size) else held.chosen(columns))
    return Formulation(problems, described)


def at_cost(problem: CoverProblem, prototype_cost: float) -> tuple[Indices, CoverProblem]:
    """Return a problem as a fit with a higher cost writes it down, and its columns in this one.

    Of balls of their own radii those are left out that cannot pay that cost, but not the best.
    """
    columns = np.arange(problem.n_candidates)
    if problem.is_nested and len(columns):
        gain = problem.prize_sums() - problem.wrong
        pays = (gain > 0.0) & (gain >= prototype_cost)
        pays[gain.argmax()] = True
        columns, problem = (
            columns[pays],
            problem if pays.all() else problem.narrowed(columns[pays]),
        )
    same = problem.prototype_cost == prototype_cost
    return columns, problem if same else problem.at_cost(prototype_cost)


def _of_class(found: Sequence[OwnBalls], label: int) -> OwnBalls:
    """Join the balls of one class, strip after strip."""
    parts: dict[str, list[Any]] = {field.name: [] for field in fields(OwnBalls)}
    for balls in (OwnBalls.none(), *found):
        low, high = np.searchsorted(balls.label, [label, label + 1])
        ends = np.concatenate(([0], np.cumsum(balls.size)))
        for name in parts:
            cut = slice(ends[low], ends[high]) if name == "point" else slice(low, high)
            parts[name].append(getattr(balls, name)[cut])
    return OwnBalls(**{name: np.concatenate(some) for name, some in parts.items()})
