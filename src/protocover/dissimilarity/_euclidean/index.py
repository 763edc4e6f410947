"""Prototypes prepared once, and then searched for the nearest to some queries.

One product in single precision gives ``|z|^2 - 2 x.z``, the squared distance but for ``|x|^2``,
which is the same for all prototypes of a query. Its error is bounded as that of the bracket
is: where a single prototype can be the nearest it is, and where several can, direct sums
decide.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._balls import Groups, nearest_in_groups
from ..._balls.nearest import GroupSearch, two_in_table, two_of_groups
from ..._typing import Floats, Indices, Mask
from .product import error_slack, power_of_unit, refuse_overflow
from .sums import direct_squares, finished, squares_in_runs, table_of_squares
from .tree import suits_tree_search

# Squared lengths, in units of the prototypes', beyond which queries are not for this product.
_LARGEST = 2.0**80
# Numbers of a block's table that stay in the processor's cache, and bounds to its rows.
_TABLE_NUMBERS = 1 << 20
_FEWEST_ROWS, _MOST_ROWS = 128, 1 << 14
# Products that take as long as all else that is done with an entry of the table.
_BESIDE_PRODUCTS = 32
# So few that direct sums alone take less than the product with all that comes with it.
_FEW_PRODUCTS = 3 << 16
# Distances of a whole table that take as long as one that had to be found out about.
_ALL_FOR_ONE = 3
# So few prototypes that making queries ready for single precision takes longer than it saves.
_FEWEST_FOR_SINGLE = 32
# So few that a table with a row for each is the quicker one.
_FEW_PROTOTYPES = 512
# So many queries of a prototype that a call for them is quicker than one for all pairs.
_LONG_RUN = 192
# So few groups that a call for each is quicker than one for all.
_FEW_GROUPS = 64

Bounds = NDArray[Any]
Answer = tuple[Indices, Floats]


class PrototypeIndex:
    """Dense prototypes, ready for the product.

    Parameters
    ----------
    metric : Quadratic
        Turns squared distances of embedded rows into dissimilarities.
    B : ndarray, shape (n_prototypes, n_features)
        The prototypes, as they are.
    """

    def __init__(self, metric: Any, B: NDArray[Any]) -> None:
        self._metric, self._B = metric, B
        # Also rows that are embedded as they are read.
        self._Z = np.asarray(metric._embed(B))
        few = len(self._Z) <= _FEWEST_FOR_SINGLE and _is_moderate(self._Z)
        self._dtype: Any = np.float64 if few else np.float32
        mean = np.mean(self._Z, axis=0, dtype=np.float64)
        self._center = np.zeros_like(mean) if few else np.asarray(mean)
        rows = self._Z - self._center
        norms = np.einsum("ij,ij->i", rows, rows)
        self._scale = power_of_unit(norms, norms)
        self._z_slack = error_slack(norms, rows.shape[1], self._scale, self._dtype)
        # Queries in double precision are multiplied as they are, all others made ready.
        factor = -2.0 * self._scale**2 if few else self._scale
        self._right: Any = (rows * factor).astype(self._dtype)
        self._offset = (norms * self._scale**2 - self._z_slack).astype(self._dtype)[:, None]

    @property
    def block_rows(self) -> int:
        """How many queries are best looked at together."""
        rows = _TABLE_NUMBERS // int(max(self._right.shape))
        return max(_FEWEST_ROWS, min(_MOST_ROWS, rows))

    @property
    def n_products(self) -> int:
        """How many products a query takes the time of, about."""
        return len(self._right) * self._products_each

    @property
    def _products_each(self) -> int:
        """How many of them a prototype takes."""
        return int(self._right.shape[1]) + _BESIDE_PRODUCTS

    def search(self, A: Any, bounds: Indices, *, distances: bool = True) -> GroupSearch:
        """Return a function of rows of A that gives the nearest in each group of prototypes.

        Without `distances` the places alone are.
        """
        starts, group = _starts(bounds), _group_of_each(bounds)
        n_groups = len(bounds) - 1

        def decide(X: NDArray[Any], lower: Bounds, slack: Floats) -> Answer:
            least = _least_of_groups(lower, starts)
            i, j = _contenders(lower, least, self._limits(least, slack, starts), starts)
            # Every group of a query has a contender.
            rivals = len(i) > least.size
            cells = i * n_groups + group[j]
            index, nearest = _empty((len(X), n_groups))
            index.ravel()[cells] = j
            if rivals and not distances:
                contested = np.flatnonzero(np.bincount(cells)[cells] > 1)
                i, j, cells = i[contested], j[contested], cells[contested]
            if rivals or distances:
                _put_nearest(cells, j, self._distances(X, i, j), index.ravel(), nearest.ravel())
            return index, nearest

        return self._searching(
            A,
            bounds,
            decide,
            n_sums=len(starts) if distances else 0,
            of_table=lambda table: nearest_in_groups(table.T, bounds),
            of_groups=lambda index, distance: (index, distance),
        )

    def search_two(self, A: Any, bounds: Indices) -> GroupSearch:
        """Return a function of rows of A that gives the nearest, and that of any other group."""
        starts, group = _starts(bounds), _group_of_each(bounds)

        def decide(X: NDArray[Any], lower: Bounds, slack: Floats) -> Answer:
            least = _least_of_groups(lower, starts)
            limit = self._limits(least, slack, starts)
            if len(starts) > 2:
                # What exceeds the second lowest limit is farther than the nearest of two groups.
                np.minimum(limit, _second_least(limit), out=limit)
            i, j = _contenders(lower, least, limit, starts)
            distance = self._distances(X, i, j)
            if len(i) == 2 * len(X) and len(starts) > 1:
                return _in_order(i, j, distance, len(X))
            index, nearest = _empty((2, len(X)))
            _put_nearest(i, j, distance, index[0], nearest[0])
            other = np.flatnonzero(group[j] != group[index[0]][i])
            _put_nearest(i[other], j[other], distance[other], index[1], nearest[1])
            return index, nearest

        return self._searching(
            A,
            bounds,
            decide,
            n_sums=min(2, len(starts)),
            of_table=lambda table: two_in_table(table, group),
            of_groups=lambda index, distance: two_of_groups(index, distance, distance),
        )

    def _searching(
        self,
        A: Any,
        bounds: Indices,
        decide: Callable[[NDArray[Any], Bounds, Floats], Answer],
        *,
        n_sums: int,
        of_table: Callable[[Floats], Answer],
        of_groups: Callable[[Indices, Floats], Answer],
    ) -> GroupSearch:
        """Return a function of rows of A that answers from bounds, or from what there is instead.

        That is the table of a few distances, or the nearest of each group where trees find
        them, or where queries are too far away for single precision.
        """
        left, groups = self._metric._embed(A), Groups(bounds)
        if suits_tree_search(left, self._Z, bounds):
            trees = self._metric.bind(A, self._B, groups=groups)
            return lambda rows: of_groups(*trees.nearest(rows, groups))

        # What a query takes more in a whole table than in one that leaves out most sums.
        more = (len(self._Z) - n_sums * _ALL_FOR_ONE) * self._products_each

        def search(rows: slice) -> Answer:
            X = left[rows]
            if len(X) * more <= _FEW_PRODUCTS:
                return of_table(self._measure_all(X))
            found = self._lower(X)
            if found is None:
                pairs = self._metric.bind(A[rows], self._B, groups=groups)
                return of_groups(*pairs.nearest(slice(0, len(X)), groups))
            return decide(X, *found)

        return search

    def _measure_all(self, X: NDArray[Any]) -> Floats:
        """Return the dissimilarities of a few rows, a row of the table for each prototype."""
        # SciPy goes along the second: the longer it is the better.
        by_row = len(X) >= len(self._Z)
        squares = table_of_squares(self._Z, X) if by_row else table_of_squares(X, self._Z).T
        if not squares.max(initial=0.0) < np.inf:
            refuse_overflow()
        return finished(self._metric._finish, squares, self._Z, X)

    def _lower(self, X: NDArray[Any]) -> tuple[Bounds, Floats] | None:
        """Return bounds below scaled squares, all less their query's |x|^2, and its slack.

        A row for each prototype and a column for each query. The fewer the prototypes, the
        longer the rows: what runs along them is then fast if these are what is contiguous.
        """
        few = self._dtype is np.float64
        rows = X.astype(np.float64, copy=False) if few else X - self._center
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.einsum("ij,ij->i", rows, rows)
            if not norms.max(initial=0.0) * self._scale**2 <= _LARGEST:
                return None
        if not few:  # scaled first, then rounded, so that nothing over- or underflows
            ready = np.empty(rows.shape, dtype=np.float32)
            rows = np.multiply(rows, -2.0 * self._scale, out=ready, casting="same_kind")
        by_row = len(self._right) <= _FEW_PROTOTYPES
        lower = self._right @ rows.T if by_row else (rows @ self._right.T).T
        lower += self._offset
        return lower, error_slack(norms, X.shape[1], self._scale, self._dtype)

    def _limits(self, least: Bounds, slack: Floats, starts: Indices) -> Bounds:
        """Return what the nearest of each group, of which `least` is a bound below, cannot exceed.

        Twice the slack is what the bound may be below it. The third time is for rounding here,
        of numbers up to 2 (|x|^2 + |z|^2): that is at most a ninth of the slack.
        """
        width = 3.0 * slack + 3.0 * np.maximum.reduceat(self._z_slack, starts)[:, None]
        return np.add(least, width, dtype=least.dtype, casting="same_kind")

    def _distances(self, X: NDArray[Any], i: Indices, j: Indices) -> Floats:
        """Return the dissimilarities of pairs of rows of X and prototypes, by direct sums."""
        few = len(self._Z)
        if few <= _FEW_PROTOTYPES and len(i) >= few * _LONG_RUN:  # these come by prototype
            squares = squares_in_runs(X, self._Z, i, np.searchsorted(j, np.arange(few + 1)))
        else:
            squares = direct_squares(X, self._Z, i, j)
        return finished(self._metric._finish, squares, X, self._Z, i, j)


def _is_moderate(Z: NDArray[Any]) -> bool:
    """Whether products of rows as they are stay far from what numbers can be."""
    largest = float(abs(Z).max(initial=0.0))
    return 2.0**-200 < largest < 2.0**200


def _least_of_groups(lower: Bounds, starts: Indices) -> Bounds:
    """Return the smallest entry of each group of rows, column by column."""
    if len(starts) == 1:
        return np.asarray(lower.min(axis=0, keepdims=True))
    if not lower.flags.c_contiguous or len(starts) > _FEW_GROUPS:
        return np.asarray(np.minimum.reduceat(lower, starts))
    least = np.empty((len(starts), lower.shape[1]), dtype=lower.dtype)
    for row, (start, stop) in enumerate(pairwise([*starts.tolist(), len(lower)])):
        lower[start:stop].min(axis=0, out=least[row])
    return least


def _second_least(table: Bounds) -> Bounds:
    """Return the second smallest entry of each column."""
    least, second = np.full((2, table.shape[1]), np.inf, dtype=table.dtype)
    for row in table:
        np.minimum(second, np.maximum(least, row), out=second)
        np.minimum(least, row, out=least)
    return np.asarray(second)


def _contenders(
    lower: Bounds, least: Bounds, limit: Bounds, starts: Indices
) -> tuple[Indices, Indices]:
    """Find the (query, prototype) with a bound up to their query's limit for the group.

    The prototypes of a query come in their order.
    """
    groups = list(enumerate(pairwise([*starts.tolist(), len(lower)])))
    if len(lower) <= _FEW_PROTOTYPES or len(starts) == 1:
        near = np.empty_like(lower, dtype=bool)
        for group, (start, stop) in groups:
            np.less_equal(lower[start:stop], limit[group], out=near[start:stop])
        j, i = _true_places(near)
        return i, j
    found = []
    for group, (start, stop) in groups:
        queries = np.flatnonzero(least[group] <= limit[group])
        j, i = _true_places(lower[start:stop, queries] <= limit[group, queries])
        found.append((queries[i], j + start))
    i, j = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j


def _put_nearest(
    cells: Indices, j: Indices, distance: Floats, index: Indices, nearest: Floats
) -> None:
    """Put the nearest contender of each cell, the first of them in a tie, in its place."""
    np.minimum.at(nearest, cells, distance)
    # Written from the last to the first, so that the first is what stays.
    ties = np.flatnonzero(distance == nearest[cells])[::-1]
    index[cells[ties]] = j[ties]


def _in_order(i: Indices, j: Indices, distance: Floats, n_queries: int) -> Answer:
    """Return the nearer and the farther of two contenders that each query has."""
    pairs, contenders = np.empty((2, n_queries), dtype=np.intp), np.arange(len(i))
    # Of what is written to the same place the last stays.
    pairs[0, i[::-1]], pairs[1, i] = contenders[::-1], contenders
    turned = distance[pairs[1]] < distance[pairs[0]]
    pairs = np.where(turned, pairs[::-1], pairs)
    return j[pairs], distance[pairs]


def _empty(shape: tuple[int, int]) -> Answer:
    """Return indices and distances before any is found."""
    return np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)


def _starts(bounds: Indices) -> Indices:
    """Return where the groups that are not empty start."""
    return bounds[:-1][bounds[1:] > bounds[:-1]]


def _group_of_each(bounds: Indices) -> Indices:
    """Return the group of each prototype."""
    return np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))


def _true_places(table: Mask) -> tuple[Indices, Indices]:
    """Return rows and columns of what is true, faster than NumPy where that is little."""
    if not table.flags.c_contiguous:
        column, row = _true_places(table.T)
        return row, column
    places = np.flatnonzero(table)
    row = places // max(1, table.shape[1])
    return row, places - row * table.shape[1]
