"""Radius or limit, and cost, by cross-validation on a table of distances.

For each fold the distances are put in order once, for all limits, and the order in which the
greedy takes prototypes serves all costs. `PVMClassifier` makes the same selections, class by
class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csc_array
from sklearn.model_selection import StratifiedKFold

from protocover._balls import OrderedMembers
from protocover._cover import CoverProblem
from protocover._estimators.search_results import choose
from protocover._selection.adaptive_radii import CandidateBalls, Rules
from protocover.solvers._greedy import choose_by_drop, choose_by_ratio

__all__ = [
    "Balls",
    "Fold",
    "Prototypes",
    "best",
    "in_order",
    "joined",
    "judge",
    "own",
    "ratio_at",
    "shared",
    "simplest",
]

_STRIP_PAIRS = 1 << 20

Setting = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Fold:
    """Distances between training points, and of test points (rows) from them; class numbers."""

    within: np.ndarray
    across: np.ndarray
    y: np.ndarray
    y_test: np.ndarray

    @classmethod
    def all_of(cls, within: np.ndarray, y: np.ndarray, *, n_folds: int, seed: int) -> list[Fold]:
        """Cut a training set into folds."""
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(y, y)
        return [
            cls(within[np.ix_(train, train)], within[np.ix_(test, train)], y[train], y[test])
            for train, test in folds
        ]

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1

    def rules(self, limit: float) -> Rules:
        """Weights are one, balls open, and no cost is too low."""
        return Rules(self.y, np.ones(len(self.y)), self.n_classes, 0.0, limit, closed=False)

    @cached_property
    def members(self) -> OrderedMembers:
        """The points about each candidate, nearest first, as far as any of its balls goes."""
        n = len(self.y)
        width = max(1, _STRIP_PAIRS // n)
        strips = [self._members(np.arange(j, min(j + width, n))) for j in range(0, n, width)]
        return joined(strips)

    def _members(self, candidates: np.ndarray) -> OrderedMembers:
        """List the same for some candidates."""
        n = len(self.y)
        point, distance = np.tile(np.arange(n), len(candidates)), self.within[:, candidates]
        every = OrderedMembers.of(np.repeat(candidates, n), point, distance.T.ravel())
        balls = CandidateBalls.of(every, self.rules(np.inf))
        reach = np.zeros(n)
        np.maximum.at(reach, balls.candidate, balls.radius)
        # The rival before which the largest ball ends stays: it tells the radius.
        return every.among(every.distance <= reach[every.candidate])


def joined(strips: Sequence[OrderedMembers]) -> OrderedMembers:
    """Put the members of one candidate after the other together, whose distances are known."""
    names = ("candidate", "point", "open", "low", "decided")
    parts = {name: np.concatenate([getattr(strip, name) for strip in strips]) for name in names}
    return OrderedMembers(**parts, measure=None)


@dataclass(frozen=True, eq=False)
class Balls:
    """All classes' problems as one, whose solution is that of each, and what its columns are."""

    problem: CoverProblem
    classes: np.ndarray
    candidates: np.ndarray
    radii: np.ndarray


@dataclass(frozen=True, eq=False)
class Prototypes:
    """Chosen ones in their order; a radius that all share is one."""

    classes: np.ndarray
    candidates: np.ndarray
    radii: np.ndarray
    score: np.ndarray

    def first(self, k: int) -> Prototypes:
        return Prototypes(self.classes[:k], self.candidates[:k], self.radii[:k], self.score[:k])

    def at_cost(self, cost: float) -> Prototypes:
        """Return where the greedy stops: what it takes next does not depend on the cost."""
        return self.first(int(np.sum(self.score > cost)))


def shared(fold: Fold, radius: float) -> Balls:
    """Write down the balls of one radius; those with more rivals than own points are left out."""
    n = len(fold.y)
    point, candidate = np.nonzero(fold.within < radius)
    column = fold.y[point] * n + candidate
    held = np.bincount(column, minlength=fold.n_classes * n)
    wrong = np.tile(np.bincount(candidate, minlength=n), fold.n_classes) - held
    kept = held > wrong
    number = np.cumsum(kept) - 1
    inside = kept[column]
    cover = coo_array(
        (np.ones(inside.sum(), dtype=bool), (point[inside], number[column[inside]])),
        shape=(n, int(kept.sum())),
    )
    classes, candidates = np.divmod(np.flatnonzero(kept), n)
    problem = CoverProblem(cover.tocsc(), wrong[kept].astype(float), np.ones(n), 0.0)
    return Balls(problem, classes, candidates, np.ones(len(classes)))


def own(fold: Fold, limit: float) -> Balls:
    """Write down the balls of all radii up to a limit that may be worth choosing."""
    members = fold.members
    found = CandidateBalls.of(members.among(members.distance < limit), fold.rules(limit))
    n = len(fold.y)
    ends = np.concatenate(([0], np.cumsum(found.size)))
    inside = np.ones(len(found.point), dtype=bool)
    shells = csc_array((inside, found.point, ends), shape=(n, len(found.size)))
    shells.sort_indices()
    center = found.label * n + found.candidate
    first = np.searchsorted(center, center)
    problem = CoverProblem(shells, found.wrong, np.ones(n), 0.0, first=first)
    return Balls(problem, found.label, found.candidate, found.radius)


def in_order(balls: Balls) -> Prototypes:
    """Choose by the paper's greedy until nothing is gained."""
    return _chosen(balls, *choose_by_drop(balls.problem))


def ratio_at(balls: Balls, cost: float) -> Prototypes:
    """Choose by the ratio greedy, which another cost leads to other prototypes."""
    problem = balls.problem.at_cost(cost)
    columns, score = choose_by_ratio(problem)
    outer = problem.outermost(columns)
    return _chosen(balls, columns[outer], score[outer])


def _chosen(balls: Balls, columns: np.ndarray, score: np.ndarray) -> Prototypes:
    return Prototypes(
        balls.classes[columns], balls.candidates[columns], balls.radii[columns], score
    )


def judge(fold: Fold, chosen: Prototypes) -> tuple[float, int]:
    """Return the error on the points left out, and the number of prototypes.

    Without any there is no answer, as from `PVMClassifier`.
    """
    if len(chosen.classes) == 0:
        return 1.0, 0
    order = np.argsort(chosen.classes, kind="stable")
    multiples = fold.across[:, chosen.candidates[order]] / chosen.radii[order]
    answers = chosen.classes[order][multiples.argmin(axis=1)]
    return float(np.mean(answers != fold.y_test)), len(chosen.classes)


def best(found: dict[Setting, Sequence[tuple[float, int]]]) -> Setting:
    """Return the setting of the least mean error, of equals the one with fewest prototypes."""
    means = {setting: np.mean(folds, axis=0) for setting, folds in found.items()}
    # Means of the same errors in another order may differ in the last bit.
    return min(means, key=lambda setting: (round(means[setting][0], 9), means[setting][1]))


def simplest(found: dict[Setting, Sequence[tuple[float, int]]]) -> Setting:
    """Return the setting of fewest prototypes within a standard error of the least mean error."""
    error, size = np.array(list(found.values()), dtype=float).transpose(2, 0, 1)
    return list(found)[choose(1.0 - error, size.mean(axis=1), rule="1se")]
