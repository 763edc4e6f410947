"""What came out of fitting: the model, its cases, what a report says, and that in a few lines."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from .._estimators import PVMClassifier
from .._inspection.fitted import unwrap
from .._inspection.label_issues import LabelIssues, find_label_issues
from ..report import Queries, Summary, summarize
from ..report._summary import Quality
from .cases import Cases
from .columns import in_own_words
from .console import Console, count_things, list_names, shorten
from .errors import print_accuracy, print_error_tables
from .model import classifier_of, final_step, with_rows

_MOST_CLASSES = 30
_WIDEST_LABEL = 30
# A call is close where the runner-up is farther away by no more than that.
_CLOSE = 0.05


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model and what is to be told of it.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV or Pipeline
        Its prototypes' rows are those of the source, from 0.
    cases, training, held_out : Cases
        All cases, those that it was fitted on, and those that were held out, if any.
    summary : Summary
        What the report says.
    suspects : LabelIssues
        Of `cases`.
    distance : str
        In words.
    settings : dict
        What was asked for.
    seconds : float
        How long it took.
    """

    model: Any
    cases: Cases
    training: Cases
    held_out: Cases | None
    summary: Summary
    suspects: LabelIssues
    distance: str
    settings: dict[str, Any]
    seconds: float

    @property
    def n_sampled(self) -> int | None:
        """Number of cases drawn to search for the radius, None for all."""
        rows = getattr(final_step(self.model), "search_rows_", None)
        return None if rows is None else len(rows)

    @property
    def is_held_out(self) -> NDArray[np.bool_]:
        """Which of `cases` were kept back."""
        kept_back: Any = [] if self.held_out is None else self.held_out.rows
        return np.isin(self.cases.rows, kept_back)

    @property
    def quality(self) -> Quality:
        """How good the selection is."""
        assert self.summary.quality is not None  # the training data is at hand
        return self.summary.quality

    @property
    def classifier(self) -> PVMClassifier:
        """The classifier with the prototypes."""
        return classifier_of(self.model)


def gather_outcome(model: Any, *, cases: Cases, training: Cases, **known: Any) -> Outcome:
    """Return a fitted model with everything that is known about it.

    `model` has its prototypes' rows among those it was fitted on, `training`; that of the
    outcome has them in the source, so that a model file alone can tell which they are.
    """
    return Outcome(_in_source(model, training), cases, training, **known)


def find_suspects(model: Any, cases: Cases) -> LabelIssues:
    """Find labels that disagree with nearby prototypes, once for terminal, table and report."""
    return find_label_issues(model, cases.X, cases.y, sample_weight=cases.weights)


def _in_source(model: Any, training: Cases) -> Any:
    """Return a model with its prototypes' rows in the source of the cases it was fitted on."""
    rows = classifier_of(model).prototype_indices_
    return with_rows(model, np.where(rows >= 0, training.rows[np.maximum(rows, 0)] - 1, -1))


def summarize_cases(
    model: Any,
    training: Cases,
    held_out: Cases | None,
    *,
    title: str,
    how: dict[str, str] | None = None,
    high_is_dark: bool = False,
    suspects: LabelIssues | None = None,
    **counted: Any,
) -> Summary:
    """Return what the report says of a model and the cases it was fitted on.

    `how` says where they come from, if there is more to it than their number; `suspects` are
    numbered in the order of all cases in their source; `counted` is what `summarize` need not
    count, and the name of the target.
    """
    if suspects is not None:
        parts = [training.rows] if held_out is None else [training.rows, held_out.rows]
        suspects = replace(suspects, row=np.argsort(np.concatenate(parts))[suspects.row])
    how = _describe_cases(training, held_out) if how is None else dict(how)
    if isinstance(model, Pipeline):
        how["Columns"] = "brought to mean 0 and standard deviation 1 before distances"
    return summarize(
        model,
        training.X,
        training.y,
        held_out=None if held_out is None else as_queries(held_out, high_is_dark),
        sample_weight=training.weights,
        row_names=training.titles,
        title=title,
        how=how,
        suspects=suspects,
        **_show(training, high_is_dark),
        **counted,
    )


def _show(cases: Cases, high_is_dark: bool) -> dict[str, Any]:
    """Return how `summarize` is to show cases: as a table, or as pictures."""
    if cases.layout is None and cases.pictures is None:
        return {"shown": in_own_words(cases.X, cases.shown)}
    if high_is_dark and cases.layout is not None:
        return {"image_shape": cases.layout.shape}
    # Bare numbers beside pictures are not shown.
    return {"images": pictures_of(cases), "shown": np.asarray(cases.X)}


