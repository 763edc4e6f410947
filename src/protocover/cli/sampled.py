"""The outcome of a fit with too many cases to show: counts of all of them, lists of some."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..candidates import draw_stratified
from ..estimators import PVMClassifier
from ..report import Summary
from ..report.summary import ClassSummary, ErrorEstimate, PathSummary
from ..report.wording import percent, short_number
from .cases import Cases
from .parquet import take_rows
from .streaming import StreamedRows

__all__ = ["Totals", "correct_summary", "count_coverage", "draw_cases"]

# Cases to show, the prototypes among them, and at least so many beside those.
_SHOWN, _FEWEST = 10_000, 1_000
# Memberships at a time, if all cases lay in all balls.
_BLOCK = 1 << 24


@dataclass(frozen=True, eq=False)
class Totals:
    """Who lies in whose ball, counted over all training cases.

    Parameters
    ----------
    by_class : dict of ndarray, shape (n_classes,)
        As of :meth:`protocover.prototypes.coverage.Coverage.by_class`.
    confusion : ndarray of int, shape (n_classes, n_classes)
        As of :meth:`protocover.prototypes.coverage.Coverage.confusion`.
    own : ndarray of int, shape (n_prototypes,)
        Cases of its own class in each ball.
    companions : ndarray of int, shape (n_prototypes,)
        One of them for each that is not the prototype itself, -1 where there is none.
    """

    by_class: dict[str, NDArray[Any]]
    confusion: NDArray[np.intp]
    own: NDArray[np.intp]
    companions: NDArray[np.intp]


def count_coverage(classifier: PVMClassifier, X: Any, y: NDArray[Any]) -> Totals:
    """Count who lies in whose ball, some rows at a time."""
    rows = classifier.prototype_rows_
    counts: dict[str, NDArray[Any]] = {}
    confusion = np.zeros((len(classifier.classes_),) * 2, dtype=np.intp)
    own, companions = np.zeros(len(rows), dtype=np.intp), np.full(len(rows), -1)
    step = int(np.clip(_BLOCK // max(1, len(rows)), 1 << 8, 1 << 14))
    for start in range(0, len(y), step):
        coverage = classifier.coverage(X[start : start + step], y[start : start + step])
        for name, values in coverage.by_class().items():
            once = name in ("class", "prototypes") or name not in counts
            counts[name] = values if once else counts[name] + values
        confusion += coverage.confusion()
        held = coverage.balls.tocoo()
        same = coverage.point_classes[held.row] == coverage.prototype_classes[held.col]
        point, prototype = held.row[same] + start, held.col[same]
        own += np.bincount(prototype, minlength=len(rows))
        other = point != rows[prototype]
        companions[prototype[other]] = point[other]
    return Totals(counts, confusion, own, companions)


def draw_cases(
    streamed: StreamedRows,
    rows: NDArray[np.intp],
    y: NDArray[Any],
    *,
    needed: NDArray[np.intp],
    identifier: str | None,
    seed: int,
) -> tuple[Cases, NDArray[np.intp]]:
    """Draw cases to show from each class in proportion, and fetch their cells from the file.

    Parameters
    ----------
    streamed : StreamedRows
        What they are drawn from.
    rows, y : ndarray, shape (n_points,)
        Numbers in the file, from 0, and labels of the training cases.
    needed : ndarray of int
        Places of cases that must be among them.
    identifier : str or None
        Column that names the rows.
    seed : int
        Of what is drawn.

    Returns
    -------
    cases : Cases
        In the order of the file.
    places : ndarray of int
        Their places among the training cases.
    """
    classes, codes = np.unique(y, return_inverse=True)
    needed = np.unique(needed)
    size = max(_SHOWN - len(needed), _FEWEST, len(classes))
    drawn = draw_stratified(size, codes, np.random.default_rng(seed))
    places = np.union1d(drawn, needed)
    cells = take_rows(streamed.path, streamed.columns, rows[places])
    names = None if identifier is None else cells[identifier].astype(str).to_numpy(dtype=object)
    X = cells[streamed.features].astype(np.float64)
    return Cases(X, y[places], rows[places] + 1, streamed.path.name, names, cells), places


def correct_summary(
    summary: Summary,
    classifier: PVMClassifier,
    totals: Totals,
    *,
    n_shown: int,
    n_sampled: int | None,
    error: ErrorEstimate | None,
    path: PathSummary | None,
) -> Summary:
    """Put the counts of all cases in the place of those of the cases shown."""
    table = totals.by_class
    n_points, n_covered = int(table["points"].sum()), int(table["covered"].sum())
    wrong = classifier.prototype_miscovered_
    lead = (
        f"{len(wrong):,} cases sum up {n_points:,} of {len(table['class']):,} classes: "
        f"{percent(n_covered / n_points)} of them lie within {short_number(classifier.eps_)} of "
        "a prototype of their own class. The counts are of all cases, the lists of a sample of "
        f"{n_shown:,}."
    )
    return replace(
        summary,
        lead=lead if n_shown < n_points else summary.lead,
        settings=_correct_settings(
            summary.settings, classifier, n_points, n_sampled, searched=path is not None
        ),
        quality=replace(
            summary.quality,
            n_points=n_points,
            n_covered=n_covered,
            n_wrong=int(wrong.sum()),
            error=error,
        ),
        classes=[
            ClassSummary(str(label), *map(int, counts))
            for label, *counts in zip(
                *(table[name] for name in _COUNTED),
                strict=True,
            )
        ],
        confusion=totals.confusion.tolist(),
        prototypes=[
            replace(prototype, covers=int(totals.own[k]), wrong=int(wrong[k]))
            for k, prototype in enumerate(summary.prototypes)
        ],
        path=path,
        n_uncovered=n_points - n_covered,
    )


_COUNTED = ("class", "points", "prototypes", "covered", "wrongly_covered")


def _correct_settings(
    settings: list[tuple[str, str]],
    classifier: PVMClassifier,
    n_points: int,
    n_sampled: int | None,
    *,
    searched: bool,
) -> list[tuple[str, str]]:
    """Say of the settings what goes for all cases, and what rests on a sample."""
    lines = dict(settings)
    _, comma, features = lines["Training data"].rpartition(", ")
    classes = f"{len(classifier.classes_):,} classes"
    lines["Training data"] = f"{n_points:,} cases of {classes}{comma}{features}"
    if n_sampled is not None:
        how = "by cross-validation" if searched else "as half of the cases have no rival so near"
        eps = short_number(classifier.eps_)
        lines["Radius"] = f"{eps}, chosen {how} on {n_sampled:,} cases drawn by chance"
    if isinstance(classifier.candidates, int):
        lines["May become a prototype"] = f"{classifier.candidates:,} cases drawn by chance"
    return list(lines.items())
