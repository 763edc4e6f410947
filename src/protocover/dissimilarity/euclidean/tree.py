"""Members of balls from a tree over the candidates: the better way in one to three dimensions.

A tree looks only at candidates nearby, and in so few dimensions finds hardly any that
are not members. It is asked for a little more than the ball; what it returns is decided
by direct sums, so that the members are those of the scan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from ...balls import Indices
from .scan import Scan

__all__ = ["TreeScan", "suits_tree"]

# As measured: in four dimensions, for fewer candidates or larger balls the scan is as fast.
_DIMENSIONS = 3
_CANDIDATES = 4096
_LARGEST_SHARE = 0.01
_SAMPLE = 256
# Beyond these, squares could under- or overflow and the tree's distances mislead.
_SMALLEST, _LARGEST = 1e-140, 1e140
_MARGIN = 1.0 + 2.0**-30


@dataclass(frozen=True, eq=False)
class TreeScan(Scan):
    """The test by a tree of the candidates, of blocks of rows against all of them."""

    tree: KDTree

    tile: ClassVar[tuple[int, int]] = (512, 1 << 31)

    def __call__(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        """Return the members among the pairs, counted from the slices' starts, and levels."""
        block = KDTree(np.asarray(self.X[rows], dtype=np.float64))
        near = block.sparse_distance_matrix(
            self.tree, float(self.reach[-1]) * _MARGIN, output_type="ndarray"
        )
        near = near[(near["j"] >= columns.start) & (near["j"] < columns.stop)]
        i, j = near["i"], near["j"]
        level = self.decide(rows.start + i, j)
        members = level < len(self.radii)
        return i[members], j[members] - columns.start, level[members]


def suits_tree(X: Any, Z: Any, reach: float) -> bool:
    """Tell whether a tree is expected to be faster than looking at all pairs."""
    if issparse(X) or issparse(Z) or Z.shape[1] > _DIMENSIONS or len(Z) < _CANDIDATES:
        return False
    rows, columns = (np.linspace(0, len(A) - 1, _SAMPLE).astype(np.intp) for A in (X, Z))
    distances = cdist(X[rows], Z[columns])
    sound = reach > _SMALLEST and distances.max() < _LARGEST
    return sound and bool((distances <= reach).mean() <= _LARGEST_SHARE)
