"""The neighbourhoods of all candidates, and one cover problem per class from them.

The prototype vector machine's integer program separates by class (paper, appendix A). Here is
where that happens for neighbourhoods of shared radii; `adaptive_radii` does it for those whose
radii end at samples of other classes. Both describe a class by a :class:`ClassProblem`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.sparse import csc_array, csr_array

from .._balls import spans
from .._cover import CoverProblem
from .._typing import Floats, Indices
from .training import TrainingSubset


@dataclass(frozen=True, eq=False)
class ClassProblem:
    """The problem of one class, and the neighbourhood that each of its columns is."""

    problem: CoverProblem  # Samples of the class x neighbourhoods
    # The candidate at the centre of each, by its column in the table of neighbourhoods, shape
    # (n_balls,)
    candidate: Indices
    # Number of samples of the class, and of the other classes, in it, shape (n_balls,)
    covered: Indices
    miscovered: Indices
    radius: Floats | None = None  # Its radius; None if all share one, shape (n_balls,)

    def at_cost(self, prototype_cost: float) -> Self:
        """Return the problem as a fit with this higher cost formulates it.

        Of adaptive radii those are left out that cannot pay that cost, but not the best one.
        """
        problem, columns = self.problem, None
        if problem.is_nested and problem.n_candidates:
            gain = problem.prize_sums() - problem.wrong
            pays = (gain > 0.0) & (gain >= prototype_cost)
            pays[gain.argmax()] = True
            if not pays.all():
                columns = np.flatnonzero(pays)
                problem = problem.narrowed(columns)
        if problem.prototype_cost != prototype_cost:
            problem = problem.at_cost(prototype_cost)
        if columns is None:
            return replace(self, problem=problem)
        radius = None if self.radius is None else self.radius[columns]
        candidate, covered = self.candidate[columns], self.covered[columns]
        return type(self)(problem, candidate, covered, self.miscovered[columns], radius)


@dataclass(frozen=True, eq=False)
class Balls:
    """The neighbourhoods of all candidates at rising radii that all candidates share."""

    # One more than the number of the first radius that the pair is within. With a single radius a
    # table of True does as well, shape (n_samples, n_candidates).
    levels: csr_array
    # Classes and weights of the samples, and the classes that candidates may serve
    subset: TrainingSubset
    prototype_cost: float  # The cost of one prototype
    n_levels: int = 1  # Number of radii

    def problems(self, level: int, *, only_worthwhile: bool = False) -> Iterator[ClassProblem]:
        """Yield the problem of each class at one radius; no two need be held at once.

        If `only_worthwhile`, of candidates that may serve the class only those are kept that
        gain at least the cost of a prototype, or the best one if none does.
        """
        total = np.sum([share.weight[level] for share in self._shares], axis=0)
        count = np.sum([share.count[level] for share in self._shares], axis=0)
        for label, share in enumerate(self._shares):
            own, covered, members = share.weight[level], share.count[level], share.levels
            wrong = total - own
            columns = self.subset.may_serve(label)
            if only_worthwhile:
                columns = columns[covered[columns] > 0]
                gain = (own - wrong)[columns]
                pays = gain >= self.prototype_cost
                best = pays if pays.any() else np.argsort(-gain, kind="stable")[:1]
                columns = columns[best]
            if len(columns) < members.shape[1]:
                wrong, covered, members = wrong[columns], covered[columns], members[:, columns]
            cover = members if self.n_levels == 1 else _within(members, level)
            problem = CoverProblem(cover, wrong, share.prize, self.prototype_cost)
            yield ClassProblem(problem, columns, covered, count[columns] - covered)

    @cached_property
    def _shares(self) -> list[_ClassShare]:
        """The samples of each class, and what every neighbourhood holds of them."""
        shares = []
        for label in range(self.subset.n_classes):
            rows = np.flatnonzero(self.subset.codes == label)
            own, prize = self.levels[rows].tocsc(), self.subset.weights[rows]
            count = _cumulated(own, self.n_levels, None)
            alike = bool((prize == 1.0).all())
            weight = count.astype(np.float64) if alike else _cumulated(own, self.n_levels, prize)
            shares.append(_ClassShare(own, prize, weight, count))
        return shares


@dataclass(frozen=True, eq=False)
class _ClassShare:
    """The rows of one class, (n_samples of it, n_candidates), and sums over each neighbourhood.

    `weight` and `count` of the samples of the class have shape (n_levels, n_candidates).
    """

    levels: csc_array
    prize: Floats
    weight: Floats
    count: Indices


def formulate(
    balls: csr_array,
    y: Indices,
    weights: Floats,
    *,
    n_classes: int,
    prototype_cost: float,
    candidate_classes: Indices | None = None,
) -> list[ClassProblem]:
    """Formulate each class's prize-collecting set cover, given the members at one radius.

    `balls` has shape (n_samples, n_candidates); `y` are class numbers below `n_classes`, some of
    which may be empty. A weight is the cost of leaving the sample uncovered, or of miscovering it
    once. `candidate_classes` is the class that each candidate may serve, -1 for any; None if all
    may serve any.
    """
    every = np.arange(balls.shape[1])
    served = np.full(len(every), -1) if candidate_classes is None else candidate_classes
    subset = TrainingSubset(y, weights, n_classes, every, served)
    return list(Balls(balls, subset, prototype_cost).problems(0))


def _cumulated(own: csc_array, n_levels: int, prize: Floats | None) -> Any:
    """Sum prizes, or count samples, in each neighbourhood, shape (n_levels, n_candidates)."""
    if n_levels == 1:  # with less memory
        sizes = np.diff(own.indptr).astype(np.intp) if prize is None else own.T @ prize
        return sizes[None]
    m = own.shape[1]
    column = np.repeat(np.arange(m), np.diff(own.indptr))
    place = (own.data.astype(np.intp) - 1) * m + column
    weights = None if prize is None else prize[own.indices]
    new = np.bincount(place, weights, minlength=n_levels * m).reshape(n_levels, m)
    return np.cumsum(new, axis=0)


def _within(levels: csc_array, k: int) -> csc_array:
    """Return the members at radius number `k` only."""
    keep = levels.data <= k + 1
    ends = np.concatenate(([0], np.cumsum(keep)))[levels.indptr]
    indices = levels.indices[keep]
    data = np.ones(len(indices), dtype=bool)
    return csc_array((data, indices, ends.astype(indices.dtype)), shape=levels.shape)


# Integers of 16 bits sort fastest.
_MOST_KEYS = 1 << 16
# A slice takes as long as looking up this number of entries one by one.
_LONG = 64


@dataclass(frozen=True, eq=False)
class OutwardLists:
    """The entries of each row of a table of levels, those of the first radius first."""

    entry: Any  # Columns, row after row, rising at each level, shape (n_entries,)
    # Where each row starts, and where its entries of each level end, shape (n_rows, n_levels + 1)
    end: Any

    @classmethod
    def of(cls, levels: csr_array, n_levels: int) -> Self:
        """Sort the rows of a table of levels, which are counted from one."""
        entry, starts = np.empty_like(levels.indices), levels.indptr
        sizes = np.empty((levels.shape[0], n_levels), dtype=np.int64)
        step = max(1, _MOST_KEYS // n_levels)
        for top in range(0, levels.shape[0], step):
            rows = slice(top, min(top + step, levels.shape[0]))
            held = slice(starts[rows.start], starts[rows.stop])
            n_rows = rows.stop - rows.start
            first = np.arange(0, n_rows * n_levels, n_levels, dtype=np.uint16)
            key = np.repeat(first, np.diff(starts[rows.start : rows.stop + 1]))
            key += levels.data[held]
            key -= 1
            order = np.argsort(key, kind="stable")
            entry[held] = levels.indices[held][order]
            sizes[rows] = np.bincount(key, minlength=n_rows * n_levels).reshape(n_rows, n_levels)
        end = np.empty((levels.shape[0], n_levels + 1), dtype=np.int64)
        end[:, 0] = starts[:-1]
        np.cumsum(sizes, axis=1, out=end[:, 1:])
        end[:, 1:] += end[:, :1]
        return cls(entry, end)

    @property
    def n_levels(self) -> int:
        """Number of levels."""
        return int(self.end.shape[1]) - 1

    def between(self, rows: Indices, low: int, high: int) -> tuple[Indices, Indices]:
        """Return the entries of some rows at the levels from `low` to before `high`, and sizes."""
        starts, stops = self.end[rows, low], self.end[rows, high]
        sizes = stops - starts
        if int(sizes.sum()) < _LONG * len(rows):
            return self.entry[spans(starts, sizes)].astype(np.intp), sizes
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        entry = np.concatenate([self.entry[a:b] for a, b in pairs] or [self.entry[:0]])
        return entry.astype(np.intp), sizes
