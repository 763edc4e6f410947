"""How good a selection is: its error on unseen cases, beside 1-NN, and its objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._balls import traits_of
from .._balls.graph import check_graph, nearest_in_graph
from .._balls.nearest import find_nearest
from .._estimators import PVMClassifier, PVMClassifierCV
from .._estimators.display import describe_bound
from .._estimators.search_results import name_scoring, trace_path
from .._inspection.evaluation import Evaluation, match_labels, tally
from .._prototypes.coverage import CoverageTotals
from .._resources import row_count
from ..data._points import check_points
from ..dissimilarity import resolve_metric
from ._summary import ErrorEstimate, PathSummary, Quality
from ._wording import as_sentence


def assess(
    model: PVMClassifier,
    search: PVMClassifierCV | None,
    X: Any,
    y: Any,
    *,
    totals: CoverageTotals,
    held_out: tuple[Any, Any] | None,
    error: ErrorEstimate | None,
) -> Quality:
    """Return the quality, with the error that is known, or on held-out cases, or over folds."""
    if error is None and held_out is not None:
        error = _count_errors(model, X, y, *held_out)
    elif error is None and search is not None:
        error = cross_validated_error(search, row_count(X))
    return Quality(
        n_points=totals.n_points,
        n_prototypes=len(model.prototype_labels_),
        n_covered=totals.n_covered,
        n_wrong=int(totals.others.sum()),
        error=error,
        objective=float(model.objective_),
        lower_bound=_finite(model.lower_bound_),
        gap=_finite(model.gap_),
        certificate=str(model.certificate_),
        verdict=as_sentence(describe_bound(model)),
    )


def read_path(search: PVMClassifierCV | None) -> PathSummary | None:
    """Return the cross-validated path by radius, or by cost where radii are their own."""
    if search is None:
        return None
    path, name = trace_path(search), _score_name(search)
    return PathSummary(
        name=name,
        parameter="radius" if path.parameter == "eps" else "cost",
        eps=[float(value) for value in path.values],
        error=[_finite(_told(value, name)) for value in path.score],
        se=[_finite(value) for value in path.error],
        prototypes=[float(count) for count in path.n_prototypes],
        chosen=path.chosen,
        rule=search.rule,
        limit=_told(path.lowest, name),
        most=search.max_prototypes if isinstance(search.max_prototypes, int) else None,
        n_splits=search.n_splits_,
    )


def _count_errors(model: PVMClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> ErrorEstimate:
    """Answer held-out cases and count the errors, and those of 1-NN."""
    y_test = column_or_1d(y_test, warn=True)
    check_consistent_length(X_test, y_test)
    n_cases = len(y_test)
    if n_cases == 0:
        raise ValueError("held_out must hold at least one case, got none; leave it out instead")
    y_test = match_labels(y_test, model.classes_)
    nearest = _nearest_error(model, X, y, X_test, y_test)
    return held_out_error(tally_answers(model, y_test, model.predict(X_test)), nearest=nearest)


def tally_answers(model: PVMClassifier, labels: Any, answers: Any) -> Evaluation:
    """Return the error figures of answers to cases of known classes."""
    return tally(
        labels,
        answers,
        classes=model.classes_,
        class_count=model.class_count_,
        outlier_label=model.outlier_label_,
    )


def held_out_error(evaluation: Evaluation, *, nearest: float | None = None) -> ErrorEstimate:
    """Return the error on held-out cases with its 95 % interval, next to those of others."""
    low, high = evaluation.accuracy_interval.tolist()
    return ErrorEstimate(
        kind="held-out",
        name="error",
        value=1.0 - evaluation.accuracy,
        low=1.0 - high,
        high=1.0 - low,
        n_cases=evaluation.n_samples,
        nearest_error=nearest,
        majority=str(evaluation.majority_label),
        baseline=evaluation.baseline_accuracy,
        evaluation=evaluation,
    )


def _nearest_error(model: PVMClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> float | None:
    """Return the error of 1-NN on all training points with the model's own dissimilarity."""
    labels = column_or_1d(y)
    dissimilarity = resolve_metric(model.metric, model.metric_params)
    if traits_of(dissimilarity).precomputed:
        n_points = row_count(X)
        if np.shape(X)[1] != n_points or np.shape(X_test)[1] != n_points:
            return None
        if issparse(X_test):
            nearest = nearest_in_graph(check_graph(X_test), np.array([0, n_points]))[0][:, 0]
            return None if (nearest < 0).any() else float((labels[nearest] != y_test).mean())
        dissimilarity.fit(X, labels)
        compare = getattr(dissimilarity, "ranking", dissimilarity.pairwise)
        nearest = compare(X_test, np.arange(n_points)).argmin(axis=1)
        return float((labels[nearest] != y_test).mean())
    points = check_points(X, dissimilarity)
    codes = np.searchsorted(model.classes_, labels)
    dissimilarity.fit(points, codes)
    queries = check_points(X_test, dissimilarity)
    bounds = np.array([0, row_count(points)])
    index, _ = find_nearest(dissimilarity, queries, points, bounds=bounds, n_jobs=model.n_jobs)
    return float((labels[index[:, 0]] != y_test).mean())


def cross_validated_error(search: PVMClassifierCV, n_points: int) -> ErrorEstimate:
    """Return the mean over the folds, with one standard error either side.

    `n_points` are all that the search was fitted on, though it may have used a sample.
    """
    rows = search.search_rows_
    n_points = n_points if rows is None else len(rows)
    path, name = trace_path(search), _score_name(search)
    value = _told(search.best_score_, name)
    se = float(path.error[path.chosen])
    counts = search.class_count_
    is_error = name == "error"
    return ErrorEstimate(
        kind="cross-validated",
        name=name,
        value=value,
        low=value - se,
        high=value + se,
        n_cases=n_points,
        nearest_error=None,
        majority=str(search.classes_[counts.argmax()]) if is_error else None,
        baseline=float(counts.max() / counts.sum()) if is_error else None,
    )


def _told(score: float, name: str) -> float:
    """Return a score as it is told: of accuracy the error."""
    return 1.0 - float(score) if name == "error" else float(score)


def _score_name(search: PVMClassifierCV) -> str:
    """Return "error" for accuracy, which it is one minus, or else the score's name."""
    scoring = name_scoring(search)
    if isinstance(scoring, str):
        return "error" if scoring == "accuracy" else scoring
    return "score"


def _finite(value: float) -> float | None:
    """Return a float, None where nothing is known."""
    return float(value) if math.isfinite(value) else None
