"""K-means of each class, from scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .codebook import Codebook


def fit_means(
    X: NDArray[np.float64],
    y: NDArray[Any],
    sizes: Sequence[int],
    *,
    seed: int,
    n_init: int = 3,
) -> list[Codebook]:
    """Return codebooks of K centroids a class, for each K of `sizes`."""
    return [_fit(X, y, size, seed, n_init) for size in sizes]


def _fit(X: NDArray[np.float64], y: NDArray[Any], k: int, seed: int, n_init: int) -> Codebook:
    """Cluster each class into k."""
    points, labels = [], []
    for label in np.unique(y):
        own = X[y == label]
        if k < len(own):
            with warnings.catch_warnings():
                # Fewer distinct points than clusters only leave copies of a centroid.
                warnings.simplefilter("ignore", ConvergenceWarning)
                own = KMeans(k, n_init=n_init, random_state=seed).fit(own).cluster_centers_
        points.append(own)
        labels.append(np.full(len(own), label))
    return Codebook(np.vstack(points), np.concatenate(labels))
