"""The paper's greedy at many radii, all classes in one run, straight from lists of levels.

It selects what :func:`protocover.solvers.greedy` selects class by class, without bounds. A
neighbourhood can only be worth its cost to the class that has more than half of the weight in
it, so the gain of a candidate is one number, whatever the number of classes. Classes do not
compete for candidates: each class's order is that of the class alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array

from .._balls import traits_of
from .._cover import CoverSolution, Limit, is_above, simplest_fraction
from .._typing import Floats, Indices
from .balls import OutwardLists
from .selection import ClassSelection, Selection
from .training import Training, TrainingSubset


# The greedy solver in `solvers` stays beside this one: a problem of a single radius would first
# have to be turned into lists, which takes longer than the greedy that they speed up.
@dataclass(frozen=True, eq=False)
class GreedyLevels:
    """Some of the points and candidates of lists of levels, for the greedy to choose from."""

    holders: OutwardLists
    members: OutwardLists
    subset: TrainingSubset

    @classmethod
    def of(cls, training: Training, levels: csr_array, *, n_levels: int) -> Self:
        """Take all samples and candidates of a training set, given the table of their levels."""
        holders = members = OutwardLists.of(levels, n_levels)
        if not (training.chooses_points and traits_of(training.dissimilarity).symmetric):
            members = OutwardLists.of(levels.T.tocsr(), n_levels)
        return cls(holders, members, TrainingSubset.whole(training))

    def selections(
        self, costs: Floats, *, min_per_class: int = 0
    ) -> Iterator[tuple[Selection, ...]]:
        """Yield the selections radius by radius, one for each of the rising `costs`.

        With `min_per_class`, a class of which nothing is worth its cost gets its best candidate.
        """
        subset, rows = self.subset, np.flatnonzero(self.subset.codes >= 0)
        weight = np.zeros((subset.n_classes, len(subset.candidate)))
        for k in range(self.holders.n_levels):
            holder, sizes = self.holders.between(rows, k, k + 1)
            place = np.repeat(subset.codes[rows] * weight.shape[1], sizes) + holder
            new = np.bincount(place, np.repeat(subset.weights[rows], sizes), minlength=weight.size)
            weight += new.reshape(weight.shape)
            run = _Run.of(self, k, weight, cost=float(costs[0]))
            singles = self._singles(run, weight) if min_per_class else {}
            run.choose()
            yield run.selections(costs, singles)

    def _singles(self, run: _Run, weight: Floats) -> dict[int, _Choices]:
        """Return the candidate that alone gains most for each class that any covers."""
        total, singles = weight.sum(axis=0), {}
        for label in range(self.subset.n_classes):
            fits = self.subset.may_serve(label)
            fits = fits[(self.subset.candidate[fits] >= 0) & (weight[label, fits] > 0.0)]
            if len(fits):
                gain = 2.0 * weight[label, fits] - total[fits]
                best = fits[[gain.argmax()]]
                covered, miscovered = run.count_members(best, np.array([label]))
                singles[label] = _Choices(
                    best, gain.max(keepdims=True), covered, covered, miscovered
                )
        return singles


class _Choices(NamedTuple):
    """Candidates chosen for one class, with what a selection has of each."""

    candidate: Indices
    score: Floats
    newly_covered: Indices
    covered: Indices
    miscovered: Indices

    def at(self, rows: Indices) -> _Choices:
        """Return some of the choices."""
        return _Choices(*(one[rows] for one in self))  # type: ignore[arg-type]


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
    def of(cls, given: GreedyLevels, k: int, weight: Floats, *, cost: float) -> _Run:
        """Start where nothing is chosen, given the weight of each class in each ball."""
        served = given.subset.served
        label = np.where(served >= 0, served, weight.argmax(axis=0))
        most = weight[label, np.arange(len(label))]
        wrong = weight.sum(axis=0) - most
        gain = most - wrong
        out = ~(gain > cost) | (given.subset.candidate < 0)
        label[out], gain[out] = -1, -np.inf
        weights, codes = given.subset.weights[given.subset.codes >= 0], given.subset.codes.copy()
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

    @cached_property
    def prizes(self) -> list[float]:
        """Weight of each class."""
        return list(self.given.subset.prizes.tolist())

    def _members(self, candidate: int) -> Indices:
        """Return the points in a candidate's ball."""
        lists = self.given.members
        start, stop = lists.end[candidate, 0], lists.end[candidate, self.k + 1]
        return np.asarray(lists.entry[start:stop], dtype=np.intp)

    def _cover(self, newly: Indices, label: int) -> None:
        """Take points of one class out of all balls that hold them."""
        self.open[newly] = -1
        holder, sizes = self.given.holders.between(newly, 0, self.k + 1)
        weights = None if self.alike else np.repeat(self.given.subset.weights[newly], sizes)
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
        holder, sizes = self.given.holders.between(left, 0, self.k + 1)
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

    def selections(self, costs: Floats, singles: dict[int, _Choices]) -> tuple[Selection, ...]:
        """Return what was chosen, cut off where each of the rising `costs` would stop it.

        Classes that are left without a prototype get that of `singles`.
        """
        chosen, score = np.array(self.chosen, dtype=np.intp), np.array(self.score)
        label = self.label[chosen]
        counts = self.count_members(chosen, label)
        every = _Choices(chosen, score, np.array(self.newly, dtype=np.intp), *counts)
        rows = [np.flatnonzero(label == k) for k in range(self.given.subset.n_classes)]
        selections = []
        for cost in costs.tolist():
            pays = is_above(score, cost)
            first = [every.at(some[pays[some]]) for some in rows]
            selections.append(
                Selection.joined(
                    [
                        self._of_class(k, some, singles.get(k), exact_cost=simplest_fraction(cost))
                        for k, some in enumerate(first)
                    ]
                )
            )
        return tuple(selections)

    def _of_class(
        self, label: int, chosen: _Choices, single: _Choices | None, *, exact_cost: Fraction
    ) -> ClassSelection:
        """Describe what was chosen for one class, or the `single` candidate if nothing was."""
        is_forced = single is not None and len(chosen.candidate) == 0
        chosen = single if single is not None and is_forced else chosen
        objective = Fraction(self.prizes[label] - chosen.score.sum())
        solution = CoverSolution(
            self.given.subset.candidate[chosen.candidate],
            chosen.score,
            chosen.newly_covered,
            float(objective + len(chosen.score) * exact_cost),
            limit=Limit(at_least=int(is_forced)),
        )
        return ClassSelection(solution, chosen.covered, chosen.miscovered, None)

    def count_members(self, chosen: Indices, classes: Indices) -> tuple[Indices, Indices]:
        """Count the points of the class of each choice, and of other classes, in its ball."""
        point, sizes = self.given.members.between(chosen, 0, self.k + 1)
        place, code = np.repeat(np.arange(len(chosen)), sizes), self.given.subset.codes[point]
        own = np.bincount(place[code == np.repeat(classes, sizes)], minlength=len(chosen))
        return own, np.bincount(place[code >= 0], minlength=len(chosen)) - own
