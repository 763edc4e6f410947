"""A cover that grows with the samples: what `partial_fit` keeps between batches.

The distances are nearly all of the cost of a fit. Those between samples and candidates
that are known already are never computed again: a batch adds rows for its samples and,
where training samples are candidates, columns. Choosing from the grown cover costs about
as much as reading it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array, vstack
from sklearn.utils import _safe_indexing

from .._balls import build_balls, traits_of
from .._cover import snap_weights
from ..candidates._gather import is_train, listed
from ..candidates._pool import Pool, stack_rows
from ..data._points import same_points
from .parameters import check_weight_numbers, check_weights
from .training import Training, check_labels, join_labels


@dataclass(frozen=True, eq=False)
class Growth:
    """All samples so far and the cover of each pool of candidates."""

    # Samples of positive weight, kept only where they are candidates or there is no cover
    points: Any
    rows: NDArray[np.intp]  # Number of each among all rows ever given, shape (n_points,)
    labels: NDArray[Any]  # Labels of all rows ever given, shape (n_given,)
    # Weights of all rows ever given, as they were given, shape (n_given,)
    weights: NDArray[np.float64]
    dissimilarity: Any  # Fitted on the first batch
    pools: tuple[Pool, ...]  # The candidates
    growing: tuple[bool, ...]  # Which of the pools take in the new samples
    # Balls of each pool's candidates; None where radii are the prototypes' own, of which every new
    # rival decides anew
    covers: tuple[csr_array, ...] | None
    eps: float  # Radius, or the largest allowed, decided with the first batch
    classes: NDArray[Any] | None  # Labels that were declared beforehand
    settled: dict[str, Any]  # Parameters that must stay as they were with the first batch, by name

    def check_settled(self, parameters: dict[str, Any]) -> None:
        """Refuse parameters that would not be those of the balls that are there."""
        for name, value in parameters.items():
            first = self.settled.get(name)
            if not same_points([value], [first]):
                raise ValueError(
                    f"{name} must stay as it was in the first call of partial_fit, {first!r}, "
                    f"because the balls of earlier batches depend on it, got {value!r}; set it "
                    "back, or call fit with all samples"
                )

    def training(self, *, cross_class: bool) -> tuple[Training, list[csr_array] | None]:
        """Return what a fit on all samples so far would have made ready, and its covers."""
        classes, codes = self._encoded()
        training = Training(
            self.points,
            codes[self.rows],
            snap_weights(self.weights)[self.rows],
            classes,
            self.dissimilarity,
            list(self.pools),
            self.rows,
            cross_class=cross_class,
        )
        return training, None if self.covers is None else list(self.covers)

    @property
    def declared(self) -> list[Any] | None:
        """Labels that were declared beforehand, as a list."""
        return None if self.classes is None else list(self.classes.tolist())

    def _encoded(self) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the classes, declared or seen, and the class number of every row given."""
        seen, codes = np.unique(self.labels, return_inverse=True)
        if self.classes is None:
            return seen, codes
        return self.classes, np.searchsorted(self.classes, seen)[codes]


def start_growth(
    training: Training,
    covers: list[csr_array] | None,
    y: Any,
    sample_weight: Any = None,
    *,
    eps: float,
    candidates: Any,
    classes: Any = None,
    settled: dict[str, Any],
) -> Growth:
    """Take in the first batch, which has decided the radius and all that is drawn or learned.

    `covers` are the neighbourhoods of each pool of `training`, None with adaptive radii; `y` and
    `sample_weight` are as given, `classes` all labels that will ever come if they are declared,
    and `settled` the parameters that later batches may not change.
    """
    seen, codes = check_labels(y, y)
    weights = check_weights(sample_weight, codes, seen)
    growing = tuple(is_train(one) for one in listed(candidates))
    return Growth(
        points=training.points if any(growing) or covers is None else None,
        rows=np.flatnonzero(weights > 0.0),
        labels=seen[codes],
        weights=weights.copy(),
        dissimilarity=training.dissimilarity,
        pools=tuple(training.pools),
        growing=growing,
        covers=None if covers is None else tuple(covers),
        eps=eps,
        classes=_declared(classes, seen),
        settled=settled,
    )


