"""Who is nearer to a candidate, told by the bracket of squared distances.

The lower bounds tell it of all pairs but those whose brackets overlap, at the price of the
product; only of those that matter the distances are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bracket import direct_squares
from .scan import StripScan
from .tree import TreeScan

__all__ = ["OrderScan"]

# Covers that bounds are rounded to single precision and that squares may have equal roots.
_ROUNDING = 2.0**-22

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class OrderScan:
    """The test of some candidates' balls that tells who is nearer.

    Parameters
    ----------
    scan : StripScan or TreeScan
        The test of candidates as rows and points as columns, for one radius.
    """

    scan: StripScan | TreeScan

    def __call__(self, columns: slice) -> tuple[Indices, Indices, NDArray[Any], Floats]:
        """Return points and candidates of members, lower bounds and the width of brackets."""
        every = slice(0, self.scan.Z.shape[0])
        if isinstance(self.scan, TreeScan):
            candidate, point, _ = self.scan(columns, every)
            distance = self.measure(point, candidate + columns.start)
            return point, candidate, distance, np.zeros_like(distance)
        candidate, point, _, lower = self.scan.sift(columns, every)
        near = self.scan.near
        slack = near.z_slack[point] + near.x_slack[columns][candidate]
        low = np.maximum(lower, 0.0)
        widest = 2.0 * slack + _ROUNDING * low.max(initial=0.0)
        return point, candidate, low.astype(np.float32), widest

    def measure(self, points: Indices, candidates: Indices) -> Floats:
        """Return the dissimilarities of pairs of points and candidates."""
        squares = direct_squares(self.scan.X, self.scan.Z, candidates, points)
        return self.scan.finish(squares)
