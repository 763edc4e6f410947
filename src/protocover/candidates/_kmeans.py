"""K-means centroids as candidates, of each class or of all points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from ._pool import Pool


class KMeansCandidates(BaseEstimator):
    """Centroids of K-means clusters (paper, section 4.2).

    Prototypes need then no longer be training points, which helps in high dimensions.

    Parameters
    ----------
    n_clusters : int, default=10
        Clusters of each class, or of all points; of fewer distinct points, all of them.
    per_class : bool, default=True
        Whether each class is clustered on its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.candidates import KMeansCandidates
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PVMClassifier(eps=1.0, candidates=KMeansCandidates(5), random_state=0).fit(X, y)
    >>> model.prototype_sources_[:3], model.prototype_indices_[:3]
    (array(['kmeans', 'kmeans', 'kmeans'], dtype='<U6'), array([-1, -1, -1]))
    """

    def __init__(self, n_clusters: int = 10, *, per_class: bool = True) -> None:
        self.n_clusters = n_clusters
        self.per_class = per_class

    def generate(self, X: Any, y: NDArray[np.intp], rng: np.random.Generator) -> Pool:
        """Cluster the points and return the centroids."""
        if not isinstance(self.n_clusters, int | np.integer) or self.n_clusters < 1:
            raise ValueError(f"n_clusters must be a positive integer, got {self.n_clusters!r}")
        groups = [X[y == label] for label in np.unique(y)] if self.per_class else [X]
        centroids = np.vstack([self._centroids(group, rng) for group in groups])
        if getattr(X, "dtype", None) == np.float32:
            centroids = centroids.astype(np.float32, copy=False)
        return Pool.synthetic(centroids, "kmeans")

    def _centroids(self, X: Any, rng: np.random.Generator) -> NDArray[Any]:
        """Centroids of one group of points."""
        n_clusters = min(self.n_clusters, X.shape[0])
        seed = int(rng.integers(2**31))
        with warnings.catch_warnings():
            # Fewer distinct points than clusters only leave copies of a centroid.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KMeans(n_clusters, n_init=3, random_state=seed).fit(X)
        return np.unique(np.asarray(model.cluster_centers_), axis=0)
