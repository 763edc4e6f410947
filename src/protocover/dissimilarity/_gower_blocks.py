"""Near pairs and nearest among blocks of similar rows: most blocks are too far to be compared.

Rows are put in an order in which similar ones stand together, and cut into blocks. The ranges of
two blocks in each column bound all dissimilarities between their rows from below. Pairs of the
blocks that are left are computed as all pairs would be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Self

import numpy as np

from .._balls import Groups, Pairs, relative_to, within
from .._balls.pairs import NearPairs, joined_pairs
from .._typing import Floats, Indices
from ._gower_rows import CodedTable, Weighing, average_differences

_SIZE = 256
# Rows of a block among which the nearest is sought.
_SMALL = 128
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
    size : int
        Rows of a block; the last may have fewer.
    """

    order: Indices
    rows: CodedTable
    lowest: Floats
    highest: Floats
    size: int

    @classmethod
    def of(cls, table: CodedTable, weighing: Weighing, *, size: int | None = None) -> Self:
        """Cut the rows of a table into blocks of that size."""
        size = size or _SIZE
        columns = np.concatenate((table.numbers, table.codes.astype(np.float64)))
        columns[~table.known] = np.nan
        n_numbers = len(table.numbers)
        order = _similar_together(columns, n_numbers, weighing.codes, size)
        starts = np.arange(0, len(order), size)
        ordered = columns[:, order]
        unknown = np.logical_or.reduceat(np.isnan(ordered), starts, axis=1)
        with np.errstate(invalid="ignore"):
            lowest = np.where(unknown, -np.inf, np.minimum.reduceat(ordered, starts, axis=1))
            highest = np.where(unknown, np.inf, np.maximum.reduceat(ordered, starts, axis=1))
        rows = CodedTable(table.numbers[:, order], table.codes[:, order])
        return cls(order, rows, lowest.T, highest.T, size)

    def near(self, other: Blocks, number: int, weighing: Weighing, eps: float) -> Indices:
        """Return the places of the rows of blocks that may be within `eps` of another's block."""
        apart = np.maximum(
            self.lowest - other.highest[number], other.lowest[number] - self.highest
        ).T
        n_numbers = len(weighing.numbers)
        bounds = _lower_bounds(apart[:n_numbers], apart[n_numbers:], weighing)
        places = (
            np.flatnonzero(bounds <= eps)[:, None] * self.size + np.arange(self.size)
        ).ravel()
        return places[places < self.rows.n_rows]

    def bounds(self, rows: CodedTable, weighing: Weighing) -> Floats:
        """Return lower bounds on the dissimilarities of rows from those of each block."""
        known, n_numbers = rows.known, len(rows.numbers)
        columns = np.concatenate((rows.numbers, rows.codes.astype(np.float64)))
        columns[~known] = np.nan
        low, high = self.lowest.T, self.highest.T
        # A missing value is not known to be apart from any.
        apart = (
            np.fmax(np.fmax(low[c] - column[:, None], column[:, None] - high[c]), 0.0)
            for c, column in enumerate(columns)
        )
        return np.asarray(_lower_bounds(islice(apart, n_numbers), apart, weighing))

    def block(self, number: int) -> slice:
        """Return the places of the rows of a block."""
        return slice(number * self.size, min((number + 1) * self.size, self.rows.n_rows))

    def __len__(self) -> int:
        return len(self.lowest)


def _lower_bounds(numbers: Iterable[Floats], codes: Iterable[Floats], weighing: Weighing) -> Any:
    """Return lower bounds on dissimilarities, given how far apart the columns are at least."""
    bounds: Any = 0.0
    # Numbers are coded with their weight, and differ by no more than that.
    for apart, weight in zip(numbers, weighing.numbers, strict=False):
        bounds = bounds + np.clip(apart, 0.0, weight)
    for apart, weight in zip(codes, weighing.codes, strict=False):
        bounds = bounds + weight * (apart > 0.0)
    # The weight of the columns that count for a pair is no more than that of all.
    total = weighing.numbers.sum() + weighing.codes.sum()
    return bounds * ((1.0 - _MARGIN) / total)


