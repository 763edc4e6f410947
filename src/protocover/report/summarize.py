"""From a fitted model and its training data to everything that a report says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from ..estimators import PVMClassifier
from ..inspection.fitted import Unwrapped, unwrap
from ..inspection.suspects import SuspectLabels, suspect_labels
from ..prototypes.coverage import Coverage, CoverageTotals
from .cases import Display, LaidOut, lay_out
from .cast import explain_cast, gather_cast, match_columns
from .covers import summarize_cover
from .figures import list_figures
from .neighbours import Members, Rivals, draw_map, find_members, find_rivals
from .quality import assess, read_path
from .queries import Queries, read_held_out, read_queries
from .summary import ClassSummary, ErrorEstimate, PrototypeSummary, Summary, Suspect, Uncovered
from .wording import describe_answers, describe_selection, describe_settings

__all__ = ["summarize", "summarize_queries"]

Indices = NDArray[np.intp]

# Suspect labels, and uncovered cases, that are listed.
_MOST_LISTED = 1000


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
    how: Mapping[str, str] | None = None,
    totals: CoverageTotals | None = None,
    error: ErrorEstimate | None = None,
) -> Summary:
    """Gather all that a report says about a fitted model.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector or BallCover, or what ends in one
        Fitted; also a pipeline or search that ends in one of these.
    X, y : array-like, data frame, list of texts
        What it was fitted on; a cover has no `y`.
    held_out : tuple (X_test, y_test), Queries with `y`, or None, default=None
        Cases that the model has not seen, for its error and that of 1-NN, and to be shown
        with what decided each, the wrong ones first. Without them the cross-validated error
        of a PVMClassifierCV is told; that of a plain PVMClassifier is not known then.
    queries : Queries, rows such as `X`, or None, default=None
        Cases to be answered and explained on the page, their classes known or not.
    shown : data frame, array or list of texts, or None, default=None
        What to show in place of `X`, row for row, such as values before scaling.
    row_names : sequence or None, default=None
        Names of the rows; None for the index of a frame, or row numbers.
    feature_names : sequence or None, default=None
        Names of the columns that are shown, where they have none.
    image_shape : tuple of int or None, default=None
        Height and width of an image, and 3 for colour, where rows of `X` (or of `shown`)
        are its pixels. In grey images high values are dark.
    images : array, shape (n_points, height, width) or (n_points, height, width, 3), or None
        Images of the rows. High values are bright.
    title : str or None, default=None
        Heading of the report; None for "Prototypes", of a cover "Representatives".
    how : mapping of str to str, or None, default=None
        Further lines for "What was asked", such as where the data comes from, or words of
        your own under a heading that is there.
    totals : CoverageTotals or None, default=None
        Counts of all that the model was fitted on, where `X` and `y` are only a sample of
        it, the prototypes among them: lists are of the sample then, counts of everything.
    error : ErrorEstimate or None, default=None
        The error, where it is known already.

    Returns
    -------
    Summary
        For :func:`render` and :func:`write_report`.

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
    model, search = within.classifier, within.search
    original, X = X, within.prepare_training(X)
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
                "held_out and queries go with a classifier, and the model is a BallCover; leave "
                "them out, and ask its predict who stands for further cases"
            )
        return summarize_cover(within, X, display, title=title or "Representatives", how=how)
    coverage = _cover(model, X, y)
    members = find_members(model, X, coverage)
    rivals = find_rivals(model, X, coverage.prototype_classes)
    suspects = suspect_labels(model, X, y)
    uncovered = _find_uncovered(coverage, members)
    tested = read_held_out(held_out)
    cast = gather_cast(
        within,
        X,
        suspects=suspects,
        uncovered=uncovered[:_MOST_LISTED],
        coverage=coverage,
        nearest_own=members.nearest,
        held_out=tested,
        queries=read_queries(queries),
        most=_MOST_LISTED,
    )
    mentioned = [*members.rows, suspects.row[:_MOST_LISTED], uncovered[:_MOST_LISTED]]
    features = match_columns(within, original, shown)
    laid = lay_out(
        replace(display, further=cast.further),
        model,
        codes=coverage.point_classes,
        rows=np.where(model.prototype_sources_ == "train", model.prototype_rows_, -1),
        mentioned=np.concatenate(mentioned),
        weights=cast.column_weights(features),
    )
    counts = coverage.totals() if totals is None else totals
    unseen = None if tested is None else (within.prepare(tested.X), tested.y)
    quality = assess(model, search, X, y, totals=counts, held_out=unseen, error=error)
    explained = explain_cast(cast, laid, model, features)
    plane = draw_map(rivals)
    return Summary(
        title=str(title or "Prototypes"),
        lead=describe_selection(quality, model, n_shown=len(coverage.point_classes)),
        settings=describe_settings(
            model, search, how, n_points=quality.n_points, n_columns=laid.cases.n_columns
        ),
        radii="shared" if model.solution_.radii is None else "own",
        eps=float(model.eps_) if math.isfinite(model.eps_) else None,
        quality=quality,
        classes=_list_classes(counts),
        confusion=counts.confusion.tolist(),
        prototypes=_list_prototypes(model, counts, members, rivals, laid),
        cases=explained.cases,
        map=plane,
        path=read_path(search),
        suspects=_list_suspects(model, suspects, laid),
        n_suspects=len(suspects),
        uncovered=_list_uncovered(coverage, members, uncovered, laid),
        n_uncovered=counts.n_points - counts.n_covered,
        held_out=explained.held_out,
        queries=explained.queries,
        comparisons=explained.comparisons,
        shares=explained.shares,
        adds_up_to=explained.adds_up_to,
        figures=list_figures(quality, model, plane),
        version=__version__,
    )


