"""Problems in which every candidate may take a own radius.

Only a few radii of a candidate can be part of an optimum. Between two samples of other classes
a larger neighbourhood covers more and costs no more, so a neighbourhood ends just before a
sample of another class. And the weight of the class less that of other classes must rise from
each neighbourhood to the next: one that adds more weight of other classes than of its own is
never better than the smaller one. All others are left out here, and so is every member beyond
the last neighbourhood that can pay for itself. If none of a class pays, the best one stays.

The members of a strip of candidates are put in outward order once. Those of a subset of the
training set, within a maximum radius, are a filter away and in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from .._balls import OrderedMembers, inside_radii, ordered_members, spans
from .._balls.forecast import warn_if_own_too_large
from .._cover import CoverProblem, snap_weights, weight_grid
from .._resources import row_count, say
from .._typing import Floats, Indices, Mask
from .balls import ClassProblem
from .radius_sweep import GainTrim, RadiusSweep, Segments, Units
from .training import Training, TrainingSubset, over_pools


@dataclass(frozen=True, eq=False)
class AdaptiveBalls:
    """The neighbourhoods of a subset that may be worth choosing, for several maximum radii."""

    rules: Sequence[Rules]  # One for each maximum radius
    # Those of each strip of candidates, which are numbered as in the subset
    found: Sequence[Sequence[CandidateBalls]]

    @property
    def n_levels(self) -> int:
        """Number of maximum radii."""
        return len(self.rules)

    def problems(self, level: int, *, only_worthwhile: bool = False) -> Iterator[ClassProblem]:
        """Yield each class's problem within one maximum radius, at the least cost."""
        rules = self.rules[level]
        yield from join_balls(self.found[level], rules, prototype_cost=rules.least_cost)


