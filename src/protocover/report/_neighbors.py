"""Who is near whom: the members of each ball, rivals of each prototype, and their map."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._inspection.fitted import distance_blocks, nearness
from .._inspection.label_issues import LabelIssues
from .._maps.sammon import sammon_map
from .._prototypes.coverage import Coverage
from .._resources import row_count
from ._summary import MapSummary

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Points listed for all prototypes together, and at least for each.
_MOST_MEMBERS, _FEWEST_MEMBERS = 100_000, 20
# Prototypes on the map; its table of distances grows with the square.
_MOST_MAPPED = 500
# The map is to be looked at: what lowers its stress by less than this share is not seen.
_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Members:
    """The points in each ball, nearest first, and each point's nearest prototype of its class.

    Prototypes with radii of their own are near in multiples of these.
    """

    rows: list[Indices]  # for each prototype
    distances: list[Floats]  # theirs
    nearest: Indices  # for each point, -1 where its class has no prototype
    nearest_distance: Floats  # inf where there is none
    nearness: Floats  # the same distance as it counts


@dataclass(frozen=True, eq=False)
class Rivals:
    """For each prototype the nearest of another class (-1 and inf where there is none)."""

    index: Indices
    distance: Floats
    table: Floats  # distances between the first prototypes, for the map


def find_members(model: PVMClassifier, X: Any, coverage: Coverage) -> Members:
    """Find who lies in which ball how near, and each point's nearest of its class."""
    balls = coverage.balls.tocsr()
    n_points, n_prototypes = balls.shape
    entries = np.empty(balls.nnz)
    nearest = np.full(n_points, -1)
    reach, near = np.full((2, n_points), np.inf)
    for rows, table in distance_blocks(model, X):
        held = slice(balls.indptr[rows[0]], balls.indptr[rows[-1] + 1])
        sizes = np.diff(balls.indptr[rows[0] : rows[-1] + 2])
        entries[held] = table[np.repeat(rows - rows[0], sizes), balls.indices[held]]
        own = coverage.point_classes[rows][:, None] == coverage.prototype_classes[None, :]
        nearest[rows], reach[rows], near[rows] = _nearest_among(model, table, own)
    point = np.repeat(np.arange(n_points), np.diff(balls.indptr))
    members, distances = _by_prototype(point, balls.indices, entries, n_prototypes)
    return Members(members, distances, nearest, reach, near)


def find_rivals(model: PVMClassifier, X: Any, classes: Indices) -> Rivals | None:
    """Find each prototype's nearest of another class; None where distances are not known."""
    if (model.prototype_indices_ >= 0).all():
        examples = _safe_indexing(X, model.prototype_indices_)
    elif traits_of(model.dissimilarity_).precomputed:
        return None  # columns of a table that are no rows of it
    else:
        examples = model.prototypes_
    n = len(classes)
    mapped = min(n, _MOST_MAPPED)
    index, distance = np.full(n, -1), np.full(n, np.inf)
    square = np.empty((mapped, mapped))
    with warnings.catch_warnings():
        # Prototypes that are no training points have lost the names of their features.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        for rows, table in distance_blocks(model, examples):
            square[rows[rows < mapped]] = table[rows < mapped, :mapped]
            others = classes[rows][:, None] != classes[None, :]
            index[rows], distance[rows], _ = _nearest_among(model, table, others)
    return Rivals(index, distance, square)


def relate_suspects(model: PVMClassifier, parts: Sequence[Any], found: LabelIssues) -> LabelIssues:
    """Return suspects with the nearest prototypes of the model that is reported.

    `parts` are the training cases and then the others whose rows follow theirs. A suspect that
    is a prototype itself is compared with the next one of its class.
    """
    own, other = np.full((2, len(found)), -1)
    start = 0
    for part in parts:
        here = np.flatnonzero((found.row >= start) & (found.row < start + row_count(part)))
        points = _safe_indexing(part, found.row[here] - start) if len(here) else None
        for rows, table in distance_blocks(model, points) if len(here) else ():
            chosen = here[rows]
            same = found.label[chosen][:, None] == model.prototype_labels_
            suggested = found.suggested[chosen][:, None] == model.prototype_labels_
            itself = found.row[chosen][:, None] == model.prototype_indices_
            own[chosen] = _nearest_among(model, table.copy(), same & ~itself)[0]
            other[chosen] = _nearest_among(model, table, suggested)[0]
        start += row_count(part)
    return replace(found, own_prototype=own, other_prototype=other, judge=model)


def draw_map(rivals: Rivals | None) -> MapSummary | None:
    """Place the first prototypes on a plane; None where there is nothing to place."""
    if rivals is None or len(rivals.table) < 2:
        return None
    table = 0.5 * (rivals.table + rivals.table.T)
    np.fill_diagonal(table, 0.0)
    if not np.isfinite(table).all() or not table.any():
        return None
    result = sammon_map(table, tolerance=_TOLERANCE)
    places = result.coordinates / np.abs(result.coordinates).max()
    x, y = (np.round(axis, 4).tolist() for axis in places.T)
    return MapSummary(x=x, y=y, stress=float(result.stress))


def _nearest_among(
    model: PVMClassifier, table: Floats, allowed: NDArray[np.bool_]
) -> tuple[Indices, Floats, Floats]:
    """Return each row's nearest allowed prototype, its distance and nearness, or -1 and inf.

    The table may be changed.
    """
    near = nearness(model, table)
    near[~allowed] = np.inf
    rows, best = np.arange(len(table)), near.argmin(axis=1)
    least = near[rows, best]
    distance = np.where(np.isinf(least), np.inf, table[rows, best])
    return np.where(np.isfinite(distance), best, -1), distance, least


def _by_prototype(
    point: Indices, prototype: Indices, distance: Floats, n_prototypes: int
) -> tuple[list[Indices], list[Floats]]:
    """Sort memberships by prototype and distance, and keep the nearest if they are many."""
    order = np.lexsort((point, distance, prototype))
    bounds = np.searchsorted(prototype[order], np.arange(n_prototypes + 1))
    most = _largest_share(np.diff(bounds), _MOST_MEMBERS)
    parts = [order[a : min(b, a + most)] for a, b in pairwise(bounds.tolist())]
    return [point[part] for part in parts], [distance[part] for part in parts]


def _largest_share(sizes: Indices, total: int) -> int:
    """Return the largest number that each list may have so that all keep to the total."""
    if sizes.sum() <= total:
        return int(sizes.max(initial=0))
    ordered = np.sort(sizes)
    before = np.concatenate(([0], np.cumsum(ordered)[:-1]))
    share = (total - before) // np.arange(len(sizes), 0, -1)
    fits = share <= ordered
    return max(_FEWEST_MEMBERS, int(share[fits.argmax()]))
