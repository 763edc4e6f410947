"""Gower's dissimilarity between rows that are coded already, with a fast search among them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from ..._balls import DistanceTest, GroupSearch, LevelTest, members_of
from ..._balls.ordered import Compared
from ..._typing import Floats, Indices
from .blocks import BlockNearest, BlockOrder, Blocks, BlockScan, suits_blocks
from .mixed import CodedTable, Weighing, average_differences

# Rows of a block among which the nearest is looked for.
_SMALL = 128


@dataclass(frozen=True, eq=False)
class CodedGower:
    """Gower's dissimilarity between the rows of coded tables.

    Parameters
    ----------
    weighing : Weighing
        How much each column counts.
    """

    weighing: Weighing

    def pairwise(self, A: CodedTable, B: CodedTable) -> Floats:
        """Return the dissimilarities of the rows of A from those of B."""
        return average_differences(A, B, self.weighing)

    def level_test(
        self, X: CodedTable, Z: CodedTable, *, radii: Floats, closed: bool
    ) -> LevelTest:
        """Return a function of (rows, columns) that gives a tile's members and levels."""
        left = Blocks.of(X, self.weighing)
        right = left if Z is X else Blocks.of(Z, self.weighing)
        if suits_blocks(left, right, self.weighing, float(radii[-1])):
            return BlockScan(left, right, self.weighing, radii, closed)

        def test(rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
            return members_of(self._tile(X, Z, rows, columns), radii, closed=closed)

        return test

    def distance_test(
        self, X: CodedTable, Z: CodedTable, *, eps: float, closed: bool
    ) -> DistanceTest:
        """Return a test of the pairs within `eps` that tells all dissimilarities."""
        points = Blocks.of(X, self.weighing)
        if suits_blocks(points, points, self.weighing, eps):
            return BlockOrder(points, Z, self.weighing, eps, closed)
        return Compared(partial(self._tile, X, Z), eps, closed)

    def nearest_test(
        self, A: CodedTable, B: CodedTable, bounds: Indices, radii: Floats | None = None
    ) -> GroupSearch:
        """Return a function of rows that gives the nearest of B in each group of columns."""
        parts = [(start, B.take(slice(start, stop))) for start, stop in pairwise(bounds.tolist())]
        groups = [(start, Blocks.of(part, self.weighing, size=_SMALL)) for start, part in parts]
        return BlockNearest(A, groups, self.weighing, radii)

    def _tile(self, A: CodedTable, B: CodedTable, rows: slice, columns: slice) -> Floats:
        """Return that tile of ``pairwise(A, B)``."""
        return average_differences(A.take(rows), B.take(columns), self.weighing)
