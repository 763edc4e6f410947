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

from ..data.checks import TableCheck
from ..data.checks.classes import look_at_classes
from ..data.checks.remedies import COMMAND_LINE
from ..data.parquet import open_parquet, read_batches
from .cases import Cases, check_classes, find_features, label_texts, label_type, settle
from .columns import NO_COLUMNS, is_missing, note_left_out, warn_of_row_numbers
from .console import CommandError, Console, UsageError, check_packages, list_names
from .tables import named_columns

__all__ = ["StreamedRows", "blocks_of", "measure_columns", "open_rows"]

# What is known of each column, and how that of several blocks of rows becomes one.
_FACTS = {
    "low": "min",
    "high": "max",
    "least_offset": "min",
    "largest_offset": "max",
    "n_missing": "sum",
    "first_missing": "min",
}


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The rows of a Parquet file that have a label, as cases without their cells.

    Of the columns that have a name, distances are measured by the `features`.
    """

    path: Path
    columns: list[str]
    features: list[str]
    cases: Cases


def open_rows(options: Namespace, console: Console) -> StreamedRows:
    """Find out which columns are what, and read the labels."""
    check_packages("pyarrow")
    path = options.data
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
    sizes = dict(zip(texts, counts, strict=True))
    check_classes(options.target, sizes)
    found = tuple(look_at_classes(options.target, sizes, COMMAND_LINE))
    settle(TableCheck((), found), path, go_on=options.yes, console=console)
    as_text = options.outlier_label is not None
    labels: NDArray[Any] = np.array(texts, dtype=label_type(texts, text=as_text))
    cases = Cases(None, labels[codes[rows]], rows + 1, path.name)
    return StreamedRows(path, list(types), features, cases)


def blocks_of(streamed: StreamedRows, *further: str | None) -> Iterator[tuple[slice, Any, Any]]:
    """Yield places among the rows, the features there as a frame of floats, and the batch.

    The batch has the features and `further` columns as they are in the file.
    """
    import pandas as pd
    import pyarrow

    rows = streamed.cases.rows - 1
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
    streamed: StreamedRows, learned: NDArray[np.bool_], console: Console
) -> tuple[StreamedRows, StandardScaler]:
    """Check every value, and leave out the columns that cannot tell rows apart.

    The scaler has mean and spread of the others in the rows that are `learned` from.
    """
    import pandas as pd

    facts: Any = None
    scaler = StandardScaler()
    for places, frame, _ in blocks_of(streamed):
        found = _gather_facts(frame, places, streamed.cases.rows[places])
        facts = pd.concat([facts, found]).groupby(level=0, sort=False).agg(_FACTS)
        if learned[places].any():
            scaler.partial_fit(frame.loc[learned[places]])
    useful = _useful_columns(facts, len(streamed.cases), console)
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


def _gather_facts(frame: Any, places: slice, rows: NDArray[np.intp]) -> Any:
    """Return facts about the columns of a block, a row a column, and refuse infinite values."""
    import pandas as pd

    values = frame.to_numpy()
    infinite = np.argwhere(np.isinf(values))
    if len(infinite):
        row, column = infinite[0]
        raise CommandError(
            f"column {str(frame.columns[column])!r} must hold a finite number in every row, "
            f"got {values[row, column]} in row {rows[row]}; mend that cell"
        )
    absent = frame.isna().set_axis(rows)
    # The same in every row of a column that numbers the rows.
    offset = frame.sub(np.arange(places.start, places.stop), axis=0)
    return pd.DataFrame(
        {
            "low": frame.min(),
            "high": frame.max(),
            "least_offset": offset.min(),
            "largest_offset": offset.max(),
            "n_missing": absent.sum(),
            "first_missing": absent.idxmax().where(absent.any()),
        }
    )


def _useful_columns(facts: Any, n_rows: int, console: Console) -> NDArray[np.bool_]:
    """Tell which columns can tell rows apart; refuse those in which some values are missing."""
    empty = facts["n_missing"] == n_rows
    _refuse_gaps(facts[(facts["n_missing"] > 0) & ~empty], n_rows)
    constant = ~empty & (facts["low"] == facts["high"])
    reasons = dict.fromkeys(facts.index[empty], "no values")
    reasons |= dict.fromkeys(facts.index[constant], "the same value in every row")
    note_left_out(reasons, console)
    useful = ~(empty | constant)
    if not useful.any():
        raise CommandError(f"{NO_COLUMNS} that differ between rows")
    for name in facts.index[useful & (facts["least_offset"] == facts["largest_offset"])]:
        warn_of_row_numbers(name, n_rows, console)
    return np.asarray(useful)


def _refuse_gaps(gaps: Any, n_rows: int) -> None:
    """Refuse columns with missing values, and name the first of them."""
    if len(gaps):
        name, lacking = gaps.index[0], gaps.iloc[0]
        others = f", and {len(gaps) - 1} further columns have gaps" if len(gaps) > 1 else ""
        raise CommandError(
            f"--stream needs a value in every cell, but column {name!r} lacks "
            f"{lacking['n_missing']:.0f} of {n_rows}, the first in row "
            f"{lacking['first_missing']:.0f}{others}; fill them in, leave the column out with "
            f"--drop {name}, or take Gower's distance without --stream"
        )


def _narrowed(scaler: StandardScaler, useful: NDArray[np.bool_]) -> StandardScaler:
    """Return a scaler for some of its columns: what it knows of each stands for itself."""
    for name in ("mean_", "var_", "scale_", "feature_names_in_"):
        setattr(scaler, name, getattr(scaler, name)[useful])
    scaler.n_features_in_ = int(useful.sum())
    scaler.n_samples_seen_ = int(np.max(scaler.n_samples_seen_))
    return scaler
