"""Weighted averages of the differences between the rows of two mixed tables.

Every column of a coded table is either numbers, whose differences are added up, or
codes, which are equal or not. All sums are made pair by pair in the order of the
columns, so that a value does not depend on the tile it is computed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, Indices, Mask

# Pairs worked on at a time: a core's cache holds a few arrays of that many.
_STRIP = 1 << 16


@dataclass(frozen=True)
class Weighing:
    """How much each column counts, those of numbers first and those of codes after them."""

    numbers: Floats  # weight of each column of numbers
    codes: Floats  # weight of each column of codes
    asymmetric: Mask  # columns of codes in which two codes of zero are ignored
    # difference in a column that only one of two rows has a value of; None to leave it out
    missing_penalty: float | None = None

    def groups(self) -> list[tuple[float, Indices, Indices]]:
        """Return (weight, all its columns, its columns of codes) for each different weight."""
        every = np.concatenate((self.numbers, self.codes))
        return [
            (float(weight), np.flatnonzero(every == weight), np.flatnonzero(self.codes == weight))
            for weight in np.unique(every)
        ]


@dataclass(frozen=True)
class CodedTable:
    """A mixed table, a row of each array being a column of it."""

    # (n_numbers, n_rows), from 0 to the column's weight within the training range; NaN if missing
    numbers: Floats
    codes: NDArray[np.int32]  # (n_codes, n_rows), -1 if missing

    def take(self, rows: slice | Indices) -> CodedTable:
        """Return some of the rows."""
        return CodedTable(self.numbers[:, rows], self.codes[:, rows])

    @property
    def known(self) -> Mask:
        """Which values are there, (n_numbers + n_codes, n_rows)."""
        return np.concatenate((~np.isnan(self.numbers), self.codes >= 0))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.codes.shape[1])


def average_differences(left: CodedTable, right: CodedTable, weighing: Weighing) -> Floats:
    """Return for each pair of rows the weighted average over the columns both have.

    A pair with no column in common is at 1; one that has only columns in common in which
    both are absent is at 0. A column that only one of the two rows has counts
    with the `missing_penalty`.
    """
    averages = np.empty((left.n_rows, right.n_rows))
    pairs = _Pairs(left, right, weighing)
    step = max(1, _STRIP // max(1, right.n_rows))
    for start in range(0, left.n_rows, step):
        rows = slice(start, start + step)
        averages[rows] = pairs.average(rows)
    return averages


class _Pairs:
    """The pairs of rows of two tables, and which of their columns need special care."""

    def __init__(self, left: CodedTable, right: CodedTable, weighing: Weighing) -> None:
        self.left, self.right, self.weighing = left, right, weighing
        self.groups = weighing.groups()
        self.n_numbers = len(weighing.numbers)
        self.counter = np.min_scalar_type(self.n_numbers + len(weighing.codes))
        tables = (left, right)
        self.known = [table.known for table in tables]
        self.absent = [table.codes == 0 for table in tables]
        self.missing = _not_all_of_each_row(*self.known)
        limits = weighing.numbers[:, None]
        # Comparisons with NaN are false, so that missing values do not count as beyond.
        self.beyond = _not_all_of_each_row(
            *(~((table.numbers < 0.0) | (table.numbers > limits)) for table in tables)
        )

    def average(self, rows: slice) -> Floats:
        """Average the differences of some rows of the left table from the right one."""
        total = self._add_numbers(rows)
        for weight, _, codes in self.groups:
            if len(codes):
                total += weight * self._count_unequal(rows, codes)
        if not (self.missing.any() or self.weighing.asymmetric.any()):
            total /= sum(weight * len(columns) for weight, columns, _ in self.groups)
            return total
        return self._divide(total, rows)

    def _add_numbers(self, rows: slice) -> Floats:
        """Add up the differences of the numbers that both rows have, each at most its weight."""
        A, B = self.left.numbers[:, rows], self.right.numbers
        total = np.zeros((A.shape[1], B.shape[1]))
        difference = np.empty_like(total)
        for c, limit in enumerate(self.weighing.numbers):
            np.subtract(A[c][:, None], B[c], out=difference)
            np.abs(difference, out=difference)
            if self.beyond[c]:
                np.minimum(difference, limit, out=difference)
            if self.missing[c]:
                # Of NaN and zero fmax gives the zero.
                np.fmax(difference, 0.0, out=difference)
            total += difference
        return total

    def _count_unequal(self, rows: slice, codes: Indices) -> NDArray[np.integer]:
        """Count for each pair the columns of codes that both rows have and that differ."""
        A, B = self.left.codes[:, rows], self.right.codes
        count = np.zeros((A.shape[1], B.shape[1]), dtype=self.counter)
        for c in codes:
            unequal = A[c][:, None] != B[c]
            if self.missing[self.n_numbers + c]:
                unequal &= self.known[0][self.n_numbers + c, rows, None]
                unequal &= self.known[1][self.n_numbers + c]
            count += unequal
        return count

    def _divide(self, total: Floats, rows: slice) -> Floats:
        """Divide by the weight of the columns that count for each pair."""
        weight = np.zeros_like(total)
        for unit, columns, codes in self.groups:
            weight += unit * self._count_compared(total.shape, rows, columns, codes)
        i, j = np.nonzero(weight == 0.0)
        if self.weighing.missing_penalty is not None:
            for unit, columns, _ in self.groups:
                one_sided = unit * self._count_one_sided(total.shape, rows, columns)
                total += self.weighing.missing_penalty * one_sided
                weight += one_sided
        np.divide(total, weight, out=total, where=weight > 0.0)
        if len(i):
            known = (self.known[0][:, rows][:, i] & self.known[1][:, j]).any(axis=0)
            total[i, j] = np.where(known, 0.0, 1.0)
        return total

    def _count_compared(
        self, shape: tuple[int, ...], rows: slice, columns: Indices, codes: Indices
    ) -> NDArray[np.integer]:
        """Count for each pair the columns that both rows have and that are not both absent."""
        incomplete = columns[self.missing[columns]]
        count = np.full(shape, len(columns) - len(incomplete), dtype=self.counter)
        for c in incomplete:
            count += self.known[0][c, rows, None] & self.known[1][c]
        for c in codes[self.weighing.asymmetric[codes]]:
            count -= self.absent[0][c, rows, None] & self.absent[1][c]
        return count

    def _count_one_sided(
        self, shape: tuple[int, ...], rows: slice, columns: Indices
    ) -> NDArray[np.integer]:
        """Count for each pair the columns that one row has a value of and the other has not."""
        count = np.zeros(shape, dtype=self.counter)
        for c in columns[self.missing[columns]]:
            count += self.known[0][c, rows, None] ^ self.known[1][c]
        return count


def _not_all_of_each_row(left: Mask, right: Mask) -> Mask:
    """Tell for each row of both masks whether some of it does not hold."""
    return ~np.asarray(left.all(axis=1) & right.all(axis=1))


def column_terms(left: CodedTable, right: CodedTable, weighing: Weighing) -> Floats:
    """Return the terms whose sum is the weighted average of the differences of paired rows.

    The shape is (n_pairs, n_numbers + n_codes). A column that only one of two rows has counts
    with the missing penalty, if there is one. Of rows without a common column, which are at 1,
    each column has its fraction of the weight.
    """
    both = left.known & right.known
    absent = weighing.asymmetric[:, None] & (left.codes == 0) & (right.codes == 0)
    compared = both.copy()
    compared[len(weighing.numbers) :] &= ~absent
    weights = np.concatenate((weighing.numbers, weighing.codes))[:, None]
    # Numbers are coded from 0 to their weight already.
    numbers = np.minimum(abs(left.numbers - right.numbers), weighing.numbers[:, None])
    differences = np.concatenate((numbers, weighing.codes[:, None] * (left.codes != right.codes)))
    terms = np.where(compared, differences, 0.0)
    counts = compared
    if weighing.missing_penalty is not None:
        one_sided = (left.known ^ right.known) & compared.any(axis=0)
        terms = np.where(one_sided, weighing.missing_penalty * weights, terms)
        counts = compared | one_sided
    terms /= np.maximum((weights * counts).sum(axis=0), np.finfo(np.float64).tiny)
    strangers = ~both.any(axis=0)
    terms[:, strangers] = weights / weights.sum()
    return np.ascontiguousarray(terms.T)
