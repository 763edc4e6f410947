"""The decision rule: from the distances to the prototypes to a class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._resources import row_count
from .._typing import Floats, Indices, Mask
from .explanation import N_NAMED, Explanation, PrototypeContributions
from .fitted_rule import FittedRule, log_sum
from .prototype_set import PrototypeSet

# Entries of the matrix of samples x prototypes held at once, and the score of a class without
# prototypes.
_BLOCK, _LARGEST = 1 << 21, 1e200


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
        refuse_unknown(place < 0)
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
        refuse_unknown(index[0] < 0)
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


def log_proba_of(
    prototypes: PrototypeSet, X: Any, rule: FittedRule, n_classes: int, *, n_jobs: int | None
) -> tuple[Floats, Mask]:
    """Return the logarithms of the class probabilities, and which samples are known to be near.

    A sample of a neighbour graph without an entry for any prototype counts as equally far from
    all.
    """
    by_block = [
        (
            rule.log_proba(squared, prototypes.classes, n_classes),
            np.isfinite(squared).any(axis=1),
        )
        for squared in _squared_by_block(prototypes, X, rule, n_jobs)
    ]
    found, known = zip(*by_block, strict=True)
    return np.concatenate(found), np.concatenate(known)


def contributions_of(
    prototypes: PrototypeSet, X: Any, rule: FittedRule, labels: NDArray[Any], n_jobs: int | None
) -> PrototypeContributions:
    """Return the contributions of prototypes to the two most probable of the classes `labels`."""
    parts = [
        _contributions(rule, squared, prototypes.classes, labels)
        for squared in _squared_by_block(prototypes, X, rule, n_jobs)
    ]
    names = [field.name for field in fields(PrototypeContributions)]
    return PrototypeContributions(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    )


def score_log_proba(log_proba: Floats) -> Floats:
    """Return finite scores that rank classes as their probabilities do."""
    finite = np.maximum(log_proba, -_LARGEST)
    return finite[:, 1] - finite[:, 0] if finite.shape[1] == 2 else finite


def _contributions(
    rule: FittedRule, squared: Floats, classes: Indices, labels: NDArray[Any]
) -> PrototypeContributions:
    """Return the contributions at one block of samples."""
    log_proba = rule.log_proba(squared, classes, len(labels))
    terms = rule.contributions(squared)
    share = np.exp(terms - log_sum(terms)[:, None])
    by_probability = np.argsort(-log_proba, axis=1, kind="stable")[:, :2]
    if by_probability.shape[1] == 1 or len(np.unique(classes)) == 1:
        by_probability = np.repeat(by_probability[:, :1], 2, axis=1)
    values: dict[str, Any] = {}
    for prefix, label in zip(("", "runner_up_"), by_probability.T, strict=True):
        of_class = np.where(classes == label[:, None], share, -1.0)
        main = np.argsort(-of_class, axis=1, kind="stable")[:, :N_NAMED]
        amount = np.take_along_axis(of_class, main, axis=1)
        missing = ((0, 0), (0, N_NAMED - main.shape[1]))
        main = np.pad(np.where(amount < 0.0, -1, main), missing, constant_values=-1)
        values[f"{prefix}label"] = labels[label]
        values[f"{prefix}probability"] = np.exp(
            np.take_along_axis(log_proba, label[:, None], axis=1)[:, 0]
        )
        values[f"{prefix}prototype"] = main
        values[f"{prefix}contribution"] = np.pad(np.maximum(amount, 0.0), missing)
    return PrototypeContributions(**values)


def _squared_by_block(
    prototypes: PrototypeSet, X: Any, rule: FittedRule, n_jobs: int | None
) -> Iterator[Floats]:
    """Yield the squared distances of samples from prototypes, in order of selection, by block."""
    n = row_count(X)
    Z = None if rule.feature_weights is None else prototypes.by_selection().astype(np.float64)
    step = max(_BLOCK // max(len(rule.scale), 1), 1)
    for start in range(0, max(n, 1), step):
        block = _safe_indexing(X, np.arange(start, min(start + step, n)))
        if Z is not None:
            yield rule.squared(np.asarray(block, np.float64), Z)
        else:
            with np.errstate(over="ignore"):
                yield np.square(prototypes.distances(block, n_jobs=n_jobs))


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


def refuse_unknown(unknown: NDArray[np.bool_]) -> None:
    """Refuse queries for which a graph has no distance from any prototype."""
    if unknown.any():
        rows = np.flatnonzero(unknown)
        raise ValueError(
            f"X, a neighbour graph, stores no dissimilarity from any prototype for "
            f"{len(rows)} of {len(unknown)} queries, the first of them row {rows[0]}; set "
            "outlier_label, to 'most_frequent' for one, or make the graph of the queries with "
            "a larger radius, or with the columns of the prototypes alone"
        )
