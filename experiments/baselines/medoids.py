"""K-medoids of each class: FasterPAM of the ``kmedoids`` package.

The paper runs ``pam`` of R's cluster; FasterPAM optimises the same sum of distances with
faster swaps, here from the same BUILD start unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import kmedoids
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .codebook import Codebook


def fit_medoids(
    X: NDArray[np.float64], y: NDArray[Any], sizes: Sequence[int], *, seed: int
) -> list[Codebook]:
    """Return codebooks of K Euclidean medoids a class, for each K of `sizes`."""
    chosen = choose_medoids(y, sizes, seed=seed, within=lambda rows: cdist(X[rows], X[rows]))
    return [Codebook(X[rows], y[rows]) for rows in chosen]


def choose_medoids(
    y: NDArray[Any],
    sizes: Sequence[Any],
    *,
    within: Any,
    seed: int,
    init: str = "build",
) -> list[NDArray[np.intp]]:
    """Return the rows of the medoids for each K.

    Parameters
    ----------
    y : ndarray, shape (n_points,)
        Labels.
    sizes : sequence of int, or of float
        Medoids of each class: a number, or a share of the class below 1.
    within : callable
        Gives the dissimilarities between rows of one class.
    seed : int
        For the order in which swaps are tried.
    init : str
        Start of FasterPAM; "random" where BUILD would take too long.
    """
    chosen: list[list[NDArray[np.intp]]] = [[] for _ in sizes]
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        table = np.ascontiguousarray(within(rows), dtype=np.float64)
        for found, size in zip(chosen, sizes, strict=True):
            k = max(1, round(size * len(rows))) if isinstance(size, float) else size
            found.append(rows[_medoids(table, int(k), seed, init)])
    return [np.concatenate(found) for found in chosen]


def _medoids(table: NDArray[np.float64], k: int, seed: int, init: str) -> NDArray[np.intp]:
    """Return the rows of k medoids of one table; all rows if there are no more."""
    if k >= len(table):
        return np.arange(len(table))
    found = kmedoids.fasterpam(table, k, init=init, random_state=seed, n_cpu=1)
    return np.sort(np.asarray(found.medoids).astype(np.intp))
