"""Named metrics that are Euclidean distances of other rows, and the maps that make them so.

Each map says how far the squared distances of its rows may be from the squares of what the
metric itself computes. The Euclidean room brackets by products of the mapped rows, widens the
brackets by that much, and asks the metric for the few pairs that they leave open: the answers
are those of comparing with `pairwise`, at about the price of a product.

Distances of truth values are quotients of counts, which products give exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..._typing import Floats
from .._bits import Tanimoto
from .._euclidean import Euclidean, SquaredEuclidean
from .._euclidean.mapped import MappedCosine, MappedEuclidean
from .centered import centered_rows
from .limits import Cross
from .scaled import scaled_rows
from .whitened import whitened_rows

__all__ = ["map_points"]

# The dissimilarity that answers, and both sets of points in the form it takes.
Mapped = tuple[Any, Any, Any]
Table = NDArray[Any]

# Pairs a feature below which mapping takes longer than computing all of them, as measured.
_FEW_PAIRS = 32


def map_points(
    name: str, A: Any, B: Any, *, params: dict[str, Any], pairwise: Callable[[Any, Any], Floats]
) -> Mapped | None:
    """Find a distance by products that answers for a metric, and map the points for it.

    Parameters
    ----------
    name : str
        The metric, without aliases.
    A, B : indexable
        Points and candidates.
    params : dict
        What the metric takes beside them.
    pairwise : callable
        Computes its table of distances.

    Returns
    -------
    tuple or None
        The distance and both sets of points in the form it takes. None where the metric has
        none, where its parameters are not those of the map, where the map could err too much
        to be of use, and where pairs are so few that it does not pay: the metric has to be
        computed then, and says itself what may be wrong with its parameters.
    """
    find = _MAPS.get(name)
    if find is None or issparse(A) or issparse(B):
        return None
    left = np.asarray(A)
    right = left if B is A else np.asarray(B)
    if left.dtype.kind not in "biuf" or right.dtype.kind not in "biuf":
        return None
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[1]:
        return None
    if len(left) * len(right) < _FEW_PAIRS * max(_FEW_PAIRS, left.shape[1]):
        return None
    return find(left, right, pairwise, **params)


def _map_seuclidean(
    A: Table, B: Table, pairwise: Cross, *, V: Any, **others: Any
) -> Mapped | None:
    with np.errstate(divide="ignore", invalid="ignore"):
        factors = 1.0 / np.sqrt(np.asarray(V, dtype=np.float64))
    rows = None if others else scaled_rows(A, B, factors, pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_mahalanobis(
    A: Table, B: Table, pairwise: Cross, *, VI: Any, **others: Any
) -> Mapped | None:
    rows = None if others else whitened_rows(A, B, np.asarray(VI, dtype=np.float64), pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_correlation(A: Table, B: Table, pairwise: Cross, **others: Any) -> Mapped | None:
    rows = None if others else centered_rows(A, B, pairwise)
    return rows and (MappedCosine(), *rows)


def _map_minkowski(
    A: Table, B: Table, pairwise: Cross, *, p: float = 2, w: Any = None, **others: Any
) -> Mapped | None:
    """Map to Euclidean distance, which it is with the default `p`."""
    if others or p != 2:
        return None
    if w is None:
        return Euclidean(), A, B
    with np.errstate(invalid="ignore"):
        factors = np.sqrt(np.asarray(w, dtype=np.float64))
    rows = scaled_rows(A, B, factors, pairwise)
    return rows and (MappedEuclidean(), *rows)


def _map_nan_euclidean(
    A: Table,
    B: Table,
    pairwise: Cross,
    *,
    squared: bool = False,
    missing_values: float = np.nan,
    **others: Any,
) -> Mapped | None:
    """Map to Euclidean distance, which it is, to the last bit, where nothing is missing."""
    if others or not np.isnan(missing_values) or np.isnan(A).any() or np.isnan(B).any():
        return None
    return (SquaredEuclidean() if squared else Euclidean()), A, B


def _map_jaccard(A: Table, B: Table, pairwise: Cross, **others: Any) -> Mapped | None:
    """Map to Tanimoto distance, which it is of truth values."""
    if others:
        return None
    left = np.asarray(A, dtype=bool)
    return Tanimoto(), left, left if B is A else np.asarray(B, dtype=bool)


_MAPS: dict[str, Callable[..., Mapped | None]] = {
    "correlation": _map_correlation,
    "jaccard": _map_jaccard,
    "mahalanobis": _map_mahalanobis,
    "minkowski": _map_minkowski,
    "nan_euclidean": _map_nan_euclidean,
    "seuclidean": _map_seuclidean,
}
