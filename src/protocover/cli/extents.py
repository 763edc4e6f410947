"""What passing by tells of columns of numbers: their extent, gaps, and whether they count rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .console import Console
from .errors import CommandError
from .labelled import list_names, warn_of_row_numbers

__all__ = ["Extents", "useful_columns"]


@dataclass(frozen=True, eq=False)
class Extents:
    """Facts about columns, gathered block by block.

    Parameters
    ----------
    low, high : ndarray of float, shape (n_columns,)
        Smallest and largest value so far.
    n_missing, first_missing : ndarray of int, shape (n_columns,)
        How many values are missing, and the row of the first, from 0.
    counting : ndarray of bool, shape (n_columns,)
        Whether every value is one more than that of the row before.
    last : ndarray of float, shape (n_columns,)
        The latest values.
    n_rows : int
        Rows so far.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_missing: NDArray[np.intp]
    first_missing: NDArray[np.intp]
    counting: NDArray[np.bool_]
    last: NDArray[np.float64]
    n_rows: int = 0

    @classmethod
    def of(cls, n_columns: int) -> Extents:
        """Return what is known before the first row."""
        return cls(
            np.full(n_columns, np.inf),
            np.full(n_columns, -np.inf),
            np.zeros(n_columns, dtype=np.intp),
            np.full(n_columns, -1),
            np.ones(n_columns, dtype=bool),
            np.full(n_columns, np.nan),
        )

    def widened(self, frame: Any, rows: NDArray[np.intp]) -> Extents:
        """Return the facts with some rows, at least one, taken in; their numbers are `rows`."""
        values = frame.to_numpy()
        infinite = np.isinf(values)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise CommandError(
                f"column {str(frame.columns[column])!r} must hold a finite number in every row, "
                f"got {values[row, column]} in row {rows[row] + 1}; mend that cell"
            )
        absent = np.isnan(values)
        first = absent.any(axis=0) & (self.n_missing == 0)
        before = values[:1] - 1.0 if self.n_rows == 0 else self.last[None, :]
        steps = np.diff(values, axis=0, prepend=before)
        return Extents(
            low=np.fmin(self.low, np.fmin.reduce(values)),
            high=np.fmax(self.high, np.fmax.reduce(values)),
            n_missing=self.n_missing + absent.sum(axis=0),
            first_missing=np.where(first, rows[absent.argmax(axis=0)], self.first_missing),
            counting=self.counting & (steps == 1.0).all(axis=0),
            last=values[-1],
            n_rows=self.n_rows + len(rows),
        )


def useful_columns(extents: Extents, names: list[str], console: Console) -> NDArray[np.bool_]:
    """Tell which columns can tell rows apart; refuse those in which some values are missing."""
    empty = extents.n_missing == extents.n_rows
    _refuse_gaps(extents, names, np.flatnonzero((extents.n_missing > 0) & ~empty))
    constant = ~empty & (extents.low == extents.high)
    for left_out, reason in ((empty, "no values"), (constant, "the same value in every row")):
        if left_out.any():
            same = [names[k] for k in np.flatnonzero(left_out)]
            console.note(f"Left out: {list_names(same)} ({reason}).")
    useful = ~(empty | constant)
    if not useful.any():
        raise CommandError(
            "no column is left to measure distances by; give a table with columns beside the "
            "target that differ between rows"
        )
    for k in np.flatnonzero(useful & extents.counting):
        warn_of_row_numbers(names[k], extents.n_rows, console)
    return np.asarray(useful)


def _refuse_gaps(extents: Extents, names: list[str], columns: NDArray[np.intp]) -> None:
    """Refuse columns with missing values, and name the first of them."""
    if len(columns):
        k = columns[0]
        others = f", and {len(columns) - 1} further columns have gaps" if len(columns) > 1 else ""
        raise CommandError(
            f"--stream needs a value in every cell, but column {names[k]!r} lacks "
            f"{extents.n_missing[k]} of {extents.n_rows}, the first in row "
            f"{extents.first_missing[k] + 1}{others}; fill them in, leave the column out with "
            f"--drop {names[k]}, or take Gower's distance without --stream"
        )
