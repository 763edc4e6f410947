"""Who is nearer to a candidate, told by the bracket of squared distances, or by a tree.

The lower bounds tell it of all pairs but those whose brackets overlap, at the price of the
product; only of those that matter the distances are computed. Of the few pairs that a tree
finds they all are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from scipy.spatial import KDTree

from ..._balls import within
from ..._balls.traits import Near
from ..._typing import Floats, Indices
from .bracket import scaled_squares
from .scan import Scan, StripScan, rounded_up
from .tree import MARGIN

# Covers that bounds are rounded to single precision and that squares may have equal roots.
_ROUNDING = 2.0**-22


@dataclass(frozen=True, eq=False)
class OrderScan:
    """The test of some candidates' balls that tells who is nearer.

    Parameters
    ----------
    scan : StripScan
        The test of candidates as rows and points as columns, for one radius.
    """

    scan: StripScan

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return points and candidates of members, lower bounds and the width of brackets."""
        candidate, point, _, lower = self.scan.sift(columns, rows)
        near, low = self.scan.near, np.maximum(lower, 0.0).astype(np.float32)
        slack = near.z_slack[rows][point] + near.x_slack[columns][candidate]
        # No row is longer than one where lengths are scaled.
        farthest = min(4.0, float(scaled_squares(self.scan.reach[-1], near.scale)))
        width = 2.0 * slack + _ROUNDING * farthest
        return point, candidate, low, rounded_up(width, low.dtype)

    def measure(self, points: Indices, candidates: Indices) -> Floats:
        """Return the dissimilarities of pairs of points and candidates."""
        return self.scan.measure(candidates, points)


@dataclass(frozen=True, eq=False)
class TreeOrder:
    """The same test by a tree over the points.

    Parameters
    ----------
    scan : Scan
        What is asked, of candidates as rows and points as columns, for one radius.
    tree : KDTree
        Of the points.
    """

    scan: Scan
    tree: KDTree

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return points and candidates of members, their dissimilarities and no width."""
        centers = np.asarray(self.scan.X[columns], dtype=np.float64)
        found = self.tree.query_ball_point(
            centers, float(self.scan.reach[-1]) * (1.0 + MARGIN), return_sorted=False
        )
        sizes = np.fromiter(map(len, found), np.intp, len(found))
        point = np.fromiter(chain.from_iterable(found), np.intp, sizes.sum())
        candidate = np.repeat(np.arange(len(sizes)), sizes)
        asked = (point >= rows.start) & (point < rows.stop)
        point, candidate = point[asked], candidate[asked]
        distance = self.measure(point, candidate + columns.start)
        inside = within(distance, self.scan.radii[-1], closed=self.scan.closed)
        no_width = np.zeros(int(inside.sum()), dtype=np.float32)
        return point[inside] - rows.start, candidate[inside], distance[inside], no_width

    def measure(self, points: Indices, candidates: Indices) -> Floats:
        """Return the dissimilarities of pairs of points and candidates."""
        return self.scan.measure(candidates, points)