class BlockPairs(Pairs):
    """Near pairs of blocks of rows and blocks of columns.

    Rows and columns are counted in the order of their blocks, and tiles are whole blocks.
    """

    def __init__(self, rows: Blocks, columns: Blocks, weighing: Weighing) -> None:
        self._rows, self._columns, self._weighing = rows, columns, weighing
        self.tile = rows.size, 1 << 31
        self.order = rows.order, columns.order

    @classmethod
    def of(cls, X: CodedTable, Z: CodedTable, weighing: Weighing, eps: float) -> Self | None:
        """Return the pairs of two tables; None if comparing all is expected to be faster."""
        left = Blocks.of(X, weighing)
        right = left if Z is X else Blocks.of(Z, weighing)
        return cls(left, right, weighing) if suits_blocks(left, right, weighing, eps) else None

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances."""
        number = rows.start // self._rows.size
        places = self._columns.near(self._rows, number, self._weighing, radius)
        places = places[(places >= columns.start) & (places < columns.stop)]
        left, right = self._rows.rows.take(rows), self._columns.rows.take(places)
        table = average_differences(left, right, self._weighing)
        i, j = np.nonzero(within(table, radius, closed=closed))
        return i, places[j] - columns.start, table[i, j]


class PointBlocks(Pairs):
    """Near pairs of blocks of samples and single candidates.

    Parameters
    ----------
    samples : Blocks
        Of all samples.
    candidates : CodedTable
        All candidates.
    weighing : Weighing
        How much each column counts.
    """

    def __init__(self, samples: Blocks, candidates: CodedTable, weighing: Weighing) -> None:
        self._samples, self._candidates, self._weighing = samples, candidates, weighing

    @classmethod
    def of(cls, X: CodedTable, Z: CodedTable, weighing: Weighing, eps: float) -> Self | None:
        """Return the pairs of two tables; None if comparing all is expected to be faster."""
        blocks = Blocks.of(X, weighing)
        return cls(blocks, Z, weighing) if suits_blocks(blocks, blocks, weighing, eps) else None

    def near(self, rows: slice, columns: slice, radius: float, *, closed: bool) -> NearPairs:
        """Return the pairs within `radius`, counted from the slices' starts, and distances."""
        some = self._candidates.take(columns)
        near = self._samples.bounds(some, self._weighing) <= radius
        found = [(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0))]
        for number in np.flatnonzero(near.any(axis=0)).tolist():
            candidate = np.flatnonzero(near[:, number])
            block = self._samples.block(number)
            sample, others = self._samples.order[block], self._samples.rows.take(block)
            asked = (sample >= rows.start) & (sample < rows.stop)
            if not asked.all():
                sample, others = sample[asked], others.take(np.flatnonzero(asked))
            table = average_differences(some.take(candidate), others, self._weighing)
            i, j = np.nonzero(within(table, radius, closed=closed))
            found.append((sample[j] - rows.start, candidate[i], table[i, j]))
        return joined_pairs(found)