def grow(
    growth: Growth,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    classes: Any = None,
    closed: bool,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Growth:
    """Take in a further batch: rows for its samples, columns if they are candidates.

    `X` is checked already; `classes` are those of the first batch, if repeated; `closed`, `n_jobs`
    and `verbose` are those of :func:`protocover._balls.build_balls`.
    """
    seen, codes = check_labels(y, X)
    _declared(growth.classes, seen)
    if classes is not None and np.unique(classes).tolist() != growth.declared:
        raise ValueError(
            f"classes must be those of the first call of partial_fit ({growth.declared}), or "
            f"None, got {classes!r}"
        )
    labels = join_labels((growth.labels, seen[codes]))
    weights = _appended_weights(growth, labels, sample_weight)
    kept = np.flatnonzero(weights[len(growth.labels) :] > 0.0)
    if len(kept) == 0:
        pools = _extended(growth, growth.points, growth.rows, len(labels))
        return replace(growth, labels=labels, weights=weights, pools=pools)
    new = X if len(kept) == len(codes) else _safe_indexing(X, kept)
    rows = np.concatenate((growth.rows, len(growth.labels) + kept))

    def build(A: Any, B: Any) -> csr_array:
        return build_balls(
            growth.dissimilarity,
            A,
            B,
            eps=growth.eps,
            closed=closed,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    covers = None
    if growth.covers is not None:
        covers = tuple(
            (
                _widened(growth, cover, new, build)
                if grows
                else vstack([cover, build(new, pool.points)], format="csr")
            )
            for pool, grows, cover in zip(growth.pools, growth.growing, growth.covers, strict=True)
        )
    points = None if growth.points is None else stack_rows([growth.points, new])
    return replace(
        growth,
        points=points,
        rows=rows,
        labels=labels,
        weights=weights,
        pools=_extended(growth, points, rows, len(labels)),
        covers=covers,
    )


def _appended_weights(
    growth: Growth, labels: NDArray[Any], sample_weight: Any
) -> NDArray[np.float64]:
    """Return the weights of all rows, checked together: a batch alone may lack a class."""
    n_new = len(labels) - len(growth.labels)
    new = 1.0 if sample_weight is None else sample_weight
    classes, codes = np.unique(labels, return_inverse=True)
    weights = np.concatenate((growth.weights, check_weight_numbers(new, n_new)))
    return check_weights(weights, codes, classes)


def _declared(classes: Any, labels: NDArray[Any]) -> NDArray[Any] | None:
    """Return the declared classes, sorted, after checking that all `labels` are among them."""
    if classes is None:
        return None
    declared, _ = check_labels(classes, classes)
    join_labels((declared, labels))
    unknown = np.setdiff1d(labels, declared)
    if len(unknown):
        raise ValueError(
            f"y holds labels that are not in classes: {unknown.tolist()}; name all labels in the "
            "first call of partial_fit, or leave classes=None to take them as they come"
        )
    return declared


def _widened(
    growth: Growth, cover: csr_array, new: Any, build: Callable[[Any, Any], csr_array]
) -> csr_array:
    """Add the new samples to a cover whose candidates are the points."""
    old = growth.points
    right = build(old, new)
    symmetric = traits_of(growth.dissimilarity).symmetric
    left = right.T if symmetric else build(new, old)
    return block_array([[cover, right], [left, build(new, new)]], format="csr")


def _extended(
    growth: Growth, points: Any, rows: NDArray[np.intp], extent: int
) -> tuple[Pool, ...]:
    """Return the pools with all samples so far, among `extent` rows, in those that grow."""
    return tuple(
        replace(pool, points=points, rows=rows, extent=extent) if grows else pool
        for pool, grows in zip(growth.pools, growth.growing, strict=True)
    )
