"""Problems in which all prototypes share a radius, for many radii from one table of levels.

The balls of the largest radius are built once, each membership marked with the first
radius it belongs to; those of a smaller radius are a filter away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from .._cover import CoverProblem
from .by_class import BallsOfClass, ClassProblem, may_serve
from .training import Training

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LevelProblems:
    """Each class's problem at every radius, written down when it is asked for.

    Parameters
    ----------
    training : Training
        Points and candidates.
    levels : csr_array of unsigned int, shape (n_points, n_candidates)
        One more than the number of the first radius that the pair is within.
    n_radii : int
        How many radii there are.
    prototype_cost : float
        What a prototype costs.
    worth_it : bool
        Whether only candidates whose balls gain no less than a prototype costs are in the
        problems, or the best one if none does, or all of them.
    """

    training: Training
    levels: csr_array
    n_radii: int
    prototype_cost: float
    worth_it: bool

    def __iter__(self) -> Iterator[Iterator[ClassProblem]]:
        """Yield the problems radius by radius."""
        return (self.at_radius(k) for k in range(self.n_radii))

    def at_radius(self, k: int) -> Iterator[ClassProblem]:
        """Yield each class's problem at radius number `k`, so that no two need be held at once."""
        classes = self.training.candidate_classes
        return _formulate_radius(
            self._shares, k, self.prototype_cost, classes, worth_it=self.worth_it
        )

    @cached_property
    def _shares(self) -> list[_ClassShare]:
        """What each class has of the levels."""
        training = self.training
        n_classes = len(training.classes)
        return _split_by_class(
            self.levels, training.codes, training.weights, n_classes, self.n_radii
        )


def _formulate_radius(
    shares: Sequence[_ClassShare],
    k: int,
    prototype_cost: float,
    candidate_classes: NDArray[np.intp],
    *,
    worth_it: bool,
) -> Iterator[ClassProblem]:
    """Yield each class's problem at radius number `k`."""
    total = np.sum([share.reach[k] for share in shares], axis=0)
    count = np.sum([share.counts[k] for share in shares], axis=0)
    for label, share in enumerate(shares):
        wrong, covered, levels = total - share.reach[k], share.counts[k], share.levels
        columns = may_serve(label, candidate_classes)
        if worth_it:
            columns = columns[covered[columns] > 0]
            gain = (share.reach[k] - wrong)[columns]
            pays = gain >= prototype_cost
            columns = (
                columns[pays] if pays.any() else columns[np.argsort(-gain, kind="stable")[:1]]
            )
        if len(columns) < levels.shape[1]:
            wrong, covered, levels = wrong[columns], covered[columns], levels[:, columns]
        problem = CoverProblem(_within(levels, k), wrong, share.prize, prototype_cost)
        balls = BallsOfClass(columns, None, covered, count[columns] - covered)
        yield ClassProblem(problem, balls)


@dataclass(frozen=True, eq=False)
class _ClassShare:
    """A class's rows of the levels, and what each ball holds of the class at each radius.

    Parameters
    ----------
    levels : csc_array of unsigned int, shape (n_points of the class, n_candidates)
        One more than the number of the first radius that the pair is within.
    prize : ndarray of float, shape (n_points of the class,)
        Weights of the points.
    reach : ndarray of float, shape (n_radii, n_candidates)
        Weight of the class's points in each ball.
    counts : ndarray of int, shape (n_radii, n_candidates)
        Their number.
    """

    levels: csc_array
    prize: Floats
    reach: Floats
    counts: NDArray[np.intp]


def _split_by_class(
    levels: csr_array,
    codes: NDArray[np.intp],
    weights: Floats,
    n_classes: int,
    n_radii: int,
) -> list[_ClassShare]:
    """Split a points x candidates table of levels by the class of the points."""
    shares = []
    for label in range(n_classes):
        rows = np.flatnonzero(codes == label)
        own, prize = levels[rows].tocsc(), weights[rows]
        counts = _cumulated(own, n_radii, None)
        plain = bool((prize == 1.0).all())
        reach = counts.astype(np.float64) if plain else _cumulated(own, n_radii, prize)
        shares.append(_ClassShare(own, prize, reach, counts))
    return shares


def _cumulated(own: csc_array, n_radii: int, prize: Floats | None) -> Any:
    """Sum prizes, or count points, in each ball at each radius, (n_radii, n_candidates)."""
    m = own.shape[1]
    column = np.repeat(np.arange(m), np.diff(own.indptr))
    place = (own.data.astype(np.intp) - 1) * m + column
    weights = None if prize is None else prize[own.indices]
    new = np.bincount(place, weights, minlength=n_radii * m).reshape(n_radii, m)
    return np.cumsum(new, axis=0)


def _within(levels: csc_array, k: int) -> csc_array:
    """Return the members of radius number `k` only."""
    keep = levels.data <= k + 1
    ends = np.concatenate(([0], np.cumsum(keep)))[levels.indptr]
    indices = levels.indices[keep]
    data = np.ones(len(indices), dtype=bool)
    return csc_array((data, indices, ends.astype(indices.dtype)), shape=levels.shape)
