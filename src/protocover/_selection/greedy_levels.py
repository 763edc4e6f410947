"""The paper's greedy at many radii, all classes in one run, straight from lists of levels.

What :func:`protocover.solvers.greedy` chooses class by class, for those who want selections
and no bounds. A ball can only be worth its cost to the class that has more than half of the
weight in it, so what a candidate gains is one number, whatever the number of classes. Classes
do not compete for candidates: each class's order is what it would be alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .._balls import spans, traits_of
from .._cover import CoverSolution, Limit, is_above, simplest_fraction
from .part import Part
from .selected import Selection
from .training import Training

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class GreedyLevels:
    """Some of the points and candidates of lists of levels, for the greedy to choose from."""

    outward: Outward
    part: Part

    @classmethod
    def of_training(cls, training: Training, levels: csr_array, *, n_radii: int) -> Self:
        """Take all points and candidates of a training set, given the table of their levels."""
        return cls(outward_of(training, levels, n_radii=n_radii), Part.whole(training))

    def selections(
        self, costs: Floats, *, min_per_class: int = 0
    ) -> Iterator[tuple[Selection, ...]]:
        """Yield the selections radius by radius, one for each of the rising `costs`.

        With `min_per_class`, a class of which nothing is worth its cost gets its best candidate.
        """
        part, rows = self.part, np.flatnonzero(self.part.codes >= 0)
        reach = np.zeros((part.n_classes, len(part.candidate)))
        for k in range(self.outward.n_radii):
            holder, sizes = self.outward.holders.between(rows, k, k + 1)
            place = np.repeat(part.codes[rows] * reach.shape[1], sizes) + holder
            new = np.bincount(place, np.repeat(part.weights[rows], sizes), minlength=reach.size)
            reach += new.reshape(reach.shape)
            run = _Run.of(self, k, reach, cost=float(costs[0]))
            singles = self._singles(run, reach) if min_per_class else None
            run.choose()
            yield run.selections(costs, singles)

    def _singles(self, run: _Run, reach: Floats) -> Selection:
        """Return the candidate that alone gains most for each class, class by class."""
        part, total = self.part, reach.sum(axis=0)
        open_to = (part.candidate >= 0) & (part.served < 0)
        best, gains, labels = [], [], []
        for label in range(part.n_classes):
            fits = open_to | ((part.candidate >= 0) & (part.served == label))
            fits = np.flatnonzero(fits & (reach[label] > 0.0))
            if len(fits):
                gain = 2.0 * reach[label, fits] - total[fits]
                best.append(fits[gain.argmax()])
                gains.append(gain.max())
                labels.append(label)
        chosen, classes = np.array(best, dtype=np.intp), np.array(labels, dtype=np.intp)
        covered, miscovered = run.count_members(chosen, classes)
        return Selection(
            candidates=part.candidate[chosen],
            classes=classes,
            newly_covered=covered,
            covered=covered,
            miscovered=miscovered,
            score=np.array(gains),
            solutions=(),
        )


def outward_of(training: Training, levels: csr_array, *, n_radii: int) -> Outward:
    """Make lists of the levels of a training set, the same both ways where it is symmetric."""
    symmetric = training.chooses_points and traits_of(training.dissimilarity).symmetric
    return Outward.of(levels, n_radii, symmetric=symmetric)


@dataclass(eq=False)
class _Run:
    """One run of the greedy, at radius number `k`.

    Parameters
    ----------
    given : GreedyLevels
        What to choose from, all of it at radius number `k`.
    cost : float
        What a prototype costs.
    alike : bool
        Whether all points have the same weight.
    unit : float
        That weight, else 1.
    label : ndarray of int, shape (n_candidates,)
        The class that a candidate may stand for, -1 where it is worth its cost to none.
    wrong, gain : ndarray of float, shape (n_candidates,)
        Weight of the points of other classes in its ball, and of the uncovered points of
        that class less it.
    open : ndarray of int, shape (n_points,)
        Class of each point that is not yet covered by its class, -1 for all others.
    chosen, score, newly : list
        The candidates chosen so far, what each gained, and how many points it covered.
    """

    given: GreedyLevels
    k: int
    cost: float
    alike: bool
    unit: float
    label: Indices
    wrong: Floats
    gain: Floats
    open: Indices
    chosen: list[int]
    score: list[float]
    newly: list[int]

    @classmethod
    def of(cls, given: GreedyLevels, k: int, reach: Floats, *, cost: float) -> _Run:
        """Start where nothing is chosen, given the weight of each class in each ball."""
        served = given.part.served
        label = np.where(served >= 0, served, reach.argmax(axis=0))
        most = reach[label, np.arange(len(label))]
        wrong = reach.sum(axis=0) - most
        gain = most - wrong
        out = ~(gain > cost) | (given.part.candidate < 0)
        label[out], gain[out] = -1, -np.inf
        weights, codes = given.part.weights[given.part.codes >= 0], given.part.codes.copy()
        alike = bool((weights == weights[0]).all())
        unit = float(weights[0]) if alike else 1.0
        return cls(given, k, cost, alike, unit, label, wrong, gain, codes, [], [], [])

    def choose(self) -> None:
        """Choose the highest gain, of equals the first, until none is above the cost.

        Once all that are hold a single uncovered point each, the rest is one sweep.
        """
        next_look = 0
        while True:
            best = int(self.gain.argmax())
            score = float(self.gain[best])
            if not score > self.cost:
                return
            ball = self._members(best)
            newly = ball[self.open[ball] == self.label[best]]
            if len(newly) == 1 and len(self.chosen) >= next_look:
                if self._sweep():
                    return
                next_look = len(self.chosen) * 5 // 4 + 8
            self.chosen.append(best)
            self.score.append(score)
            self.newly.append(len(newly))
            self._cover(newly, int(self.label[best]))

    def _members(self, candidate: int) -> Indices:
        """Return the points in a candidate's ball."""
        lists = self.given.outward.members
        start, stop = lists.end[candidate, 0], lists.end[candidate, self.k + 1]
        return lists.entry[start:stop].astype(np.intp)

    def _cover(self, newly: Indices, label: int) -> None:
        """Take points of one class out of all balls that hold them."""
        self.open[newly] = -1
        holder, sizes = self.given.outward.holders.between(newly, 0, self.k + 1)
        weights = None if self.alike else np.repeat(self.given.part.weights[newly], sizes)
        if len(holder) < len(self.gain):
            own = self.label[holder] == label
            lost = self.unit if weights is None else weights[own]
            np.subtract.at(self.gain, holder[own], lost)
        else:  # sums over all candidates are faster than looking up the class of each holder
            sums = np.bincount(holder, weights, minlength=len(self.gain)) * self.unit
            self.gain -= np.where(self.label == label, sums, 0.0)

    def _sweep(self) -> bool:
        """Choose all the rest if every candidate worth its cost holds one uncovered point.

        They stand in no one's way but that of others at the same point, so that their
        order of gain now is the order in which they would be chosen.
        """
        worth_it = np.flatnonzero(self.gain > self.cost)
        held = self.gain[worth_it] + self.wrong[worth_it]
        if self.alike and (held > self.unit).any():
            return False
        left = np.flatnonzero(self.open >= 0)
        holder, sizes = self.given.outward.holders.between(left, 0, self.k + 1)
        point = np.repeat(left, sizes)
        own = self.label[holder] == self.open[point]
        holder, point = holder[own], point[own]
        inside = np.bincount(holder, minlength=len(self.gain))
        if (inside[worth_it] > 1).any():
            return False
        only = np.empty(len(self.gain), dtype=np.intp)
        only[holder] = point
        order = worth_it[np.argsort(-self.gain[worth_it], kind="stable")]
        _, first = np.unique(only[order], return_index=True)
        taken = order[np.sort(first)]
        self.chosen += taken.tolist()
        self.score += self.gain[taken].tolist()
        self.newly += [1] * len(taken)
        return True

    def selections(self, costs: Floats, singles: Selection | None) -> tuple[Selection, ...]:
        """Return what was chosen, cut off where each of the rising `costs` would stop it.

        Classes that are left without a prototype get that of `singles`.
        """
        chosen, score = np.array(self.chosen, dtype=np.intp), np.array(self.score)
        classes = self.label[chosen]
        order = np.lexsort((np.arange(len(chosen)), classes, -score))
        chosen, score, classes = chosen[order], score[order], classes[order]
        newly = np.array(self.newly, dtype=np.intp)[order]
        covered, miscovered = self.count_members(chosen, classes)
        every = Selection(
            candidates=self.given.part.candidate[chosen],
            classes=classes,
            newly_covered=newly,
            covered=covered,
            miscovered=miscovered,
            score=score,
            solutions=(),
        )
        prizes = self.given.part.prizes
        return tuple(_cut_off(every, prizes, cost, singles) for cost in costs.tolist())

    def count_members(self, chosen: Indices, classes: Indices) -> tuple[Indices, Indices]:
        """Count the points of the class of each choice, and of other classes, in its ball."""
        point, sizes = self.given.outward.members.between(chosen, 0, self.k + 1)
        place, code = np.repeat(np.arange(len(chosen)), sizes), self.given.part.codes[point]
        own = np.bincount(place[code == np.repeat(classes, sizes)], minlength=len(chosen))
        return own, np.bincount(place[code >= 0], minlength=len(chosen)) - own


