"""The parameters `decision` and `feature_weights`: how the fitted rule of a classifier is made."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._prototypes.fitted_rule import PenalizedLoss, fit_rule, is_stationary, rows_to_fit
from .._selection.training import Training
from .model import CoverModel

DECISIONS = ("nearest", "fitted")


def check_decision(classifier: Any, *, choices: tuple[str, ...] = DECISIONS) -> str:
    """Return `decision` after checking it and `feature_weights`."""
    decision, weights = classifier.decision, classifier.feature_weights
    if not (isinstance(decision, str) and decision in choices):
        named = " or ".join(map(repr, choices))
        raise ValueError(f"decision must be {named}, got {decision!r}")
    if not (weights is None or (isinstance(weights, str) and weights == "learned")):
        raise ValueError(f"feature_weights must be None or 'learned', got {weights!r}")
    if weights is not None and decision != "fitted":
        raise ValueError(
            f"feature_weights='learned' needs decision='fitted', got decision={decision!r}"
        )
    if weights is not None and not takes_feature_weights(classifier):
        raise ValueError(
            "feature_weights='learned' needs metric='euclidean', got "
            f"metric={classifier.metric!r}; use feature_weights=None"
        )
    return decision


def takes_feature_weights(classifier: Any) -> bool:
    """Whether features can have weights: only in the Euclidean distance of rows of numbers."""
    return isinstance(classifier.metric, str) and classifier.metric == "euclidean"


def with_rule(model: CoverModel, training: Training, classifier: Any) -> CoverModel:
    """Return a model whose rule is fitted if the classifier asks for it."""
    if classifier.decision == "nearest" or len(model.rows) == 0:
        return replace(model, rule=None)
    weighted = classifier.feature_weights is not None
    arguments, rows = _likelihood(model, training, weighted=weighted, n_jobs=classifier.n_jobs)
    return replace(model, rule=fit_rule(*arguments, rows=rows))


def rule_faults(classifier: Any, training: Training) -> list[str]:
    """Return whether the rule of a fitted classifier is missing or can be improved nearby."""
    model, rule = classifier._model, classifier.decision_rule_
    expected = classifier.decision == "fitted" and len(model.rows) > 0
    if expected != (rule is not None):
        return [f"decision_rule_ is {rule!r}, but decision is {classifier.decision!r}"]
    if rule is None:
        return []
    weighted = rule.feature_weights is not None
    if weighted != (classifier.feature_weights is not None):
        return ["decision_rule_ and feature_weights disagree on whether features have weights"]
    arguments, rows = _likelihood(model, training, weighted=weighted, n_jobs=classifier.n_jobs)
    loss = PenalizedLoss(*arguments, rows=rows)
    if len(rule.scale) == len(model.rows) and is_stationary(loss, rule):
        return []
    return ["decision_rule_ does not maximize the penalized likelihood of the training samples"]


def _likelihood(
    model: CoverModel, training: Training, *, weighted: bool, n_jobs: int | None
) -> tuple[tuple[Any, ...], Any]:
    """Return what the likelihood of the training samples depends on, and rows of numbers."""
    rows = rows_to_fit(training.codes, len(model.rows), weighted=weighted)
    points = _safe_indexing(training.points, rows)
    if weighted and not (isinstance(points, np.ndarray) and points.dtype.kind in "fiu"):
        raise ValueError(
            "feature_weights='learned' needs dense rows of numbers, got "
            f"{type(points).__name__}; use feature_weights=None"
        )
    distances = model.prototype_set.distances(points, n_jobs=n_jobs)
    with np.errstate(over="ignore"):
        squared = np.square(distances)
    given = np.arange(len(training.codes)) if training.rows is None else training.rows
    prototype = dict(zip(model.rows.tolist(), range(len(model.rows)), strict=True))
    own = np.array([prototype.get(row, -1) for row in given[rows].tolist()], dtype=np.intp)
    classes = model.selection.classes
    arguments = (squared, classes, training.codes[rows], training.weights[rows], own)
    if not weighted:
        return arguments, None
    return arguments, (points.astype(np.float64), np.asarray(model.prototypes, np.float64))
