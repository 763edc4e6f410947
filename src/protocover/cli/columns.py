"""What the columns of a table hold, found from their cells, and columns made of that type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .console import CommandError, Console, count_things, list_names

__all__ = [
    "NO_COLUMNS",
    "ColumnType",
    "convert",
    "count_kinds",
    "find_type",
    "is_missing",
    "note_left_out",
    "type_columns",
    "type_of",
    "warn_of_row_numbers",
]

_MISSING = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_DECIMAL_COMMA = r"[-+]?\d*,\d+"
_CODE = r"0\d+"
_DAY = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})
_TRUE = {"true", "yes", "t", "y", "1"}
_KINDS = {
    "numbers": ("number", "numbers"),
    "labels": ("category", "categories"),
    "booleans": ("yes/no column", "yes/no columns"),
    "dates": ("date", "dates"),
    "ranks": ("ordered column", "ordered columns"),
}
NO_COLUMNS = (
    "no column is left to measure distances by; give a table with columns beside the target"
)
# Fewer rows than that tell nothing about what a column is.
_MANY = 10


@dataclass(frozen=True)
class ColumnType:
    """What a column holds: "numbers", "dates", "booleans", "labels" or "ranks", as Gower says.

    `order` has the values of "ranks", lowest first.
    """

    stores: str
    order: tuple[Any, ...] | None = None


_LABELS = ColumnType("labels")
_STORES = {
    **dict.fromkeys("iuf", "numbers"),
    **dict.fromkeys("mM", "dates"),
    "b": "booleans",
}


def is_missing(series: Any) -> Any:
    """Tell which cells of a column hold nothing, as an array of booleans."""
    absent = series.isna().to_numpy(dtype=bool)
    if _is_text(series):
        absent = absent | series.str.strip().isin(_MISSING).to_numpy(dtype=bool)
    return absent


def find_type(series: Any) -> ColumnType:
    """Find what a column holds: by its type, or, if that is text, by the text of its cells."""
    if not _is_text(series):
        return type_of(series)
    return _find_in_text(series[~is_missing(series)].str.strip())


def type_of(series: Any) -> ColumnType:
    """Return what a column holds by its type alone."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return ColumnType("ranks", tuple(dtype.categories)) if dtype.ordered else _LABELS
    if kind in _STORES:
        return ColumnType(_STORES[kind])
    return ColumnType("numbers") if kind == "O" and _all_numbers(series) else _LABELS


def convert(series: Any, wanted: ColumnType) -> Any:
    """Return a column as a pandas series of that type, and refuse a cell that is not of it."""
    absent = is_missing(series)
    if wanted.stores == "numbers":
        return _as_numbers(series, absent)
    if wanted.stores == "dates":
        return _as_dates(series, absent)
    if wanted.stores == "booleans":
        return _as_booleans(series, absent)
    return _as_labels(series, absent, wanted.order)


def type_columns(frame: Any, given: Mapping[str, ColumnType], console: Console) -> Any:
    """Return the columns that can tell cases apart, each of its type, and those `given`."""
    import pandas as pd

    columns, left_out = {}, {}
    for name in frame.columns:
        series = frame[name]
        wanted = given[name] if name in given else find_type(series)
        column = convert(series, wanted)
        reason = None if name in given else _useless(column, wanted)
        if reason:
            left_out[name] = reason
        else:
            columns[name] = column
            if name not in given:
                _warn_of_identifier(column, wanted, console)
    note_left_out(left_out, console)
    if not columns:
        raise CommandError(f"{NO_COLUMNS} that differ between rows")
    return pd.DataFrame(columns, index=frame.index)


def count_kinds(X: Any) -> str:
    """Say how many columns of each type a typed frame has."""
    counts = Counter(type_of(X[name]).stores for name in X.columns)
    return ", ".join(count_things(n, *_KINDS[kind]) for kind, n in counts.items())


def note_left_out(reasons: Mapping[str, str], console: Console) -> None:
    """Say which columns are left out, and why."""
    for reason in dict.fromkeys(reasons.values()):
        same = [name for name, why in reasons.items() if why == reason]
        console.note(f"Left out: {list_names(same)} ({reason}).")


def warn_of_row_numbers(name: str, n_rows: int, console: Console) -> None:
    """Warn of a column whose values rise by one from row to row, if there are many."""
    if n_rows >= _MANY:
        console.warn(
            f"column {name!r} numbers the rows and is taken as a measurement; use "
            f"--id or --drop if it is none"
        )


def _useless(column: Any, kind: ColumnType) -> str | None:
    """Say why a column cannot help to tell cases apart, if so."""
    present = column[column.notna()]
    if not len(present):
        return "no values"
    n_values = present.nunique()
    if n_values == 1 and len(present) == len(column):
        return "the same value in every row"
    if kind.stores == "labels" and n_values == len(present) >= _MANY:
        return "another text in every row; --id names the rows by it"
    return None


