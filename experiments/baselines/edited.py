"""Condensed and edited nearest neighbours, from imbalanced-learn.

Its condensing differs from Hart's (1968): the smallest class is kept whole, and each other
class is gone through once and condensed against the smallest alone, so that training
examples may still be wrong in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from imblearn.under_sampling import CondensedNearestNeighbour, EditedNearestNeighbours
from numpy.typing import NDArray

from .codebook import Codebook


def condense(X: NDArray[np.float64], y: NDArray[Any], *, seed: int) -> Codebook:
    """Keep the smallest class, and what 1-NN on those kept before gets wrong."""
    sampler = CondensedNearestNeighbour(random_state=seed)
    return Codebook(*sampler.fit_resample(X, y))


def edit(X: NDArray[np.float64], y: NDArray[Any]) -> Codebook:
    """Drop the examples whose three nearest others vote for another class (Wilson, 1972)."""
    sampler = EditedNearestNeighbours(n_neighbors=3, kind_sel="mode", sampling_strategy="all")
    classes, codes = np.unique(y, return_inverse=True)
    sampler.fit_resample(X, codes)
    kept = np.isin(np.arange(len(y)), sampler.sample_indices_)
    # A class of which nothing is left keeps all its examples, else it could not be told.
    kept |= np.bincount(codes[kept], minlength=len(classes))[codes] == 0
    return Codebook(X[kept], y[kept])
