"""The decision rule: from the distances to the prototypes to a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._resources import row_count
from .._typing import Floats
from .explanation import Explanation
from .prototype_set import PrototypeSet


def predict_nearest(
    prototypes: PrototypeSet,
    X: Any,
    labels: NDArray[Any],
    *,
    radii: Floats,
    closed: bool,
    outlier_label: Any,
    n_jobs: int | None,
) -> NDArray[Any]:
    """Return the class of each query's nearest prototype, or `outlier_label` if none covers it.

    `labels` and `radii` have one value per prototype, in order of selection. Without an
    `outlier_label` (None) every query gets the class of a prototype.
    """
    if len(labels) == 0:
        return np.full(row_count(X), outlier_label)
    if outlier_label is None:
        place = prototypes.nearest_place(X, n_jobs=n_jobs)
        _refuse_unknown(place < 0)
        return labels[place]
    place = prototypes.covering(X, radii=radii, closed=closed, n_jobs=n_jobs)
    found = labels[place].astype(np.result_type(labels, np.asarray(outlier_label)))
    found[place < 0] = outlier_label
    return found


def explain_nearest(
    prototypes: PrototypeSet,
    X: Any,
    labels: NDArray[Any],
    *,
    rows: NDArray[np.intp],
    radii: Floats,
    closed: bool,
    outlier_label: Any,
    n_jobs: int | None,
) -> Explanation:
    """Explain the predictions of `predict_nearest`.

    `rows` has the row of each prototype in the training data, -1 if it is not from there.
    """
    if len(labels) == 0:
        return Explanation._of_nothing(row_count(X), outlier_label)
    index, distance = prototypes.nearest_two(X, n_jobs=n_jobs)
    if outlier_label is None:
        _refuse_unknown(index[0] < 0)
    return Explanation._of(
        index,
        distance,
        labels,
        rows=rows,
        radii=radii,
        by_multiples=prototypes.radii is not None,
        closed=closed,
        outlier_label=outlier_label,
    )


def score_classes(distance: Floats, eps: float, *, present: NDArray[np.bool_]) -> Floats:
    """Turn distances to each class's nearest prototype into scores, larger for nearer.

    A class without prototypes counts as if it had one a radius beyond the farthest of the
    others' nearest. Without any prototype every score is zero. All scores are finite, except
    if a neighbour graph has no entry for any prototype of a class.

    Parameters
    ----------
    distance : ndarray, shape (n_queries, n_classes)
        Distance to the nearest prototype of each class, inf if there is none.
    eps : float
        The radius.
    present : ndarray of bool, shape (n_classes,)
        Which classes have prototypes.

    Returns
    -------
    ndarray, shape (n_queries, n_classes), or (n_queries,) for two classes
        Minus the distances, or that of the first class minus that of the second; 0 if
        neither is known.
    """
    if len(present) == 2:
        return _score_pair(distance, present, eps)
    if not present.any():
        return np.zeros_like(distance)
    farthest = distance[:, present].max(axis=1)
    with np.errstate(over="ignore"):
        # However small eps is beside them, no class comes near one that has prototypes.
        beyond = np.maximum(farthest + eps, np.nextafter(farthest, np.inf))
    beyond = np.where(np.isinf(farthest), np.inf, np.minimum(beyond, np.finfo(np.float64).max))
    return np.where(present, -distance, -beyond[:, None])


def _score_pair(distance: Floats, present: NDArray[np.bool_], eps: float) -> Floats:
    """Return the distance of the first class minus that of the second."""
    known = np.asarray(np.isfinite(distance).any(axis=1))
    if present.all():
        with np.errstate(invalid="ignore"):
            return np.where(known, distance[:, 0] - distance[:, 1], 0.0)
    # The difference if one of them lies a radius beyond the other.
    return np.where(known, eps * (float(present[1]) - float(present[0])), 0.0)


def _refuse_unknown(unknown: NDArray[np.bool_]) -> None:
    """Refuse queries for which a graph has no distance from any prototype."""
    if unknown.any():
        rows = np.flatnonzero(unknown)
        raise ValueError(
            f"X, a neighbour graph, stores no dissimilarity from any prototype for "
            f"{len(rows)} of {len(unknown)} queries, the first of them row {rows[0]}; set "
            "outlier_label, to 'most_frequent' for one, or make the graph of the queries with "
            "a larger radius, or with the columns of the prototypes alone"
        )
