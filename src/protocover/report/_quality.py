"""How good a selection is: held-out error, comparison with 1-NN, objective, bound and figures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._balls import traits_of
from .._balls.graph import check_graph, nearest_in_graph
from .._balls.nearest import find_nearest
from .._estimators import BallCover, PVMClassifier, PVMClassifierCV
from .._estimators.display import describe_bound
from .._estimators.search_results import name_scoring, trace_path
from .._inspection.evaluation import Evaluation, match_labels, percent, tally
from .._prototypes.coverage import CoverageTotals
from .._resources import row_count
from ..data._points import check_points
from ..dissimilarity import resolve_metric
from ._summary import ErrorEstimate, Figure, MapSummary, PathSummary, Quality
from ._wording import as_sentence, count, short_number, short_range


def assess(
    model: PVMClassifier | BallCover, totals: CoverageTotals, error: ErrorEstimate | None
) -> Quality:
    """Return the quality of a selection."""
    return Quality(
        n_points=totals.n_points,
        n_prototypes=len(totals.own),
        n_covered=totals.n_covered,
        n_wrong=int(totals.others.sum()),
        error=error,
        objective=float(model.objective_),
        lower_bound=_finite(model.lower_bound_),
        gap=_finite(model.gap_),
        certificate=str(model.certificate_),
        verdict=as_sentence(describe_bound(model)),
    )


def estimate_error(
    model: PVMClassifier,
    search: PVMClassifierCV | None,
    X: Any,
    y: Any,
    held_out: tuple[Any, Any] | None,
) -> ErrorEstimate | None:
    """Return the held-out error, or else the cross-validated error of a search."""
    if held_out is not None:
        return _count_errors(model, X, y, *held_out)
    return None if search is None else cross_validated_error(search, row_count(X))


def read_path(search: PVMClassifierCV | None) -> PathSummary | None:
    """Return the cross-validated scores by radius, or by cost if radii are adaptive."""
    if search is None:
        return None
    path, name = trace_path(search), _score_name(search)
    return PathSummary(
        name=name,
        parameter="radius" if path.parameter == "eps" else "cost",
        eps=[float(value) for value in path.values],
        error=[_finite(_as_loss(value, name)) for value in path.score],
        se=[_finite(value) for value in path.error],
        prototypes=[float(n) for n in path.n_prototypes],
        chosen=path.chosen,
        rule=search.rule,
        limit=_as_loss(path.lowest, name),
        most=search.max_prototypes if isinstance(search.max_prototypes, int) else None,
        n_splits=search.n_splits_,
    )


def tally_answers(model: PVMClassifier, labels: Any, answers: Any) -> Evaluation:
    """Return the error figures of predictions for cases of known class."""
    return tally(
        labels,
        answers,
        classes=model.classes_,
        class_count=model.class_count_,
        outlier_label=model.outlier_label_,
    )


def held_out_error(evaluation: Evaluation, *, nearest: float | None = None) -> ErrorEstimate:
    """Return the held-out error with its 95 % interval, the baseline and 1-NN."""
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


def cross_validated_error(search: PVMClassifierCV, n_points: int) -> ErrorEstimate:
    """Return the mean over the folds, plus and minus one standard error.

    `n_points` is the number of samples of the fit; the search may have used fewer.
    """
    rows = search.search_rows_
    path, name = trace_path(search), _score_name(search)
    value = _as_loss(search.best_score_, name)
    se = float(path.error[path.chosen])
    counts = search.class_count_
    is_error = name == "error"
    return ErrorEstimate(
        kind="cross-validated",
        name=name,
        value=value,
        low=value - se,
        high=value + se,
        n_cases=n_points if rows is None else len(rows),
        nearest_error=None,
        majority=str(search.classes_[counts.argmax()]) if is_error else None,
        baseline=float(counts.max() / counts.sum()) if is_error else None,
    )


def list_figures(quality: Quality, model: PVMClassifier, plane: MapSummary | None) -> list[Figure]:
    """Return the figures for statisticians."""
    figures = [*_error_figures(quality), *_objective_figures(quality), *_method_figures(model)]
    if plane is not None:
        about = "Sammon's stress of the map: how much it distorts the distances (0 is best)."
        figures.append(Figure("Stress of the map", percent(plane.stress), about))
    return figures


def _count_errors(model: PVMClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> ErrorEstimate:
    """Count the errors of the model and of 1-NN on held-out cases."""
    y_test = column_or_1d(y_test, warn=True)
    check_consistent_length(X_test, y_test)
    y_test = match_labels(y_test, model.classes_)
    nearest = _nearest_error(model, X, y, X_test, y_test)
    return held_out_error(tally_answers(model, y_test, model.predict(X_test)), nearest=nearest)


def _nearest_error(model: PVMClassifier, X: Any, y: Any, X_test: Any, y_test: Any) -> float | None:
    """Return the error of 1-NN on all training samples with the model's own distance."""
    labels = column_or_1d(y)
    dissimilarity = resolve_metric(model.metric, model.metric_params)
    if not traits_of(dissimilarity).precomputed:
        points = check_points(X, dissimilarity)
        dissimilarity.fit(points, np.searchsorted(model.classes_, labels))
        queries = check_points(X_test, dissimilarity)
        bounds = np.array([0, row_count(points)])
        index, _ = find_nearest(dissimilarity, queries, points, bounds=bounds, n_jobs=model.n_jobs)
        return float((labels[index[:, 0]] != y_test).mean())
    n_points = row_count(X)
    if np.shape(X)[1] != n_points or np.shape(X_test)[1] != n_points:
        return None
    if issparse(X_test):
        nearest = nearest_in_graph(check_graph(X_test), np.array([0, n_points]))[0][:, 0]
        if (nearest < 0).any():
            return None
    else:
        dissimilarity.fit(X, labels)
        compare = getattr(dissimilarity, "ranking", dissimilarity.pairwise)
        nearest = compare(X_test, np.arange(n_points)).argmin(axis=1)
    return float((labels[nearest] != y_test).mean())


