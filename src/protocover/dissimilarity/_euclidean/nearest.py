"""The nearest of each group from a tree over each: the better way in few dimensions.

A tree tells the two nearest. Where the second is no further than the first but for rounding, all
that might be as near are looked up too, and direct sums decide as they do after a product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial import KDTree

from ..._typing import Floats, Indices
from .contenders import nearest_contender
from .sums import direct_squares, finished
from .tree import MARGIN, SMALLEST, within_range

# As measured: with fewer queries, or fewer in a group, the product is as fast. With every
# dimension beyond the second it takes twice as many in a group.
_DIMENSIONS = 6
_IN_GROUP = 512
_QUERIES = 512


@dataclass(frozen=True, eq=False)
class TreeSearch:
    """The search for the nearest prototype of each group.

    Parameters
    ----------
    A, B : ndarray
        Embedded queries and prototypes.
    bounds : ndarray of int, shape (n_groups + 1,)
        Group g is ``B[bounds[g]:bounds[g + 1]]``.
    trees : list of KDTree
        One for each group.
    finish : callable
        Turns squared distances into dissimilarities.
    """

    A: Any
    B: Any
    bounds: Indices
    trees: list[KDTree]
    finish: Callable[[Floats], Floats]

    # There is no table of all pairs that they would have to fit into.
    n_rows: ClassVar[int] = 1024

    @classmethod
    def of(cls, A: Any, B: Any, bounds: Indices, finish: Callable[[Floats], Floats]) -> Self:
        """Return the search with a tree over each group."""
        groups = np.split(np.asarray(B, dtype=np.float64), bounds[1:-1])
        return cls(A, B, bounds, [KDTree(group) for group in groups], finish)

    def __call__(self, rows: slice) -> tuple[Indices, Floats]:
        """Return the nearest of each group for some queries, and their dissimilarities."""
        queries = np.asarray(self.A[rows], dtype=np.float64)
        found = [
            (i, j + self.bounds[g], np.full(len(i), g))
            for g, tree in enumerate(self.trees)
            for i, j in _contenders(tree, queries)
        ]
        i, j, g = (np.concatenate(part) for part in zip(*found, strict=True))
        pairs = self.A, self.B, rows.start + i, j
        distance = finished(self.finish, direct_squares(*pairs), *pairs)
        return nearest_contender(i, j, g, distance, distance, (len(queries), len(self.trees)))


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
    reach = np.maximum(distance[:, 0] * (1.0 + MARGIN), SMALLEST)
    alone = np.flatnonzero(distance[:, 1] > reach)
    yield alone, place[alone, 0]
    close = np.flatnonzero(distance[:, 1] <= reach)
    if len(close):
        found = tree.query_ball_point(queries[close], reach[close], return_sorted=False)
        sizes = np.fromiter(map(len, found), np.intp, len(found))
        places = np.fromiter(chain.from_iterable(found), np.intp, sizes.sum())
        yield np.repeat(close, sizes), places
