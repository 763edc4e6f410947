"""Who lies in whose ball once the prototypes are chosen, and what that says of the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which of a set of labelled points each prototype's ball holds.

    Parameters
    ----------
    balls : csr_array of bool, shape (n_points, n_prototypes)
        Which point lies in which ball, the prototypes in order of selection.
    point_classes : ndarray of int, shape (n_points,)
        Place of each point's label in `classes`, -1 for a label that is not there.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        Place of the class that each prototype stands for.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    """

    balls: csr_array
    point_classes: NDArray[np.intp]
    prototype_classes: NDArray[np.intp]
    classes: NDArray[Any]

    @classmethod
    def _of(
        cls,
        balls: csr_array,
        labels: NDArray[Any],
        prototype_labels: NDArray[Any],
        classes: NDArray[Any],
    ) -> Self:
        """Describe balls by the labels of the points and of the prototypes."""
        places = {label: place for place, label in enumerate(classes.tolist())}
        return cls(
            balls=balls,
            point_classes=np.array([places.get(k, -1) for k in labels.tolist()], dtype=np.intp),
            prototype_classes=np.searchsorted(classes, prototype_labels),
            classes=classes,
        )

    @property
    def own_count(self) -> NDArray[np.intp]:
        """Number of prototypes of its own class whose balls hold each point."""
        counts = self._counts()
        known = self.point_classes >= 0
        own = counts[np.arange(len(counts)), np.where(known, self.point_classes, 0)]
        return np.where(known, own, 0)

    @property
    def other_count(self) -> NDArray[np.intp]:
        """Number of prototypes of other classes whose balls hold each point."""
        return np.asarray(self._counts().sum(axis=1) - self.own_count)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether a prototype of its own class covers each point."""
        return self.own_count > 0

    def members(self, prototype: int) -> NDArray[np.intp]:
        """Return the rows of the points in one prototype's ball, in order."""
        held = self.balls[:, [prototype]].tocoo()
        return np.sort(held.row.astype(np.intp))

    def by_class(self) -> dict[str, NDArray[Any]]:
        """Return a column for each count, with a row for each class.

        Returns
        -------
        dict of ndarray, shape (n_classes,)
            ``class``; ``points`` of it; ``prototypes`` that stand for it; points of it
            that they have ``covered``; points of it ``wrongly_covered`` by prototypes
            of other classes.
        """

        def count(points: NDArray[np.bool_]) -> NDArray[np.intp]:
            known = points & (self.point_classes >= 0)
            return np.bincount(self.point_classes[known], minlength=len(self.classes))

        return {
            "class": self.classes,
            "points": count(np.ones(len(self.point_classes), dtype=bool)),
            "prototypes": np.bincount(self.prototype_classes, minlength=len(self.classes)),
            "covered": count(self.covered),
            "wrongly_covered": count(self.other_count > 0),
        }

    def confusion(self) -> NDArray[np.intp]:
        """Count the points of each class (row) that lie in a ball of each class (column)."""
        held = self._counts() > 0
        table = np.zeros((len(self.classes), len(self.classes)), dtype=np.intp)
        known = self.point_classes >= 0
        np.add.at(table, self.point_classes[known], held[known])
        return table

    def totals(self) -> CoverageTotals:
        """Count over all points."""
        held = self.balls.tocoo()
        same = self.point_classes[held.row] == self.prototype_classes[held.col]
        n_prototypes = len(self.prototype_classes)
        return CoverageTotals(
            by_class=self.by_class(),
            confusion=self.confusion(),
            own=np.bincount(held.col[same], minlength=n_prototypes),
            others=np.bincount(held.col[~same], minlength=n_prototypes),
        )

    def _counts(self) -> NDArray[np.intp]:
        """Return the number of balls of each class (column) that hold each point (row)."""
        stands_for = np.zeros((len(self.prototype_classes), len(self.classes)), dtype=np.intp)
        stands_for[np.arange(len(stands_for)), self.prototype_classes] = 1
        return np.asarray(self.balls.astype(np.intp) @ stands_for)


@dataclass(frozen=True, eq=False)
class CoverageTotals:
    """Counts of the points in each ball.

    Parameters
    ----------
    by_class : dict of ndarray, shape (n_classes,)
        As of :meth:`Coverage.by_class`.
    confusion : ndarray of int, shape (n_classes, n_classes)
        As of :meth:`Coverage.confusion`.
    own, others : ndarray of int, shape (n_prototypes,)
        Points of its own class, and of others, in each prototype's ball.
    """

    by_class: dict[str, NDArray[Any]]
    confusion: NDArray[np.intp]
    own: NDArray[np.intp]
    others: NDArray[np.intp]

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.by_class["points"].sum())

    @property
    def n_covered(self) -> int:
        """Number of points that a prototype of their own class covers."""
        return int(self.by_class["covered"].sum())
