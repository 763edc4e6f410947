"""A fitted classifier in scikit-learn's own terms: the nearest neighbour among its prototypes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.neighbors import VALID_METRICS, KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted

from .._exceptions import no_prototypes
from ..dissimilarity import Cosine, Euclidean, Metric, SquaredEuclidean
from ..dissimilarity._metric import METRIC_ALIASES
from .fitted import copy_features

# Whoever is nearest by the square is nearest.
_OWN = {Euclidean: "euclidean", SquaredEuclidean: "euclidean", Cosine: "cosine"}
# What scikit-learn's search for neighbours takes beside the rows, and means the same by.
_PARAMS = {"minkowski": {"p", "w"}, "seuclidean": {"V"}, "mahalanobis": {"VI"}}


def as_nearest_neighbor(model: Any) -> KNeighborsClassifier:
    """Return the nearest-neighbour classifier of a fitted model's prototypes.

    Its rows are in the order of the classes, so that the first of several that are as near is
    of the class that comes first, as in ours.
    """
    check_is_fitted(model)
    _refuse_what_neighbors_lack(model)
    metric, params = _metric(model.dissimilarity_)
    prototypes = model._prototype_set
    rows = prototypes.points
    knn = KNeighborsClassifier(
        n_neighbors=1,
        algorithm=_algorithm(metric, params, sparse=issparse(rows)),
        leaf_size=len(prototypes.order),
        metric=metric,
        p=params.pop("p", 2),
        metric_params=params or None,
        n_jobs=model.n_jobs,
    )
    knn.fit(_wide(rows), model.prototype_labels_[prototypes.order])
    copy_features(model, knn)
    return knn


def _refuse_what_neighbors_lack(model: Any) -> None:
    """Refuse models whose answers are not those of the nearest prototype alone."""
    if len(model.prototype_labels_) == 0:
        raise no_prototypes(model, "there is no neighbour to be the nearest")
    if model._adaptive_radii:
        raise ValueError(
            "to_knn() needs prototypes of one radius, got radii='adaptive', where distances count "
            "in multiples of each one's radius; fit with radii='shared', or keep the model with "
            "protocover.save_model"
        )
    if model.outlier_label_ is not None:
        raise ValueError(
            f"to_knn() needs outlier_label=None, got {model.outlier_label!r}: a nearest "
            "neighbour has no answer for queries in no ball; fit without outlier_label, or keep "
            "the model with protocover.save_model"
        )


def _metric(dissimilarity: Any) -> tuple[str, dict[str, Any]]:
    """Return what scikit-learn's neighbours call a fitted dissimilarity, and its parameters."""
    name, params = _OWN.get(type(dissimilarity)), {}
    if type(dissimilarity) is Metric:
        name = METRIC_ALIASES.get(dissimilarity.name, dissimilarity.name)
        params = dict(dissimilarity.params_)
    if name is None or name not in VALID_METRICS["brute"]:
        raise ValueError(
            "to_knn() needs a metric of scikit-learn's neighbours, such as 'euclidean', "
            f"'cityblock' or 'cosine', got {name or type(dissimilarity).__name__!r}; "
            "protocover.save_model keeps any model"
        )
    others = params.keys() - _PARAMS.get(name, set())
    if others or ("w" in params and np.isinf(params.get("p", 2))):
        raise ValueError(
            f"to_knn() has no place for {', '.join(sorted(others or {'w'}))} among metric_params "
            f"of {name!r}; put the weights into the columns of X instead, or keep the model with "
            "protocover.save_model"
        )
    return name, params


def _algorithm(metric: str, params: dict[str, Any], *, sparse: bool) -> str:
    """Return the search that measures distances one by one, where there is one.

    A tree of a single leaf looks at one row after the other, and sums up features in our order;
    brute force takes matrix products, after which rounding decides between near neighbours.
    """
    if sparse or metric not in VALID_METRICS["ball_tree"] or params.get("p", 2) < 1:
        return "brute"
    return "ball_tree"


def _wide(rows: Any) -> Any:
    """Return rows in numbers that scikit-learn computes with."""
    return rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
