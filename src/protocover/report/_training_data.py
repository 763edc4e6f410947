"""What a model makes of its training data: members, neighbours, and whether it is that data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped, distance_blocks, nearness
from .._inspection.label_issues import LabelIssues
from .._maps import sammon_map
from .._prototypes.coverage import Coverage, CoverageTotals
from .._resources import row_count
from .._typing import Floats, Indices, Mask
from ..data._points import check_estimator_points, same_points
from ._summary import MapSummary

# Members listed for all prototypes together, and at least for each.
_MOST_MEMBERS, _FEWEST_MEMBERS = 100_000, 20
# Prototypes on the map; its distance matrix grows quadratically.
_MOST_MAPPED = 500
# Relative decrease of the stress that cannot be seen on the map.
_TOLERANCE = 1e-3
# PCA and encoders may round differently in transform than in fit_transform.
_ROUNDING = 1e-4


class ForeignRowsError(ValueError):
    """The samples given are not those of the fit; `fault` is how they differ."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"X and y must be the samples that the model was fitted on, in the same order, but "
            f"{fault}; pass the data of the fit, with its sample_weight if some weights are 0, "
            "and other samples as held_out"
        )
        self.fault = fault


@dataclass(frozen=True, eq=False)
class Members:
    """The cases that each prototype covers, and each case's nearest prototype of its class.

    With adaptive radii the nearest is that in multiples of the radius.
    """

    rows: list[Indices]  # per prototype, nearest first
    distances: list[Floats]
    nearest: Indices  # per case, -1 if its class has no prototype
    nearest_distance: Floats  # inf if there is none
    nearness: Floats  # the same distance, in radii if these differ


@dataclass(frozen=True, eq=False)
class OtherClass:
    """The nearest prototype of another class per prototype, -1 and inf if there is none."""

    index: Indices
    distance: Floats
    table: Floats  # distances between the first prototypes, for the map


def find_members(model: PVMClassifier, X: Any, coverage: Coverage) -> Members:
    """Find the members of each neighbourhood, and each case's nearest prototype of its class."""
    balls = coverage.balls.tocsr()
    n_points, n_prototypes = balls.shape
    entries = np.empty(balls.nnz)
    nearest = np.full(n_points, -1)
    distance, near = np.full((2, n_points), np.inf)
    for rows, table in distance_blocks(model, X):
        held = slice(balls.indptr[rows[0]], balls.indptr[rows[-1] + 1])
        sizes = np.diff(balls.indptr[rows[0] : rows[-1] + 2])
        entries[held] = table[np.repeat(rows - rows[0], sizes), balls.indices[held]]
        own = coverage.point_classes[rows][:, None] == coverage.prototype_classes[None, :]
        nearest[rows], distance[rows], near[rows] = _nearest_among(model, table, own)
    point = np.repeat(np.arange(n_points), np.diff(balls.indptr))
    members, distances = _by_prototype(point, balls.indices, entries, n_prototypes)
    return Members(members, distances, nearest, distance, near)


def find_nearest_of_other_class(
    model: PVMClassifier, X: Any, classes: Indices
) -> OtherClass | None:
    """Find each prototype's nearest of another class; None if distances are not known."""
    if (model.prototype_indices_ >= 0).all():
        prototypes = _safe_indexing(X, model.prototype_indices_)
    elif traits_of(model.dissimilarity_).precomputed:
        return None  # columns of a matrix without rows
    else:
        prototypes = model.prototypes_
    n = len(classes)
    mapped = min(n, _MOST_MAPPED)
    index, distance = np.full(n, -1), np.full(n, np.inf)
    square = np.empty((mapped, mapped))
    with warnings.catch_warnings():
        # Synthetic prototypes have lost the names of their features.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        for rows, table in distance_blocks(model, prototypes):
            square[rows[rows < mapped]] = table[rows < mapped, :mapped]
            others = classes[rows][:, None] != classes[None, :]
            index[rows], distance[rows], _ = _nearest_among(model, table, others)
    return OtherClass(index, distance, square)


