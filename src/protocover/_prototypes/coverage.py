"""Which samples the prototypes cover, and counts of them by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which labelled samples lie in each prototype's neighbourhood.

    Parameters
    ----------
    balls : csr_array of bool, shape (n_points, n_prototypes)
        Whether each sample lies in each neighbourhood, the prototypes in order of selection.
    point_classes : ndarray of int, shape (n_points,)
        Index of each sample's label in `classes`, -1 for a label that is not there.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        Index of the class of each prototype.
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
        """Describe neighbourhoods by the labels of the samples and of the prototypes."""
        places = {label: place for place, label in enumerate(classes.tolist())}
        return cls(
            balls=balls,
            point_classes=np.array([places.get(k, -1) for k in labels.tolist()], dtype=np.intp),
            prototype_classes=np.searchsorted(classes, prototype_labels),
            classes=classes,
        )

    @property
    def own_count(self) -> NDArray[np.intp]:
        """Number of prototypes of its own class that cover each sample."""
        counts = self._counts()
        known = self.point_classes >= 0
        own = counts[np.arange(len(counts)), np.where(known, self.point_classes, 0)]
        return np.where(known, own, 0)

    @property
    def other_count(self) -> NDArray[np.intp]:
        """Number of prototypes of other classes that cover each sample."""
        return np.asarray(self._counts().sum(axis=1) - self.own_count)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether a prototype of its own class covers each sample."""
        return self.own_count > 0

    def members(self, prototype: int) -> NDArray[np.intp]:
        """Return the rows of the samples that one prototype covers, in order."""
        held = self.balls[:, [prototype]].tocoo()
        return np.sort(held.row.astype(np.intp))

    def by_class(self) -> dict[str, NDArray[Any]]:
        """Return counts, one column each, with one row per class.

        Returns
        -------
        dict of ndarray, shape (n_classes,)
            ``class``; its samples (``points``); its ``prototypes``; its samples that they
            cover (``covered``); its samples that prototypes of other classes cover
            (``wrongly_covered``).
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
        """Count the samples of each class (row) that prototypes of each class (column) cover."""
        held = self._counts() > 0
        table = np.zeros((len(self.classes), len(self.classes)), dtype=np.intp)
        known = self.point_classes >= 0
        np.add.at(table, self.point_classes[known], held[known])
        return table

    def totals(self) -> CoverageTotals:
        """Count over all samples."""
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
        """Return the number of prototypes of each class (column) that cover each sample (row)."""
        is_of = self.prototype_classes[:, None] == np.arange(len(self.classes))
        return np.asarray(self.balls.astype(np.intp) @ is_of.astype(np.intp))


@dataclass(frozen=True, eq=False)
class CoverageTotals:
    """Counts of the samples that each prototype covers.

    Parameters
    ----------
    by_class : dict of ndarray, shape (n_classes,)
        As of :meth:`Coverage.by_class`.
    confusion : ndarray of int, shape (n_classes, n_classes)
        As of :meth:`Coverage.confusion`.
    own, others : ndarray of int, shape (n_prototypes,)
        Samples of its own class, and of others, that each prototype covers.
    """

    by_class: dict[str, NDArray[Any]]
    confusion: NDArray[np.intp]
    own: NDArray[np.intp]
    others: NDArray[np.intp]

    @property
    def n_points(self) -> int:
        """Number of samples."""
        return int(self.by_class["points"].sum())

    @property
    def n_covered(self) -> int:
        """Number of samples that a prototype of their own class covers."""
        return int(self.by_class["covered"].sum())
