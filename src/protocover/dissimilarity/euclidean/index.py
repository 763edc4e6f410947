"""Prototypes made ready once, and then asked which of them is nearest to some queries.

One product in single precision gives ``|z|^2 - 2 x.z``, the squared distance but for ``|x|^2``,
which is the same for all prototypes of a query. Its error is bounded as that of the bracket
is: where a single prototype can be the nearest it is, and where several can, direct sums
decide.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...balls import Floats, GroupSearch, Indices
from ...balls.nearest import nearest_in_groups
from .bracket import direct_squares, error_slack, power_of_unit, refuse_overflow
from .nearest import suits_tree_search
from .scan import rounded_up

__all__ = ["PrototypeIndex"]

# More than what rounding adds to the ends of a bracket, as a share of them.
_ROUNDING = 1e-12
# Squared lengths, in units of the prototypes', beyond which queries are not for this product.
_LARGEST = 2.0**80
# Numbers of a block's table that stay in the processor's cache, and bounds to its rows.
_TABLE_NUMBERS = 1 << 19
_FEWEST_ROWS, _MOST_ROWS = 128, 2048
# So few that direct sums alone take less than the product with all that comes with it.
_FEW_PRODUCTS = 1 << 14
# So few prototypes that making queries ready for single precision takes longer than it saves.
_FEWEST_FOR_SINGLE = 32
# So few that a table with a row for each is the quicker one.
_FEW_PROTOTYPES = 512
# So few groups that a call for each is quicker than one for all.
_FEW_GROUPS = 64

Bounds = NDArray[Any]


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
        self._centre = np.zeros_like(mean) if few else np.asarray(mean)
        rows = self._Z - self._centre
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
        """How many products a query takes."""
        return int(self._right.size)

    def search(
        self, A: Any, bounds: Indices, *, best: int | None = None, distances: bool = True
    ) -> GroupSearch:
        """Return a function of rows of A that gives the nearest in each group of prototypes.

        Of the groups only the nearest `best` need be known, where that is given; without
        `distances` the places alone are.
        """
        left = self._metric._embed(A)
        if suits_tree_search(left, self._Z, bounds):
            tree: GroupSearch = self._metric.nearest_test(A, self._B, bounds)
            return tree
        filled = np.flatnonzero(bounds[1:] > bounds[:-1])
        starts = bounds[filled]

        def search(rows: slice) -> tuple[Indices, Floats]:
            X = left[rows]
            if len(X) * self.n_products <= _FEW_PRODUCTS:
                return nearest_in_groups(self._measure_all(X), bounds)
            found = self._lower(X)
            if found is None:  # too far away for single precision
                elsewhere: GroupSearch = self._metric.nearest_test(A[rows], self._B, bounds)
                return elsewhere(slice(0, len(X)))
            limit = self._limits(*found, starts, best)
            i, j, g = _contenders(found[0], limit, starts)
            # Whatever has a limit has a contender, the one that it was set by.
            rivals = len(i) > int(np.count_nonzero(limit > -np.inf))
            shape = len(X), len(bounds) - 1
            return self._decide(X, i, j, filled[g], shape, rivals=rivals, distances=distances)

        return search

    def _measure_all(self, X: NDArray[Any]) -> Floats:
        """Return the dissimilarities of a few rows from all prototypes, by direct sums."""
        n_rows, n_prototypes = len(X), len(self._Z)
        i = np.repeat(np.arange(n_rows), n_prototypes)
        j = np.tile(np.arange(n_prototypes), n_rows)
        with np.errstate(over="ignore"):
            squares = direct_squares(X, self._Z, i, j)
        if not np.isfinite(squares).all():
            refuse_overflow()
        return np.asarray(self._metric._finish(squares)).reshape(n_rows, n_prototypes)

    def _lower(self, X: NDArray[Any]) -> tuple[Bounds, Floats] | None:
        """Return bounds below scaled squares, all less their query's |x|^2, and its slack.

        A row for each prototype and a column for each query. The fewer the prototypes, the
        longer the rows: what runs along them is then fast if these are what is contiguous.
        """
        few = self._dtype is np.float64
        rows = X.astype(np.float64, copy=False) if few else X - self._centre
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

    def _limits(self, lower: Bounds, slack: Floats, starts: Indices, best: int | None) -> Bounds:
        """Return what the nearest of each group cannot exceed; -inf for groups out of the race."""
        least = _least_of_groups(lower, starts)
        width = 2.0 * (slack + np.maximum.reduceat(self._z_slack, starts)[:, None])
        limit: Bounds = rounded_up(least + width + (abs(least) + width) * _ROUNDING, lower.dtype)
        if best is not None and best < len(starts):
            last = np.partition(limit, best - 1, axis=0)[best - 1]
            limit[least > last] = -np.inf
        return limit

    def _decide(
        self,
        X: NDArray[Any],
        i: Indices,
        j: Indices,
        g: Indices,
        shape: tuple[int, int],
        *,
        rivals: bool,
        distances: bool,
    ) -> tuple[Indices, Floats]:
        """Take the nearest contender of each (query, group), by sums where there are rivals."""
        index, nearest = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
        place = i * shape[1] + g
        index.ravel()[place] = j
        if rivals and not distances:
            contested = np.bincount(place, minlength=index.size)[place] > 1
            i, j, place = i[contested], j[contested], place[contested]
        if rivals or distances:
            distance = self._metric._finish(direct_squares(X, self._Z, i, j))
            nearest.ravel()[place] = distance
        if rivals:
            # Written from the farthest to the nearest, so that the nearest is what stays.
            order = np.lexsort((j, distance))[::-1]
            index.ravel()[place[order]] = j[order]
            nearest.ravel()[place[order]] = distance[order]
        return index, nearest


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


def _contenders(lower: Bounds, limit: Bounds, starts: Indices) -> tuple[Indices, Indices, Indices]:
    """Find the (query, prototype, group) with a bound up to their query's limit for the group."""
    if len(starts) == 1:
        j, i = _true_places(lower <= limit)
        return i, j, np.zeros(len(i), dtype=np.intp)
    if len(lower) <= _FEW_PROTOTYPES:
        sizes = np.diff(starts, append=len(lower))
        j, i = _true_places(lower <= np.repeat(limit, sizes, axis=0))
        return i, j, np.repeat(np.arange(len(starts)), sizes)[j]
    found = []
    for group, (start, stop) in enumerate(pairwise([*starts.tolist(), len(lower)])):
        queries = np.flatnonzero(limit[group] > -np.inf)
        j, i = _true_places(lower[start:stop, queries] <= limit[group, queries])
        found.append((queries[i], j + start, np.full(len(i), group)))
    i, j, g = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j, g


def _true_places(table: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """Return rows and columns of what is true, faster than NumPy where that is little."""
    if not table.flags.c_contiguous:
        column, row = _true_places(table.T)
        return row, column
    places = np.flatnonzero(table)
    row = places // max(1, table.shape[1])
    return row, places - row * table.shape[1]
