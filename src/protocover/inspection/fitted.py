"""What the displays ask of an estimator before they draw it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..balls import traits_of
from ..exceptions import no_prototypes

__all__ = ["check_plane", "fitted_classifier", "prototype_rows"]


def fitted_classifier(estimator: Any) -> Any:
    """Return the fitted PVMClassifier with prototypes that an estimator is or holds."""
    check_is_fitted(estimator)
    model = getattr(estimator, "best_estimator_", estimator)
    if not hasattr(model, "prototype_labels_"):
        raise TypeError(
            "estimator must be a fitted PVMClassifier or PVMClassifierCV, got "
            f"{type(model).__name__}; of a pipeline pass the last step, and X as the steps "
            "before it have changed it"
        )
    if len(model.prototype_labels_) == 0:
        raise no_prototypes(model, "there is nothing to draw")
    return model


def prototype_rows(model: Any, *, n_prototypes: int | None, instead: str) -> NDArray[Any]:
    """Return the first prototypes as a dense table of numbers, or say what to pass instead."""
    rows = model.prototypes_[:n_prototypes]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    if rows.ndim != 2 or traits_of(model.dissimilarity_).pairwise:
        raise ValueError(f"the prototypes are not rows of features; {instead}")
    return rows


def check_plane(X: Any, name: str = "X") -> NDArray[np.float64]:
    """Return points of the plane as float64."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{name} must have two features to be drawn in the plane, got shape {points.shape}; "
            "PrototypeMapDisplay draws a map of any data"
        )
    return points.astype(np.float64)
