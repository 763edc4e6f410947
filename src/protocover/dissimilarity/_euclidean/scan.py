"""Members of balls from the bracket of their squared distances, a strip of pairs at a time.

The product gives lower bounds tile by tile. Those up to eps squared are picked out while
the tile is still in cache; all further work is on the few pairs that were picked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._balls import levels_of
from ..._typing import Floats, Indices
from .bracket import DenseBracket, SparseBracket, scaled_squares
from .sums import direct_squares, finished


@dataclass(frozen=True, eq=False)
class Scan:
    """The test of a strip of pairs, rows x columns, for all radii at once."""

    X: Any  # embedded points
    Z: Any  # embedded candidates
    radii: Floats  # rising, in the dissimilarity's own terms
    reach: Floats  # the same as Euclidean radii
    finish: Callable[[Floats], Floats]  # turns squared distances into dissimilarities
    closed: bool  # whether a pair at a radius exactly is within it

    def decide(self, i: Indices, j: Indices) -> Indices:
        """Return the levels of the pairs (X[i], Z[j]), by direct sums."""
        return levels_of(self.measure(i, j), self.radii, closed=self.closed)

    def measure(self, i: Indices, j: Indices) -> Floats:
        """Return the dissimilarities of the pairs (X[i], Z[j])."""
        pairs = self.X, self.Z, i, j
        return finished(self.finish, direct_squares(*pairs), *pairs)


@dataclass(frozen=True, eq=False)
class StripScan(Scan):
    """The test by the bracket of the squared distances."""

    near: DenseBracket | SparseBracket

    # Wide enough for the making ready of rows and the bookkeeping to be lost in the product.
    tile: ClassVar[tuple[int, int]] = (1024, 4096)

    def __call__(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        """Return the members among the pairs, counted from the slices' starts, and levels."""
        i, j, level, _ = self.sift(rows, columns)
        return i, j, level

    def sift(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices, Floats]:
        """Return members and levels, and the lower bounds on their scaled squared distances."""
        thresholds = scaled_squares(self.reach, self.near.scale)
        i, j, lower = self._pick(rows, columns, float(thresholds[-1]))
        level = np.searchsorted(thresholds, lower) if len(thresholds) > 1 else np.zeros_like(i)
        # What was picked only because of rounding is above the last threshold: open as well.
        next_threshold = np.append(thresholds, -np.inf)[level]
        # Between the two bounds a threshold leaves the level open. The largest slack of all
        # leaves few pairs of which to look at their own.
        x_slack, z_slack = self.near.x_slack[rows], self.near.z_slack[columns]
        widest = 2.0 * (x_slack.max() + z_slack.max())
        close = np.flatnonzero(lower >= next_threshold - widest)
        upper = lower[close] + 2.0 * (x_slack[i[close]] + z_slack[j[close]])
        unsure = close[upper >= next_threshold[close]]
        if len(unsure) == 0:
            return i, j, level, lower
        level[unsure] = self.decide(rows.start + i[unsure], columns.start + j[unsure])
        members = level < len(self.radii)
        return i[members], j[members], level[members], lower[members]

    def _pick(self, rows: slice, columns: slice, limit: float) -> tuple[Indices, Indices, Floats]:
        """Find the pairs whose lower bound is at most `limit`, or a little above."""
        picked = []
        memory = np.empty(0, dtype=bool)
        for first_row, first_column, table in self.near.tables(rows, columns):
            if memory.size < table.size:
                memory = np.empty(table.size, dtype=bool)
            small = memory[: table.size]
            np.less_equal(table.ravel(), rounded_up(limit, table.dtype), out=small)
            places = np.flatnonzero(small)
            if len(places):
                i = places // table.shape[1]
                j = places - i * table.shape[1]
                picked.append((i + first_row, j + first_column, table.ravel()[places]))
        if not picked:
            return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        i, j, lower = (np.concatenate(parts) for parts in zip(*picked, strict=True))
        return i, j, lower.astype(np.float64)


def rounded_up(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return `values` in a possibly narrower type, rounded to above themselves."""
    return np.nextafter(np.asarray(values).astype(dtype), dtype.type(np.inf))
