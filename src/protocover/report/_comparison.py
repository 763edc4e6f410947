"""A case beside two prototypes: how far each is, and what the columns contribute to that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from .._balls import relative_to, traits_of, within
from .._balls.traits import AdditiveDissimilarity
from .._estimators import PVMClassifier
from .._inspection.fitted import distance_blocks
from ..data._points import check_estimator_points
from ._summary import Comparison, Side

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Columns that are told of each pair, and entries of contributions held at once.
_MOST_COLUMNS = 12
_ENTRIES = 1 << 22
# A smaller share of a sum is what rounding left of nothing.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Terms:
    """What the columns that matter contribute to the distances of each case."""

    columns: Indices  # (n_cases, n_told): of the data that distances are measured by
    near: Floats  # (n_cases, n_told)
    far: Floats
    near_total: Floats  # of all columns
    far_total: Floats


@dataclass(frozen=True, eq=False)
class Contest:
    """Cases, each beside a near prototype and a far one (-1 where there is none)."""

    near: Indices
    far: Indices
    near_distance: Floats
    far_distance: Floats
    terms: Terms | None  # None where distances are no sums over columns


def hold_contest(model: PVMClassifier, points: Any, near: Indices, far: Indices) -> Contest:
    """Measure cases, as the classifier takes them, against two prototypes each."""
    distances = np.full((2, len(near)), np.inf)
    for rows, table in distance_blocks(model, points):
        for side, chosen in enumerate((near[rows], far[rows])):
            found = table[np.arange(len(rows)), chosen]
            distances[side, rows] = np.where(chosen < 0, np.inf, found)
    terms = _find_terms(model, points, near, far)
    return Contest(near, far, distances[0], distances[1], terms)


def as_comparison(
    model: PVMClassifier, contest: Contest, i: int, *, case: int, words: str, shown: Indices
) -> Comparison:
    """Return one case of a contest as data.

    `shown` is the place of each column of the data among those that are shown, -1 where it is
    not; what such columns contribute is told as a sum.
    """
    near = _side(model, contest, i, far=False, shown=shown)
    far = None if contest.far[i] < 0 else _side(model, contest, i, far=True, shown=shown)
    return Comparison(case, words, _told(contest, i, shown).tolist(), near, far)


def _side(model: PVMClassifier, contest: Contest, i: int, *, far: bool, shown: Indices) -> Side:
    """Return what there is to say of one of the two prototypes."""
    k = int((contest.far if far else contest.near)[i])
    distance = float((contest.far_distance if far else contest.near_distance)[i])
    radius = float(model.prototype_radii_[k])
    relative = float(relative_to(radius, distance))
    terms, rest = np.empty(0), 0.0
    if contest.terms is not None:
        all_terms = (contest.terms.far if far else contest.terms.near)[i]
        total = float((contest.terms.far_total if far else contest.terms.near_total)[i])
        terms = all_terms[shown[contest.terms.columns[i]] >= 0]
        rest = total - float(terms.sum())
        rest = rest if rest > _ROUNDING * total else 0.0
    return Side(
        prototype=k,
        # In full, so that what is told of a close call is true of it.
        distance=distance,
        relative=relative if np.isfinite(relative) else None,
        inside=bool(within(np.array(distance), radius, closed=model.closed_ball)),
        terms=[_short(term) for term in terms],
        rest=_short(rest),
    )


def _told(contest: Contest, i: int, shown: Indices) -> Indices:
    """Return the shown columns that a comparison tells of, the most important first."""
    if contest.terms is None:
        return np.empty(0, dtype=np.intp)
    places = shown[contest.terms.columns[i]]
    return np.asarray(places[places >= 0])


def _find_terms(model: PVMClassifier, points: Any, near: Indices, far: Indices) -> Terms | None:
    """Return the contributions of the columns, block by block; None where there are none."""
    dissimilarity = model.dissimilarity_
    if traits_of(dissimilarity).precomputed or not isinstance(
        dissimilarity, AdditiveDissimilarity
    ):
        return None
    checked = check_estimator_points(model, points, dissimilarity, reset=False)
    n_columns = model.n_features_in_ if hasattr(model, "n_features_in_") else 1
    step = max(1, _ENTRIES // max(1, n_columns))
    parts = []
    for start in range(0, len(near), step):
        rows = np.arange(start, min(start + step, len(near)))
        part = _terms_of_block(model, _safe_indexing(checked, rows), near[rows], far[rows])
        if part is None:
            return None
        parts.append(part)
    names = Terms.__dataclass_fields__
    return Terms(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _terms_of_block(
    model: PVMClassifier, points: Any, near: Indices, far: Indices
) -> Terms | None:
    """Return the contributions of some cases, those of the most important columns each."""
    sides = []
    for chosen in (near, np.where(far < 0, near, far)):
        terms = model.dissimilarity_.contributions(
            points, _safe_indexing(model.prototypes_, chosen)
        )
        if terms is None:
            return None
        sides.append(terms.toarray() if issparse(terms) else np.asarray(terms))
    near_terms, far_terms = sides[0], np.where(far[:, None] < 0, 0.0, sides[1])
    # What tells the two prototypes apart comes first, then what makes the case differ from both.
    weight = abs(near_terms - far_terms) + 1e-3 * (near_terms + far_terms)
    columns = np.argsort(-weight, axis=1, kind="stable")[:, :_MOST_COLUMNS]
    return Terms(
        columns=columns,
        near=np.take_along_axis(near_terms, columns, axis=1),
        far=np.take_along_axis(far_terms, columns, axis=1),
        near_total=near_terms.sum(axis=1),
        far_total=far_terms.sum(axis=1),
    )


def _short(value: float) -> float:
    """Return a number to four digits."""
    return float(f"{value:.4g}")
