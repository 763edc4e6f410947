"""From a fitted model and new cases alone to a page that says why it answers as it does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped, unwrap
from ._cases import Display, LaidOut, lay_out
from ._cast import explain_cast, gather_cast, match_columns
from ._queries import Queries, read_queries
from ._summary import ClassSummary, PrototypeSummary, Summary
from ._wording import describe_answers, describe_settings

Indices = NDArray[np.intp]


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
    Answered “0”. The nearest prototype is row 3 of “0” at 0.5, 0.5 times its radius of 1. The
    nearest of another class is row 57 of “1” at 2.21, 2.21 times its radius of 1: 4.4 times as
    far in radii, a very clear call. It lies within the ball of row 3, of radius 1.
    """
    within = unwrap(model).require_prototypes("there is nothing to answer by")
    model, search = within.classifier, within.search
    cast = gather_cast(within, None, queries=read_queries(queries))
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
        radii="shared" if model.solution_.radii is None else "adaptive",
        eps=float(model.eps_) if math.isfinite(model.eps_) else None,
        quality=None,
        target="",
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
        suspects_note="",
        uncovered=[],
        n_uncovered=0,
        held_out=None,
        queries=explained.queries,
        comparisons=explained.comparisons,
        shares=explained.shares,
        contribution_unit=explained.contribution_unit,
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
        for k, row in enumerate(model.prototype_indices_.tolist())
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
            newly=int(model.newly_covered_count_[k]),
            wrong=0,
            rival=-1,
            rival_distance=None,
            members=[],
            distances=[],
            telling=laid.telling[k].tolist(),
        )
        for k in range(len(classes))
    ]
