"""The lists of a report: classes, prototypes, suspect labels, uncovered cases."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..estimators import PVMClassifier
from ..inspection.suspects import SuspectLabels
from ..prototypes.coverage import Coverage, CoverageTotals
from .cases import LaidOut
from .neighbours import Members, Rivals
from .summary import ClassSummary, PrototypeSummary, Suspect, Uncovered

__all__ = [
    "MOST_LISTED",
    "find_uncovered",
    "list_classes",
    "list_prototypes",
    "list_suspects",
    "list_uncovered",
]

# Suspect labels, and uncovered cases, that are listed.
MOST_LISTED = 1000


def list_classes(totals: CoverageTotals) -> list[ClassSummary]:
    """Return the counts of each class."""
    names = ("class", "points", "prototypes", "covered", "wrongly_covered")
    columns = [totals.by_class[name].tolist() for name in names]
    return [ClassSummary(str(label), *counts) for label, *counts in zip(*columns, strict=True)]


def list_prototypes(
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


def list_suspects(model: PVMClassifier, suspects: SuspectLabels, laid: LaidOut) -> list[Suspect]:
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
        for i, row in enumerate(suspects.row[:MOST_LISTED])
    ]


def find_uncovered(coverage: Coverage, members: Members) -> NDArray[np.intp]:
    """Return the rows of points in no ball of their class, the farthest from it first."""
    rows = np.flatnonzero(~coverage.covered)
    return rows[np.argsort(-members.nearest_distance[rows], kind="stable")]


def list_uncovered(
    coverage: Coverage, members: Members, rows: NDArray[np.intp], laid: LaidOut
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
        for row in rows[:MOST_LISTED]
    ]


def _number(value: float) -> float | None:
    """Return a float to four digits, None where it is infinite."""
    return float(f"{value:.4g}") if math.isfinite(value) else None
