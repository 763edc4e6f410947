"""What a report says of a cover: its representatives, and who is far from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import __version__
from .._estimators import BallCover
from .._estimators.display import describe_bound
from .._estimators.model import ONE_CLASS
from .._inspection.fitted import Unwrapped
from .._prototypes.coverage import Coverage
from .._resources import row_count
from ._cases import Display, LaidOut, lay_out
from ._cover_wording import describe_cover, describe_cover_settings
from ._neighbors import Members, draw_map, find_members, find_rivals
from ._summary import ClassSummary, CoverSummary, Far, PrototypeSummary, Quality
from ._training_rows import ForeignRowsError, check_training_rows
from ._wording import as_sentence

Indices = NDArray[np.intp]

# Farthest cases that are covered, and uncovered ones, that are listed.
_MOST_FAR, _MOST_UNCOVERED = 100, 1000


def summarize_cover(
    within: Unwrapped,
    X: Any,
    display: Display,
    *,
    title: str,
    how: Mapping[str, str] | None,
) -> CoverSummary:
    """Gather all that a report says about a fitted cover and the points `X` it was fitted on."""
    cover, model = within.cover, within.classifier
    assert cover is not None
    coverage = _cover(within, cover, X)
    members = find_members(model, X, coverage)
    rivals = find_rivals(model, X, coverage.prototype_classes)
    far, uncovered = _find_far(cover, members)
    mentioned = np.concatenate([*members.rows, far[:_MOST_FAR], uncovered[:_MOST_UNCOVERED]])
    laid = lay_out(
        display,
        model,
        codes=coverage.point_classes,
        rows=model.prototype_indices_,
        mentioned=mentioned,
        groups=_groups(cover),
    )
    quality = _assess(cover)
    return CoverSummary(
        title=str(title),
        lead=describe_cover(cover),
        settings=describe_cover_settings(cover, how, n_columns=laid.cases.n_columns),
        radii="shared",
        eps=float(cover.eps_),
        quality=quality,
        target="",
        classes=[
            ClassSummary(ONE_CLASS, quality.n_points, quality.n_prototypes, quality.n_covered, 0)
        ],
        confusion=[[quality.n_covered]],
        prototypes=_list_representatives(cover, coverage, members, laid),
        cases=laid.cases,
        map=draw_map(rivals),
        path=None,
        suspects=[],
        n_suspects=0,
        suspects_note="",
        uncovered=_list_far(members, uncovered[:_MOST_UNCOVERED], laid),
        n_uncovered=len(uncovered),
        held_out=None,
        queries=None,
        comparisons=[],
        shares="",
        contribution_unit=None,
        figures=[],
        version=__version__,
        farthest=_list_far(members, far[:_MOST_FAR], laid),
        standing=[int(cover.labels_[row]) if row >= 0 else -1 for row in laid.cases.rows],
    )


def _cover(within: Unwrapped, cover: BallCover, X: Any) -> Coverage:
    """Return who lies in whose ball, of points that the cover can have been fitted on."""
    coverage = within.classifier.coverage(X, np.full(row_count(X), ONE_CLASS))
    check_training_rows(within, X, coverage.totals())
    if not np.array_equal(coverage.covered, cover.labels_ >= 0):
        raise ForeignRowsError("other rows of it are covered")
    return coverage


def _groups(cover: BallCover) -> tuple[Indices, Indices]:
    """Return who stands for each point, uncovered ones last, and for each representative itself.

    What sets a group apart from the others tells most of who stands for it.
    """
    n = len(cover.counts_)
    return np.where(cover.labels_ < 0, n, cover.labels_), np.arange(n)


def _find_far(cover: BallCover, members: Members) -> tuple[Indices, Indices]:
    """Return the points that are covered and those that are not, the farthest first."""
    order = np.argsort(-members.nearest_distance, kind="stable")
    covered = cover.labels_[order] >= 0
    return order[covered], order[~covered]


def _assess(cover: BallCover) -> Quality:
    """Return how good a cover is; it has no error."""
    bound, gap = cover.lower_bound_, cover.gap_
    return Quality(
        n_points=len(cover.labels_),
        n_prototypes=len(cover.counts_),
        n_covered=int(cover.counts_.sum()),
        n_wrong=0,
        error=None,
        objective=float(cover.objective_),
        lower_bound=float(bound) if math.isfinite(bound) else None,
        gap=float(gap) if math.isfinite(gap) else None,
        certificate=str(cover.certificate_),
        verdict=as_sentence(describe_bound(cover)),
    )


def _list_representatives(
    cover: BallCover, coverage: Coverage, members: Members, laid: LaidOut
) -> list[PrototypeSummary]:
    """Return the representatives in their order."""
    inside = coverage.totals().own
    return [
        PrototypeSummary(
            case=int(laid.prototypes[k]),
            source=str(cover.representative_sources_[k]),
            class_=0,
            radius=float(f"{cover.eps_:.5g}"),
            covers=int(inside[k]),
            newly=int(cover.counts_[k]),
            wrong=0,
            rival=-1,
            rival_distance=None,
            members=laid.place[members.rows[k]].tolist(),
            distances=[float(f"{distance:.3g}") for distance in members.distances[k]],
            telling=laid.telling[k].tolist(),
        )
        for k in range(len(inside))
    ]


def _list_far(members: Members, rows: Indices, laid: LaidOut) -> list[Far]:
    """Return cases with their nearest representative and how far it is."""
    return [
        Far(
            case=int(laid.place[row]),
            prototype=int(members.nearest[row]),
            distance=_number(members.nearest_distance[row]),
        )
        for row in rows
    ]


def _number(value: float) -> float | None:
    """Return a float to four digits, None where it is infinite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