def find_adaptive_balls(
    training: Training,
    subsets: Sequence[TrainingSubset],
    *,
    limits: Floats,
    closed: bool,
    least_cost: float,
    rng: np.random.Generator | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[AdaptiveBalls]:
    """Find the neighbourhoods of each subset that may be worth choosing, within each limit.

    `limits` are rising maximum radii, the last of which may be infinite; no prototype costs less
    than `least_cost`. `rng` draws the candidates from which the memory needed is estimated, None
    for no estimate. `n_jobs` and `verbose` are those of :func:`protocover._balls.build_balls`.
    """
    rules = [
        [
            Rules.of(subset, limit, least_cost=least_cost, closed=closed)
            for limit in limits.tolist()
        ]
        for subset in subsets
    ]
    if not subsets:
        return []
    single = len(subsets) == len(limits) == 1 and bool((subsets[0].candidate >= 0).all())
    every = rules[0][0] if single else _together(training, subsets, rules[0][-1])
    strips: list[list[list[CandidateBalls]]] = []
    starts = accumulate(map(len, training.pools), initial=0)
    for start, (dissimilarity, X, Z) in zip(starts, over_pools(training), strict=False):
        here = every.of_pool(start)
        asked: dict[str, Any] = {"eps": float(limits[-1]), "closed": closed, "n_jobs": n_jobs}
        if rng is not None:
            warn_if_own_too_large(dissimilarity, X, Z, partial(_counting, here), rng=rng, **asked)
        if single:
            take, trim = partial(CandidateBalls.of, rules=here), here.trim
            found = list(
                ordered_members(dissimilarity, X, Z, take, trim=trim, verbose=verbose, **asked)
            )
            _report(X, Z, float(limits[-1]), found, verbose)
            strips += [[[replace(one, candidate=one.candidate + start)]] for one in found]
        else:
            some = [[one.of_pool(start) for one in of_subset] for of_subset in rules]
            reduce = partial(_of_subsets, subsets, some, every=here, limits=limits, start=start)
            strips += ordered_members(dissimilarity, X, Z, reduce, verbose=verbose, **asked)
    return [
        AdaptiveBalls(some, [[strip[k][i] for strip in strips] for i in range(len(some))])
        for k, some in enumerate(rules)
    ]


def _of_subsets(
    subsets: Sequence[TrainingSubset],
    rules: Sequence[Sequence[Rules]],
    members: OrderedMembers,
    *,
    every: Rules,
    limits: Floats,
    start: int,
) -> list[list[CandidateBalls]]:
    """Reduce members to the neighbourhoods of each subset, for the rules of each limit."""
    members = _with_order_of(members.remembering(), subsets, every)
    limit = _first_limits(members, limits, closed=every.closed)
    found: list[list[CandidateBalls]] = []
    for subset, of_subset in zip(subsets, rules, strict=True):
        number = subset.candidate[start:]
        inside = (number[members.candidate] >= 0) & (subset.codes[members.point] >= 0)
        balls = (
            CandidateBalls.of(members.among(inside & (limit <= k)), one)
            for k, one in enumerate(of_subset)
        )
        found.append([replace(one, candidate=number[one.candidate]) for one in balls])
    return found


def _report(X: Any, Z: Any, eps: float, found: Sequence[CandidateBalls], verbose: int) -> None:
    """Print the size of the problem."""
    limit = f"up to {eps:.4g}" if np.isfinite(eps) else "without a limit"
    say(
        f"per-prototype radii {limit}: {row_count(X)} points x {row_count(Z)} candidates, "
        f"{sum(len(balls.radius) for balls in found)} balls that may be chosen, with "
        f"{sum(len(balls.point) for balls in found)} memberships",
        verbose,
    )


def _counting(rules: Rules, candidates: Indices) -> Callable[[OrderedMembers], tuple[int, int]]:
    """Return what counts the balls of some candidates, and what these hold."""
    some = rules.among(candidates)

    def count(members: OrderedMembers) -> tuple[int, int]:
        balls = CandidateBalls.of(members, some)
        return len(balls.radius), len(balls.point)

    return count


def _together(training: Training, subsets: Sequence[TrainingSubset], rules: Rules) -> Rules:
    """Return rules for all samples, each with its largest weight in any subset."""
    highest = np.max([subset.weights for subset in subsets], axis=0, initial=0.0)
    whole = replace(TrainingSubset.whole(training), weights=snap_weights(highest))
    return Rules.of(whole, np.inf, least_cost=rules.least_cost, closed=rules.closed)


def _with_order_of(
    members: OrderedMembers, subsets: Sequence[TrainingSubset], every: Rules
) -> OrderedMembers:
    """Return members in an order that is certain wherever a radius of some subset may end.

    It then need not be determined subset by subset. The gain in a subset is at most the
    weight of the class in all subsets, less the smallest weight of other classes in any.
    """
    if members.decided.all():
        return members
    sweep = RadiusSweep.of(Segments.of(members, every.codes), every.units, every.served)
    first = np.flatnonzero(np.diff(members.candidate, prepend=-1))
    start, _ = members.group_spans(np.arange(len(members.group_end)))
    base = first[np.searchsorted(first, start, side="right") - 1]
    least = np.full(len(start), np.iinfo(np.int64).max)
    for subset in subsets:
        units = np.rint(subset.weights[members.point] / every.grid).astype(np.int64)
        sums = np.append(0, np.cumsum(units))
        np.minimum(least, sums[start] - sums[base], out=least)
    mixed = sweep.total - sweep.before > sweep.own - sweep.own_before
    group = np.searchsorted(members.group_end, sweep.last)
    hoped = sweep.own + sweep.own_before - least[group]
    return members.settled(np.unique(group[mixed & every.pays(hoped)]))


def _first_limits(members: OrderedMembers, limits: Floats, *, closed: bool) -> Indices:
    """Return the number of the first of the rising `limits` that each member is within."""
    n_candidates = int(members.candidate.max(initial=-1)) + 1
    number = np.full(len(members.point), len(limits) - 1)
    for limit in limits[:-1].tolist():  # all are within the last
        number -= inside_radii(members, np.full(n_candidates, limit), closed=closed)
    return number


@dataclass(frozen=True, eq=False)
class Rules:
    """What decides which balls are worth looking at."""

    codes: Indices  # Class numbers, shape (n_points,)
    # Positive, on a grid on which sums are exact; zero for samples that are not to count, and then
    # are no members either, shape (n_points,)
    weights: Floats
    n_classes: int  # Number of classes
    least_cost: float  # No prototype costs less
    eps: float  # The largest radius allowed, which may be infinite
    closed: bool  # Whether a sample at the radius exactly lies in the ball
    # The class that each candidate may serve, -1 for any; None if all may serve any, shape
    # (n_candidates,)
    served: Indices | None = None

    @classmethod
    def of(cls, subset: TrainingSubset, eps: float, *, least_cost: float, closed: bool) -> Self:
        """Return the rules for a subset within one maximum radius."""
        codes, n_classes = subset.codes, subset.n_classes
        return cls(codes, subset.weights, n_classes, least_cost, eps, closed, subset.served)

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
        # Small integers make for short work with many balls at once.
        return fine * max(1, int(np.gcd.reduce(multiples, initial=0)))

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """The weights as multiples of the grid."""
        return np.rint(self.weights / self.grid).astype(np.int64)

    def pays(self, gain: NDArray[np.int64]) -> Mask:
        """Return which gains, in units of the grid, are worth a prototype."""
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
class CandidateBalls:
    """The balls of some candidates that may be worth choosing, for all classes."""

    # Class and candidate of each ball, by class, candidate and size, shape (n_balls,)
    label: Indices
    candidate: Indices
    radius: Floats  # Its radius, shape (n_balls,)
    wrong: Floats  # Weight of the samples of other classes in it, shape (n_balls,)
    miscovered: Indices  # Their number, shape (n_balls,)
    # Number of samples that it holds beyond the next smaller ball of its candidate, shape
    # (n_balls,)
    size: Indices
    point: Indices  # These samples, ball by ball, shape (size.sum(),)

    @classmethod
    def of(cls, members: OrderedMembers, rules: Rules) -> Self:
        """Find the balls of some candidates, given all their members."""
        if len(members.point) == 0:
            return cls.none()
        sweep = _sweep_members(members, rules)
        if len(sweep.place) == 0:
            return cls.none()
        kept = _worth_choosing(sweep, rules)
        center, held = sweep.segments.candidate[sweep.place[kept]], np.cumsum(sweep.size)
        run_start = np.flatnonzero(sweep.begins)[np.cumsum(sweep.begins)[kept] - 1]
        # Each ball holds what the last one before it does not, or all since its run began.
        start = np.maximum(np.append(0, kept[:-1] + 1), run_start)
        sizes = held[kept] - np.append(0, held)[start]
        n_own = held[kept] - np.append(0, held)[run_start]
        first = np.searchsorted(sweep.segments.members.candidate, center)
        return cls(
            label=sweep.segments.label[sweep.place[kept]],
            candidate=center,
            radius=_radii(sweep, kept, rules),
            wrong=np.asarray((sweep.total[kept] - sweep.own[kept]) * rules.grid, dtype=np.float64),
            miscovered=sweep.last[kept] - first + 1 - n_own,
            size=sizes,
            point=sweep.points(start, kept).astype(np.int32),
        )

    @classmethod
    def none(cls) -> Self:
        """Return no balls."""
        counts, amounts = np.empty(0, dtype=np.intp), np.empty(0)
        return cls(counts, counts, amounts, amounts, counts, counts, counts.astype(np.int32))


def _sweep_members(members: OrderedMembers, rules: Rules) -> RadiusSweep:
    """Walk along the members, in an order that is certain wherever a ball may end."""
    sweep = RadiusSweep.of(Segments.of(members, rules.codes), rules.units, rules.served)
    if len(sweep.place) == 0:
        return sweep
    ends = sweep.last[_could_end_within(sweep, rules)]
    ends = np.unique(ends[~members.decided[ends]])
    if len(ends) == 0:
        return sweep
    settled = members.settled(np.searchsorted(members.group_end, ends))
    return RadiusSweep.of(Segments.of(settled, rules.codes), rules.units, rules.served)


def _before_rival(sweep: RadiusSweep) -> Mask:
    """Return which steps are the last before a rival, or of all."""
    rivals = sweep.total - sweep.own
    return np.append(sweep.begins[1:] | (rivals[1:] != rivals[:-1]), True)


def _worth_choosing(sweep: RadiusSweep, rules: Rules) -> Indices:
    """Return the steps that end a neighbourhood: with more gain than all before.

    Of a class of which none pays, the first of highest gain: that of the lowest candidate, and
    its smallest neighbourhood.
    """
    rises = sweep.gain > sweep.best_before()
    flags = _before_rival(sweep) & rises & rules.pays(sweep.gain)
    best, _, none_pays = _highest_of_classes(sweep, rules)
    flags[best[none_pays]] = True
    return np.flatnonzero(flags)


def _highest_of_classes(sweep: RadiusSweep, rules: Rules) -> tuple[Indices, Units, Mask]:
    """Return each class's first step of highest gain before a rival, that, and if none pays."""
    label = sweep.segments.label[sweep.place]
    first = np.flatnonzero(np.diff(label, prepend=-1))
    gain = np.where(_before_rival(sweep), sweep.gain, np.iinfo(np.int64).min)
    highest = np.maximum.reduceat(gain, first)
    sizes = np.diff(np.append(first, len(label)))
    at_best = np.flatnonzero(gain == np.repeat(highest, sizes))
    best = at_best[np.searchsorted(at_best, first)]
    return best, highest, ~rules.pays(highest)


def _could_end_within(sweep: RadiusSweep, rules: Rules) -> Mask:
    """Return of which steps an inner part could be worth it if the own samples came first."""
    own_before = sweep.own_before
    mixed = sweep.total - sweep.before > sweep.own - own_before
    hoped = sweep.own - (sweep.before - own_before)
    worth_it = (hoped > sweep.best_before()) & rules.pays(hoped)
    best, highest, none_pays = _highest_of_classes(sweep, rules)
    if none_pays.any():  # then the best ball of the class is wanted, though it does not pay
        label = sweep.segments.label[sweep.place]
        wanted = np.full(int(label[-1]) + 1, np.iinfo(np.int64).max)
        wanted[label[best[none_pays]]] = highest[none_pays]
        worth_it |= hoped >= wanted[label]
    return mixed & worth_it


def _radii(sweep: RadiusSweep, kept: Indices, rules: Rules) -> Floats:
    """Return the radii of the balls that end with the steps `kept`."""
    members = sweep.segments.members
    last = sweep.last[kept]
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


def join_balls(
    found: Sequence[CandidateBalls], rules: Rules, *, prototype_cost: float
) -> Iterator[ClassProblem]:
    """Yield each class's problem from the neighbourhoods of all candidates."""
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
        problem = CoverProblem(
            shells, balls.wrong, rules.weights[rows], prototype_cost, first=first
        )
        covered = ends[1:] - ends[first]
        described = ClassProblem(problem, balls.candidate, covered, balls.miscovered, balls.radius)
        # Each strip of candidates brought its best neighbourhood if none of its own pays.
        yield described.at_cost(prototype_cost)


def _of_class(found: Sequence[CandidateBalls], label: int) -> CandidateBalls:
    """Join the balls of one class, strip after strip."""
    parts: dict[str, list[Any]] = {field.name: [] for field in fields(CandidateBalls)}
    for balls in (CandidateBalls.none(), *found):
        low, high = np.searchsorted(balls.label, [label, label + 1])
        ends = np.concatenate(([0], np.cumsum(balls.size)))
        for name in parts:
            cut = slice(ends[low], ends[high]) if name == "point" else slice(low, high)
            parts[name].append(getattr(balls, name)[cut])
    return CandidateBalls(**{name: np.concatenate(some) for name, some in parts.items()})
