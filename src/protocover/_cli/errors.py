"""Error figures on the terminal: accuracy and baseline, confusion matrix, recall, precision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from .._estimators import PVMClassifierCV
from .._inspection.evaluation import Evaluation, head_lines, match_labels, table_lines
from .._inspection.fitted import unwrap
from .._inspection.proportions import percent
from ..report._quality import cross_validated_error, tally_answers
from ..report._summary import ErrorEstimate, Quality
from .cases import Cases
from .console import Console, count_things, shorten
from .model import classifier_of, final_step

_WIDEST_LABEL = 20
# Training cases that are fitted again in every fold to count errors by class.
_MOST_REFITTED = 20_000


def print_error_tables(error: ErrorEstimate | None, console: Console) -> None:
    """Print confusion matrix, recall and precision on cases that a model was not fitted on."""
    if error is None or error.evaluation is None:
        return
    how = "not used to fit" if error.kind == "held-out" else "each by a model fitted without it"
    console.say(f"{_which(error)}, {how}")
    for line in [*table_lines(error.evaluation, "cases"), ""]:
        console.say(line)


def print_accuracy(quality: Quality, console: Console) -> None:
    """Print how often a model is right on such cases, next to the baseline and 1-NN."""
    error = quality.error
    if error is None:
        console.say("accuracy   not known: no case was held out (--test-size)")
        return
    evaluation = error.evaluation
    for line in _estimate(error) if evaluation is None else head_lines(evaluation, _which(error)):
        console.say(line)
    if error.nearest_error is not None:
        nearest = percent(1.0 - error.nearest_error)
        console.say(
            f"1-NN       {nearest} of them, with all {quality.n_points:,} cases to compare"
        )
    if evaluation is not None:
        _warn(evaluation, console)


def cross_validate_answers(model: Any, training: Cases, console: Console) -> ErrorEstimate | None:
    """Answer every training case by a model of the setting found that was fitted without it.

    The folds and their solver are those of the search. Returns None if there was no search, if
    a fold cannot be fitted, or if there are too many cases to fit them so often again.
    """
    search = final_step(model)
    if not isinstance(search, PVMClassifierCV) or len(training) > _MOST_REFITTED:
        return None
    console.note(f"Counting errors in the {search.n_splits_} folds of the cross-validation ...")
    within, weights = unwrap(model), training.weights
    try:
        predicted = cross_val_predict(
            clone(within.classifier).set_params(solver="greedy", solver_options=None),
            within.prepare(training.X),
            training.y,
            cv=search.cv,
            params={} if weights is None else {"sample_weight": weights},
        )
    except ValueError:
        return None
    evaluation = tally_answers(within.classifier, training.y, predicted)
    estimate = cross_validated_error(search, len(training))
    error, spread = 1.0 - evaluation.accuracy, estimate.high - estimate.value
    return replace(
        estimate, value=error, low=error - spread, high=error + spread, evaluation=evaluation
    )


def _which(error: ErrorEstimate) -> str:
    """Say which cases the figures are of."""
    cases = "case" if error.n_cases == 1 else "cases"
    if error.kind == "held-out":
        return f"{error.n_cases:,} held-out {cases}"
    return f"{error.n_cases:,} {cases}, cross-validated"


def _estimate(error: ErrorEstimate) -> list[str]:
    """Return a cross-validated score, next to the baseline if it is the accuracy."""
    if error.baseline is None:
        return [f"score      {error.value:.4g}, cross-validated {error.name}"]
    majority = shorten(error.majority, _WIDEST_LABEL)
    extent = f"{100 * (1 - error.high):.1f} to {100 * (1 - error.low):.1f} %"
    return [
        f"accuracy   {percent(1.0 - error.value)} of {_which(error)} "
        f"(one standard error: {extent})",
        f"baseline   {percent(error.baseline)} by always predicting {majority}, the largest class",
    ]


def _warn(evaluation: Evaluation, console: Console) -> None:
    """Warn of a model that may be no more accurate than the largest class alone."""
    if not evaluation.beats_baseline:
        below = evaluation.accuracy_interval[1] < evaluation.baseline_accuracy
        console.warn(
            f"the accuracy is {'significantly below' if below else 'not significantly above'} "
            "that of always predicting "
            f"{shorten(evaluation.majority_label, _WIDEST_LABEL)!r}; look at the recall of each "
            "class"
        )


def evaluate_answers(model: Any, cases: Cases, answers: Any) -> Evaluation | None:
    """Return the error figures of the labelled cases, None if no label is one of the classes."""
    if cases.y is None or "predicted" not in answers:
        return None
    known = np.array([label is not None for label in cases.y], dtype=bool)
    classifier = classifier_of(model)
    labels = match_labels(cases.y[known], classifier.classes_)
    # Images lie in folders, which need not be named by classes.
    if set(labels).isdisjoint(classifier.classes_.tolist()):
        return None
    return tally_answers(classifier, labels, answers["predicted"].to_numpy()[known])


def tell_errors(evaluation: Evaluation, answers: Any, console: Console) -> None:
    """Print the error figures of new cases to standard error, answers may be on the other."""
    cases = "case" if evaluation.n_samples == 1 else "cases"
    which = f"{evaluation.n_samples:,} {cases} of known class"
    lines = [*head_lines(evaluation, which), "", *table_lines(evaluation, "cases")]
    console.note("\n".join(lines), wrap=False)
    _warn(evaluation, console)
    same = (answers["distance"] == 0.0) & (answers["row"] == answers["prototype_row"])
    if same.any():
        console.warn(
            f"{count_things(int(same.sum()), 'case is a prototype', 'cases are prototypes')} of "
            "the model; figures on rows that it was fitted on are too optimistic"
        )
