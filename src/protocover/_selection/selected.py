"""The prototypes of all classes in one order, and what is known of them together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverSolution, SharedBound, relative_gap


@dataclass(frozen=True, eq=False)
class Selection:
    """Prototypes of all classes, in one order of selection.

    Parameters
    ----------
    candidates : ndarray of int, shape (n_prototypes,)
        Column of each prototype in the table of balls. In a fitted model its place among
        all candidates as they were given, those of weight zero counted too.
    classes : ndarray of int, shape (n_prototypes,)
        Number of the class it stands for.
    newly_covered : ndarray of int, shape (n_prototypes,)
        Points of its class that no prototype of that class selected before it covers.
    covered, miscovered : ndarray of int, shape (n_prototypes,)
        Points of its class, and of the other classes, in its ball.
    score : ndarray of float, shape (n_prototypes,)
        What the order was made by; for the greedy the drop in the objective before the
        cost of the prototype.
    radii : ndarray of float, shape (n_prototypes,), or None
        The radius of each, where they have radii of their own.
    solutions : tuple of CoverSolution
        The solution of each class's problem, with the same numbers of candidates.
    shared : SharedBound or None
        What is stated about all classes together if they share a limit.
    """

    candidates: NDArray[np.intp]
    classes: NDArray[np.intp]
    newly_covered: NDArray[np.intp]
    covered: NDArray[np.intp]
    miscovered: NDArray[np.intp]
    score: NDArray[np.float64]
    solutions: tuple[CoverSolution, ...]
    radii: NDArray[np.float64] | None = None
    shared: SharedBound | None = None

    @classmethod
    def _joined(
        cls,
        solutions: Sequence[CoverSolution],
        *,
        covered: Sequence[NDArray[np.intp]],
        miscovered: Sequence[NDArray[np.intp]],
        radii: Sequence[NDArray[np.float64]] | None = None,
    ) -> Self:
        """Put the solutions of all classes, and the counts of points in balls, into one order.

        By falling score, then class, then the solver's own order within the class.
        """
        classes, place = order_jointly(solutions)
        offset = np.cumsum([0] + [len(solution.selected) for solution in solutions])
        at = offset[classes] + place
        return cls(
            score=np.concatenate([solution.score for solution in solutions])[at],
            candidates=np.concatenate([solution.selected for solution in solutions])[at],
            classes=classes,
            newly_covered=np.concatenate([solution.newly_covered for solution in solutions])[at],
            covered=np.concatenate(covered)[at],
            miscovered=np.concatenate(miscovered)[at],
            radii=None if radii is None else np.concatenate(radii)[at],
            solutions=tuple(solutions),
        )

    def _rearranged(self, order: NDArray[np.intp]) -> Self:
        """Return the same prototypes in another order, with `newly_covered` as first counted."""
        names = (
            "candidates",
            "classes",
            "newly_covered",
            "covered",
            "miscovered",
            "score",
            "radii",
        )
        there = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return replace(self, **{name: array[order] for name, array in there.items()})

    def within(self, budget: int | Mapping[int, int], *, min_per_class: int = 0) -> Self:
        """Keep the first prototypes that a budget allows, in total or by class number.

        With `min_per_class` a total keeps the first prototype of every class. Objective and
        bound of the solutions stay those of the whole selection.
        """
        order = np.argsort(self.classes, kind="stable")
        rank = np.empty(len(order), dtype=np.intp)
        begins = np.searchsorted(self.classes[order], self.classes[order])
        rank[order] = np.arange(len(order)) - begins
        if isinstance(budget, Mapping):
            allowed = [budget.get(label, len(order)) for label in range(len(self.solutions))]
            kept = np.flatnonzero(rank < np.array(allowed, dtype=np.intp)[self.classes])
        else:
            later = (rank > 0) & bool(min_per_class)
            kept = np.sort(np.argsort(later, kind="stable")[:budget])
        counts = np.bincount(self.classes[kept], minlength=len(self.solutions))
        solutions = (one.first(k) for one, k in zip(self.solutions, counts, strict=True))
        return replace(self._rearranged(kept), solutions=tuple(solutions))

    def renumbered(self, candidates: NDArray[np.intp]) -> Self:
        """Return the same selection with other numbers for its candidates, in their order."""
        known, first = np.unique(self.candidates, return_index=True)
        number = candidates[first]
        solutions = (
            replace(one, selected=number[np.searchsorted(known, one.selected)])
            for one in self.solutions
        )
        return replace(self, candidates=candidates, solutions=tuple(solutions))

    @property
    def forced(self) -> NDArray[np.intp]:
        """Numbers of the classes whose one prototype is there only because each must have one."""
        return np.flatnonzero([solution.limit.at_least for solution in self.solutions])

    @property
    def objective(self) -> float:
        """Objective of the whole integer program (paper, equation 3)."""
        return math.fsum(solution.objective for solution in self.solutions)

    @property
    def lower_bound(self) -> float:
        """No choice of prototypes has a smaller objective; -inf where nothing is proved.

        With a budget no choice of so many.
        """
        if self.shared is not None:
            # The rounded objectives of the classes may not add up to the rounded sum.
            if self.shared.lower_bound >= self.shared.objective:
                return self.objective
            return min(self.shared.lower_bound, math.nextafter(self.objective, -math.inf))
        bound = math.fsum(solution.lower_bound for solution in self.solutions)
        if all(solution.is_optimal for solution in self.solutions):
            return bound
        # Rounding must not make a sum of bounds reach the objective.
        return min(bound, math.nextafter(self.objective, -math.inf))

    @property
    def certificate(self) -> str:
        """The weakest certificate of the classes; see :class:`CoverSolution`."""
        if self.shared is not None:
            return self.shared.certificate
        words = {solution.certificate for solution in self.solutions}
        return next((word for word in ("none", "solver") if word in words), "verified")

    @property
    def gap(self) -> float:
        """Largest share of the objective that a better selection could save."""
        return relative_gap(self.objective, self.lower_bound)


def order_jointly(solutions: Sequence[CoverSolution]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Class and place within its class of every prototype, in the joint order."""
    sizes = [len(solution.selected) for solution in solutions]
    classes = np.repeat(np.arange(len(solutions)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes] or [np.empty(0, np.intp)])
    score = np.concatenate([solution.score for solution in solutions] or [np.empty(0)])
    order = np.lexsort((place, classes, -score))
    return classes[order], place[order]
