"""Why a case is predicted, suspect or uncovered: comparisons with two prototypes each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from .._balls import relative_to, traits_of, within
from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped, distance_blocks
from .._inspection.label_issues import LabelIssues
from .._prototypes.coverage import Coverage
from .._prototypes.explanation import PrototypeContributions
from .._resources import row_count
from .._typing import Floats, Indices
from ..data._points import check_estimator_points
from ._cases import Layout
from ._queries import MOST_LISTED, AnsweredQueries, Queries, answer_queries, summarize_answers
from ._summary import Answers, ClassProbability, Comparison, Side
from ._table import count_columns
from ._wording import describe_probability, describe_shares, explain_case

# Columns of one comparison, and entries of contributions held at once.
_MOST_COLUMNS = 12
_ENTRIES = 1 << 22
# A smaller fraction of a sum is a rounding error.
_ROUNDING = 1e-12

# What the two prototypes of a comparison are.
_NEAREST = ("The nearest prototype", "The nearest prototype of another class")
_OWN_CLASS = ("The nearest prototype", "The nearest prototype of its own class")
_SUSPECT = ("The nearest prototype of that class", "The nearest prototype of its own class")


@dataclass(frozen=True, eq=False)
class Contributions:
    """Contributions of the main columns to the distances of each case."""

    columns: Indices  # (n_cases, n_main), of the data that distances are measured on
    near: Floats  # (n_cases, n_main)
    far: Floats
    near_total: Floats  # over all columns
    far_total: Floats


@dataclass(frozen=True, eq=False)
class ComparisonGroup:
    """Cases compared for one reason, each with a near prototype and a far one (-1 if none)."""

    rows: Indices | None  # of training cases; None for queries
    openings: list[str]  # first sentence per case
    roles: list[tuple[str, str]]  # of the two prototypes, per case
    near: Indices
    far: Indices
    near_distance: Floats
    far_distance: Floats
    contributions: Contributions | None  # None if distances are not sums over columns
    probable: PrototypeContributions | None = None  # with a fitted rule


@dataclass(frozen=True, eq=False)
class Comparisons:
    """All comparisons of a page; those of held-out cases and queries come last, in this order."""

    groups: list[ComparisonGroup]
    held_out: AnsweredQueries | None
    queries: AnsweredQueries | None

    @property
    def further(self) -> tuple[Queries, ...]:
        """The listed cases outside the training data."""
        return tuple(asked.queries for asked in (self.held_out, self.queries) if asked)

    def column_weights(self, features: Indices | None) -> Floats | None:
        """Return the contribution of each shown column to all comparisons."""
        parts = [group.contributions for group in self.groups if group.contributions is not None]
        if not parts or features is None:
            return None
        weight = np.zeros(1 + max(features.max(), *(p.columns.max(initial=0) for p in parts)))
        for part in parts:
            total = np.maximum(part.near_total + part.far_total, np.finfo(float).tiny)
            np.add.at(weight, part.columns, (part.near + part.far) / total[:, None])
        return weight[features]


def compare_cases(
    unwrapped: Unwrapped,
    X: Any,
    *,
    suspects: LabelIssues | None = None,
    uncovered: Indices | None = None,
    coverage: Coverage | None = None,
    nearest_own: Indices | None = None,
    held_out: Queries | None = None,
    queries: Queries | None = None,
) -> Comparisons:
    """Compare suspect, uncovered and held-out cases and queries with two prototypes each.

    `X` are the training cases as the classifier takes them, and `nearest_own` the nearest
    prototype of each one's class. Suspects with later rows than `X` are held-out cases; these are
    listed in any case.
    """
    model = unwrapped.classifier
    groups = []
    compared, first = np.empty((2, 0), dtype=np.intp)
    if suspects is not None:
        listed = suspects.row[:MOST_LISTED]
        known = (listed < row_count(X)) & (suspects.other_prototype[:MOST_LISTED] >= 0)
        compared, first = listed[known], listed[listed >= row_count(X)] - row_count(X)
        if len(compared):
            groups.append(_compare_suspects(model, X, suspects, np.flatnonzero(known)))
    if uncovered is not None and coverage is not None and nearest_own is not None:
        left = uncovered[~np.isin(uncovered, compared)]
        if len(left):
            groups.append(_compare_uncovered(model, X, left, coverage, nearest_own))
    answered = [
        None if held_out is None else answer_queries(held_out, unwrapped, first=first),
        None if queries is None else answer_queries(queries, unwrapped),
    ]
    groups += [_compare_answers(model, asked) for asked in answered if asked is not None]
    return Comparisons(groups, *answered)


def summarize_comparisons(
    found: Comparisons, layout: Layout, model: PVMClassifier, features: Indices | None
) -> dict[str, Any]:
    """Return the fields of a `Summary` on cases, their predictions and comparisons."""
    has_sums = any(group.contributions is not None for group in found.groups)
    shown = _shown_indices(layout, features, model)
    with_columns = has_sums and bool((shown >= 0).any())
    classes = list(layout.cases.classes)
    as_pictures = layout.cases.pictures is not None and not layout.cases.columns
    n_held_out = 0 if found.held_out is None else len(found.held_out.listed)
    return {
        "held_out": _summarize_further(found.held_out, 0, layout, model, classes),
        "queries": _summarize_further(found.queries, n_held_out, layout, model, classes),
        "cases": replace(layout.cases, classes=classes),
        "comparisons": _describe_all(found, layout, model, shown, with_columns=with_columns),
        "shares": describe_shares(
            model, has_sums=has_sums, shown=with_columns, as_pictures=as_pictures
        ),
        "contribution_unit": model.dissimilarity_.contribution_unit if with_columns else None,
    }


def match_columns(unwrapped: Unwrapped, X: Any, shown: Any) -> Indices | None:
    """Return the column of the distances that each shown column is, -1 if it is none of them.

    None if they cannot be matched: steps before the classifier may scale columns but not
    change or reorder them, and what is shown in place of `X` must share names with it.
    """
    n_columns = count_columns(X)
    if not all(_keeps_columns(steps, n_columns) for steps in unwrapped.transformers):
        return None
    if shown is None or shown is X:
        return np.arange(n_columns)
    if not (hasattr(X, "columns") and hasattr(shown, "columns")):
        return None
    index = {name: j for j, name in enumerate(X.columns)}
    return np.array([index.get(name, -1) for name in shown.columns], dtype=np.intp)


def _keeps_columns(steps: Any, n_columns: int) -> bool:
    """Whether transformers keep the columns and their order."""
    names = getattr(steps, "feature_names_in_", None)
    given = [f"x{j}" for j in range(n_columns)] if names is None else list(names)
    try:
        return list(steps.get_feature_names_out(given)) == given
    except (AttributeError, ValueError, TypeError):
        return False


def _shown_indices(layout: Layout, features: Indices | None, model: PVMClassifier) -> Indices:
    """Return the index of each column of the distances among those shown, -1 if hidden."""
    n_features = int(getattr(model, "n_features_in_", 0))
    if features is None:
        return np.full(max(1, n_features), -1)
    shown = np.full(max(n_features, int(features.max(initial=0)) + 1), -1)
    for index, column in enumerate(layout.columns):
        if features[column] >= 0:
            shown[features[column]] = index
    return shown


def _compare_suspects(
    model: PVMClassifier, X: Any, suspects: LabelIssues, chosen: Indices
) -> ComparisonGroup:
    """Compare suspects with the suggested class and with their own."""
    rows = suspects.row[chosen]
    openings = [
        f"Labelled “{label}”, but nearby prototypes suggest “{suggested}”."
        for label, suggested in zip(
            suspects.label[chosen], suspects.suggested[chosen], strict=True
        )
    ]
    near, far = suspects.other_prototype[chosen], suspects.own_prototype[chosen]
    roles = [_SUSPECT] * len(rows)
    return _compare(model, _safe_indexing(X, rows), near, far, openings, roles, rows)


def _compare_uncovered(
    model: PVMClassifier, X: Any, rows: Indices, coverage: Coverage, nearest_own: Indices
) -> ComparisonGroup:
    """Compare uncovered cases with the nearest prototype, and that of their own class."""
    points = _safe_indexing(X, rows)
    why = model.explain(points)
    near, far = why.prototype, why.runner_up_prototype.copy()
    labels = coverage.classes[coverage.point_classes[rows]]
    mismatch = why.label != labels
    far[mismatch] = nearest_own[rows][mismatch]
    roles = [
        _OWN_CLASS if other and k >= 0 else _NEAREST
        for other, k in zip(mismatch, far, strict=True)
    ]
    openings = [f"No prototype of its class, “{label}”, covers it." for label in labels]
    return _compare(model, points, near, far, openings, roles, rows)


def _compare_answers(model: PVMClassifier, asked: AnsweredQueries) -> ComparisonGroup:
    """Compare the listed queries with the deciding prototype and the runner-up."""
    listed = asked.listed
    near, far = asked.why.prototype[listed], asked.why.runner_up_prototype[listed]
    openings = []
    for row in listed.tolist():
        outcome = f"Predicted “{asked.answers[row]}”"
        if asked.labels[row] is not None:
            true = f"incorrectly: the class is “{asked.labels[row]}”"
            outcome += f", {true if asked.wrong[row] else 'correctly'}"
        openings.append(f"{outcome}.")
    roles = [_NEAREST] * len(listed)
    return _compare(model, asked.points, near, far, openings, roles, None)


def _compare(
    model: PVMClassifier,
    points: Any,
    near: Indices,
    far: Indices,
    openings: list[str],
    roles: list[tuple[str, str]],
    rows: Indices | None,
) -> ComparisonGroup:
    """Measure the distances of points from two prototypes each."""
    distances = np.full((2, len(near)), np.inf)
    for block, table in distance_blocks(model, points):
        for side, chosen in enumerate((near[block], far[block])):
            found = table[np.arange(len(block)), chosen]
            distances[side, block] = np.where(chosen < 0, np.inf, found)
    contributions = _contributions(model, points, near, far)
    has_rule = model.decision_rule_ is not None and row_count(points) > 0
    probable = model.explain(points).contributions if has_rule else None
    return ComparisonGroup(
        rows, openings, roles, near, far, distances[0], distances[1], contributions, probable
    )


def _contributions(
    model: PVMClassifier, points: Any, near: Indices, far: Indices
) -> Contributions | None:
    """Return the contributions of the columns, block by block; None if there are none."""
    dissimilarity = model.dissimilarity_
    if traits_of(dissimilarity).precomputed or not hasattr(dissimilarity, "contribution_unit"):
        return None
    checked = check_estimator_points(model, points, dissimilarity, reset=False)
    n_columns = model.n_features_in_ if hasattr(model, "n_features_in_") else 1
    step = max(1, _ENTRIES // max(1, n_columns))
    parts = []
    for start in range(0, len(near), step):
        rows = np.arange(start, min(start + step, len(near)))
        part = _contributions_of_block(model, _safe_indexing(checked, rows), near[rows], far[rows])
        if part is None:
            return None
        parts.append(part)
    names = Contributions.__dataclass_fields__
    return Contributions(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
    )


def _contributions_of_block(
    model: PVMClassifier, points: Any, near: Indices, far: Indices
) -> Contributions | None:
    """Return the contributions of the main columns of each case."""
    sides = []
    for chosen in (near, np.where(far < 0, near, far)):
        prototypes = _safe_indexing(model.prototypes_, chosen)
        terms = model.dissimilarity_.contributions(points, prototypes)
        if terms is None:
            return None
        sides.append(terms.toarray() if issparse(terms) else np.asarray(terms))
    near_terms, far_terms = sides[0], np.where(far[:, None] < 0, 0.0, sides[1])
    # First the columns that distinguish the prototypes, then those in which the case differs
    # from both.
    weight = abs(near_terms - far_terms) + 1e-3 * (near_terms + far_terms)
    columns = np.argsort(-weight, axis=1, kind="stable")[:, :_MOST_COLUMNS]
    return Contributions(
        columns=columns,
        near=np.take_along_axis(near_terms, columns, axis=1),
        far=np.take_along_axis(far_terms, columns, axis=1),
        near_total=near_terms.sum(axis=1),
        far_total=far_terms.sum(axis=1),
    )


def _summarize_further(
    asked: AnsweredQueries | None,
    start: int,
    layout: Layout,
    model: PVMClassifier,
    classes: list[int],
) -> Answers | None:
    """Return predictions as data, and enter the classes of their cases into those of all."""
    if asked is None:
        return None
    cases = layout.of_further[start : start + len(asked.listed)]
    for row, case in zip(asked.listed, cases, strict=True):
        classes[case] = int(asked.classes[row])
    return summarize_answers(asked, cases, model)


def _describe_all(
    found: Comparisons,
    layout: Layout,
    model: PVMClassifier,
    shown: Indices,
    *,
    with_columns: bool,
) -> list[Comparison]:
    """Return the comparisons of all groups as data."""
    names = [layout.cases.names[case] for case in layout.of_prototype]
    comparisons, start = [], 0
    for group in found.groups:
        if group.rows is None:
            cases = layout.of_further[start : start + len(group.near)]
            start += len(cases)
        else:
            cases = layout.of_row[group.rows]
        group = group if with_columns else replace(group, contributions=None)
        comparisons += [
            _describe(model, group, i, int(case), names, shown)
            for i, case in enumerate(cases)
            if group.near[i] >= 0
        ]
    return comparisons


def _describe(
    model: PVMClassifier,
    group: ComparisonGroup,
    i: int,
    case: int,
    names: Sequence[str],
    shown: Indices,
) -> Comparison:
    """Return the comparison of one case; hidden columns enter as their sum."""
    near = _side(model, group, i, far=False, shown=shown)
    far = None if group.far[i] < 0 else _side(model, group, i, far=True, shown=shown)
    columns: list[int] = []
    if group.contributions is not None:
        indices = shown[group.contributions.columns[i]]
        columns = indices[indices >= 0].tolist()
    words = explain_case(group.openings[i], near, far, group.roles[i], model=model, names=names)
    probable = [] if group.probable is None else _probable(model, group.probable, i)
    if probable:
        words = f"{words} {describe_probability(probable[0], model, names)}"
    return Comparison(case, words, columns, near, far, probable)


def _probable(
    model: PVMClassifier, parts: PrototypeContributions, i: int
) -> list[ClassProbability]:
    """Return the probabilities of the two most probable classes of one case."""
    found = [
        (parts.label[i], parts.probability[i], parts.prototype[i], parts.contribution[i]),
        (
            parts.runner_up_label[i],
            parts.runner_up_probability[i],
            parts.runner_up_prototype[i],
            parts.runner_up_contribution[i],
        ),
    ]
    return [
        ClassProbability(
            class_=int(np.searchsorted(model.classes_, label)),
            probability=float(probability),
            prototypes=prototypes[prototypes >= 0].tolist(),
            parts=part[prototypes >= 0].tolist(),
        )
        for label, probability, prototypes, part in found[: 1 + (found[0][0] != found[1][0])]
    ]


def _side(
    model: PVMClassifier, group: ComparisonGroup, i: int, *, far: bool, shown: Indices
) -> Side:
    """Return the distance from one of the two prototypes, and its parts."""
    k = int((group.far if far else group.near)[i])
    distance = float((group.far_distance if far else group.near_distance)[i])
    radius = float(model.prototype_radii_[k])
    relative = float(relative_to(radius, distance))
    terms, rest = np.empty(0), 0.0
    if (found := group.contributions) is not None:
        total = float((found.far_total if far else found.near_total)[i])
        terms = (found.far if far else found.near)[i][shown[found.columns[i]] >= 0]
        rest = total - float(terms.sum())
        rest = rest if rest > _ROUNDING * total else 0.0
    return Side(
        prototype=k,
        # In full, so statements about small margins are true.
        distance=distance,
        relative=relative if np.isfinite(relative) else None,
        inside=bool(within(np.array(distance), radius, closed=model.closed_ball)),
        terms=[float(f"{term:.4g}") for term in terms],
        rest=float(f"{rest:.4g}"),
    )