def pictures_of(cases: Cases) -> Any:
    """Return the pictures of cases: of their files, or made of their pixels."""
    if cases.pictures is not None or cases.layout is None:
        return cases.pictures
    return np.asarray(cases.X).reshape(len(cases), *cases.layout.shape)


def as_queries(cases: Cases, high_is_dark: bool = False) -> Queries:
    """Return cases as a report asks about them."""
    show = _show(cases, high_is_dark)
    return Queries(
        cases.X, cases.y, cases.titles, shown=show.get("shown"), images=show.get("images")
    )


def _describe_cases(training: Cases, held_out: Cases | None) -> dict[str, str]:
    """Say where cases come from, and how many were kept back."""
    n_held_out = 0 if held_out is None else len(held_out)
    how = {"Data": f"{training.source}, {len(training) + n_held_out} cases"}
    if training.layout is None and hasattr(training.X, "isna"):
        absent = training.X.isna().to_numpy()
        n_gaps, n_empty = absent.any(axis=1).sum(), (absent.mean(axis=1) > 0.5).sum()
        if n_gaps:
            how["Missing values"] = (
                f"in {count_things(int(n_gaps), 'case', 'cases')}; a column that is missing in "
                "one of two cases counts as half a difference between them, and cases "
                f"without half of their values cannot be prototypes ({n_empty} here)"
            )
    if n_held_out:
        how["Test"] = f"{n_held_out} of them held out, drawn by chance from each class"
    return how


def print_outcome(outcome: Outcome, console: Console) -> None:
    """Print what was found, in a few lines of at most 80 characters."""
    summary = outcome.summary
    console.say()
    _print_classes(summary, console)
    console.say()
    print_error_tables(outcome.quality.error, console)
    _print_quality(outcome, console)
    _print_item("suspects", _describe_suspects(outcome), console)
    n_close = _count_close(outcome)
    if n_close:
        cases = count_things(n_close, "held-out case is", "held-out cases are")
        console.say(f"close      {cases} nearly as near to another class, within 5 %")
    for text in concerns(outcome):
        console.warn(text)


def concerns(outcome: Outcome) -> list[str]:
    """Say what about a selection its reader would not expect, each with the way out."""
    quality, found = outcome.quality, []
    if 4 * quality.n_prototypes > quality.n_points:
        few = max(2 * len(outcome.summary.classes), round(quality.n_points / 20))
        own = ", and --radii adaptive often needs fewer" * (outcome.classifier.radii == "shared")
        found.append(
            f"{quality.n_prototypes} of {quality.n_points} cases are kept, too many for a useful "
            f"summary; --max-prototypes {few} asks for fewer{own}"
        )
    found += _unserved(outcome)
    strangers = _strangers(outcome)
    if strangers:
        first = strangers[0]
        own = "its own row" if len(strangers) == 1 else "their own rows"
        found.append(
            f"{count_things(len(strangers), 'prototype stands', 'prototypes stand')} for another "
            f"class than the label of {own}, such as row {first[0]}, labelled {first[1]} "
            f"amid cases of {first[2]}: look whether the label is right"
        )
    return found


def _unserved(outcome: Outcome) -> list[str]:
    """Say which classes have no prototype, or have one only because every class gets one."""
    classifier, found = outcome.classifier, []
    forced = classifier.classes_[classifier.solution_.forced].tolist()
    balance = "" if classifier.class_weight == "balanced" else "--balance, "
    if forced:
        found.append(
            f"no prototype of {list_names(forced)} is worth its cost, so the best single one was "
            f"taken for each; {balance}a lower --prototype-cost or a smaller --eps may give more, "
            "--min-per-class 0 leaves such classes without one"
        )
    without = [str(entry.label) for entry in outcome.summary.classes if not entry.prototypes]
    if without:
        way_out = (
            f"leave out --min-per-class 0, or try {balance}a lower --prototype-cost or a smaller "
            "--eps"
            if classifier.min_per_class == 0
            else "raise --max-prototypes"
        )
        found.append(
            f"no prototype was chosen for {list_names(without)}, and cases of such a class are "
            f"answered as another; {way_out}"
        )
    return found


def _count_close(outcome: Outcome) -> int:
    """Count the held-out cases that a prototype of another class is nearly as near to."""
    if outcome.held_out is None:
        return 0
    within = unwrap(outcome.model)
    why = within.classifier.explain(within.prepare(outcome.held_out.X))
    nearly = why.runner_up_relative_distance <= (1.0 + _CLOSE) * why.relative_distance
    return int(np.count_nonzero(nearly & np.isfinite(why.runner_up_relative_distance)))


