"""From a fitted model and its training data to everything that a report says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped, unwrap
from .._inspection.label_issues import LabelIssues, find_label_issues
from .._prototypes.coverage import Coverage, CoverageTotals
from ..data._frames import in_memory
from ._cases import Display, LaidOut, lay_out
from ._cast import Cast, explain_cast, gather_cast, match_columns
from ._covers import summarize_cover
from ._figures import list_figures
from ._neighbors import Members, Rivals, draw_map, find_members, find_rivals, relate_suspects
from ._quality import assess, read_path
from ._queries import MOST_LISTED, Asked, Queries, read_held_out, read_queries
from ._summary import ClassSummary, ErrorEstimate, PrototypeSummary, Summary, Suspect, Uncovered
from ._training_rows import check_training_rows, count_training
from ._wording import describe_selection, describe_settings

Indices = NDArray[np.intp]


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
    """Gather all that a report says about a fitted model.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector or BallCover, or what ends in one
        Fitted; also a pipeline or search that ends in one of these.
    X, y : array-like, data frame, list of texts
        The samples that it was fitted on, in the same order; a cover has no `y`. Other
        samples are refused.
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
    target_name : str or None, default=None
        What the classes tell, such as "diagnosis", to be shown with them; None for the name of
        `y`, if it is a series that has one.
    how : mapping of str to str, or None, default=None
        Further lines for "What was asked", such as where the data comes from, or words of
        your own under a heading that is there.
    sample_weight : array-like, shape (n_points,), or None, default=None
        The weights of the fit, needed only if some are 0: a model does not count such samples.
    error : ErrorEstimate or None, default=None
        The error, where it is known already.
    suspects : LabelIssues or None, default=None
        Labels that disagree with nearby prototypes, in rows of `X` and then of `held_out`. None
        for those that :func:`~protocover.find_label_issues` finds in `X`.

    Returns
    -------
    Summary
        For :func:`render` and :func:`write_report`.

    Raises
    ------
    ValueError
        If `X` and `y` are not the training samples: the class counts, the prototypes or the
        number of samples in their balls differ from those of the model. Prototypes that
        are not training samples, or that a precomputed matrix does not show, are not
        compared.

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
        _refuse_cases_of_cover(held_out, queries)
        return summarize_cover(within, X, display, title=title or "Representatives", how=how)
    coverage = _cover(model, X, y)
    counts = coverage.totals()
    learned = counts if sample_weight is None else count_training(coverage, sample_weight)
    check_training_rows(within, X, learned)
    tested = read_held_out(held_out)
    unseen = None if tested is None else (within.prepare(tested.X), tested.y)
    beside = () if unseen is None else unseen[:1]
    findings = _find(model, X, y, coverage, suspects, beside=beside)
    cast = _gather(within, X, findings, held_out=tested, queries=read_queries(queries))
    features = match_columns(within, original, shown)
    laid = _lay_out_all(display, model, findings, cast, features)
    quality = assess(model, search, X, y, totals=counts, held_out=unseen, error=error)
    explained = explain_cast(cast, laid, model, features)
    plane = draw_map(findings.rivals)
    n_columns = laid.cases.n_columns
    return Summary(
        title=str(title or "Prototypes"),
        lead=describe_selection(quality, model),
        settings=describe_settings(
            model, search, how, n_points=quality.n_points, n_columns=n_columns
        ),
        radii="shared" if model.solution_.radii is None else "adaptive",
        eps=float(model.eps_) if math.isfinite(model.eps_) else None,
        quality=quality,
        target=_name_target(y) if target_name is None else str(target_name),
        classes=_list_classes(counts),
        confusion=counts.confusion.tolist(),
        prototypes=_list_prototypes(model, counts, findings, laid),
        cases=explained.cases,
        map=plane,
        path=read_path(search),
        suspects=_list_suspects(model, findings.suspects, laid, cast.held_out),
        n_suspects=len(findings.suspects),
        suspects_note=findings.suspects.describe(),
        uncovered=_list_uncovered(findings, laid),
        n_uncovered=counts.n_points - counts.n_covered,
        held_out=explained.held_out,
        queries=explained.queries,
        comparisons=explained.comparisons,
        shares=explained.shares,
        contribution_unit=explained.contribution_unit,
        figures=list_figures(quality, model, plane),
        version=__version__,
    )


@dataclass(frozen=True, eq=False)
class _Findings:
    """What a model makes of the data that it was fitted on."""

    coverage: Coverage
    members: Members
    rivals: Rivals | None
    suspects: LabelIssues
    uncovered: Indices  # rows in no ball of their class, the farthest from it first


def _find(
    model: PVMClassifier,
    X: Any,
    y: Any,
    coverage: Coverage,
    suspects: LabelIssues | None,
    *,
    beside: Sequence[Any],
) -> _Findings:
    """Look at the training data through the model, and at suspects in the cases `beside` it."""
    members = find_members(model, X, coverage)
    rivals = find_rivals(model, X, coverage.prototype_classes)
    suspects = find_label_issues(model, X, y) if suspects is None else suspects
    suspects = relate_suspects(model, (X, *beside), suspects)
    return _Findings(coverage, members, rivals, suspects, _find_uncovered(coverage, members))


