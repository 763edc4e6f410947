"""All cases that a report explains: who is compared with whom, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped
from .._inspection.label_issues import LabelIssues
from .._prototypes.coverage import Coverage
from .._resources import row_count
from ._cases import LaidOut
from ._comparison import Contest, as_comparison, hold_contest
from ._queries import MOST_LISTED, Asked, Queries, ask, summarize_answers
from ._reasons import describe_shares, give_reason
from ._summary import Answers, Cases, Comparison
from ._table import count_columns

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_NEAREST = ("The nearest prototype", "The nearest of another class")
_OWN_CLASS = ("The nearest prototype", "The nearest of its own class")
_SUSPECT = ("The nearest prototype of that class", "That of its own class")


@dataclass(frozen=True, eq=False)
class Scene:
    """Cases that are compared for one reason."""

    contest: Contest
    starts: list[str]  # what is to be explained, for each case
    of: list[tuple[str, str]]  # what the two prototypes are, for each case
    rows: Indices | None  # of training cases; None for cases beside them


@dataclass(frozen=True, eq=False)
class Cast:
    """All scenes; those of cases beside the training data come last, in the order laid out."""

    scenes: list[Scene]
    held_out: Asked | None
    queries: Asked | None

    @property
    def further(self) -> tuple[Queries, ...]:
        """The cases beside the training data, to be laid out."""
        return tuple(asked.queries for asked in (self.held_out, self.queries) if asked)

    @property
    def n_held_out(self) -> int:
        """How many held-out cases are listed."""
        return 0 if self.held_out is None else len(self.held_out.listed)

    def column_weights(self, features: Indices | None) -> Floats | None:
        """Return how much each column that is shown contributes to all comparisons."""
        terms = [scene.contest.terms for scene in self.scenes if scene.contest.terms is not None]
        if not terms or features is None:
            return None
        weight = np.zeros(1 + max(features.max(), *(t.columns.max(initial=0) for t in terms)))
        for part in terms:
            total = np.maximum(part.near_total + part.far_total, np.finfo(float).tiny)
            np.add.at(weight, part.columns, (part.near + part.far) / total[:, None])
        return weight[features]


@dataclass(frozen=True, eq=False)
class Explained:
    """What a report says of the cases that it explains."""

    cases: Cases  # with the classes of those beside the training data
    held_out: Answers | None
    queries: Answers | None
    comparisons: list[Comparison]
    shares: str
    contribution_unit: str | None


def gather_cast(
    within: Unwrapped,
    X: Any,
    *,
    suspects: LabelIssues | None = None,
    uncovered: Indices | None = None,
    coverage: Coverage | None = None,
    nearest_own: Indices | None = None,
    held_out: Queries | None = None,
    queries: Queries | None = None,
) -> Cast:
    """Compare suspects, uncovered cases, held-out cases and queries with two prototypes each.

    `X` are the training cases as the classifier takes them, `nearest_own` the nearest
    prototype of each one's own class. Rows of suspects go on with those of the held-out cases,
    which are listed and compared with what answered them.
    """
    model = within.classifier
    scenes = []
    compared, beside = np.empty((2, 0), dtype=np.intp)
    if suspects is not None:
        listed = suspects.row[:MOST_LISTED]
        known = (listed < row_count(X)) & (suspects.other_prototype[:MOST_LISTED] >= 0)
        compared, beside = listed[known], listed[listed >= row_count(X)] - row_count(X)
        if len(compared):
            scenes.append(_suspects(model, X, suspects, np.flatnonzero(known)))
    if uncovered is not None and coverage is not None and nearest_own is not None:
        left = uncovered[~np.isin(uncovered, compared)]
        if len(left):
            scenes.append(_uncovered(model, X, left, coverage, nearest_own))
    answered = [
        None if held_out is None else ask(held_out, within, first=beside),
        None if queries is None else ask(queries, within),
    ]
    scenes += [_answered(model, asked) for asked in answered if asked is not None]
    return Cast(scenes, *answered)


def explain_cast(
    cast: Cast, laid: LaidOut, model: PVMClassifier, features: Indices | None
) -> Explained:
    """Return the comparisons and answers as data."""
    has_terms = any(scene.contest.terms is not None for scene in cast.scenes)
    shown = _shown_places(laid, features, model)
    told = has_terms and bool((shown >= 0).any())
    classes = list(laid.cases.classes)
    as_pictures = laid.cases.pictures is not None and not laid.cases.columns
    return Explained(
        held_out=_tell_answers(cast.held_out, 0, laid, model, classes),
        queries=_tell_answers(cast.queries, cast.n_held_out, laid, model, classes),
        cases=replace(laid.cases, classes=classes),
        comparisons=_compare_all(cast, laid, model, shown, told=told),
        shares=describe_shares(model, has_terms=has_terms, shown=told, as_pictures=as_pictures),
        contribution_unit=model.dissimilarity_.contribution_unit if told else None,
    )


def _compare_all(
    cast: Cast, laid: LaidOut, model: PVMClassifier, shown: Indices, *, told: bool
) -> list[Comparison]:
    """Return the comparisons of all scenes; `told` is whether columns are."""
    names = [laid.cases.names[place] for place in laid.prototypes]
    comparisons, start = [], 0
    for scene in cast.scenes:
        if scene.rows is None:
            places = laid.further[start : start + len(scene.starts)]
            start += len(places)
        else:
            places = laid.place[scene.rows]
        contest = scene.contest if told else replace(scene.contest, terms=None)
        comparisons += [
            _explain(scene, contest, i, int(place), model, names, shown)
            for i, place in enumerate(places)
            if contest.near[i] >= 0
        ]
    return comparisons


def _tell_answers(
    asked: Asked | None, start: int, laid: LaidOut, model: PVMClassifier, classes: list[int]
) -> Answers | None:
    """Return answers as data, and put the classes of their cases into those of all.

    Their cases begin at `start` of those that were laid out beside the training data.
    """
    if asked is None:
        return None
    places = laid.further[start : start + len(asked.listed)]
    for row, place in zip(asked.listed, places, strict=True):
        classes[place] = int(asked.classes[row])
    return summarize_answers(asked, places, model)


def match_columns(within: Unwrapped, X: Any, shown: Any) -> Indices | None:
    """Return, for each column that is shown, that of the distances it is; None if they differ.

    Steps before the classifier must keep columns as they are, but for their scale; what is
    shown in place of `X` must have its columns by name. -1 is for a column that `X` lacks.
    """
    n_columns = count_columns(X)
    if not all(_keeps_columns(steps, n_columns) for steps in within.transformers):
        return None
    if shown is None or shown is X:
        return np.arange(n_columns)
    if not (hasattr(X, "columns") and hasattr(shown, "columns")):
        return None
    place = {name: j for j, name in enumerate(X.columns)}
    return np.array([place.get(name, -1) for name in shown.columns], dtype=np.intp)


def _keeps_columns(steps: Any, n_columns: int) -> bool:
    """Whether each column that comes out of transformers is the one that went in."""
    names = getattr(steps, "feature_names_in_", None)
    given = [f"x{j}" for j in range(n_columns)] if names is None else list(names)
    try:
        return list(steps.get_feature_names_out(given)) == given
    except (AttributeError, ValueError, TypeError):
        return False


def _shown_places(laid: LaidOut, features: Indices | None, model: PVMClassifier) -> Indices:
    """Return the place of each column of the distances among those shown, -1 if it is not."""
    n_features = int(getattr(model, "n_features_in_", 0))
    if features is None:
        return np.full(max(1, n_features), -1)
    size = max(n_features, int(features.max(initial=0)) + 1)
    shown = np.full(size, -1)
    for place, column in enumerate(laid.columns):
        if features[column] >= 0:
            shown[features[column]] = place
    return shown


def _suspects(model: PVMClassifier, X: Any, suspects: LabelIssues, chosen: Indices) -> Scene:
    """Compare some of the suspects with the suggested class and with their own."""
    rows = suspects.row[chosen]
    near, far = suspects.other_prototype[chosen], suspects.own_prototype[chosen]
    starts = [
        f"Labelled “{label}”, but nearby prototypes suggest “{suggested}”."
        for label, suggested in zip(
            suspects.label[chosen], suspects.suggested[chosen], strict=True
        )
    ]
    of = [_SUSPECT] * len(rows)
    return Scene(hold_contest(model, _safe_indexing(X, rows), near, far), starts, of, rows)


def _uncovered(
    model: PVMClassifier, X: Any, rows: Indices, coverage: Coverage, nearest_own: Indices
) -> Scene:
    """Compare uncovered cases with the nearest prototype, and that of their own class."""
    points = _safe_indexing(X, rows)
    why = model.explain(points)
    near, far = why.prototype, why.runner_up_prototype.copy()
    labels = coverage.classes[coverage.point_classes[rows]]
    stranger = why.label != labels
    far[stranger] = nearest_own[rows][stranger]
    of = [
        _OWN_CLASS if other and k >= 0 else _NEAREST
        for other, k in zip(stranger, far, strict=True)
    ]
    starts = [f"No prototype of its class, “{label}”, covers it." for label in labels]
    return Scene(hold_contest(model, points, near, far), starts, of, rows)


def _answered(model: PVMClassifier, asked: Asked) -> Scene:
    """Compare the listed cases with the deciding prototype and the runner-up."""
    listed = asked.listed
    near, far = asked.why.prototype[listed], asked.why.runner_up_prototype[listed]
    wrong = asked.wrong
    starts = []
    for row in listed.tolist():
        label, answer = asked.labels[row], asked.answers[row]
        outcome = (
            "" if label is None else f", wrongly: it is “{label}”" if wrong[row] else ", rightly"
        )
        starts.append(f"Answered “{answer}”{outcome}.")
    contest = hold_contest(model, asked.points, near, far)
    return Scene(contest, starts, [_NEAREST] * len(listed), None)


def _explain(
    scene: Scene,
    contest: Contest,
    i: int,
    place: int,
    model: PVMClassifier,
    names: list[str],
    shown: Indices,
) -> Comparison:
    """Return one case's comparison, with its words."""
    silent = as_comparison(model, contest, i, case=place, words="", shown=shown)
    words = give_reason(
        scene.starts[i], silent.near, silent.far, model=model, names=names, of=scene.of[i]
    )
    return replace(silent, words=words)