def summarize_queries(
    model: Any,
    queries: Any,
    *,
    prototypes: Queries | None = None,
    feature_names: Sequence[Any] | None = None,
    title: str = "Answers",
    how: Mapping[str, str] | None = None,
) -> Summary:
    """Gather why a model answers as it does, without the data that it was fitted on.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector, or a pipeline or search that ends in one
        Fitted.
    queries : Queries, or rows as for `predict`
        The cases to be answered and explained.
    prototypes : Queries or None, default=None
        How the prototypes are shown, in order of selection: their names, and images or
        `shown` where the model's own rows, brought back to their scale, are not to be.
    feature_names : sequence or None, default=None
        Names of the columns, where the cases have none.
    title : str, default="Answers"
        Heading of the page.
    how : mapping of str to str, or None, default=None
        Further lines for "What was asked".

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
    Answered “0”. The nearest prototype is row 29 of “0” at 0.374. The nearest of another class
    is row 57 of “1” at 2.21: 5.9 times as far, a very clear call. It lies within the ball of
    row 29, of radius 1.
    """
    within = unwrap(model).require_prototypes("there is nothing to answer by")
    model, search = within.classifier, within.search
    cast = gather_cast(within, None, queries=read_queries(queries), most=_MOST_LISTED)
    own = _show_prototypes(within) if prototypes is None else prototypes
    if feature_names is None and not hasattr(own.X, "columns"):
        # What scaling has made of a frame has lost the names of its columns.
        feature_names = getattr(cast.further[0].X, "columns", None)
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    display = Display(
        shown=own.X if own.shown is None else own.shown,
        is_own=not within.transformers,
        row_names=own.names,
        feature_names=feature_names,
        image_shape=None,
        images=own.images,
        further=cast.further,
        spread=False,
    )
    features = match_columns(within, cast.further[0].X, cast.further[0].shown)
    every = np.arange(len(classes))
    laid = lay_out(
        display,
        model,
        codes=classes,
        rows=every,
        mentioned=every,
        weights=cast.column_weights(features),
    )
    explained = explain_cast(cast, laid, model, features)
    n_columns = laid.cases.n_columns
    settings = describe_settings(model, search, how, n_points=None, n_columns=n_columns)
    assert explained.queries is not None
    return Summary(
        title=str(title),
        lead=describe_answers(explained.queries),
        settings=settings,
        radii="shared" if model.solution_.radii is None else "own",
        eps=float(model.eps_) if math.isfinite(model.eps_) else None,
        quality=None,
        classes=[
            ClassSummary(str(label), 0, int((classes == c).sum()), 0, 0)
            for c, label in enumerate(model.classes_.tolist())
        ],
        confusion=[],
        prototypes=_list_bare_prototypes(model, classes, laid),
        cases=explained.cases,
        map=None,
        path=None,
        suspects=[],
        n_suspects=0,
        uncovered=[],
        n_uncovered=0,
        held_out=None,
        queries=explained.queries,
        comparisons=explained.comparisons,
        shares=explained.shares,
        adds_up_to=explained.adds_up_to,
        figures=[],
        version=__version__,
    )