def _cut_off(
    every: Selection, prizes: Floats, cost: float, singles: Selection | None
) -> Selection:
    """Return the first choices, those that are worth `cost`, with each class's solution."""
    n = int(is_above(every.score, cost).sum())
    names = ("candidates", "classes", "newly_covered", "covered", "miscovered", "score")
    first = {name: getattr(every, name)[:n] for name in names}
    forced: set[int] = set()
    if singles is not None:
        left_out = np.flatnonzero(~np.isin(singles.classes, first["classes"]))
        forced = set(singles.classes[left_out].tolist())
        left_out = left_out[np.argsort(-singles.score[left_out], kind="stable")]
        first = {
            name: np.concatenate((first[name], getattr(singles, name)[left_out])) for name in names
        }
    order = np.argsort(first["classes"], kind="stable")
    ends = np.cumsum(np.bincount(first["classes"], minlength=len(prizes)))[:-1]
    parts = (
        np.split(first[name][order], ends) for name in ("candidates", "score", "newly_covered")
    )
    exact_cost = simplest_fraction(cost)
    solutions = tuple(
        CoverSolution(
            selected,
            score,
            newly,
            float(Fraction(prize - score.sum()) + len(score) * exact_cost),
            limit=Limit(at_least=int(label in forced)),
        )
        for label, (prize, selected, score, newly) in enumerate(
            zip(prizes.tolist(), *parts, strict=True)
        )
    )
    return replace(every, **first, solutions=solutions)


