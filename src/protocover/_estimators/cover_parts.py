"""What a cover is asked for, in terms of its data, and what it keeps when it is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._balls import within
from .._cover import CoverSolution
from .._prototypes import PrototypeSet, column_order
from .._resources import row_count
from .._selection.covering import Chosen, CoverTarget
from .._selection.parameters import (
    check_candidate_cost,
    check_charged,
    check_must_include,
    check_prototype_cost,
)
from .._selection.training import Training
from ..candidates._pool import numbers, source_names, take, training_rows
from .fitting import Settings

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CoverTerms:
    """Parameters of a cover whose meaning depends on its data.

    Parameters
    ----------
    target : CoverTarget
        What is asked.
    price : ndarray of float, shape (n_candidates,), or None
        How many times the cost each candidate costs; None for once.
    forced : ndarray of int
        Columns of the candidates that are chosen in any case.
    """

    target: CoverTarget
    price: Floats | None
    forced: Indices

    @classmethod
    def of(cls, cover: Any, training: Training) -> Self:
        """Check the parameters of a cover against its data."""
        places = numbers(training.pools)
        n_given = sum(pool.extent for pool in training.pools)
        forced = check_must_include(cover.must_include, places, cover.max_representatives)
        price = check_candidate_cost(cover.candidate_cost, places, n_given)
        if price is not None:
            check_charged(price[forced] if cover.coverage is None else price)
        cost = _cost(cover.cost, training.weights, price)
        number = cover.max_representatives
        target = CoverTarget(cost, None if number is None else int(number), cover.coverage)
        return cls(target, price, forced)


@dataclass(frozen=True, eq=False)
class Kept:
    """What a fitted cover keeps, whether of a fit or of a file.

    Parameters
    ----------
    eps : float
        The radius.
    representatives : rows, or column numbers of a table
        In order.
    indices, rows, sources : ndarray, shape (n_representatives,)
        Number of each among all candidates, the row of `X` that it is or -1, and its source.
    labels : ndarray of int, shape (n_points,)
        The representative of each point, -1 for none.
    counts : ndarray of int, shape (n_representatives,)
        Points of each label.
    coverage, objective, lower_bound : float
        As in :class:`protocover.BallCover`.
    solution : CoverSolution
        What was chosen beside what had to be, by the candidates' numbers.
    dissimilarity : dissimilarity
        Fitted, with no more of the data than these representatives need.
    """

    eps: float
    representatives: Any
    indices: Indices
    rows: Indices
    sources: NDArray[np.str_]
    labels: Indices
    counts: Indices
    coverage: float
    objective: float
    lower_bound: float
    solution: CoverSolution
    dissimilarity: Any

    @classmethod
    def of(
        cls, chosen: Chosen, training: Training, points: Any, *, eps: float, settings: Settings
    ) -> Self:
        """Keep what was chosen, and say of each of `points` who stands for it."""
        pools, columns = training.pools, in_column_order(chosen.columns, training)
        representatives, dissimilarity = take(pools, columns), training.dissimilarity
        if hasattr(dissimilarity, "for_prototypes"):
            dissimilarity = dissimilarity.for_prototypes(representatives)
        labels = nearest_within(
            as_set(representatives, dissimilarity),
            points,
            eps=eps,
            closed=settings.closed,
            n_jobs=settings.n_jobs,
        )
        counts, coverage = labels_and_counts(labels, len(columns), training)
        return cls(
            eps=eps,
            representatives=representatives,
            indices=numbers(pools)[columns],
            rows=training_rows(pools)[columns],
            sources=source_names(pools)[columns],
            labels=labels,
            counts=counts,
            coverage=coverage,
            objective=chosen.objective,
            lower_bound=chosen.lower_bound,
            solution=chosen.numbered(numbers(pools)),
            dissimilarity=dissimilarity,
        )

    def representative_set(self) -> PrototypeSet:
        """Return the representatives, ready to be asked which of them is nearest."""
        return as_set(self.representatives, self.dissimilarity)


def _cost(cost: Any, weights: Floats, price: Floats | None) -> float:
    """Return what a representative costs, by default so little that it only breaks ties."""
    checked = check_prototype_cost("auto" if cost is None else cost, weights, name="cost")
    if cost is not None:
        return checked
    # All together cost less than the lightest point, even where there is but one.
    return checked / (2.0 * max(1.0, 0.0 if price is None else float(price.max(initial=0.0))))


def as_set(representatives: Any, dissimilarity: Any) -> PrototypeSet:
    """Return representatives as prototypes of one class."""
    nobody = np.zeros(row_count(representatives), dtype=np.intp)
    return PrototypeSet.of(representatives, nobody, n_classes=1, dissimilarity=dissimilarity)


def in_column_order(columns: Indices, training: Training) -> Indices:
    """Put representatives that are all columns of a table in the order of the columns."""
    if not training.is_table:
        return columns
    order = column_order(take(training.pools, columns), training.points.shape[1])
    return columns if order is None else columns[order]


def nearest_within(
    representatives: PrototypeSet, points: Any, *, eps: float, closed: bool, n_jobs: int | None
) -> Indices:
    """Return the nearest representative of each point that one covers, else -1."""
    if row_count(representatives.points) == 0:
        return np.full(row_count(points), -1)
    index, distance = representatives.nearest(points, n_jobs=n_jobs)
    return np.where(within(distance, eps, closed=closed), index, -1)


def labels_and_counts(labels: Indices, number: int, training: Training) -> tuple[Indices, float]:
    """Count the points of each label, and return the share of the weight that has one."""
    covered = labels >= 0
    kept = covered if training.rows is None else covered[training.rows]
    share = float(training.weights[kept].sum() / training.weights.sum())
    return np.bincount(labels[covered], minlength=number), share
