"""Distances from the prototypes of a fitted classifier, and which of them counts as near."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from .._balls import bind, relative_to, traits_of
from .._estimators import PVMClassifier
from .._resources import row_count
from ..data._points import check_estimator_points

Floats = NDArray[np.float64]

# Entries of a table of distances held at once.
_ENTRIES = 1 << 21


def distance_blocks(
    classifier: PVMClassifier, X: Any
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield the rows of each block, and a table of their distances that the caller may change."""
    if issparse(X):
        X = X.tocsr()  # of which blocks of rows can be had
    n_points, n_prototypes = row_count(X), len(classifier.prototype_labels_)
    step = max(1, _ENTRIES // max(1, n_prototypes))
    dissimilarity, tile = classifier.dissimilarity_, None
    readable = hasattr(dissimilarity, "bind") and not traits_of(dissimilarity).precomputed
    if readable and n_points > step:
        # Points and prototypes are read once, not once for each block.
        points = check_estimator_points(classifier, X, dissimilarity, reset=False)
        tile = bind(dissimilarity, points, classifier.prototypes_).table
    for start in range(0, n_points, step):
        rows = np.arange(start, min(start + step, n_points))
        if tile is None:
            yield rows, classifier._distances(_safe_indexing(X, rows))
        else:
            some = slice(start, start + len(rows))
            yield rows, np.array(tile(some, slice(0, n_prototypes)), dtype=np.float64)


def nearness(classifier: PVMClassifier, table: Floats) -> Floats:
    """Return what the prototypes are compared by, given a table of distances from them.

    That is the table itself, or multiples of the radii where each prototype has its own.
    """
    radii = classifier.solution_.radii
    if radii is None:
        return table
    return np.where(np.isinf(table), np.inf, relative_to(radii, table))