class NearestBlocks(Pairs):
    """The nearest prototype of each group, by blocks of the prototypes of a group.

    Parameters
    ----------
    queries, prototypes : CodedTable
        All queries and all prototypes.
    weighing : Weighing
        How much each column counts.
    groups : Groups
        The groups, with radii if distances count as multiples of these.
    """

    block_rows = 4096

    def __init__(
        self, queries: CodedTable, prototypes: CodedTable, weighing: Weighing, groups: Groups
    ) -> None:
        self._queries, self._weighing, self._radii = queries, weighing, groups.radii
        self._groups = [
            (start, Blocks.of(prototypes.take(slice(start, stop)), weighing, size=_SMALL))
            for start, stop in pairwise(groups.bounds.tolist())
        ]

    def nearest(self, rows: slice, groups: Groups) -> tuple[Indices, Floats]:
        """Return the nearest candidate of each group and its distance, (n_rows, n_groups) each."""
        some = self._queries.take(rows)
        found = [self._nearest(some, start, blocks) for start, blocks in self._groups]
        index, distance = zip(*found, strict=True)
        return np.stack(index, axis=1), np.stack(distance, axis=1)

    def _nearest(self, some: CodedTable, start: int, blocks: Blocks) -> tuple[Indices, Floats]:
        """Return the nearest prototype of a group for each of some queries."""
        index, distance, best = (np.full(some.n_rows, value) for value in (-1, np.inf, np.inf))
        if blocks.rows.n_rows == 0:
            return index, distance
        bounds = self._bounds(some, start, blocks)
        # The block that looks best first: after it few of the others may have a nearer one.
        first = bounds.argmin(axis=1)
        for probing in (True, False):
            for number in range(len(blocks)):
                open_ = (first == number) == probing
                asked = np.flatnonzero(open_ & (bounds[:, number] <= best))
                if len(asked):
                    found = self._nearest_in_block(some.take(asked), start, blocks, number)
                    _keep_nearer(asked, found, (best, index, distance))
        return index, distance

    def _bounds(self, some: CodedTable, start: int, blocks: Blocks) -> Floats:
        """Return lower bounds on what prototypes of each block are compared by."""
        bounds = blocks.bounds(some, self._weighing)
        if self._radii is None:
            return bounds
        radii = self._radii[start + blocks.order]
        largest = np.maximum.reduceat(radii, np.arange(0, len(radii), blocks.size))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            return np.nan_to_num(bounds / largest) * (1.0 - _MARGIN)

    def _nearest_in_block(
        self, some: CodedTable, start: int, blocks: Blocks, number: int
    ) -> tuple[Floats, Indices, Floats]:
        """Return what the nearest of a block are compared by, their numbers and distances."""
        block = blocks.block(number)
        table = average_differences(some, blocks.rows.take(block), self._weighing)
        place = start + blocks.order[block]
        ranking = table if self._radii is None else relative_to(self._radii[place], table)
        best = ranking.argmin(axis=1)
        every = np.arange(len(best))
        return ranking[every, best], place[best], table[every, best]


def _keep_nearer(
    asked: Indices,
    found: tuple[Floats, Indices, Floats],
    kept: tuple[Floats, Indices, Floats],
) -> None:
    """Keep what was found for some queries where it ranks first; ties go to the lower index."""
    nearer = found[0] < kept[0][asked]
    nearer |= (found[0] == kept[0][asked]) & (found[1] < kept[1][asked])
    for old, new in zip(kept, found, strict=True):
        old[asked[nearer]] = new[nearer]


def suits_blocks(rows: Blocks, columns: Blocks, weighing: Weighing, eps: float) -> bool:
    """Tell whether looking at blocks is expected to be faster than looking at all pairs."""
    some = np.unique(np.linspace(0, len(rows) - 1, 16).astype(np.intp)).tolist()
    n_near = sum(len(columns.near(rows, number, weighing, eps)) for number in some)
    return n_near <= _LARGEST_SHARE * len(some) * columns.rows.n_rows


def _similar_together(columns: Floats, n_numbers: int, code_weights: Floats, size: int) -> Indices:
    """Return an order in which blocks of rows have narrow ranges.

    A stretch of blocks is cut in two across its widest column, and again until each is one.
    """
    order = np.arange(columns.shape[1])
    stretches = [slice(0, len(order))]
    while stretches:
        some = stretches.pop()
        n_blocks = -(-(some.stop - some.start) // size)
        if n_blocks < 2:
            continue
        part = columns[:, order[some]]
        with np.errstate(all="ignore"):
            spread = np.fmax.reduce(part, axis=1) - np.fmin.reduce(part, axis=1)
        spread[n_numbers:] = code_weights * (spread[n_numbers:] > 0.0)
        widest = int(np.nan_to_num(spread, nan=-1.0).argmax())
        places = np.argsort(part[widest], kind="stable")
        order[some] = order[some][places]
        cut = some.start + n_blocks // 2 * size
        stretches += [slice(some.start, cut), slice(cut, some.stop)]
    # Within a block by number, so that a tie goes to the lower one.
    return order[np.lexsort((order, np.arange(len(order)) // size))]
