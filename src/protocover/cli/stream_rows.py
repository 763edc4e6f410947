"""Labelled rows of a Parquet file that stream through: labels stay, the other cells pass by."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from ..data.parquet import open_parquet, read_batches
from .columns import is_missing
from .console import CommandError, Console, UsageError, check_packages
from .labelled import (
    NO_COLUMNS,
    check_classes,
    find_features,
    label_texts,
    label_type,
    list_names,
    note_left_out,
    warn_of_row_numbers,
)
from .tables import named_columns

__all__ = ["StreamedRows", "blocks_of", "measure_columns", "open_rows"]


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The labelled rows of a file.

    Parameters
    ----------
    path : Path
        The Parquet file.
    columns : list of str
        All that have a name.
    features : list of str
        Those that distances are measured by.
    rows : ndarray of int, shape (n_rows,)
        Numbers of the rows with a label, from 0.
    y : ndarray, shape (n_rows,)
        Their labels.
    """

    path: Path
    columns: list[str]
    features: list[str]
    rows: NDArray[np.intp]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.rows)


def open_rows(path: Path, options: Namespace, console: Console) -> StreamedRows:
    """Find out which columns are what, and read the labels."""
    check_packages("pyarrow")
    columns, n_rows = open_parquet(path)
    named = named_columns([name for name, _ in columns], path, console)
    types = {name: kind for (name, kind), has in zip(columns, named, strict=True) if has}
    if not n_rows:
        raise CommandError(f"{path} has column names but no rows; give a table with rows")
    features = find_features(list(types), options, path)
    _check_numbers({name: types[name] for name in features}, booleans=options.metric is not None)
    codes, texts = _read_labels(path, options.target)
    rows = np.flatnonzero(codes >= 0)
    if len(rows) < n_rows:
        console.warn(f"left out {n_rows - len(rows)} rows without a value of {options.target!r}")
    counts = np.bincount(codes[rows], minlength=len(texts)).tolist()
    check_classes(options.target, dict(zip(texts, counts, strict=True)))
    as_text = options.outlier_label is not None
    labels: NDArray[Any] = np.array(texts, dtype=label_type(texts, text=as_text))
    return StreamedRows(path, list(types), features, rows, labels[codes[rows]])


def blocks_of(streamed: StreamedRows, *further: str | None) -> Iterator[tuple[slice, Any, Any]]:
    """Yield places among the rows, the features there as a frame of floats, and the batch.

    The batch has the features and `further` columns as they are in the file.
    """
    import pandas as pd
    import pyarrow

    rows = streamed.rows
    wanted = [*streamed.features, *(name for name in further if name is not None)]
    for start, batch in read_batches(streamed.path, wanted):
        low, high = np.searchsorted(rows, [start, start + batch.num_rows])
        if high == low:
            continue
        if high - low < batch.num_rows:
            batch = batch.take(pyarrow.array(rows[low:high] - start))
        values = {
            name: batch.column(name)
            .cast(pyarrow.float64(), safe=False)
            .to_numpy(zero_copy_only=False)
            for name in streamed.features
        }
        yield slice(int(low), int(high)), pd.DataFrame(values), batch


def measure_columns(
    streamed: StreamedRows, training: NDArray[np.bool_], console: Console
) -> tuple[StreamedRows, StandardScaler]:
    """Check every value, and find mean and spread of the columns that tell rows apart.

    Parameters
    ----------
    streamed : StreamedRows
        Columns that hold one value only are left out of those returned.
    training : ndarray of bool, shape (n_rows,)
        The rows whose mean and spread count.
    console : Console
        Told which columns are left out.
    """
    extents = _Extents.of(len(streamed.features))
    scaler = StandardScaler()
    for places, frame, _ in blocks_of(streamed):
        extents = extents.widened(frame, streamed.rows[places])
        if training[places].any():
            scaler.partial_fit(frame.loc[training[places]])
    useful = _useful_columns(extents, streamed.features, console)
    features = [name for name, use in zip(streamed.features, useful, strict=True) if use]
    return replace(streamed, features=features), _narrowed(scaler, useful)


