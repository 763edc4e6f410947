"""Some of the points and candidates of a training set, such as those that a fold is fitted on.

What one pass over all pairs has found is seen from there as if there were nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .._balls import OrderedMembers
from .._cover import snap_weights
from .adaptive_radii import Rules
from .training import Training

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the points and candidates of a training set.

    Parameters
    ----------
    codes : ndarray of int, shape (n_points,)
        Class numbers, -1 for points that are not in the part.
    weights : ndarray of float, shape (n_points,)
        On a grid on which the sums of the part are exact, zero for points not in it.
    n_classes : int
        Number of classes in it.
    candidate : ndarray of int, shape (n_candidates,)
        The number of each candidate in the part, rising; -1 for those not in it.
    served : ndarray of int, shape (n_candidates,)
        The class, as numbered in the part, that each candidate may serve, -1 for any.
    """

    codes: Indices
    weights: Floats
    n_classes: int
    candidate: Indices
    served: Indices

    @classmethod
    def whole(cls, training: Training) -> Self:
        """Return the part that has everything."""
        every = np.arange(sum(map(len, training.pools)))
        n_classes, served = len(training.classes), training.candidate_classes
        return cls(training.codes, training.weights, n_classes, every, served)

    @classmethod
    def of_rows(cls, training: Training, rows: Indices, weights: Floats) -> Self:
        """Return the part with the points of some rising rows and their weights.

        They are their own candidates, and so are all that are no points.
        """
        classes, codes = np.unique(training.codes[rows], return_inverse=True)
        part = cls(
            np.full_like(training.codes, -1),
            np.zeros_like(training.weights),
            len(classes),
            np.full(sum(map(len, training.pools)), -1, dtype=np.intp),
            np.full(sum(map(len, training.pools)), -1, dtype=np.intp),
        )
        if not training.cross_class:
            part.served[rows] = codes
        part.codes[rows], part.weights[rows] = codes, snap_weights(weights)
        others = np.arange(len(training.codes), len(part.candidate))
        part.candidate[np.concatenate((rows, others))] = np.arange(len(rows) + len(others))
        return part

    @property
    def prizes(self) -> Floats:
        """Weight of each class, shape (n_classes,)."""
        prizes = np.zeros(self.n_classes)
        np.add.at(prizes, self.codes[self.codes >= 0], self.weights[self.codes >= 0])
        return prizes

    def rules(self, limit: float, *, least_cost: float, closed: bool) -> Rules:
        """Return what decides which balls of the part are worth looking at."""
        return Rules(
            self.codes, self.weights, self.n_classes, least_cost, limit, closed, self.served
        )

    def holds(self, members: OrderedMembers, start: int) -> NDArray[np.bool_]:
        """Tell which members are of the part, candidates counted from `start`."""
        center = self.candidate[start + members.candidate] >= 0
        return np.asarray(center & (self.codes[members.point] >= 0))