def _error_figures(quality: Quality) -> list[Figure]:
    """Return the accuracy with its interval, the baseline, balanced accuracy and 1-NN."""
    error = quality.error
    if error is None:
        return []
    figures, evaluation, spread = [], error.evaluation, error.high - error.value
    if evaluation is not None and error.kind == "held-out":
        low, high = map(percent, evaluation.accuracy_interval)
        value = f"{percent(evaluation.accuracy)} ({low} to {high})"
        about = (
            f"Fraction of {count(error.n_cases, 'held-out case')} classified correctly, with "
            "Wilson's 95 % confidence interval."
        )
        figures.append(Figure("Held-out accuracy", value, about))
    else:
        name, value = error.name, f"{short_number(error.value)} ± {short_number(spread)}"
        if name == "error":
            name, value = "accuracy", f"{percent(1.0 - error.value)} ± {percent(spread)}"
        about = (
            "Mean over the folds of the cross-validation and its standard error. The settings "
            "were chosen on the same folds, so this figure is slightly optimistic."
        )
        figures.append(Figure(f"Cross-validated {name}", value, about))
    if error.baseline is not None:
        about = f"Accuracy of always predicting “{error.majority}”, the most frequent class."
        figures.append(Figure("Baseline", percent(error.baseline), about))
        if evaluation is not None:
            about = "Mean recall over the classes, on the same cases."
            balanced = percent(evaluation.balanced_accuracy)
            figures.append(Figure("Balanced accuracy", balanced, about))
    if error.nearest_error is not None:
        about = (
            f"Accuracy of the nearest neighbour among all "
            f"{count(quality.n_points, 'training case')}, with the same distance and on the same "
            "held-out cases."
        )
        figures.append(Figure("1-NN", percent(1.0 - error.nearest_error), about))
    return figures


def _objective_figures(quality: Quality) -> list[Figure]:
    """Return the objective, its lower bound and the gap."""
    bound = quality.lower_bound
    figures = [
        Figure(
            "Objective",
            short_number(quality.objective),
            "Number of uncovered and miscovered cases plus the cost of the prototypes. The "
            "selection minimises it.",
        ),
        Figure("Lower bound", "none" if bound is None else short_number(bound), quality.verdict),
    ]
    if quality.gap is not None:
        about = "Relative optimality gap: no other selection has an objective lower by more."
        figures.append(Figure("Gap", percent(quality.gap), about))
    return figures


def _method_figures(model: PVMClassifier) -> list[Figure]:
    """Return cost and radius."""
    if model.solution_.radii is None:
        radius = short_number(model.eps_)
        about = "ε, the distance within which a prototype covers a case."
    else:
        radius = short_range(model.prototype_radii_)
        limit = f", at most {short_number(model.eps_)}" if math.isfinite(model.eps_) else ""
        about = f"One per prototype{limit}. Distances are compared in multiples of the radius."
    cost = short_number(model.prototype_cost_)
    worth = "λ, the number of uncovered cases that a further prototype must save."
    return [Figure("Cost of a prototype", cost, worth), Figure("Radius", radius, about)]


def _as_loss(score: float, name: str) -> float:
    """Return an accuracy as an error, and other scores as they are."""
    return 1.0 - float(score) if name == "error" else float(score)


def _score_name(search: PVMClassifierCV) -> str:
    """Return "error" for accuracy, or else the name of the score."""
    scoring = name_scoring(search)
    if isinstance(scoring, str):
        return "error" if scoring == "accuracy" else scoring
    return "score"


def _finite(value: float) -> float | None:
    """Return a float, None if it is not finite."""
    return float(value) if math.isfinite(value) else None