def _warn_of_identifier(column: Any, kind: ColumnType, console: Console) -> None:
    """Warn of a column that numbers the rows, or that holds free text."""
    n = len(column)
    if kind.stores == "numbers" and (np.diff(column.to_numpy()) == 1.0).all():
        warn_of_row_numbers(column.name, n, console)
    elif n >= _MANY and kind.stores == "labels" and column.nunique() > n / 2:
        console.warn(
            f"column {column.name!r} has {column.nunique()} different texts in {n} rows; use "
            "--drop if it is free text, or write dates as 2024-12-31"
        )


def _is_text(series: Any) -> bool:
    """Whether all cells of a column are text, or missing."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return True
    return series.dtype == object and all(isinstance(v, str) for v in series[series.notna()])


def _all_numbers(series: Any) -> bool:
    """Whether all objects in a column are numbers, such as decimals."""
    from numbers import Number

    present = series[series.notna()]
    return len(present) > 0 and all(isinstance(v, Number) for v in present)


def _find_in_text(cells: Any) -> ColumnType:
    """Find what the text of cells, none missing, stands for."""
    if not len(cells):
        return _LABELS
    if cells.str.fullmatch(_NUMBER).all():
        # Codes such as 00713 are names that happen to be made of digits.
        return _LABELS if cells.str.fullmatch(_CODE).any() else ColumnType("numbers")
    if (cells.str.fullmatch(_NUMBER) | cells.str.fullmatch(_DECIMAL_COMMA)).all():
        return ColumnType("numbers")
    values = set(cells.str.lower().unique())
    if any(values <= pair for pair in _BOOLEANS):
        return ColumnType("booleans")
    if cells.str.fullmatch(_DAY).all():
        return ColumnType("dates")
    return _LABELS


def _as_numbers(series: Any, absent: Any) -> Any:
    """Return numbers as floats."""
    import pandas as pd

    if not _is_text(series):
        if getattr(series.dtype, "kind", "O") not in "iufb" and not _all_numbers(series):
            _refuse(series, ~absent, "a number")
        numbers = series.astype(object).where(~absent, np.nan).astype(np.float64)
    else:
        cells = series.where(~absent, "nan").str.strip()
        if set(cells[~absent].str.lower().unique()) <= set().union(*_BOOLEANS):
            cells = cells.where(absent, cells.str.lower().isin(_TRUE).map({True: "1", False: "0"}))
        points = cells.str.fullmatch(_DECIMAL_COMMA)
        cells = cells.where(~points, cells.str.replace(",", ".", regex=False))
        _refuse(series, ~absent & ~cells.str.fullmatch(_NUMBER).to_numpy(dtype=bool), "a number")
        numbers = cells.astype(np.float64)
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        _refuse(series, infinite, "a finite number")
    return pd.Series(numbers.to_numpy(), index=series.index, name=series.name)


def _as_dates(series: Any, absent: Any) -> Any:
    """Return dates and times, in universal time where the zone is given."""
    import pandas as pd

    if getattr(series.dtype, "kind", "O") in "mM":
        zoned = getattr(series.dtype, "tz", None) is not None
        return series.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else series
    if not _is_text(series):
        _refuse(series, ~absent, "a date such as 2024-12-31")
    cells = series.where(~absent).str.strip()
    times = pd.to_datetime(cells, format="ISO8601", utc=True, errors="coerce")
    _refuse(series, ~absent & times.isna().to_numpy(), "a date such as 2024-12-31")
    return times.dt.tz_localize(None).astype("datetime64[us]")


def _as_booleans(series: Any, absent: Any) -> Any:
    """Return booleans, some perhaps missing."""
    cells = series.where(~absent)
    if _is_text(series):
        words = cells.str.strip().str.lower()
        known = set().union(*_BOOLEANS) | {"0", "1"}
        _refuse(series, ~absent & ~words.isin(known).to_numpy(), "true or false")
        cells = words.map({word: word in _TRUE for word in known})
    elif getattr(series.dtype, "kind", "O") != "b":
        _refuse(series, ~absent & ~series.isin([0, 1]).to_numpy(), "true or false")
    booleans = cells.astype("boolean")
    return booleans if absent.any() else booleans.astype(bool)


def _as_labels(series: Any, absent: Any, order: Sequence[Any] | None) -> Any:
    """Return texts, or, with an order, ranks."""
    import pandas as pd

    if order is not None:
        if all(isinstance(value, str) for value in order):
            cells = series.astype("str").str.strip().where(~absent)
        else:
            cells = series.where(~absent)
        stranger = ~absent & ~cells.isin(list(order)).to_numpy()
        _refuse(series, stranger, f"one of {', '.join(map(str, order))}")
        return pd.Series(
            pd.Categorical(cells, categories=list(order), ordered=True),
            index=series.index,
            name=series.name,
        )
    return series.astype("str").str.strip().where(~absent).astype("str")


def _refuse(series: Any, wrong: Any, what: str) -> None:
    """Raise an error about the first wrong cell, if there is one."""
    rows = np.flatnonzero(np.asarray(wrong, dtype=bool))
    if len(rows):
        value = str(series.iloc[rows[0]])[:40]
        raise CommandError(
            f"column {str(series.name)!r} must hold {what} in every row, got {value!r} in row "
            f"{series.index[rows[0]] + 1}; mend that cell or leave it empty"
        )
