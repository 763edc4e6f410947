"""Figures for statisticians, each with one sentence that says what it is."""

from __future__ import annotations

import math

from .._estimators import PVMClassifier
from .._inspection.proportions import percent
from ._summary import ErrorEstimate, Figure, MapSummary, Quality
from ._wording import count, short_number, short_range


def list_figures(quality: Quality, model: PVMClassifier, plane: MapSummary | None) -> list[Figure]:
    """Return the figures that a reader need not know and a statistician asks for."""
    figures = [*_of_error(quality), *_of_objective(quality), *_of_method(model)]
    if plane is not None:
        about = "Sammon's stress of the map: the share of the distances that it distorts."
        figures.append(Figure("Stress of the map", percent(plane.stress), about))
    return figures


def _of_error(quality: Quality) -> list[Figure]:
    """Return the accuracy with its interval, next to those of the largest class and 1-NN."""
    error = quality.error
    if error is None:
        return []
    figures = [Figure(*_describe_error(error)), *_of_classes(error)]
    if error.nearest_error is not None:
        about = (
            "Accuracy of the nearest neighbour among all "
            f"{count(quality.n_points, 'training case')} by the same dissimilarity, on the same "
            "unseen cases."
        )
        figures.append(Figure("1-NN", percent(1.0 - error.nearest_error), about))
    return figures


def _of_classes(error: ErrorEstimate) -> list[Figure]:
    """Return the accuracy of the majority class, and the mean recall."""
    if error.baseline is None:
        return []
    about = f"Accuracy of always answering “{error.majority}”, the most frequent training class."
    figures = [Figure("Baseline", percent(error.baseline), about)]
    if error.evaluation is not None:
        balanced = percent(error.evaluation.balanced_accuracy)
        about = "Mean recall of the classes, on the same unseen cases."
        figures.append(Figure("Balanced accuracy", balanced, about))
    return figures


def _describe_error(error: ErrorEstimate) -> tuple[str, str, str]:
    """Return heading, value and meaning of an error or another score."""
    if error.evaluation is not None and error.kind == "held-out":
        about = (
            f"Share of {count(error.n_cases, 'held-out case')} answered rightly; the range is "
            "Wilson's 95 % interval."
        )
        low, high = error.evaluation.accuracy_interval
        value = f"{percent(error.evaluation.accuracy)} ({percent(low)} to {percent(high)})"
        return "Held-out accuracy", value, about
    spread = error.high - error.value
    if error.name == "error":
        name, value = "accuracy", f"{percent(1.0 - error.value)} ± {percent(spread)}"
    else:
        name, value = error.name, f"{short_number(error.value)} ± {short_number(spread)}"
    about = (
        "Mean over the folds of the cross-validation, with its standard error; the setting was "
        "chosen on the same folds, so expect a little worse."
    )
    return f"Cross-validated {name}", value, about


def _of_objective(quality: Quality) -> list[Figure]:
    """Return the objective, its bound and the gap between them."""
    figures = [
        Figure(
            "Objective",
            short_number(quality.objective),
            "Uncovered plus wrongly covered cases plus the cost of the prototypes: what the "
            "selection minimises.",
        )
    ]
    if quality.lower_bound is not None:
        figures.append(Figure("Lower bound", short_number(quality.lower_bound), quality.verdict))
    else:
        figures.append(Figure("Lower bound", "none", quality.verdict))
    if quality.gap is not None:
        about = "Largest share of the objective that a better choice could still save."
        figures.append(Figure("Gap", percent(quality.gap), about))
    return figures


def _of_method(model: PVMClassifier) -> list[Figure]:
    """Return cost and radius."""
    if model.solution_.radii is None:
        radius = short_number(model.eps_)
        about = "ε, the distance within which a prototype covers a case."
    else:
        radius = short_range(model.prototype_radii_)
        limit = f", at most {short_number(model.eps_)}" if math.isfinite(model.eps_) else ""
        about = f"Each prototype has its own{limit}; distances count as multiples of it."
    return [
        Figure(
            "Cost of a prototype",
            short_number(model.prototype_cost_),
            "λ, what a further prototype has to save, in uncovered cases, to be worth it.",
        ),
        Figure("Radius", radius, about),
    ]
