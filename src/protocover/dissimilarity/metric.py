"""The named metrics of SciPy and scikit-learn, computed directly in double precision."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances

from ..balls import check_dissimilarities
from ..resources import row_count

__all__ = ["METRIC_NAMES", "Metric"]

_BOOLEAN = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
_REAL = {
    "braycurtis",
    "canberra",
    "chebyshev",
    "cityblock",
    "correlation",
    "hamming",
    "jensenshannon",
    "mahalanobis",
    "minkowski",
    "seuclidean",
}
_OF_SCIKIT_LEARN = {"haversine", "nan_euclidean"}
_ALIASES = {"manhattan": "cityblock", "l1": "cityblock"}
_SPARSE = {"cityblock"}

METRIC_NAMES = frozenset(_BOOLEAN | _REAL | _OF_SCIKIT_LEARN | set(_ALIASES))


class Metric(BaseEstimator):
    """A metric by its name in SciPy or scikit-learn.

    Parameters
    ----------
    name : str
        Such as ``"cityblock"``, ``"minkowski"``, ``"jaccard"`` or ``"haversine"``.
    params : dict or None, default=None
        What the metric takes beside the rows, such as ``{"p": 1.5}``. The variances of
        ``"seuclidean"`` and the inverse covariance of ``"mahalanobis"`` are learned in
        `fit` when they are not given here.

    Examples
    --------
    >>> from protocover.dissimilarity import Metric
    >>> Metric("chebyshev").fit([[0.0, 0.0]]).cross([[3.0, 4.0]], [[0.0, 0.0]])
    array([[4.]])
    """

    symmetric = True

    def __init__(self, name: str, params: dict[str, Any] | None = None) -> None:
        self.name = name
        self.params = params

    @property
    def allows_nan(self) -> bool:
        """Whether rows may hold missing values."""
        return self.name == "nan_euclidean"

    @property
    def learns_nothing(self) -> bool:
        """Whether `fit` has no influence on `cross`."""
        learned = {"seuclidean": "V", "mahalanobis": "VI"}.get(self.name)
        return learned is None or learned in (self.params or {})

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the metric takes from the training data."""
        params = dict(self.params or {})
        if self.name == "seuclidean" and "V" not in params:
            variance = np.var(X, axis=0, ddof=1) if len(X) > 1 else np.ones(np.shape(X)[1])
            # A constant feature tells nothing: any positive variance leaves it out.
            params["V"] = np.where(variance > 0.0, variance, 1.0)
        if self.name == "mahalanobis" and "VI" not in params:
            covariance = np.cov(X, rowvar=False) if len(X) > 1 else np.eye(np.shape(X)[1])
            params["VI"] = np.linalg.pinv(np.atleast_2d(covariance))
        self.params_ = params
        return self

    def cross(self, A: Any, B: Any) -> NDArray[np.float64]:
        """Return the dissimilarities of the rows of A from the rows of B."""
        name = _ALIASES.get(self.name, self.name)
        if issparse(A) or issparse(B):
            if name not in _SPARSE:
                raise ValueError(
                    f"metric {self.name!r} does not take sparse input; pass X.toarray(), or "
                    "use 'euclidean', 'sqeuclidean', 'cosine' or 'cityblock'"
                )
            table = pairwise_distances(A, B, metric=name, n_jobs=1)
        elif name in _OF_SCIKIT_LEARN:
            table = pairwise_distances(A, B, metric=name, n_jobs=1, **self.params_)
        else:
            dtype: Any = bool if name in _BOOLEAN else np.float64
            left, right = np.asarray(A, dtype=dtype), np.asarray(B, dtype=dtype)
            table = cdist(left, right, name, **self.params_)
        source = f"metric {self.name!r}"
        return check_dissimilarities(table, (row_count(A), row_count(B)), source)
