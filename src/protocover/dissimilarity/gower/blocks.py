"""Members and nearest among blocks of similar rows: most blocks are too far to be looked at.

Rows are put in an order in which similar ones stand together, and cut into blocks. The ranges of
two blocks in each column bound all dissimilarities between their rows from below. Pairs of the
blocks that are left are computed as all pairs would be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from ...balls import Floats, Indices, levels_of, relative_to, within
from ...balls.traits import Near
from .mixed import CodedTable, Weighing, average_differences

__all__ = ["BlockNearest", "BlockOrder", "BlockScan", "Blocks", "suits_blocks"]

_SIZE = 256
# As measured: if more pairs of blocks are near, looking at all pairs is as fast.
_LARGEST_SHARE = 0.5
# Bounds are lowered by more than sums in another order may differ.
_MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in an order in which similar ones stand together, cut into blocks of one size.

    Parameters
    ----------
    order : ndarray of int, shape (n_rows,)
        Number of the row at each place.
    rows : CodedTable
        The rows in that order.
    lowest, highest : ndarray of float, shape (n_blocks, n_columns)
        Range of each column of numbers, and then of codes, in each block; infinite if a value
        is missing.
    """

    order: Indices
    rows: CodedTable
    lowest: Floats
    highest: Floats

    @classmethod
    def of(cls, table: CodedTable, weighing: Weighing) -> Self:
        """Cut the rows of a table into blocks."""
        columns = np.concatenate((table.numbers, table.codes.astype(np.float64)))
        columns[~table.known] = np.nan
        n_numbers = len(table.numbers)
        order = _similar_together(columns, n_numbers, weighing.codes)
        starts = np.arange(0, len(order), _SIZE)
        ordered = columns[:, order]
        unknown = np.logical_or.reduceat(np.isnan(ordered), starts, axis=1)
        with np.errstate(invalid="ignore"):
            lowest = np.where(unknown, -np.inf, np.minimum.reduceat(ordered, starts, axis=1))
            highest = np.where(unknown, np.inf, np.maximum.reduceat(ordered, starts, axis=1))
        rows = CodedTable(table.numbers[:, order], table.codes[:, order])
        return cls(order, rows, lowest.T, highest.T)

    def bounds(self, other: Blocks, number: int, weighing: Weighing) -> Floats:
        """Return for each block a lower bound on what its rows are from another's block."""
        apart = np.maximum(
            self.lowest - other.highest[number], other.lowest[number] - self.highest
        )
        n_numbers = len(weighing.numbers)
        # Numbers are coded with their weight, and differ by no more than that.
        bounds = np.clip(apart[:, :n_numbers], 0.0, weighing.numbers).sum(axis=1)
        bounds += (weighing.codes * (apart[:, n_numbers:] > 0.0)).sum(axis=1)
        # The weight of the columns that count for a pair is no more than that of all.
        total = weighing.numbers.sum() + weighing.codes.sum()
        return np.asarray(bounds * ((1.0 - _MARGIN) / total))

    def near(self, other: Blocks, number: int, weighing: Weighing, eps: float) -> Indices:
        """Return the places of the rows of blocks that may be within `eps` of another's block."""
        return self.places(np.flatnonzero(self.bounds(other, number, weighing) <= eps))

    def places(self, blocks: Indices) -> Indices:
        """Return the places of all rows of some blocks."""
        places = (blocks[:, None] * _SIZE + np.arange(_SIZE)).ravel()
        return places[places < self.rows.n_rows]

    def groups(self, rows: slice) -> Iterator[tuple[int, Indices]]:
        """Yield the places of some rows, by number of block."""
        places = np.flatnonzero((self.order >= rows.start) & (self.order < rows.stop))
        number = places // _SIZE
        cuts = np.append(np.flatnonzero(np.diff(number, prepend=-1)), len(number))
        for start, stop in pairwise(cuts.tolist()):
            yield int(number[start]), places[start:stop]


@dataclass(frozen=True, eq=False)
class BlockScan:
    """The test of places of rows against places of columns, for all radii at once.

    It counts rows and columns in the order of their blocks, and is asked for whole blocks.
    """

    rows: Blocks
    columns: Blocks
    weighing: Weighing
    radii: Floats
    closed: bool

    @property
    def tile(self) -> tuple[int, int]:
        """A block of rows against all columns."""
        return _SIZE, 1 << 31

    @property
    def order(self) -> tuple[Indices, Indices]:
        """Numbers of the points and of the candidates in the order in which they are counted."""
        return self.rows.order, self.columns.order

    def __call__(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Indices]:
        """Return the members among the pairs, counted from the slices' starts, and levels."""
        eps = float(self.radii[-1])
        places = self.columns.near(self.rows, rows.start // _SIZE, self.weighing, eps)
        places = places[(places >= columns.start) & (places < columns.stop)]
        left, right = self.rows.rows.take(rows), self.columns.rows.take(places)
        table = average_differences(left, right, self.weighing)
        i, j = np.nonzero(within(table, eps, closed=self.closed))
        level = levels_of(table[i, j], self.radii, closed=self.closed)
        return i, places[j] - columns.start, level


@dataclass(frozen=True, eq=False)
class BlockOrder:
    """The test of some candidates' balls that tells all dissimilarities of their members.

    Parameters
    ----------
    points, candidates : Blocks
        Of all points and all candidates.
    weighing : Weighing
        How much each column counts.
    eps : float
        The radius.
    closed : bool
        Whether a pair at the radius exactly is within it.
    """

    points: Blocks
    candidates: Blocks
    weighing: Weighing
    eps: float
    closed: bool

    measure: ClassVar[None] = None

    def __call__(self, rows: slice, columns: slice) -> Near:
        """Return points and candidates of members, their dissimilarities and no width."""
        found = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))]
        for number, places in self.candidates.groups(columns):
            found.append(self._members(rows, places, number))
        point, candidate, distance = (np.concatenate(part) for part in zip(*found, strict=True))
        no_width = np.zeros(len(point), dtype=np.float32)
        return point - rows.start, candidate - columns.start, distance, no_width

    def _members(
        self, rows: slice, places: Indices, number: int
    ) -> tuple[Indices, Indices, Floats]:
        """Return points, candidates and dissimilarities for candidates of one block."""
        others = self.points.near(self.candidates, number, self.weighing, self.eps)
        point = self.points.order[others]
        if rows.start > 0 or rows.stop < len(self.points.order):
            asked = (point >= rows.start) & (point < rows.stop)
            others, point = others[asked], point[asked]
        left, right = self.candidates.rows.take(places), self.points.rows.take(others)
        table = average_differences(left, right, self.weighing)
        i, j = np.nonzero(within(table, self.eps, closed=self.closed))
        return point[j], self.candidates.order[places[i]], table[i, j]