def _check_numbers(types: dict[str, Any], *, booleans: bool) -> None:
    """Refuse columns that hold no numbers by their type in the file."""
    from pyarrow.types import is_boolean, is_decimal, is_floating, is_integer

    tests = (is_integer, is_floating, is_decimal, *((is_boolean,) if booleans else ()))
    wrong = [name for name, kind in types.items() if not any(test(kind) for test in tests)]
    if wrong:
        first = " ".join(f"--drop {name}" for name in wrong[:3])
        yes_no = any(is_boolean(types[name]) for name in wrong)
        hint = ", or take yes/no columns as 0 and 1 with --metric euclidean" if yes_no else ""
        raise UsageError(
            f"--stream needs columns of numbers, and {list_names(wrong)} "
            f"{'holds' if len(wrong) == 1 else 'hold'} none; leave them out with {first}"
            f"{' ...' if len(wrong) > 3 else ''}{hint}"
        )
    if not types:
        raise CommandError(NO_COLUMNS)


def _read_labels(path: Path, target: str) -> tuple[NDArray[np.intp], Sequence[str]]:
    """Return the number of each row's label, -1 where it is missing, and the labels."""
    numbers: dict[str, int] = {}
    codes = []
    for _, batch in read_batches(path, [target]):
        cells = batch.column(target).to_pandas()
        found = np.full(len(cells), -1, dtype=np.intp)
        present = ~is_missing(cells)
        values, texts = np.unique(label_texts(cells[present]), return_inverse=True)
        mine = [numbers.setdefault(str(text), len(numbers)) for text in values]
        found[present] = np.array(mine, dtype=np.intp)[texts]
        codes.append(found)
    return np.concatenate(codes), list(numbers)


@dataclass(frozen=True, eq=False)
class _Extents:
    """Facts about columns, gathered block by block, each an array with a value a column.

    Parameters
    ----------
    low, high : ndarray of float
        Smallest and largest value so far.
    n_missing, first_missing : ndarray of int
        How many values are missing, and the row of the first, from 0.
    counting : ndarray of bool
        Whether every value is one more than that of the row before.
    last : ndarray of float
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
    def of(cls, n: int) -> _Extents:
        """Return what is known of `n` columns before the first row."""
        low, high, last = np.full(n, np.inf), np.full(n, -np.inf), np.full(n, np.nan)
        return cls(low, high, np.zeros(n, np.intp), np.full(n, -1), np.ones(n, bool), last)

    def widened(self, frame: Any, rows: NDArray[np.intp]) -> _Extents:
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
        return _Extents(
            low=np.fmin(self.low, np.fmin.reduce(values)),
            high=np.fmax(self.high, np.fmax.reduce(values)),
            n_missing=self.n_missing + absent.sum(axis=0),
            first_missing=np.where(first, rows[absent.argmax(axis=0)], self.first_missing),
            counting=self.counting & (steps == 1.0).all(axis=0),
            last=values[-1],
            n_rows=self.n_rows + len(rows),
        )


def _useful_columns(extents: _Extents, names: list[str], console: Console) -> NDArray[np.bool_]:
    """Tell which columns can tell rows apart; refuse those in which some values are missing."""
    empty = extents.n_missing == extents.n_rows
    _refuse_gaps(extents, names, np.flatnonzero((extents.n_missing > 0) & ~empty))
    constant = ~empty & (extents.low == extents.high)
    reasons = {names[k]: "no values" for k in np.flatnonzero(empty)}
    reasons |= {names[k]: "the same value in every row" for k in np.flatnonzero(constant)}
    useful = ~(empty | constant)
    note_left_out(reasons, console)
    if not useful.any():
        raise CommandError(f"{NO_COLUMNS} that differ between rows")
    for k in np.flatnonzero(useful & extents.counting):
        warn_of_row_numbers(names[k], extents.n_rows, console)
    return np.asarray(useful)


def _refuse_gaps(extents: _Extents, names: list[str], columns: NDArray[np.intp]) -> None:
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


def _narrowed(scaler: StandardScaler, useful: NDArray[np.bool_]) -> StandardScaler:
    """Return a scaler for some of its columns: what it knows of each stands for itself."""
    for name in ("mean_", "var_", "scale_", "feature_names_in_"):
        setattr(scaler, name, getattr(scaler, name)[useful])
    scaler.n_features_in_ = int(useful.sum())
    scaler.n_samples_seen_ = int(np.max(scaler.n_samples_seen_))
    return scaler