def _show_prototypes(within: Unwrapped) -> Queries:
    """Return the prototypes as they were before the steps that scale them, with their names."""
    model, table = within.classifier, within.classifier.prototypes_
    for steps in reversed(within.transformers):
        if not hasattr(steps, "inverse_transform"):
            raise ValueError(
                "the prototypes cannot be brought back to the scale of the queries; pass "
                "prototypes=Queries(...) with rows to show for them"
            )
        table = steps.inverse_transform(table)
    names = [
        f"row {row}" if row >= 0 else f"prototype {k}"
        for k, row in enumerate(model.prototype_rows_.tolist())
    ]
    return Queries(table, names=names)


def _list_bare_prototypes(
    model: PVMClassifier, classes: Indices, laid: LaidOut
) -> list[PrototypeSummary]:
    """Return the prototypes without what only the training data tells."""
    return [
        PrototypeSummary(
            case=int(laid.prototypes[k]),
            source=str(model.prototype_sources_[k]),
            class_=int(classes[k]),
            radius=float(f"{model.prototype_radii_[k]:.5g}"),
            covers=0,
            newly=int(model.prototype_newly_covered_[k]),
            wrong=0,
            rival=-1,
            rival_distance=None,
            members=[],
            distances=[],
            telling=laid.telling[k].tolist(),
        )
        for k in range(len(classes))
    ]


def _cover(model: PVMClassifier, X: Any, y: Any) -> Coverage:
    """Return who lies in whose ball, of data that the model can have been fitted on."""
    coverage = model.coverage(X, y)
    unknown = np.flatnonzero(coverage.point_classes < 0)
    if len(unknown):
        label = np.asarray(y).tolist()[unknown[0]]
        raise ValueError(
            f"y must hold labels that the model knows, got {label!r} in row {unknown[0]}; pass "
            "the data that it was fitted on, and other data as held_out"
        )
    return coverage


def _list_classes(totals: CoverageTotals) -> list[ClassSummary]:
    """Return the counts of each class."""
    names = ("class", "points", "prototypes", "covered", "wrongly_covered")
    columns = [totals.by_class[name].tolist() for name in names]
    return [ClassSummary(str(label), *counts) for label, *counts in zip(*columns, strict=True)]


def _list_prototypes(
    model: PVMClassifier,
    totals: CoverageTotals,
    members: Members,
    rivals: Rivals | None,
    laid: LaidOut,
) -> list[PrototypeSummary]:
    """Return the prototypes in order of selection."""
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    return [
        PrototypeSummary(
            case=int(laid.prototypes[k]),
            source=str(model.prototype_sources_[k]),
            class_=int(classes[k]),
            radius=float(f"{model.prototype_radii_[k]:.5g}"),
            covers=int(totals.own[k]),
            newly=int(model.prototype_newly_covered_[k]),
            wrong=int(totals.others[k]),
            rival=-1 if rivals is None else int(rivals.index[k]),
            rival_distance=None if rivals is None else _number(rivals.distance[k]),
            members=laid.place[members.rows[k]].tolist(),
            distances=[float(f"{distance:.3g}") for distance in members.distances[k]],
            telling=laid.telling[k].tolist(),
        )
        for k in range(len(classes))
    ]


def _list_suspects(model: PVMClassifier, suspects: SuspectLabels, laid: LaidOut) -> list[Suspect]:
    """Return the most suspect labels, the most suspect first."""
    label = np.searchsorted(model.classes_, suspects.label)
    suggested = np.searchsorted(model.classes_, suspects.suggested)
    return [
        Suspect(
            case=int(laid.place[row]),
            label=int(label[i]),
            suggested=int(suggested[i]),
            score=round(float(suspects.score[i]), 4),
            reason=str(suspects.reason[i]),
            prototype=int(suspects.other_prototype[i]),
        )
        for i, row in enumerate(suspects.row[:_MOST_LISTED])
    ]


def _find_uncovered(coverage: Coverage, members: Members) -> Indices:
    """Return the rows of points in no ball of their class, the farthest from it first."""
    rows = np.flatnonzero(~coverage.covered)
    return rows[np.argsort(-members.nearness[rows], kind="stable")]


def _list_uncovered(
    coverage: Coverage, members: Members, rows: Indices, laid: LaidOut
) -> list[Uncovered]:
    """Return the farthest uncovered cases with their nearest prototype of the same class."""
    others = coverage.other_count
    return [
        Uncovered(
            case=int(laid.place[row]),
            prototype=int(members.nearest[row]),
            distance=_number(members.nearest_distance[row]),
            others=int(others[row]),
        )
        for row in rows[:_MOST_LISTED]
    ]


def _number(value: float) -> float | None:
    """Return a float to four digits, None where it is infinite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
