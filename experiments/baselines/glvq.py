"""Generalized learning vector quantization (Sato & Yamada 1995), trained to convergence.

Started at k-means centres of each class. The mean of ``(d+ - d-) / (d+ + d-)`` over the samples is
minimized by L-BFGS, with squared distances to the nearest prototype of the own class, d+, and of
any other class, d-.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from .codebook import Codebook

Floats = NDArray[np.float64]
MOST_ITERATIONS = 1000


def fit_glvq(X: Floats, y: NDArray[np.intp], per_class: int, *, seed: int) -> Codebook:
    """Return a codebook of `per_class` vectors per class, or one per sample of smaller classes."""
    starts, labels = [], []
    for label in np.unique(y):
        own = X[y == label]
        k = min(per_class, len(np.unique(own, axis=0)))
        starts.append(KMeans(k, n_init=3, random_state=seed).fit(own).cluster_centers_)
        labels += [label] * k
    start, codes = np.concatenate(starts), np.array(labels)
    if len(np.unique(codes)) == 1:
        return Codebook(start, codes)
    result = minimize(
        _loss,
        start.ravel(),
        args=(X, y, codes),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": MOST_ITERATIONS, "maxfun": 2 * MOST_ITERATIONS},
    )
    return Codebook(result.x.reshape(start.shape), codes)


def _loss(
    flat: Floats, X: Floats, y: NDArray[np.intp], codes: NDArray[np.intp]
) -> tuple[float, Floats]:
    """Return the mean of the relative differences and its gradient."""
    points, rows = flat.reshape(len(codes), -1), np.arange(len(y))
    squared = cdist(X, points, "sqeuclidean")
    is_own = codes == y[:, None]
    near = np.where(is_own, squared, np.inf).argmin(axis=1)
    other = np.where(is_own, np.inf, squared).argmin(axis=1)
    own, rest = squared[rows, near], squared[rows, other]
    total = np.maximum(own + rest, np.finfo(float).tiny)
    gradient = np.zeros_like(points)
    np.add.at(gradient, near, (4.0 * rest / total**2)[:, None] * (points[near] - X))
    np.add.at(gradient, other, (-4.0 * own / total**2)[:, None] * (points[other] - X))
    return float(((own - rest) / total).mean()), gradient.ravel() / len(y)
