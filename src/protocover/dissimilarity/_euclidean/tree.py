"""Members of balls from trees over blocks of neighbouring rows: the better way in few dimensions.

Rows are put in an order in which neighbours stand together, and cut into blocks with a tree over
each. A block is compared with the blocks within reach of its box only, and a pair of trees looks
at hardly any pair of rows that is not one of members. The trees' distances tell all members but
those within a hair's breadth of a radius, which direct sums decide as they do for the scan.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from ..._balls import levels_of
from ..._typing import Floats, Indices
from .scan import Scan

# As measured: for fewer rows or larger balls the scan is as fast. With every dimension beyond the
# second it takes twice as many rows and balls of half the share.
_DIMENSIONS = 6
_ROWS = 4096
_LARGEST_SHARE = 0.01
_SAMPLE = 256
_LEAF = 16
# Beyond these, squares could under- or overflow and the trees' distances mislead.
SMALLEST, _LARGEST = 1e-140, 1e140
# Trees are asked for so much more than a radius, many times the relative error of their distances.
MARGIN = 2.0**-30


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in an order in which neighbours stand together, with a tree over each block of them.

    Parameters
    ----------
    order : ndarray of int, shape (n_rows,)
        Number of the row at each place.
    size : int
        Rows of a block; the last may have fewer.
    trees : list of KDTree
        One for each block, in which rows are counted from its start.
    lowest, highest : ndarray of float, shape (n_blocks, n_features)
        Corners of the boxes of the blocks.
    """

    order: Indices
    size: int
    trees: list[KDTree]
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, X: Any, *, size: int) -> Self:
        """Cut the rows of X into blocks."""
        order, columns = _neighbors_together(X, size)
        starts = range(0, len(order), size)
        trees = [KDTree(columns[:, start : start + size].T, leafsize=_LEAF) for start in starts]
        lowest, highest = (
            end.reduceat(columns, starts, axis=1).T for end in (np.minimum, np.maximum)
        )
        return cls(order, size, trees, lowest, highest)

    def near(self, other: Blocks, number: int, reach: float) -> Indices:
        """Return the blocks whose box is within `reach` of the box of another's block."""
        apart = np.maximum(
            self.lowest - other.highest[number], other.lowest[number] - self.highest
        )
        squares = np.square(np.maximum(apart, 0.0)).sum(axis=1)
        return np.flatnonzero(squares <= (reach * (1.0 + MARGIN)) ** 2)


@dataclass(frozen=True, eq=False)
class TreeScan(Scan):
    """The test of blocks of rows against blocks of columns, each with its tree.

    It counts rows and columns in the order of the blocks, and is asked for whole blocks.
    """

    rows: Blocks
    columns: Blocks

    # Two blocks have a million pairs at most, which take 24 MB if all are members.
    tile: ClassVar[tuple[int, int]] = (1024, 1 << 31)

    @classmethod
    def of(cls, scan: Scan) -> Self:
        """Return the test of what a scan asks, with blocks of its rows and columns."""
        columns = Blocks.of(scan.Z, size=cls.tile[0])
        rows = columns if scan.X is scan.Z else Blocks.of(scan.X, size=cls.tile[0])
        return cls(**vars(scan), rows=rows, columns=columns)

    @property
    def order(self) -> tuple[Indices, Indices]:
        """Numbers of the points and of the candidates in the order in which they are counted."""
        return self.rows.order, self.columns.order

    def __call__(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        """Return the members among the pairs, counted from the slices' starts, and levels."""
        found = list(self._near(rows, columns))
        i, j, distance = (np.concatenate(part) for part in zip(*found, strict=True))
        level, members = self._levels(i + rows.start, j, distance)
        return i[members], j[members] - columns.start, level[members]

    def _near(self, rows: slice, columns: slice) -> Iterator[tuple[Indices, Indices, Floats]]:
        """Yield pairs within a little more than the largest radius, and their distances."""
        yield np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
        reach = float(self.reach[-1]) * (1.0 + MARGIN)
        number = rows.start // self.rows.size
        for other in self.columns.near(self.rows, number, reach).tolist():
            start = other * self.columns.size
            if columns.start <= start < columns.stop:
                near = self.rows.trees[number].sparse_distance_matrix(
                    self.columns.trees[other], reach, output_type="ndarray"
                )
                yield near["i"], near["j"] + start, near["v"]

    def _levels(self, i: Indices, j: Indices, distance: Floats) -> tuple[Indices, Any]:
        """Return the levels of pairs of places whose distances the trees tell, and the members."""
        level, above = (
            levels_of(distance * factor, self.reach, closed=self.closed)
            for factor in (1.0 - MARGIN, 1.0 + MARGIN)
        )
        unsure = np.flatnonzero(level < above)
        if len(unsure) == 0:
            return level, slice(None)
        pairs = self.rows.order[i[unsure]], self.columns.order[j[unsure]]
        level[unsure] = self.decide(*pairs)
        return level, level < len(self.radii)


def suits_tree(X: Any, Z: Any, reach: Floats) -> bool:
    """Tell whether trees are expected to be faster than looking at all pairs."""
    if not isinstance(X, np.ndarray) or not isinstance(Z, np.ndarray) or Z.shape[1] > _DIMENSIONS:
        return False
    # Making trees takes time by rows, looking at all pairs by pairs.
    n_rows = 2.0 * len(X) * len(Z) / max(1, len(X) + len(Z))
    beyond_two = 2.0 ** max(0, Z.shape[1] - 2)
    nearest = reach[0] if reach[0] > 0.0 else reach[-1]
    if n_rows < _ROWS * beyond_two or nearest < SMALLEST or not within_range(X, Z):
        return False
    rows, columns = (np.linspace(0, len(A) - 1, _SAMPLE).astype(np.intp) for A in (X, Z))
    share = (cdist(X[rows], Z[columns]) <= reach[-1]).mean()
    return bool(share <= _LARGEST_SHARE / beyond_two)


def within_range(X: Any, Z: Any) -> bool:
    """Tell whether no number is so large that a tree's distances could overflow."""
    return all(max(float(A.max()), -float(A.min())) < _LARGEST for A in (X, Z))


def _neighbors_together(X: Any, size: int) -> tuple[Indices, Floats]:
    """Return an order in which blocks of `size` rows have small boxes, and columns of X in it.

    A stretch of blocks is cut in two across its widest side, and again until each is one.
    """
    columns = np.array(X.T, dtype=np.float64, order="C")
    order = np.arange(columns.shape[1])
    stretches = [slice(0, len(order))]
    while stretches:
        some = stretches.pop()
        n_blocks = -(-(some.stop - some.start) // size)
        if n_blocks < 2:
            continue
        part, middle = columns[:, some], n_blocks // 2 * size
        widest = int(np.ptp(part, axis=1).argmax())
        places = part[widest].argpartition(middle)
        columns[:, some] = part[:, places]
        order[some] = order[some][places]
        cut = some.start + middle
        stretches += [slice(some.start, cut), slice(cut, some.stop)]
    return order, columns
