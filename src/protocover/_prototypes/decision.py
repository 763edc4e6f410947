"""How strongly queries speak for each class: the values of `decision_function`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def score_classes(distance: Floats, eps: float, *, present: NDArray[np.bool_]) -> Floats:
    """Turn dissimilarities from each class's nearest prototype into scores.

    A class without prototypes counts as if it had one a radius beyond the farthest of the
    others' nearest. With no prototype at all every score is zero. All scores are finite, but
    where a neighbour graph has no entry for any prototype of a class.

    Parameters
    ----------
    distance : ndarray, shape (n_queries, n_classes)
        Dissimilarity from the nearest prototype of each class, inf where there is none.
    eps : float
        The radius.
    present : ndarray of bool, shape (n_classes,)
        Which classes have prototypes.

    Returns
    -------
    ndarray, shape (n_queries, n_classes), or (n_queries,) for two classes
        Minus the dissimilarities, or the first class's minus the second's; 0 where neither
        is known.
    """
    if len(present) == 2:
        return _score_pair(distance, present, eps)
    if not present.any():
        return np.zeros_like(distance)
    farthest = distance[:, present].max(axis=1)
    with np.errstate(over="ignore"):
        # However small eps is beside them, no class comes near one that has prototypes.
        beyond = np.maximum(farthest + eps, np.nextafter(farthest, np.inf))
    beyond = np.where(np.isinf(farthest), np.inf, np.minimum(beyond, np.finfo(np.float64).max))
    return np.where(present, -distance, -beyond[:, None])


def _score_pair(distance: Floats, present: NDArray[np.bool_], eps: float) -> Floats:
    """Return the first class's dissimilarity minus the second's."""
    known = np.asarray(np.isfinite(distance).any(axis=1))
    if present.all():
        with np.errstate(invalid="ignore"):
            return np.where(known, distance[:, 0] - distance[:, 1], 0.0)
    # What is left of the difference where one of them lies a radius beyond the other.
    return np.where(known, eps * (float(present[1]) - float(present[0])), 0.0)
