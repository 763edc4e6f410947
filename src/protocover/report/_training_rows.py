"""Whether samples are those that a model was fitted on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from .._balls import traits_of
from .._estimators import PVMClassifier
from .._inspection.fitted import Unwrapped
from .._prototypes.coverage import Coverage, CoverageTotals
from .._resources import row_count
from ..data._points import check_estimator_points, same_points

# PCA and encoders may round differently in transform than in fit_transform.
_ROUNDING = 1e-4


class ForeignRowsError(ValueError):
    """Samples other than those of the fit were given for them; `fault` says how that shows."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"X and y must be the samples that the model was fitted on, in the same order, but "
            f"{fault}; pass the data of the fit, with its sample_weight if some weights are 0, "
            "and other samples as held_out"
        )
        self.fault = fault


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


def check_training_rows(within: Unwrapped, X: Any, totals: CoverageTotals) -> None:
    """Refuse samples that are not those of the fit, by what `verify` compares.

    `X` is as the classifier takes it, and `totals` count all samples of positive weight.
    """
    model = within.classifier
    fault = _wrong_class(model, totals)
    real = _real(model)
    exact = not within.transformers
    if fault is None and len(real):
        rows, prototypes = _pairs(model, X, real)
        fault = _wrong_row(model.prototype_indices_[real], real, rows, prototypes)
        exact = same_points(rows, prototypes)
    # A cover counts the samples of a label, not those in a ball.
    if fault is None and exact and within.cover is None:
        fault = _wrong_ball(model, totals)
    if fault is not None:
        raise ForeignRowsError(fault)


def _wrong_class(model: PVMClassifier, totals: CoverageTotals) -> str | None:
    """Say which class has another number of samples."""
    counts = totals.by_class["points"]
    wrong = np.flatnonzero(counts != model.class_count_)
    if not len(wrong):
        return None
    first = wrong[0]
    return (
        f"they hold {counts[first]} of class {model.classes_.tolist()[first]!r} and the fit had "
        f"{model.class_count_[first]}"
    )


def _real(model: PVMClassifier) -> NDArray[np.intp]:
    """Return the places of the prototypes that are rows of `X` with known values."""
    if traits_of(model.dissimilarity_).precomputed:
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(model.prototype_indices_ >= 0)


def _pairs(model: PVMClassifier, X: Any, real: NDArray[np.intp]) -> tuple[Any, Any]:
    """Return the rows that prototypes were taken from, and the prototypes."""
    points = check_estimator_points(model, X, model.dissimilarity_, reset=False)
    rows, n = model.prototype_indices_[real], row_count(points)
    if rows.max() >= n:
        raise ForeignRowsError(f"there are {n} and a prototype was row {rows.max()}")
    return _safe_indexing(points, rows), _safe_indexing(model.prototypes_, real)


def _wrong_row(
    numbers: NDArray[np.intp], places: NDArray[np.intp], rows: Any, prototypes: Any
) -> str | None:
    """Say which row is not the prototype that the model has from there."""
    if _nearly_same(rows, prototypes):
        return None
    for k, (number, place) in enumerate(zip(numbers.tolist(), places.tolist(), strict=True)):
        if not _nearly_same(*(_safe_indexing(part, [k]) for part in (rows, prototypes))):
            return f"row {number} is not the model's prototype {place}"
    return "the prototypes are not their rows"


def _wrong_ball(model: PVMClassifier, totals: CoverageTotals) -> str | None:
    """Say whose ball holds another number of samples of its class, or of others."""
    said = {
        "other classes": (totals.others, model.miscovered_count_),
        "its class": (totals.own, model.covered_count_),
    }
    for whose, (found, expected) in said.items():
        wrong = np.flatnonzero(found != expected)
        if len(wrong):
            k = wrong[0]
            return (
                f"the ball of prototype {k} holds {found[k]} samples of {whose} and held "
                f"{expected[k]} in the fit"
            )
    return None


def _nearly_same(ones: Any, others: Any) -> bool:
    """Whether points are the same except for rounding."""
    if same_points(ones, others):
        return True
    dense = [one.toarray() if issparse(one) else one for one in (ones, others)]
    if not all(isinstance(one, np.ndarray) and one.dtype.kind == "f" for one in dense):
        return False
    size = np.abs(dense[1]).max(initial=0.0, where=np.isfinite(dense[1]))
    one, other = dense
    return bool(np.allclose(one, other, rtol=0.0, atol=_ROUNDING * size, equal_nan=True))
