"""From a fitted model and its data to everything on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import __version__
from .._estimators import BallCover, PVMClassifier
from .._inspection.fitted import Unwrapped, unwrap
from .._inspection.label_issues import LabelIssues, find_label_issues
from .._prototypes.coverage import Coverage, CoverageTotals
from .._resources import row_count
from .._typing import Indices
from ..data._frames import in_memory
from ._cases import Display, Layout, lay_out
from ._comparisons import compare_cases, match_columns, summarize_comparisons
from ._quality import assess, estimate_error, list_figures, read_path
from ._queries import MOST_LISTED, AnsweredQueries, Queries, read_held_out, read_queries
from ._summary import ClassSummary, ErrorEstimate, FarCase, PrototypeSummary, Summary, Suspect
from ._training_data import (
    ForeignRowsError,
    Members,
    OtherClass,
    check_training_rows,
    count_training,
    draw_map,
    find_members,
    find_nearest_of_other_class,
    relate_suspects,
)
from ._wording import (
    describe_answers,
    describe_cover,
    describe_cover_settings,
    describe_selection,
    describe_settings,
)

# Number of covered cases listed as the farthest of a cover.
_MOST_FAR = 100


def summarize(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    held_out: tuple[Any, Any] | Queries | None = None,
    queries: Any = None,
    shown: Any = None,
    row_names: Sequence[Any] | None = None,
    feature_names: Sequence[Any] | None = None,
    image_shape: tuple[int, ...] | None = None,
    images: Any = None,
    title: str | None = None,
    target_name: str | None = None,
    how: Mapping[str, str] | None = None,
    sample_weight: Any = None,
    error: ErrorEstimate | None = None,
    suspects: LabelIssues | None = None,
) -> Summary:
    """Gather the data of a report on a fitted model.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector or BallCover
        Fitted; also a pipeline or search that ends in one of these.
    X, y : array-like, data frame, list of texts
        The samples of the fit, in the same order; a cover has no `y`. Other samples raise an
        error.
    held_out : tuple (X_test, y_test), Queries with `y`, or None, default=None
        Held-out cases. The report has the error of the model and of 1-NN on them and explains
        each prediction, errors first. Without them it has the cross-validated error of a
        PVMClassifierCV, and none of a plain PVMClassifier.
    queries : Queries, rows such as `X`, or None, default=None
        Further cases to predict and explain, with or without known classes.
    shown : data frame, array or list of texts, or None, default=None
        What to show in place of `X`, row for row, such as values before scaling.
    row_names : sequence or None, default=None
        Names of the rows; None for the index of a frame, or row numbers.
    feature_names : sequence or None, default=None
        Names of the columns that are shown, if they have none.
    image_shape : tuple of int or None, default=None
        Height and width of an image, and 3 for colour, if the rows of `X` (or of `shown`) are
        pixels. In grey images high values are dark.
    images : array, shape (n_points, height, width) or (n_points, height, width, 3), or None
        Images of the rows. High values are bright.
    title : str or None, default=None
        Heading of the report; None for "Prototypes" or, of a cover, "Representatives".
    target_name : str or None, default=None
        Name of the classes, such as "diagnosis"; None for the name of `y` if it is a series.
    how : mapping of str to str, or None, default=None
        Further lines for "Settings", such as the source of the data. Under an existing heading
        your text replaces the default one.
    sample_weight : array-like, shape (n_points,), or None, default=None
        The weights of the fit, needed only if some are 0, because a model does not count these
        samples.
    error : ErrorEstimate or None, default=None
        The error, if it is known already.
    suspects : LabelIssues or None, default=None
        Suspect labels in `X` followed by `held_out`; None for those that
        :func:`~protocover.find_label_issues` finds in `X`.

    Returns
    -------
    Summary
        For :func:`render` and :func:`write_report`.

    Raises
    ------
    ValueError
        If `X` and `y` are not the samples of the fit: the class counts, the prototypes or the
        number of covered samples differ from those of the model. Synthetic prototypes and
        precomputed ones are not compared.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.report import summarize
    >>> X, y = load_iris(return_X_y=True)
    >>> summary = summarize(PVMClassifier(eps=1.0).fit(X[::2], y[::2]), X[::2], y[::2],
    ...                     held_out=(X[1::2], y[1::2]))
    >>> summary.quality.n_prototypes, summary.quality.n_points
    (6, 75)
    >>> summary.quality.error.kind
    'held-out'
    """
    within = unwrap(model, covers=True).require_prototypes("there is nothing to report")
    original, shown = in_memory(X), in_memory(shown, name="shown")
    X = within.prepare_training(original)
    display = Display(
        shown=original if shown is None else shown,
        is_own=shown is None and not within.transformers,
        row_names=row_names,
        feature_names=feature_names,
        image_shape=image_shape,
        images=images,
        replaced=shown is not None and shown is not original,
    )
    if within.cover is not None:
        if held_out is not None or queries is not None:
            raise ValueError(
                "held_out and queries need a classifier, and the model is a BallCover; omit "
                "them, and call its predict for the representatives of further cases"
            )
        found = _inspect(within, X, within.labels(y, row_count(X)), sample_weight)
        return _summarize_cover(within.cover, within.classifier, found, display, title, how)
    found = _inspect(within, X, y, sample_weight)
    model, search = within.classifier, within.search
    tested = read_held_out(held_out)
    unseen = None if tested is None else (within.prepare(tested.X), tested.y)
    suspects = find_label_issues(model, X, y) if suspects is None else suspects
    suspects = relate_suspects(model, (X, *(() if unseen is None else unseen[:1])), suspects)
    comparisons = compare_cases(
        within,
        X,
        suspects=suspects,
        uncovered=found.uncovered[:MOST_LISTED],
        coverage=found.coverage,
        nearest_own=found.members.nearest,
        held_out=tested,
        queries=read_queries(queries),
    )
    features = match_columns(within, original, shown)
    layout = _lay_out(
        replace(display, further=comparisons.further),
        model,
        found,
        suspects.row[:MOST_LISTED],
        weights=comparisons.column_weights(features),
    )
    if error is None:
        error = estimate_error(model, search, X, y, unseen)
    quality = assess(model, found.totals, error)
    plane = draw_map(found.other_class)
    n_columns = layout.cases.n_columns
    fields = _common_fields(model, found, layout)
    fields |= summarize_comparisons(comparisons, layout, model, features)
    target = getattr(y, "name", None) if target_name is None else target_name
    return Summary(
        **fields,
        title=str(title or "Prototypes"),
        lead=describe_selection(quality, model),
        settings=describe_settings(
            model, search, how, n_points=quality.n_points, n_columns=n_columns
        ),
        quality=quality,
        target="" if target is None else str(target),
        map=plane,
        path=read_path(search),
        suspects=_list_suspects(model, suspects, layout, comparisons.held_out),
        n_suspects=len(suspects),
        suspects_note=suspects.describe(),
        uncovered=_list_far(found, found.uncovered[:MOST_LISTED], layout, others=True),
        figures=list_figures(quality, model, plane),
    )


def summarize_queries(
    model: Any,
    queries: Any,
    *,
    prototypes: Queries | None = None,
    feature_names: Sequence[Any] | None = None,
    title: str = "Predictions",
    how: Mapping[str, str] | None = None,
) -> Summary:
    """Gather the data of a page that explains predictions, without the training data.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector, or a pipeline or search that ends in one
        Fitted.
    queries : Queries, or rows as for `predict`
        The cases to predict and explain.
    prototypes : Queries or None, default=None
        How to show the prototypes, in order of selection: their names, and images or `shown` in
        place of the model's own rows. None for these rows in their original scale.
    feature_names : sequence or None, default=None
        Names of the columns, if the cases have none.
    title : str, default="Predictions"
        Heading of the page.
    how : mapping of str to str, or None, default=None
        Further lines for "Settings".

    Returns
    -------
    Summary
        For :func:`render` and :func:`write_report`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from textwrap import fill
    >>> from protocover.report import Queries, summarize_queries
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PVMClassifier(eps=1.0).fit(X, y)
    >>> why = summarize_queries(model, Queries([[5.0, 3.4, 1.5, 0.2]], names=["mine"]))
    >>> print(fill(why.comparisons[0].words, 92))
    Predicted “0”. The nearest prototype is row 3 of “0” at distance 0.5, which is 0.5 times its
    radius of 1. The nearest prototype of another class is row 57 of “1” at distance 2.21, which
    is 2.21 times its radius of 1. Relative to the radii it is 4.4 times as far, a very clear
    margin. The case lies within the radius of row 3, 1.
    """
    within = unwrap(model).require_prototypes("it cannot predict")
    model = within.classifier
    comparisons = compare_cases(within, None, queries=read_queries(queries))
    own = _original_prototypes(within) if prototypes is None else prototypes
    asked = comparisons.further[0]
    if feature_names is None and not hasattr(own.X, "columns"):
        # Scaling turns a frame into an array without names.
        feature_names = getattr(asked.X, "columns", None)
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    features = match_columns(within, asked.X, asked.shown)
    every = np.arange(len(classes))
    layout = lay_out(
        Display(
            shown=own.displayed,
            is_own=not within.transformers,
            row_names=own.names,
            feature_names=feature_names,
            images=own.images,
            further=comparisons.further,
            spread=False,
        ),
        model,
        codes=classes,
        rows=every,
        mentioned=every,
        weights=comparisons.column_weights(features),
    )
    fields = _common_fields(model, None, layout)
    fields |= summarize_comparisons(comparisons, layout, model, features)
    return Summary(
        **fields,
        title=str(title),
        lead=describe_answers(fields["queries"]),
        settings=describe_settings(
            model, within.search, how, n_points=None, n_columns=layout.cases.n_columns
        ),
    )


@dataclass(frozen=True, eq=False)
class _Findings:
    """What a model makes of the data that it was fitted on."""

    coverage: Coverage
    totals: CoverageTotals
    members: Members
    other_class: OtherClass | None
    uncovered: Indices  # uncovered rows, the farthest first


def _inspect(within: Unwrapped, X: Any, y: Any, sample_weight: Any) -> _Findings:
    """Find members, neighbours and uncovered rows of training data, which is checked."""
    model, cover = within.classifier, within.cover
    if y is None:
        raise TypeError(
            "y must hold the labels of X: a report of a classifier needs the data that it was "
            "fitted on; call summarize(model, X, y) or make_report(model, X, y, path)"
        )
    coverage = model.coverage(X, y)
    unknown = np.flatnonzero(coverage.point_classes < 0)
    if len(unknown):
        label = np.asarray(y).tolist()[unknown[0]]
        raise ValueError(
            f"y must hold labels that the model knows, got {label!r} in row {unknown[0]}; pass "
            "the data that it was fitted on, and other data as held_out"
        )
    check_training_rows(within, X, count_training(coverage, sample_weight))
    if cover is not None and not np.array_equal(coverage.covered, cover.labels_ >= 0):
        raise ForeignRowsError("other rows of it are covered")
    members = find_members(model, X, coverage)
    uncovered = np.flatnonzero(~coverage.covered)
    uncovered = uncovered[np.argsort(-members.nearness[uncovered], kind="stable")]
    other_class = find_nearest_of_other_class(model, X, coverage.prototype_classes)
    return _Findings(coverage, coverage.totals(), members, other_class, uncovered)


def _summarize_cover(
    cover: BallCover,
    model: PVMClassifier,
    found: _Findings,
    display: Display,
    title: str | None,
    how: Mapping[str, str] | None,
) -> Summary:
    """Gather the data of a report on a cover, seen as a `model` of one class."""
    order = np.argsort(-found.members.nearest_distance, kind="stable")
    farthest = order[cover.labels_[order] >= 0][:_MOST_FAR]
    n = len(cover.counts_)
    # Columns are characteristic if they set the cases of a representative apart.
    groups = np.where(cover.labels_ < 0, n, cover.labels_), np.arange(n)
    layout = _lay_out(display, model, found, farthest, groups=groups)
    return Summary(
        **_common_fields(model, found, layout),
        title=str(title or "Representatives"),
        lead=describe_cover(cover),
        settings=describe_cover_settings(cover, how, n_columns=layout.cases.n_columns),
        labeled=False,
        quality=assess(cover, found.totals, None),
        cases=layout.cases,
        map=draw_map(found.other_class),
        uncovered=_list_far(found, found.uncovered[:MOST_LISTED], layout),
        farthest=_list_far(found, farthest, layout),
        represented_by=[int(cover.labels_[row]) if row >= 0 else -1 for row in layout.cases.rows],
    )


def _lay_out(
    display: Display, model: PVMClassifier, found: _Findings, listed: Indices, **options: Any
) -> Layout:
    """Lay out the training cases on the page: members, uncovered cases, and those `listed`."""
    listed = listed[listed < len(found.coverage.point_classes)]
    return lay_out(
        display,
        model,
        codes=found.coverage.point_classes,
        rows=model.prototype_indices_,
        mentioned=np.concatenate([*found.members.rows, listed, found.uncovered[:MOST_LISTED]]),
        **options,
    )


def _common_fields(
    model: PVMClassifier, found: _Findings | None, layout: Layout
) -> dict[str, Any]:
    """Return the fields of a `Summary` that every page has; no findings without training data."""
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    fields: dict[str, Any] = {
        "radii": "shared" if model.solution_.radii is None else "adaptive",
        "eps": float(model.eps_) if math.isfinite(model.eps_) else None,
        "prototypes": [
            PrototypeSummary(
                case=int(layout.of_prototype[k]),
                source=str(model.prototype_sources_[k]),
                class_=int(c),
                radius=float(f"{model.prototype_radii_[k]:.5g}"),
                newly=int(model.newly_covered_count_[k]),
                top_columns=layout.top_columns[k].tolist(),
                **_found_of_prototype(found, layout, k),
            )
            for k, c in enumerate(classes)
        ],
        "version": __version__,
    }
    if found is None:
        names, counts = (
            model.classes_.tolist(),
            np.bincount(classes, minlength=len(model.classes_)),
        )
        fields["classes"] = [
            ClassSummary(str(name), 0, int(n), 0, 0) for name, n in zip(names, counts, strict=True)
        ]
        return fields
    totals = found.totals
    columns = ("class", "points", "prototypes", "covered", "wrongly_covered")
    rows = zip(*(totals.by_class[name].tolist() for name in columns), strict=True)
    fields["classes"] = [ClassSummary(str(label), *counts) for label, *counts in rows]
    fields["confusion"] = totals.confusion.tolist()
    fields["n_uncovered"] = totals.n_points - totals.n_covered
    return fields


def _found_of_prototype(found: _Findings | None, layout: Layout, k: int) -> dict[str, Any]:
    """Return the fields of a `PrototypeSummary` that need the training data."""
    fields: dict[str, Any] = {"nearest_other": -1, "nearest_other_distance": None}
    if found is None:
        return fields | {"covers": 0, "wrong": 0, "members": [], "distances": []}
    if (other := found.other_class) is not None:
        fields["nearest_other"] = int(other.index[k])
        fields["nearest_other_distance"] = _short(other.distance[k])
    return fields | {
        "covers": int(found.totals.own[k]),
        "wrong": int(found.totals.others[k]),
        "members": layout.of_row[found.members.rows[k]].tolist(),
        "distances": [float(f"{distance:.3g}") for distance in found.members.distances[k]],
    }


def _list_suspects(
    model: PVMClassifier, suspects: LabelIssues, layout: Layout, held_out: AnsweredQueries | None
) -> list[Suspect]:
    """Return the most suspect labels, the most suspect first."""
    n = len(layout.of_row)
    listed = [] if held_out is None else held_out.listed.tolist()
    further = dict(zip((n + row for row in listed), layout.of_further.tolist(), strict=False))
    label = np.searchsorted(model.classes_, suspects.label)
    suggested = np.searchsorted(model.classes_, suspects.suggested)
    return [
        Suspect(
            case=int(layout.of_row[row] if row < n else further[row]),
            label=int(label[i]),
            suggested=int(suggested[i]),
            score=round(float(suspects.score[i]), 4),
            reason=str(suspects.reason[i]),
            prototype=int(suspects.other_prototype[i]),
        )
        for i, row in enumerate(suspects.row[:MOST_LISTED])
    ]


def _list_far(
    found: _Findings, rows: Indices, layout: Layout, *, others: bool = False
) -> list[FarCase]:
    """Return cases with their nearest prototype and, if asked, the number of other covers."""
    members, counts = found.members, found.coverage.other_count if others else None
    return [
        FarCase(
            case=int(layout.of_row[row]),
            prototype=int(members.nearest[row]),
            distance=_short(members.nearest_distance[row]),
            others=None if counts is None else int(counts[row]),
        )
        for row in rows
    ]


def _original_prototypes(within: Unwrapped) -> Queries:
    """Return the prototypes before the steps that scale them, with their names."""
    model, table = within.classifier, within.classifier.prototypes_
    for steps in reversed(within.transformers):
        if not hasattr(steps, "inverse_transform"):
            raise ValueError(
                "the prototypes cannot be transformed back to the scale of the queries; pass "
                "prototypes=Queries(...) with rows to show for them"
            )
        table = steps.inverse_transform(table)
    names = [
        f"row {row}" if row >= 0 else f"prototype {k}"
        for k, row in enumerate(model.prototype_indices_.tolist())
    ]
    return Queries(table, names=names)


def _short(value: float) -> float | None:
    """Return a float to four digits, None if it is infinite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
