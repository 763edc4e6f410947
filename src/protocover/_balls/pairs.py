"""Pairs of samples and candidates, and which of them are within which radius.

`bind` prepares the pairs of two sets of samples for one search. A dissimilarity without a method
``bind`` is asked for tables of distances. Others return `Pairs` that list the near pairs faster,
with their distances or with lower bounds on these. The searches are written once over `Pairs`:
`near_members` here, the order of distances in `ordered`, the nearest candidates in `nearest`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._typing import Floats, Indices
from .traits import Dissimilarity, levels_of, relative_to, within

Tile = Callable[[slice, slice], Floats]
NearPairs = tuple[Indices, Indices, NDArray[Any]]

# Numbers held at once in a block of whole columns.
_COLUMN_NUMBERS = 1 << 22


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of candidates, in each of which the nearest is sought.

    Group g is ``B[bounds[g]:bounds[g + 1]]``. With `radii`, one for each candidate, distances
    count as multiples of these.
    """

    bounds: Indices
    radii: Floats | None = None

    @property
    def every(self) -> slice:
        """All candidates."""
        return slice(0, int(self.bounds[-1]))


class Pairs:
    """All pairs of the rows of A, the samples, and of B, the candidates, ready for one search.

    A subclass has `table`, or overrides the searches that use it. If it is `bounded`, what `near`
    and `contenders` find is decided by `exact`.

    Attributes
    ----------
    tile : tuple of int
        Rows and columns of the tiles that `near` prefers.
    order : tuple of ndarray or None
        Numbers of the samples and of the candidates in the order in which `near` and `exact`
        count them; None for their own order.
    block_rows : int or None
        Number of rows that `nearest` prefers; None if it depends on the size of the table.
    bounded : bool
        Whether `near` returns lower bounds, which may be of pairs outside of the radius, too.
    largest : float
        No bound is larger, in the units of `reduced`.
    """

    tile: tuple[int, int] = (1024, 1024)
    order: tuple[Indices, Indices] | None = None
    block_rows: int | None = None
    bounded: bool = False
    largest: float = np.inf

    def table(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some rows from some columns."""
        raise NotImplementedError

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances.

        If `bounded`, lower bounds on their reduced distances.
        """
        found = []
        for some, start in (
            (slice(i, min(i + self.tile[0], rows.stop)), j)
            for i in range(rows.start, rows.stop, self.tile[0])
            for j in range(columns.start, columns.stop, self.tile[1])
        ):
            table = self.table(some, slice(start, min(start + self.tile[1], columns.stop)))
            i, j = np.nonzero(within(table, radius, closed=closed))
            found.append((i + (some.start - rows.start), j + (start - columns.start), table[i, j]))
        return found[0] if len(found) == 1 else joined_pairs(found)

    def reduced(self, radii: Any) -> Any:
        """Return radii in the units of the bounds."""
        raise NotImplementedError

    def slack(self, i: Indices, j: Indices) -> Any:
        """Return by how much the reduced distances of pairs may exceed their bounds."""
        raise NotImplementedError

    def widest_slack(self, rows: slice, columns: slice) -> float:
        """Return the largest slack of a tile."""
        raise NotImplementedError

    def exact(self, i: Indices, j: Indices) -> Floats:
        """Return the distances of listed pairs."""
        raise NotImplementedError

    def contenders(self, rows: slice, groups: Groups) -> tuple[Indices, Indices, Indices]:
        """Return (row, candidate, group) of all pairs that may be the nearest of a group."""
        raise NotImplementedError

    def nearest(self, rows: slice, groups: Groups) -> tuple[Indices, Floats]:
        """Return the nearest candidate of each group and its distance, (n_rows, n_groups) each.

        -1 and infinity if the group is empty. Ties go to the lower index.
        """
        if not self.bounded:
            table = np.asarray(self.table(rows, groups.every))
            return nearest_in_groups(table, groups.bounds, groups.radii)
        i, j, g = self.contenders(rows, groups)
        distance = self.exact(rows.start + i, j)
        ranking = distance if groups.radii is None else relative_to(groups.radii[j], distance)
        shape = rows.stop - rows.start, len(groups.bounds) - 1
        index = np.full(shape, -1, dtype=np.intp)
        nearest = np.full(shape, np.inf)
        # Written from the farthest to the nearest, so that the nearest is the one that stays.
        order = np.lexsort((j, ranking))[::-1]
        index[i[order], g[order]] = j[order]
        nearest[i[order], g[order]] = distance[order]
        return index, nearest


class TablePairs(Pairs):
    """Pairs whose distances are computed tile by tile.

    Parameters
    ----------
    tile : callable
        Returns the distances of a slice of rows from a slice of columns.
    """

    def __init__(self, tile: Tile) -> None:
        self._tile = tile

    def table(self, rows: slice, columns: slice) -> Floats:
        """Return the distances of some rows from some columns."""
        return np.asarray(self._tile(rows, columns), dtype=np.float64)


class ColumnPairs(TablePairs):
    """Pairs computed by whole columns, so that an expensive candidate is prepared once.

    Parameters
    ----------
    columns_of : callable
        Returns the distances of all samples from a slice of candidates.
    n_rows : int
        Number of rows of the tables held while they are computed.
    """

    def __init__(self, columns_of: Callable[[slice], Floats], n_rows: int) -> None:
        super().__init__(lambda rows, columns: columns_of(columns)[rows])
        self.tile = (1 << 62, min(Pairs.tile[1], columns_at_once(n_rows)))


def columns_at_once(n_rows: int) -> int:
    """Return how many columns of a table are computed together."""
    return max(1, _COLUMN_NUMBERS // max(1, n_rows))


def bind(
    dissimilarity: Any,
    A: Any,
    B: Any,
    *,
    radii: Floats | None = None,
    outward: bool = False,
    groups: Groups | None = None,
) -> Pairs:
    """Prepare the pairs of A and B for one search, or for tables alone.

    Parameters
    ----------
    dissimilarity : Dissimilarity
        Fitted.
    A, B : indexable
        Samples and candidates.
    radii : ndarray of float, rising, or None
        The radii that pairs are compared with.
    outward : bool, default=False
        Whether whole columns are searched, to put members in the order of their distances.
    groups : Groups or None
        The groups whose nearest candidates are sought.
    """
    if hasattr(dissimilarity, "bind"):
        pairs: Pairs = dissimilarity.bind(A, B, radii=radii, outward=outward, groups=groups)
        return pairs
    return pairwise_pairs(dissimilarity, A, B)


def finds_near_pairs(dissimilarity: Any) -> bool:
    """Return whether near pairs are found fast enough to ask for those of all samples."""
    return bool(getattr(dissimilarity, "finds_near_pairs", False))


def pairwise_pairs(dissimilarity: Dissimilarity, A: Any, B: Any) -> TablePairs:
    """Return pairs whose tiles are computed by `pairwise`."""
    return TablePairs(
        lambda rows, columns: dissimilarity.pairwise(
            _safe_indexing(A, rows), _safe_indexing(B, columns)
        )
    )


def near_members(
    pairs: Pairs, rows: slice, columns: slice, radii: Floats, *, closed: bool
) -> tuple[Indices, Indices, Indices, NDArray[Any]]:
    """Return rows, columns and levels of the pairs within the last of the rising `radii`.

    The level is the number of the first radius that a pair is within. The last array has the
    distances, or, if pairs are bounded, the lower bounds on the reduced distances.
    """
    i, j, low = pairs.near(rows, columns, float(radii[-1]), closed=closed)
    if not pairs.bounded:
        return i, j, levels_of(low, radii, closed=closed), low
    thresholds = pairs.reduced(radii)
    level = np.searchsorted(thresholds, low) if len(thresholds) > 1 else np.zeros_like(i)
    # What was found only because of rounding is above the last threshold: undecided as well.
    next_threshold = np.append(thresholds, -np.inf)[level]
    # A threshold between the two bounds of a pair leaves its level open. The largest slack of
    # all excludes most pairs before their own is computed.
    close = np.flatnonzero(low >= next_threshold - pairs.widest_slack(rows, columns))
    upper = low[close] + pairs.slack(rows.start + i[close], columns.start + j[close])
    unsure = close[upper >= next_threshold[close]]
    if len(unsure) == 0:
        return i, j, level, low
    distance = pairs.exact(rows.start + i[unsure], columns.start + j[unsure])
    level[unsure] = levels_of(distance, radii, closed=closed)
    members = level < len(radii)
    return i[members], j[members], level[members], low[members]


def joined_pairs(found: list[NearPairs]) -> NearPairs:
    """Concatenate the near pairs of several tiles."""
    if not found:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    i, j, low = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return i, j, low


def nearest_in_groups(
    table: NDArray[Any], bounds: Indices, radii: Floats | None = None
) -> tuple[Indices, Floats]:
    """Find the smallest entry of each group of columns, row by row; with radii, as multiples."""
    ranking = table if radii is None else relative_to(radii, table)
    n_groups = len(bounds) - 1
    index = np.full((len(table), n_groups), -1, dtype=np.intp)
    value = np.full((len(table), n_groups), np.inf)
    every = np.arange(len(table))
    for g in range(n_groups):
        if bounds[g] < bounds[g + 1]:
            index[:, g] = bounds[g] + ranking[:, bounds[g] : bounds[g + 1]].argmin(axis=1)
            value[:, g] = table[every, index[:, g]]
    return index, value


def rounded_up(values: Any, dtype: np.dtype[Any]) -> Any:
    """Return `values` in a possibly narrower type, rounded to above themselves."""
    return np.nextafter(np.asarray(values).astype(dtype), dtype.type(np.inf))