def relate_suspects(model: PVMClassifier, parts: Sequence[Any], found: LabelIssues) -> LabelIssues:
    """Return suspects with their nearest prototypes of `model`.

    `parts` are the training cases and then the held-out cases, whose rows follow. A suspect that
    is itself a prototype is compared with the next one of its class.
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


def draw_map(between: OtherClass | None) -> MapSummary | None:
    """Map the first prototypes into the plane; None if there are fewer than two."""
    if between is None or len(between.table) < 2:
        return None
    table = 0.5 * (between.table + between.table.T)
    np.fill_diagonal(table, 0.0)
    if not np.isfinite(table).all() or not table.any():
        return None
    result = sammon_map(table, tolerance=_TOLERANCE)
    scaled = result.coordinates / np.abs(result.coordinates).max()
    x, y = (np.round(axis, 4).tolist() for axis in scaled.T)
    return MapSummary(x=x, y=y, stress=float(result.stress))


def count_training(coverage: Coverage, sample_weight: Any) -> CoverageTotals:
    """Return the totals of the samples of positive weight, which are all that a fit counts."""
    if sample_weight is None:
        return coverage.totals()
    n = len(coverage.point_classes)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape not in ((), (n,)):
        raise ValueError(
            f"sample_weight must hold a weight for each of the {n} rows of X, got shape "
            f"{weights.shape}; pass the weights of fit"
        )
    kept = np.flatnonzero(np.broadcast_to(weights, n) > 0.0)
    part = replace(
        coverage, balls=coverage.balls[kept], point_classes=coverage.point_classes[kept]
    )
    return part.totals()


def check_training_rows(unwrapped: Unwrapped, X: Any, totals: CoverageTotals) -> None:
    """Raise an error if `X`, as the classifier takes it, is not the data of the fit.

    Class counts, prototypes and covered samples are compared; `totals` count all samples of
    positive weight.
    """
    model = unwrapped.classifier
    fault = _different_class_count(model, totals)
    same = not unwrapped.transformers
    precomputed = traits_of(model.dissimilarity_).precomputed
    if fault is None and not precomputed and (model.prototype_indices_ >= 0).any():
        fault, same = _different_prototype(model, X)
    # A cover counts each sample for one representative only.
    if fault is None and same and unwrapped.cover is None:
        fault = _different_cover_count(model, totals)
    if fault is not None:
        raise ForeignRowsError(fault)


def _different_class_count(model: PVMClassifier, totals: CoverageTotals) -> str | None:
    """Describe the first class with another number of samples."""
    counts = totals.by_class["points"]
    for c in np.flatnonzero(counts != model.class_count_)[:1]:
        return (
            f"they hold {counts[c]} of class {model.classes_.tolist()[c]!r} and the fit had "
            f"{model.class_count_[c]}"
        )
    return None


def _different_prototype(model: PVMClassifier, X: Any) -> tuple[str | None, bool]:
    """Describe the first prototype that is not its row; also return whether all are identical."""
    points = check_estimator_points(model, X, model.dissimilarity_, reset=False)
    real = np.flatnonzero(model.prototype_indices_ >= 0)
    numbers, n = model.prototype_indices_[real], row_count(points)
    if numbers.max() >= n:
        return f"there are {n} and a prototype was row {numbers.max()}", False
    rows, prototypes = _safe_indexing(points, numbers), _safe_indexing(model.prototypes_, real)
    if not _nearly_same(rows, prototypes):
        for k, (number, prototype) in enumerate(zip(numbers, real, strict=True)):
            if not _nearly_same(*(_safe_indexing(part, [k]) for part in (rows, prototypes))):
                return f"row {number} is not the model's prototype {prototype}", False
        return "the prototypes are not their rows", False
    return None, same_points(rows, prototypes)


def _different_cover_count(model: PVMClassifier, totals: CoverageTotals) -> str | None:
    """Describe the first prototype that covers another number of samples."""
    counts = {
        "other classes": (totals.others, model.miscovered_count_),
        "its class": (totals.own, model.covered_count_),
    }
    for which, (found, expected) in counts.items():
        for k in np.flatnonzero(found != expected)[:1]:
            return (
                f"prototype {k} covers {found[k]} samples of {which} and covered {expected[k]} in "
                "the fit"
            )
    return None


def _nearly_same(ones: Any, others: Any) -> bool:
    """Whether points are the same except for rounding."""
    if same_points(ones, others):
        return True
    one, other = (part.toarray() if issparse(part) else part for part in (ones, others))
    if not all(isinstance(part, np.ndarray) and part.dtype.kind == "f" for part in (one, other)):
        return False
    size = np.abs(other).max(initial=0.0, where=np.isfinite(other))
    return bool(np.allclose(one, other, rtol=0.0, atol=_ROUNDING * size, equal_nan=True))


def _nearest_among(
    model: PVMClassifier, table: Floats, allowed: Mask
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
    """Sort pairs by prototype and distance, and keep the nearest if they are many."""
    order = np.lexsort((point, distance, prototype))
    bounds = np.searchsorted(prototype[order], np.arange(n_prototypes + 1))
    most = _largest_cut(np.diff(bounds), _MOST_MEMBERS)
    parts = [order[a : min(b, a + most)] for a, b in pairwise(bounds.tolist())]
    return [point[part] for part in parts], [distance[part] for part in parts]


def _largest_cut(sizes: Indices, total: int) -> int:
    """Return the largest length to which lists can be cut so that together they fit `total`."""
    if sizes.sum() <= total:
        return int(sizes.max(initial=0))
    ordered = np.sort(sizes)
    before = np.concatenate(([0], np.cumsum(ordered)[:-1]))
    length = (total - before) // np.arange(len(sizes), 0, -1)
    fits = length <= ordered
    return max(_FEWEST_MEMBERS, int(length[fits.argmax()]))
