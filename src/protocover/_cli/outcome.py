"""The result of a fit: model, cases and report summary, and how they are printed."""

from __future__ import annotations

import textwrap
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline

from .._estimators import PVMClassifier, PVMClassifierCV
from .._inspection.evaluation import Evaluation, head_lines, match_labels, percent, table_lines
from .._inspection.fitted import unwrap
from .._inspection.label_issues import LabelIssues, find_label_issues
from ..report import Queries, Summary, summarize
from ..report._quality import cross_validated_error, tally_answers
from ..report._summary import ErrorEstimate, Quality
from .cases import Cases
from .columns import in_own_words
from .console import Console, count_things, list_names, shorten
from .model import classifier_of, final_step, with_rows

_MOST_CLASSES = 30
_WIDEST_CLASS, _WIDEST_LABEL = 30, 20
# A prediction is close if the nearest prototype of another class is at most this much farther.
_CLOSE = 0.05
# With more training cases, errors per class are not cross-validated.
_MOST_REFITTED = 20_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model with everything that is written and printed about it.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, BallCover or Pipeline
        The rows of its prototypes are those of the source, from 0.
    cases, training, held_out : Cases
        All cases, the training set and the test set, if any.
    summary : Summary
        The content of the report.
    suspects : LabelIssues or None
        Likely label errors in `cases`; None for a cover.
    distance : str
        In words.
    settings : dict
        The options.
    seconds : float
        The run time.
    """

    model: Any
    cases: Cases
    training: Cases
    held_out: Cases | None
    summary: Summary
    suspects: LabelIssues | None
    distance: str
    settings: dict[str, Any]
    seconds: float

    @property
    def n_sampled(self) -> int | None:
        """Number of cases drawn for the search of the radius, None for all."""
        rows = getattr(final_step(self.model), "search_rows_", None)
        return None if rows is None else len(rows)

    @property
    def is_held_out(self) -> NDArray[np.bool_]:
        """Which of `cases` were held out."""
        rows: Any = [] if self.held_out is None else self.held_out.rows
        return np.isin(self.cases.rows, rows)

    @property
    def quality(self) -> Quality:
        """The quality of the selection."""
        assert self.summary.quality is not None  # the training data are available
        return self.summary.quality

    @property
    def classifier(self) -> PVMClassifier:
        """The classifier with the prototypes."""
        return classifier_of(self.model)


def gather_outcome(
    model: Any,
    *,
    cases: Cases,
    training: Cases,
    held_out: Cases | None,
    suspects: LabelIssues,
    distance: str,
    settings: dict[str, Any],
    started: float,
    **summarized: Any,
) -> Outcome:
    """Return a fitted classifier with everything that is known about it.

    The prototypes' rows of `model` are those of `training`; those of the outcome are those of the
    source, so that the model file alone identifies them. `summarized` goes to `summarize_cases`.
    """
    summary = summarize_cases(model, training, held_out, suspects=suspects, **summarized)
    rows = classifier_of(model).prototype_indices_
    in_source = np.where(rows >= 0, training.rows[np.maximum(rows, 0)] - 1, -1)
    return Outcome(
        with_rows(model, in_source),
        cases,
        training,
        held_out,
        summary,
        suspects,
        distance,
        settings,
        seconds=time.perf_counter() - started,
    )


def find_suspects(model: Any, cases: Cases) -> LabelIssues:
    """Return labels that disagree with nearby prototypes, for terminal, table and report."""
    return find_label_issues(model, cases.X, cases.y, sample_weight=cases.weights)


def summarize_cases(
    model: Any,
    training: Cases,
    held_out: Cases | None,
    *,
    title: str,
    high_is_dark: bool = False,
    suspects: LabelIssues | None = None,
    **counted: Any,
) -> Summary:
    """Return the content of the report on a model and its training cases.

    `suspects` are numbered in the order of all cases in their source; `counted` are further
    arguments of `summarize`.
    """
    if suspects is not None:
        parts = [training.rows] if held_out is None else [training.rows, held_out.rows]
        suspects = replace(suspects, row=np.argsort(np.concatenate(parts))[suspects.row])
    how = _describe_cases(training, held_out)
    if isinstance(model, Pipeline):
        how["Columns"] = "standardized to mean 0 and standard deviation 1"
    return summarize(
        model,
        training.X,
        training.y,
        held_out=None if held_out is None else as_queries(held_out, high_is_dark),
        sample_weight=None if training.y is None else training.weights,
        row_names=training.titles,
        title=title,
        how=how,
        suspects=suspects,
        **_show(training, high_is_dark),
        **counted,
    )


def _show(cases: Cases, high_is_dark: bool) -> dict[str, Any]:
    """Return how `summarize` is to show cases: as a table, or as images."""
    if cases.layout is None and cases.pictures is None:
        return {"shown": in_own_words(cases.X, cases.shown)}
    if high_is_dark and cases.layout is not None:
        return {"image_shape": cases.layout.shape}
    images = cases.pictures
    if images is None and cases.layout is not None:
        images = np.asarray(cases.X).reshape(len(cases), *cases.layout.shape)
    # An array without column names is not shown next to images.
    return {"images": images, "shown": np.asarray(cases.X)}


def as_queries(cases: Cases, high_is_dark: bool = False) -> Queries:
    """Return cases in the form that the report takes new samples."""
    show = _show(cases, high_is_dark)
    return Queries(
        cases.X, cases.y, cases.titles, shown=show.get("shown"), images=show.get("images")
    )


def _describe_cases(training: Cases, held_out: Cases | None) -> dict[str, str]:
    """Return where the cases come from, and how many were held out."""
    n_held_out = 0 if held_out is None else len(held_out)
    how = {"Data": f"{training.source}, {len(training) + n_held_out} cases"}
    if training.y is not None and training.layout is None and hasattr(training.X, "isna"):
        absent = training.X.isna().to_numpy()
        n_incomplete, n_empty = absent.any(axis=1).sum(), (absent.mean(axis=1) > 0.5).sum()
        if n_incomplete:
            how["Missing values"] = (
                f"in {count_things(int(n_incomplete), 'case', 'cases')}; a value that is missing "
                "in one of two cases counts as half of the largest difference, and cases with "
                f"fewer than half of their values cannot be prototypes ({n_empty} here)"
            )
    if n_held_out:
        how["Test"] = f"{n_held_out} of them held out (a random sample of each class)"
    return how


def print_outcome(outcome: Outcome, console: Console) -> None:
    """Print the results in lines of at most 80 characters."""
    if outcome.suspects is None:
        _print_cover(outcome, console)
        return
    console.say()
    _print_classes(outcome.summary, console)
    console.say()
    error = outcome.quality.error
    if error is not None and error.evaluation is not None:
        how = (
            "not used to fit" if error.kind == "held-out" else "each by a model fitted without it"
        )
        for line in [f"{_which(error)}, {how}", *table_lines(error.evaluation, "cases"), ""]:
            console.say(line)
    _print_quality(outcome, console)
    suspects = outcome.suspects.describe()
    n_held_out = int(outcome.is_held_out[outcome.suspects.row].sum())
    more = f" ({n_held_out:,} of them held out.)" if n_held_out else ""
    _print_item("suspects", f"{suspects}{more}", console)
    n_close = _count_close(outcome)
    if n_close:
        cases = count_things(n_close, "held-out case is", "held-out cases are")
        console.say(f"close      {cases} almost as close to another class (within 5 %)")
    for text in _concerns(outcome):
        console.warn(text)


def _print_cover(outcome: Outcome, console: Console) -> None:
    """Print how many cases were chosen, and how many they cover."""
    quality = outcome.quality
    chosen = count_things(quality.n_prototypes, "representative", "representatives")
    console.say(f"\n{chosen} of {quality.n_points} cases.")
    console.say(f"radius     {dict(outcome.summary.settings)['Radius']}")
    covered = f"{quality.n_covered} of {quality.n_points}"
    covered += f", {100 * quality.n_covered / quality.n_points:.1f} %"
    if outcome.settings["weights"] is not None:
        covered += f", {100 * final_step(outcome.model).coverage_:.1f} % of the weight"
    console.say(f"covered    {covered}")
    console.say(f"proof      {quality.verdict}")


def _concerns(outcome: Outcome) -> list[str]:
    """Return warnings about unexpected selections, each with a way to change them."""
    quality, found = outcome.quality, []
    if 4 * quality.n_prototypes > quality.n_points:
        few = max(2 * len(outcome.summary.classes), round(quality.n_points / 20))
        own = ", and --radii adaptive often needs fewer" * (outcome.classifier.radii == "shared")
        found.append(
            f"{quality.n_prototypes} of {quality.n_points} cases are prototypes, which is too "
            f"many for a useful summary; --max-prototypes {few} asks for fewer{own}"
        )
    found += _uncovered_classes(outcome)
    others = _of_other_classes(outcome)
    if others:
        row, label, represented = others[0]
        own = "its own row" if len(others) == 1 else "their own rows"
        found.append(
            f"{count_things(len(others), 'prototype represents', 'prototypes represent')} another "
            f"class than the label of {own}, such as row {row}, labelled {label} among cases of "
            f"{represented}; check the label"
        )
    return found


def _uncovered_classes(outcome: Outcome) -> list[str]:
    """Return warnings about classes without a prototype, or with one only by --min-per-class."""
    classifier, found = outcome.classifier, []
    forced = classifier.classes_[classifier.solution_.forced].tolist()
    balance = "" if classifier.class_weight == "balanced" else "--balance, "
    if forced:
        found.append(
            f"no prototype of {list_names(forced)} is worth its cost, so the best single one was "
            f"chosen for each; {balance}a lower --prototype-cost or a smaller --eps may give "
            "more, and --min-per-class 0 leaves such classes without a prototype"
        )
    without = [str(entry.label) for entry in outcome.summary.classes if not entry.prototypes]
    if without:
        fix = "raise --max-prototypes"
        if classifier.min_per_class == 0:
            fix = (
                f"omit --min-per-class 0, or try {balance}a lower --prototype-cost or a smaller "
                "--eps"
            )
        found.append(
            f"no prototype was chosen for {list_names(without)}, so these classes are never "
            f"predicted; {fix}"
        )
    return found


def _count_close(outcome: Outcome) -> int:
    """Return the number of held-out cases almost as close to a prototype of another class."""
    if outcome.held_out is None:
        return 0
    within = unwrap(outcome.model)
    why = within.classifier.explain(within.prepare(outcome.held_out.X))
    nearly = why.runner_up_relative_distance <= (1.0 + _CLOSE) * why.relative_distance
    return int(np.count_nonzero(nearly & np.isfinite(why.runner_up_relative_distance)))


def _of_other_classes(outcome: Outcome) -> list[tuple[int, str, str]]:
    """Return row, label and class of the prototypes that represent another class than theirs."""
    classifier, cases = outcome.classifier, outcome.cases
    rows = classifier.prototype_indices_
    real = np.flatnonzero(rows >= 0)
    places = np.searchsorted(cases.rows, rows[real] + 1)
    own = np.asarray(cases.y)[places].astype(str)
    represented = classifier.prototype_labels_[real].astype(str)
    return [
        (int(cases.rows[places[k]]), own[k], represented[k])
        for k in np.flatnonzero(own != represented)
    ]


def _print_classes(summary: Summary, console: Console) -> None:
    """Print the number of prototypes and the coverage of each class."""
    labels = [shorten(entry.label, _WIDEST_CLASS) for entry in summary.classes]
    width = max(5, *map(len, labels[:_MOST_CLASSES]))
    digits = max(5, *(len(str(entry.points)) for entry in summary.classes))
    console.say(f"{'class':<{width}}  {'cases':>{digits}}  prototypes  covered  miscovered")
    for label, entry in list(zip(labels, summary.classes, strict=True))[:_MOST_CLASSES]:
        covered, wrong = (
            f"{100 * part / entry.points:.1f} %" if entry.points else "-"
            for part in (entry.covered, entry.wrongly_covered)
        )
        console.say(
            f"{label:<{width}}  {entry.points:>{digits}}  {entry.prototypes:>10}  "
            f"{covered:>7}  {wrong:>10}"
        )
    if len(labels) > _MOST_CLASSES:
        console.say(f"... and {len(labels) - _MOST_CLASSES} more in report.html")


def _print_quality(outcome: Outcome, console: Console) -> None:
    """Print radius, objective and accuracy."""
    quality = outcome.quality
    _print_radius(outcome, console)
    prototypes = count_things(quality.n_prototypes, "prototype", "prototypes")
    column = outcome.settings.get("weights")
    weighted = "" if column is None else f" weighted by {column!r}"
    if outcome.classifier.class_weight is not None:
        weighted += " with the same total weight for all classes"
    _print_item(
        "objective",
        f"{quality.objective:.4g}{weighted}: "
        f"{quality.n_points - quality.n_covered} uncovered, "
        f"{quality.n_wrong} miscovered, "
        f"{prototypes} at a cost of {outcome.classifier.prototype_cost_:.2g}",
        console,
    )
    _print_item("", quality.verdict, console)
    error = quality.error
    if error is None:
        console.say("accuracy   unknown, because no case was held out (--test-size)")
        return
    evaluation = error.evaluation
    for line in _estimate(error) if evaluation is None else head_lines(evaluation, _which(error)):
        console.say(line)
    if error.nearest_error is not None:
        nearest = percent(1.0 - error.nearest_error)
        console.say(f"1-NN       {nearest} of them, using all {quality.n_points:,} training cases")
    if evaluation is not None:
        _warn_of_baseline(evaluation, console)


def _print_item(name: str, text: str, console: Console) -> None:
    """Print a name and a text, in lines of at most 80 characters."""
    for k, line in enumerate(textwrap.wrap(text, 69)):
        console.say(f"{'' if k else name:<11}{line}")


def _print_radius(outcome: Outcome, console: Console) -> None:
    """Print the radius, or the range of the radii and their maximum, and how it was chosen."""
    summary, why = outcome.summary, _why_radius(outcome)
    if summary.radii == "shared":
        console.say(f"radius     {summary.eps:.4g}{why}")
        return
    radii = [prototype.radius for prototype in summary.prototypes]
    limit = "no limit" if summary.eps is None else f"at most {summary.eps:.4g}"
    console.say(f"radius     per prototype, {min(radii):.4g} to {max(radii):.4g}")
    console.say(f"           {limit}{why}")


def _why_radius(outcome: Outcome) -> str:
    """Return how the (maximum) radius was chosen."""
    path = outcome.summary.path
    sampled = "" if outcome.n_sampled is None else f" on {outcome.n_sampled} cases"
    if path is not None:
        many = "radii" if path.parameter == "radius" else "cost" + "s"[: len(path.eps) != 1]
        tried = f"{len(path.eps)} {many}, rule {path.rule}"
        return f", by {path.n_splits}-fold cross-validation ({tried}){sampled}"
    if outcome.settings["eps"] in (None, "auto"):
        share = "median" if outcome.summary.radii == "shared" else "0.9 quantile"
        return f" ({share} of the distances to another class{sampled})"
    return ", as given"


def cross_validate_answers(model: Any, training: Cases, console: Console) -> ErrorEstimate | None:
    """Predict every training case by a model with the chosen settings fitted without it.

    The folds and their solver are those of the search. Returns None if there was no search, if
    a fold cannot be fitted, or if there are too many cases.
    """
    search = final_step(model)
    if not isinstance(search, PVMClassifierCV) or len(training) > _MOST_REFITTED:
        return None
    console.note(f"Predicting each of the {search.n_splits_} cross-validation folds ...")
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
    """Return which cases an error was computed on."""
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


def _warn_of_baseline(evaluation: Evaluation, console: Console) -> None:
    """Warn if a model may not be more accurate than predicting the largest class."""
    if not evaluation.beats_baseline:
        below = evaluation.accuracy_interval[1] < evaluation.baseline_accuracy
        console.warn(
            f"the accuracy is {'significantly below' if below else 'not significantly above'} "
            "that of always predicting "
            f"{shorten(evaluation.majority_label, _WIDEST_LABEL)!r}; see the recall of each class"
        )


def evaluate_answers(model: Any, cases: Cases, answers: Any) -> Evaluation | None:
    """Return the evaluation on the labelled cases, None if no label is one of the classes."""
    if cases.y is None or "predicted" not in answers:
        return None
    known = np.array([label is not None for label in cases.y], dtype=bool)
    classifier = classifier_of(model)
    labels = match_labels(cases.y[known], classifier.classes_)
    # Folders of images need not be named after classes.
    if set(labels).isdisjoint(classifier.classes_.tolist()):
        return None
    return tally_answers(classifier, labels, answers["predicted"].to_numpy()[known])


def print_evaluation(evaluation: Evaluation, answers: Any, console: Console) -> None:
    """Print the evaluation on new cases to standard error; predictions may go to the other."""
    cases = "case" if evaluation.n_samples == 1 else "cases"
    which = f"{evaluation.n_samples:,} {cases} of known class"
    lines = [*head_lines(evaluation, which), "", *table_lines(evaluation, "cases")]
    console.note("\n".join(lines), wrap=False)
    _warn_of_baseline(evaluation, console)
    same = (answers["distance"] == 0.0) & (answers["row"] == answers["prototype_row"])
    if same.any():
        console.warn(
            f"{count_things(int(same.sum()), 'case is a prototype', 'cases are prototypes')} of "
            "the model; the accuracy is too optimistic on rows that the model was fitted on"
        )