def _strangers(outcome: Outcome) -> list[tuple[int, str, str]]:
    """Return row, label and class of the prototypes that stand for another class than theirs."""
    classifier, cases = outcome.classifier, outcome.cases
    rows = classifier.prototype_indices_
    real = np.flatnonzero(rows >= 0)
    places = np.searchsorted(cases.rows, rows[real] + 1)
    own = np.asarray(cases.y)[places].astype(str)
    stands_for = classifier.prototype_labels_[real].astype(str)
    return [
        (int(cases.rows[places[k]]), own[k], stands_for[k])
        for k in np.flatnonzero(own != stands_for)
    ]


def _describe_suspects(outcome: Outcome) -> str:
    """Return how many labels disagree with nearby prototypes."""
    told = outcome.suspects.describe()
    n_held_out = int(outcome.is_held_out[outcome.suspects.row].sum())
    return f"{told} ({n_held_out:,} of them held out.)" if n_held_out else told


def _print_classes(summary: Summary, console: Console) -> None:
    """Print how many prototypes each class has and what share of it they cover."""
    labels = [shorten(entry.label, _WIDEST_LABEL) for entry in summary.classes]
    width = max(5, *map(len, labels[:_MOST_CLASSES]))
    digits = max(5, *(len(str(entry.points)) for entry in summary.classes))
    console.say(f"{'class':<{width}}  {'cases':>{digits}}  prototypes  covered  in others' balls")
    for label, entry in list(zip(labels, summary.classes, strict=True))[:_MOST_CLASSES]:
        console.say(
            f"{label:<{width}}  {entry.points:>{digits}}  {entry.prototypes:>10}  "
            f"{_percent(entry.covered, entry.points):>7}  "
            f"{_percent(entry.wrongly_covered, entry.points):>16}"
        )
    if len(labels) > _MOST_CLASSES:
        console.say(f"... and {len(labels) - _MOST_CLASSES} more in report.html")


def _print_quality(outcome: Outcome, console: Console) -> None:
    """Print radius, objective and error figures."""
    quality = outcome.quality
    _print_radius(outcome, console)
    prototypes = count_things(quality.n_prototypes, "prototype", "prototypes")
    column = outcome.settings.get("weights")
    weighted = "" if column is None else f" by the weights of {column!r}"
    if outcome.classifier.class_weight is not None:
        weighted += " with the same weight for all classes"
    _print_item(
        "objective",
        f"{quality.objective:.4g}{weighted}: "
        f"{quality.n_points - quality.n_covered} uncovered, "
        f"{quality.n_wrong} wrongly covered, "
        f"{prototypes} at {outcome.classifier.prototype_cost_:.2g}",
        console,
    )
    _print_item("", quality.verdict, console)
    print_accuracy(quality, console)


def _print_item(name: str, text: str, console: Console) -> None:
    """Print a name and what there is to say of it, in lines of at most 80 characters."""
    for k, line in enumerate(textwrap.wrap(text, 69)):
        console.say(f"{'' if k else name:<11}{line}")


def _print_radius(outcome: Outcome, console: Console) -> None:
    """Print the radius, or the radii and how large they might be, and why."""
    summary, why = outcome.summary, _why_radius(outcome)
    if summary.radii == "shared":
        console.say(f"radius     {summary.eps:.4g}{why}")
        return
    radii = [prototype.radius for prototype in summary.prototypes]
    limit = "no limit" if summary.eps is None else f"at most {summary.eps:.4g}"
    console.say(f"radius     its own for each prototype, {min(radii):.4g} to {max(radii):.4g}")
    console.say(f"           {limit}{why}")


def _why_radius(outcome: Outcome) -> str:
    """Say where the radius, or the limit to the radii, comes from."""
    path = outcome.summary.path
    if path is not None:
        many = "radii" if path.parameter == "radius" else "cost" + "s"[: len(path.eps) != 1]
        tried = f"{len(path.eps)} {many}, rule {path.rule}"
        return f", by {path.n_splits}-fold cross-validation ({tried}){_sampled(outcome)}"
    if outcome.settings["eps"] in (None, "auto"):
        share = "median" if outcome.summary.radii == "shared" else "0.9 quantile"
        return f" ({share} of the distances to another class{_sampled(outcome)})"
    return ", as given"


def _sampled(outcome: Outcome) -> str:
    """Say on how many cases the radius rests, where that is a sample."""
    return "" if outcome.n_sampled is None else f" on {outcome.n_sampled} cases"


def _percent(part: int, whole: int) -> str:
    """Return a share in percent."""
    return f"{100 * part / whole:.1f} %" if whole else "-"
