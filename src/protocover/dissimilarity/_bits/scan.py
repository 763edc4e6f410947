"""Members of balls of bit vectors, from one product of whole numbers.

Rows x and z with a and b ones, k of them in common, are at ``(a + b - 2 k) / (a + b - k)``. That
is at most eps just where k is at least ``(1 - eps) / (2 - eps)`` times a + b, so that the product
of rows with two more columns gives a number that is negative for all who are outside, and one
comparison finds the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._balls import levels_of
from ..._typing import Floats, Indices
from .rows import BitRows

# More than the quotient, as computed, can be off by.
_MARGIN = 2.0**-40
_MOST_BITS = {np.float32: 24, np.float64: 53}


def tanimoto(common: Floats, ones: Any) -> Floats:
    """Return the distances of rows with so many ones in both together, and so many in common.

    It is a quotient of whole numbers, rounded once: that of ``scipy.spatial.distance.jaccard``.
    Rows without a bit are equal.
    """
    either: Floats = ones - common
    distances = np.zeros_like(either)
    np.divide(either - common, either, out=distances, where=either > 0.0)
    return distances


@dataclass(frozen=True, eq=False)
class BitScan:
    """The test of a tile of pairs, rows x columns, for all radii at once."""

    X: BitRows
    Z: BitRows
    radii: Floats  # rising
    closed: bool

    tile: ClassVar[tuple[int, int]] = (1024, 1024)

    def __call__(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        """Return the members among the pairs, counted from the slices' starts, and levels."""
        table = self._excess(rows, columns)
        places = np.flatnonzero(table.ravel() >= 0.0)
        i, j = np.divmod(places, table.shape[1])
        ones = self.X.counts[rows][i] + self.Z.counts[columns][j]
        common = table.ravel()[places].astype(np.float64) + self._share * ones
        level = levels_of(tanimoto(common, ones), self.radii, closed=self.closed)
        members = level < len(self.radii)
        return i[members], j[members], level[members]

    @cached_property
    def _share(self) -> float:
        """The least share of common bits of a member, or a little less.

        It is a fraction with so few binary digits that all sums in the product are exact: they
        are multiples of its last digit, and none is above twice the ones of any row.
        """
        eps = min(float(self.radii[-1]), 1.0)
        most = max(self.X.counts.max(initial=0.0), self.Z.counts.max(initial=0.0))
        digits = _MOST_BITS[self.X.dtype] - 1 - math.ceil(math.log2(2 * most + 2))
        step = 2.0 ** -min(digits, 30)
        return math.floor(((1.0 - eps) / (2.0 - eps) - _MARGIN) / step) * step

    def _excess(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return the common bits less that share of the ones of both, exactly."""
        share = self._share
        ones = self.X.counts[rows], self.Z.counts[columns]
        if self.X.sparse and self.Z.sparse:
            return self.X.common(self.Z, rows, columns) - share * np.add.outer(*ones)
        left, right = self.X.ready(rows, extra=2), self.Z.ready(columns, extra=2)
        left[:, -2], left[:, -1] = -share * ones[0], 1.0
        right[:, -2], right[:, -1] = 1.0, -share * ones[1]
        return np.asarray(left @ right.T)
