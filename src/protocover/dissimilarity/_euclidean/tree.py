"""Near pairs and nearest candidates from trees: the better way in few dimensions.

Rows are put in an order in which neighbours stand together, and cut into blocks with a tree over
each. A block is compared only with the blocks whose box is near, and a pair of trees visits
hardly any pair of rows outside of the radius. The trees' distances decide all pairs except those
within rounding of a radius, which direct sums decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from ..._balls import Groups, within
from ..._balls.pairs import NearPairs, joined_pairs
from ..._typing import Floats, Indices
from .sums import Finish, RowPairs

# As measured: for fewer rows or larger balls the scan is as fast. With every dimension beyond the
# second it takes twice as many rows and neighbourhoods of half the size.
_DIMENSIONS = 6
_ROWS = 4096
_LARGEST_FRACTION = 0.01
_SAMPLE = 256
_LEAF = 16
# The same for the nearest: with fewer queries, or fewer in a group, the product is as fast.
_IN_GROUP, _QUERIES = 512, 512
# Beyond these, squares could under- or overflow and the trees' distances mislead.
_SMALLEST, _LARGEST = 1e-140, 1e140
# Trees search this much beyond a radius, many times the relative error of their distances.
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


class BlockTrees(RowPairs):
    """Near pairs from the trees of blocks of rows and of columns.

    Rows and columns are counted in the order of the blocks, and tiles are whole blocks.
    """

    bounded = True
    # Two blocks have a million pairs at most, which take 24 MB if all are members.
    tile = (1024, 1 << 31)

    def __init__(self, left: Any, right: Any, finish: Finish, reach: Floats) -> None:
        super().__init__(left, right, finish)
        self._reach = reach
        self._columns = Blocks.of(right, size=self.tile[0])
        self._rows = self._columns if left is right else Blocks.of(left, size=self.tile[0])
        self.order = self._rows.order, self._columns.order

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return pairs within a little more than `radius`, and bounds on their distances."""
        found = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))]
        reach = float(self._reach[-1]) * (1.0 + MARGIN)
        number = rows.start // self._rows.size
        for other in self._columns.near(self._rows, number, reach).tolist():
            start = other * self._columns.size
            if columns.start <= start < columns.stop:
                near = self._rows.trees[number].sparse_distance_matrix(
                    self._columns.trees[other], reach, output_type="ndarray"
                )
                found.append((near["i"], near["j"] + (start - columns.start), near["v"]))
        i, j, distance = joined_pairs(found)
        return i, j, distance * (1.0 - MARGIN)

    def reduced(self, radii: Any) -> Any:
        """Return Euclidean radii."""
        return self._reach

    def slack(self, i: Indices, j: Indices) -> Any:
        """Return by how much distances may exceed their bounds."""
        return 4.0 * MARGIN * self._reach[-1]

    def widest_slack(self, rows: slice, columns: slice) -> float:
        """Return the same for a tile."""
        return float(4.0 * MARGIN * self._reach[-1])

    def exact(self, i: Indices, j: Indices) -> Floats:
        """Return the distances of listed pairs, counted in the order of the blocks."""
        return super().exact(self._rows.order[i], self._columns.order[j])


class PointTree(RowPairs):
    """The members of whole columns, and their distances, from a tree over all samples."""

    def __init__(self, left: Any, right: Any, finish: Finish, reach: float) -> None:
        super().__init__(left, right, finish)
        self._reach = reach
        self._tree = KDTree(np.asarray(left, dtype=np.float64))

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances."""
        centers = np.asarray(self.right[columns], dtype=np.float64)
        candidate, sample = _in_balls(self._tree, centers, self._reach * (1.0 + MARGIN))
        asked = (sample >= rows.start) & (sample < rows.stop)
        sample, candidate = sample[asked], candidate[asked]
        distance = self.exact(sample, candidate + columns.start)
        inside = within(distance, radius, closed=closed)
        return sample[inside] - rows.start, candidate[inside], distance[inside]


class NearestTrees(RowPairs):
    """The nearest of each group from a tree over each.

    A tree finds the two nearest. If the second is no farther than the first except for rounding,
    all that might be as near are listed, and direct sums decide.
    """

    bounded = True
    # There is no table of all pairs that would have to fit into memory.
    block_rows = 1024

    def __init__(self, left: Any, right: Any, finish: Finish, bounds: Indices) -> None:
        super().__init__(left, right, finish)
        groups = np.split(np.asarray(right, dtype=np.float64), bounds[1:-1])
        self._trees = [KDTree(group) for group in groups]

    def contenders(self, rows: slice, groups: Groups) -> tuple[Indices, Indices, Indices]:
        """Return (row, candidate, group) of all pairs that may be the nearest of a group."""
        queries = np.asarray(self.left[rows], dtype=np.float64)
        return joined_pairs(
            [
                (i, j + groups.bounds[g], np.full(len(i), g))
                for g, tree in enumerate(self._trees)
                for i, j in _contenders(tree, queries)
            ]
        )


def suits_tree(X: Any, Z: Any, reach: Floats) -> bool:
    """Tell whether trees are expected to be faster than looking at all pairs."""
    if not isinstance(X, np.ndarray) or not isinstance(Z, np.ndarray) or Z.shape[1] > _DIMENSIONS:
        return False
    # Making trees takes time by rows, looking at all pairs by pairs.
    n_rows = 2.0 * len(X) * len(Z) / max(1, len(X) + len(Z))
    beyond_two = 2.0 ** max(0, Z.shape[1] - 2)
    nearest = reach[0] if reach[0] > 0.0 else reach[-1]
    if n_rows < _ROWS * beyond_two or nearest < _SMALLEST or not within_range(X, Z):
        return False
    rows, columns = (np.linspace(0, len(A) - 1, _SAMPLE).astype(np.intp) for A in (X, Z))
    fraction = (cdist(X[rows], Z[columns]) <= reach[-1]).mean()
    return bool(fraction <= _LARGEST_FRACTION / beyond_two)


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


def suits_tree_search(A: Any, B: Any, bounds: Indices) -> bool:
    """Tell whether trees are expected to be faster than looking at all pairs."""
    if not isinstance(A, np.ndarray) or not isinstance(B, np.ndarray) or len(A) < _QUERIES:
        return False
    fewest = _IN_GROUP * (len(bounds) - 1) * 2.0 ** max(0, B.shape[1] - 2)
    return B.shape[1] <= _DIMENSIONS and len(B) >= fewest and within_range(A, B)


def _contenders(tree: KDTree, queries: Floats) -> Iterator[tuple[Indices, Indices]]:
    """Yield queries and places in the tree that may be their nearest."""
    if tree.n == 0:
        return
    distance, place = tree.query(queries, k=[1, 2])
    reach = np.maximum(distance[:, 0] * (1.0 + MARGIN), _SMALLEST)
    alone = np.flatnonzero(distance[:, 1] > reach)
    yield alone, place[alone, 0]
    close = np.flatnonzero(distance[:, 1] <= reach)
    if len(close):
        query, places = _in_balls(tree, queries[close], reach[close])
        yield close[query], places


def _in_balls(tree: KDTree, centers: Floats, radius: Any) -> tuple[Indices, Indices]:
    """Return (number of the center, place in the tree) of all rows within a radius."""
    found = tree.query_ball_point(centers, radius, return_sorted=False)
    sizes = np.fromiter(map(len, found), np.intp, len(found))
    places = np.fromiter(chain.from_iterable(found), np.intp, sizes.sum())
    return np.repeat(np.arange(len(sizes)), sizes), places
