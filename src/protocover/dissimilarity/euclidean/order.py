"""Who is nearer to a candidate, told by the bracket of squared distances.

The lower bounds tell it of all pairs but those whose brackets overlap, at the price of the
product; only of those that matter the distances are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...balls.traits import Near
from .bracket import direct_squares
from .scan import StripScan, rounded_up
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

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return points and candidates of members, lower bounds and the width of brackets."""
        if isinstance(self.scan, TreeScan):
            candidate, point, _ = self.scan(columns, rows)
            distance = self.measure(point + rows.start, candidate + columns.start)
            return point, candidate, distance, np.zeros(len(distance), dtype=np.float32)
        candidate, point, _, lower = self.scan.sift(columns, rows)
        near, low = self.scan.near, np.maximum(lower, 0.0).astype(np.float32)
        slack = near.z_slack[rows][point] + near.x_slack[columns][candidate]
        # No row is longer than one where lengths are scaled.
        farthest = min(4.0, float(self.scan.reach[-1] * near.scale) ** 2)
        width = 2.0 * slack + _ROUNDING * farthest
        return point, candidate, low, rounded_up(width, low.dtype)

    def measure(self, points: Indices, candidates: Indices) -> Floats:
        """Return the dissimilarities of pairs of points and candidates."""
        squares = direct_squares(self.scan.X, self.scan.Z, candidates, points)
        return self.scan.finish(squares)