def _refuse_cases_of_cover(held_out: Any, queries: Any) -> None:
    """Refuse further cases where no class answers them."""
    if held_out is not None or queries is not None:
        raise ValueError(
            "held_out and queries go with a classifier, and the model is a BallCover; leave "
            "them out, and ask its predict who stands for further cases"
        )


def _gather(
    within: Unwrapped,
    X: Any,
    findings: _Findings,
    *,
    held_out: Queries | None,
    queries: Queries | None,
) -> Cast:
    """Gather all cases that the page explains."""
    return gather_cast(
        within,
        X,
        suspects=findings.suspects,
        uncovered=findings.uncovered[:MOST_LISTED],
        coverage=findings.coverage,
        nearest_own=findings.members.nearest,
        held_out=held_out,
        queries=queries,
    )


def _lay_out_all(
    display: Display,
    model: PVMClassifier,
    findings: _Findings,
    cast: Cast,
    features: Indices | None,
) -> LaidOut:
    """Lay out all cases that the page mentions."""
    suspects = findings.suspects.row[:MOST_LISTED]
    suspects = suspects[suspects < len(findings.coverage.point_classes)]
    listed = [suspects, findings.uncovered[:MOST_LISTED]]
    return lay_out(
        replace(display, further=cast.further),
        model,
        codes=findings.coverage.point_classes,
        rows=model.prototype_indices_,
        mentioned=np.concatenate([*findings.members.rows, *listed]),
        weights=cast.column_weights(features),
    )


def _cover(model: PVMClassifier, X: Any, y: Any) -> Coverage:
    """Return who lies in whose ball, of data that the model can have been fitted on."""
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
    return coverage


def _name_target(y: Any) -> str:
    """Return the name of a series of labels, nothing where it has none."""
    name = getattr(y, "name", None)
    return "" if name is None else str(name)


def _list_classes(totals: CoverageTotals) -> list[ClassSummary]:
    """Return the counts of each class."""
    names = ("class", "points", "prototypes", "covered", "wrongly_covered")
    columns = [totals.by_class[name].tolist() for name in names]
    return [ClassSummary(str(label), *counts) for label, *counts in zip(*columns, strict=True)]


def _list_prototypes(
    model: PVMClassifier, totals: CoverageTotals, findings: _Findings, laid: LaidOut
) -> list[PrototypeSummary]:
    """Return the prototypes in order of selection."""
    members, rivals = findings.members, findings.rivals
    classes = np.searchsorted(model.classes_, model.prototype_labels_)
    return [
        PrototypeSummary(
            case=int(laid.prototypes[k]),
            source=str(model.prototype_sources_[k]),
            class_=int(classes[k]),
            radius=float(f"{model.prototype_radii_[k]:.5g}"),
            covers=int(totals.own[k]),
            newly=int(model.newly_covered_count_[k]),
            wrong=int(totals.others[k]),
            rival=-1 if rivals is None else int(rivals.index[k]),
            rival_distance=None if rivals is None else _number(rivals.distance[k]),
            members=laid.place[members.rows[k]].tolist(),
            distances=[float(f"{distance:.3g}") for distance in members.distances[k]],
            telling=laid.telling[k].tolist(),
        )
        for k in range(len(classes))
    ]


def _list_suspects(
    model: PVMClassifier, suspects: LabelIssues, laid: LaidOut, held_out: Asked | None
) -> list[Suspect]:
    """Return the most suspect labels, the most suspect first."""
    n = len(laid.place)
    further = {} if held_out is None else {n + row: k for k, row in enumerate(held_out.listed)}
    label = np.searchsorted(model.classes_, suspects.label)
    suggested = np.searchsorted(model.classes_, suspects.suggested)
    return [
        Suspect(
            case=int(laid.place[row] if row < n else laid.further[further[row]]),
            label=int(label[i]),
            suggested=int(suggested[i]),
            score=round(float(suspects.score[i]), 4),
            reason=str(suspects.reason[i]),
            prototype=int(suspects.other_prototype[i]),
        )
        for i, row in enumerate(suspects.row[:MOST_LISTED])
    ]


def _find_uncovered(coverage: Coverage, members: Members) -> Indices:
    """Return the rows of points in no ball of their class, the farthest from it first."""
    rows = np.flatnonzero(~coverage.covered)
    return rows[np.argsort(-members.nearness[rows], kind="stable")]


def _list_uncovered(findings: _Findings, laid: LaidOut) -> list[Uncovered]:
    """Return the farthest uncovered cases with their nearest prototype of the same class."""
    members, others = findings.members, findings.coverage.other_count
    return [
        Uncovered(
            case=int(laid.place[row]),
            prototype=int(members.nearest[row]),
            distance=_number(members.nearest_distance[row]),
            others=int(others[row]),
        )
        for row in findings.uncovered[:MOST_LISTED]
    ]


def _number(value: float) -> float | None:
    """Return a float to four digits, None where it is infinite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
