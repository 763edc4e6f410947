"""Metrics that are Euclidean distances of mapped rows, but for an error that the rows know."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._balls import GroupSearch
from ..._balls.nearest import nearest_in_groups
from ..._typing import Floats, Indices
from .distance import FARTHEST_COSINE, Quadratic

# Below so many products a query all distances are computed sooner than bounds and the nearest.
_FEW_TERMS = 1 << 13


class _Mapped(Quadratic):
    """Takes :class:`~protocover.dissimilarity._euclidean.rows.MappedRows` for points."""

    def _embed(self, X: Any) -> Any:
        return X

    def _finish(self, squares: Floats) -> Floats:
        """Return what mapped rows give for pairs, which are the distances already."""
        return squares

    def nearest_test(
        self, A: Any, B: Any, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        if len(B) * B.terms >= _FEW_TERMS:
            return super().nearest_test(A, B, bounds, radii)
        return lambda rows: nearest_in_groups(B.pairwise(A.given[rows], B.given), bounds, radii)


class MappedEuclidean(_Mapped):
    """The metric is the Euclidean distance of the mapped rows."""

    def _reach(self, eps: Floats) -> Floats:
        return eps


class MappedCosine(_Mapped):
    """The metric is half of the squared distance of the mapped rows."""

    def _reach(self, eps: Floats) -> Floats:
        return np.sqrt(2.0 * np.minimum(eps, FARTHEST_COSINE))