@dataclass(frozen=True, eq=False)
class BlockNearest:
    """The search for the nearest prototype of each group.

    Parameters
    ----------
    queries : Blocks
        Of all queries.
    groups : list of (int, Blocks)
        Where each group of prototypes starts, and blocks of it.
    weighing : Weighing
        How much each column counts.
    radii : ndarray of float, shape (n_prototypes,), or None
        Radii of all prototypes, if distances count as multiples of these.
    """

    queries: Blocks
    groups: list[tuple[int, Blocks]]
    weighing: Weighing
    radii: Floats | None

    n_rows: ClassVar[int] = 8192
    # Blocks that are looked at first, for a limit to how far the nearest can be.
    _PROBES: ClassVar[int] = 2

    def __call__(self, rows: slice) -> tuple[Indices, Floats]:
        """Return the nearest of each group for some queries, and their dissimilarities."""
        shape = rows.stop - rows.start, len(self.groups)
        index, distance = np.full(shape, -1, dtype=np.intp), np.full(shape, np.inf)
        for number, places in self.queries.groups(rows):
            asked = self.queries.order[places] - rows.start
            some = self.queries.rows.take(places)
            for g, (start, blocks) in enumerate(self.groups):
                if blocks.rows.n_rows:
                    index[asked, g], distance[asked, g] = self._nearest(
                        some, number, start, blocks
                    )
        return index, distance

    def _nearest(
        self, some: CodedTable, number: int, start: int, blocks: Blocks
    ) -> tuple[Indices, Floats]:
        """Return the nearest prototype of a group for queries of one block."""
        radii = None if self.radii is None else self.radii[start + blocks.order]
        bounds = blocks.bounds(self.queries, number, self.weighing)
        if radii is not None:
            largest = np.maximum.reduceat(radii, np.arange(0, len(radii), _SIZE))
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                bounds = np.nan_to_num(bounds / largest)
        first = np.argsort(bounds, kind="stable")[: self._PROBES]
        ranking, _ = self._rank(some, blocks, np.sort(blocks.places(first)), radii)
        limit = ranking.min(axis=1).max()
        # In the order of their numbers, so that a tie goes to the lower one.
        places = blocks.places(np.flatnonzero(bounds * (1.0 - _MARGIN) <= limit))
        places = places[np.argsort(blocks.order[places])]
        ranking, table = self._rank(some, blocks, places, radii)
        best = ranking.argmin(axis=1)
        return start + blocks.order[places[best]], table[np.arange(len(best)), best]

    def _rank(
        self, some: CodedTable, blocks: Blocks, places: Indices, radii: Floats | None
    ) -> tuple[Floats, Floats]:
        """Return what prototypes are compared by, and their dissimilarities."""
        table = average_differences(some, blocks.rows.take(places), self.weighing)
        return table if radii is None else relative_to(radii[places], table), table


def suits_blocks(rows: Blocks, columns: Blocks, weighing: Weighing, eps: float) -> bool:
    """Tell whether looking at blocks is expected to be faster than looking at all pairs."""
    some = np.unique(np.linspace(0, len(rows.lowest) - 1, 16).astype(np.intp)).tolist()
    n_near = sum(len(columns.near(rows, number, weighing, eps)) for number in some)
    return n_near <= _LARGEST_SHARE * len(some) * columns.rows.n_rows


def _similar_together(columns: Floats, n_numbers: int, code_weights: Floats) -> Indices:
    """Return an order in which blocks of rows have narrow ranges.

    A stretch of blocks is cut in two across its widest column, and again until each is one.
    """
    order = np.arange(columns.shape[1])
    stretches = [slice(0, len(order))]
    while stretches:
        some = stretches.pop()
        n_blocks = -(-(some.stop - some.start) // _SIZE)
        if n_blocks < 2:
            continue
        part = columns[:, order[some]]
        with np.errstate(all="ignore"):
            spread = np.fmax.reduce(part, axis=1) - np.fmin.reduce(part, axis=1)
        spread[n_numbers:] = code_weights * (spread[n_numbers:] > 0.0)
        # Missing values sort last.
        places = np.argsort(part[int(np.nan_to_num(spread, nan=-1.0).argmax())], kind="stable")
        order[some] = order[some][places]
        cut = some.start + n_blocks // 2 * _SIZE
        stretches += [slice(some.start, cut), slice(cut, some.stop)]
    return order