# Numbers of sixteen bits have the fastest sort of all.
_MOST_KEYS = 1 << 16
# To cut a slice takes as long as to look up so many entries one by one.
_LONG = 64


@dataclass(frozen=True, eq=False)
class Lists:
    """The entries of each row of a table of levels, those of the first radius first.

    Parameters
    ----------
    entry : ndarray of int, shape (n_entries,)
        Columns, row after row, rising at each level.
    end : ndarray of int, shape (n_rows, n_radii + 1)
        Where each row starts, and where its entries of each level end.
    """

    entry: NDArray[np.int32]
    end: NDArray[np.int64]

    @classmethod
    def of(cls, levels: csr_array, n_radii: int) -> Self:
        """Sort the rows of a table of levels, which are counted from one."""
        entry, starts = np.empty_like(levels.indices), levels.indptr
        sizes = np.empty((levels.shape[0], n_radii), dtype=np.int64)
        step = max(1, _MOST_KEYS // n_radii)
        for top in range(0, levels.shape[0], step):
            rows = slice(top, min(top + step, levels.shape[0]))
            held = slice(starts[rows.start], starts[rows.stop])
            n_rows = rows.stop - rows.start
            first = np.arange(0, n_rows * n_radii, n_radii, dtype=np.uint16)
            key = np.repeat(first, np.diff(starts[rows.start : rows.stop + 1]))
            key += levels.data[held]
            key -= 1
            order = np.argsort(key, kind="stable")
            entry[held] = levels.indices[held][order]
            sizes[rows] = np.bincount(key, minlength=n_rows * n_radii).reshape(n_rows, n_radii)
        end = np.empty((levels.shape[0], n_radii + 1), dtype=np.int64)
        end[:, 0] = starts[:-1]
        np.cumsum(sizes, axis=1, out=end[:, 1:])
        end[:, 1:] += end[:, :1]
        return cls(entry, end)

    def between(self, rows: Indices, low: int, high: int) -> tuple[Indices, Indices]:
        """Return the entries of some rows at the levels from `low` up to `high`, and their sizes.

        Levels are counted from zero, and `high` is not among them.
        """
        starts, stops = self.end[rows, low], self.end[rows, high]
        sizes = stops - starts
        if int(sizes.sum()) < _LONG * len(rows):
            return self.entry[spans(starts, sizes)].astype(np.intp), sizes
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        entry = np.concatenate([self.entry[a:b] for a, b in pairs] or [self.entry[:0]])
        return entry.astype(np.intp), sizes


@dataclass(frozen=True, eq=False)
class Outward:
    """Points and candidates from each other's view.

    Parameters
    ----------
    holders : Lists
        For each point the candidates whose balls hold it.
    members : Lists
        For each candidate the points in its ball.
    """

    holders: Lists
    members: Lists

    @classmethod
    def of(cls, levels: csr_array, n_radii: int, *, symmetric: bool = False) -> Self:
        """Make the lists of a points x candidates table of levels, one of each if `symmetric`."""
        holders = Lists.of(levels, n_radii)
        if symmetric:
            return cls(holders, holders)
        turned: Any = levels.T.tocsr()
        return cls(holders, Lists.of(turned, n_radii))

    @property
    def n_radii(self) -> int:
        """Number of radii."""
        return int(self.holders.end.shape[1]) - 1
