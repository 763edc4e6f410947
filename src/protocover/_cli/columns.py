"""Conversion of the columns of a table to their types, and back to the words of the file."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..data._cells import (
    BOOLEANS,
    TRUE,
    DateNotation,
    Notation,
    common_unit,
    fitting_dates,
    fitting_notations,
    is_plain_number,
    nearest_dates,
    read_cells,
    split_unit,
)
from ..data._check import TableCheck
from ..data._columns import ColumnType, find_missing, pandas_type, read_pandas
from .console import CommandError, Console, count_things, list_names

_NOUNS = {
    "numbers": ("number", "numbers"),
    "labels": ("category", "categories"),
    "booleans": ("yes/no column", "yes/no columns"),
    "dates": ("date", "dates"),
    "ranks": ("ordered column", "ordered columns"),
}
NO_COLUMNS = (
    "no feature columns are left; the table needs at least one column, besides the target, whose "
    "values differ between rows"
)


def is_missing(series: Any) -> Any:
    """Return which cells of a column are missing, as a boolean array."""
    if not _is_text(series):
        return series.isna().to_numpy(dtype=bool)
    return find_missing(series.to_numpy(dtype=object))


def blank_out(frame: Any, marks: Mapping[str | None, Sequence[str]]) -> Any:
    """Return a frame without the cells that `marks`, per column or for all, name as missing."""
    if not marks:
        return frame
    cleared = frame.copy()
    for name in frame.columns:
        wanted = {*marks.get(None, ()), *marks.get(name, ())}
        series = frame[name]
        if wanted and _is_text(series):
            cleared[name] = series.mask(find_missing(series.to_numpy(dtype=object), wanted), "")
        elif wanted and pandas_type(series.dtype).stores == "numbers":
            values = series.to_numpy(dtype=np.float64, na_value=np.nan)
            cleared[name] = series.mask(find_missing(values, wanted))
    return cleared


def find_type(series: Any) -> ColumnType:
    """Return the type of a column: by its data type, or by the text of its cells."""
    if _is_text(series):
        cells = series[~is_missing(series)].str.strip()
        return ColumnType(read_cells(list(cells.unique())).stores)
    found = pandas_type(series.dtype)
    if found.stores == "anything":
        return ColumnType(read_pandas(series.name, series).holds)
    return found


def convert(series: Any, wanted: ColumnType, *, decimal: str | None = None) -> Any:
    """Return a column as a pandas series of a type; raise an error if a cell does not fit it.

    `decimal` is the decimal mark of the file, if known.
    """
    absent = is_missing(series)
    if wanted.stores == "numbers":
        return _as_numbers(series, absent, decimal)
    if wanted.stores == "dates":
        return _as_dates(series, absent)
    if wanted.stores == "booleans":
        return _as_booleans(series, absent)
    return _as_labels(series, absent, wanted.order)


def type_columns(
    frame: Any, given: Mapping[str, ColumnType], checked: TableCheck, console: Console
) -> Any:
    """Return the columns that distinguish cases, and those `given`, converted to their types."""
    import pandas as pd

    columns, left_out = {}, {}
    for facts in checked.columns:
        if facts.useless:
            left_out[facts.name] = facts.useless
            continue
        wanted = given.get(facts.name, ColumnType(facts.stores, facts.order))
        converted = convert(frame[facts.name], wanted, decimal=checked.decimal)
        columns[facts.name] = converted.array
    for reason in dict.fromkeys(left_out.values()):
        same = [name for name, why in left_out.items() if why == reason]
        console.note(f"Left out: {list_names(same)} ({reason}).")
    if not columns:
        raise CommandError(NO_COLUMNS)
    return pd.DataFrame(columns, index=frame.index)


def count_types(X: Any) -> str:
    """Return how many columns of each type a typed frame has, in words."""
    counts = Counter(typed(X[name]) for name in X.columns)
    return ", ".join(count_things(n, *_NOUNS[stores]) for stores, n in counts.items())


def typed(series: Any) -> str:
    """Return what a converted column holds."""
    stores = pandas_type(series.dtype).stores
    return "labels" if stores == "anything" else stores


def in_own_words(X: Any, source: Any) -> Any:
    """Return a typed frame with its yes/no columns in the words of the source."""
    if source is None or not hasattr(X, "columns"):
        return X
    shared = [name for name in X.columns if name in source.columns]
    worded = {name: _put_in_words(X[name], _yes_no_words(source[name])) for name in shared}
    worded = {name: cells for name, cells in worded.items() if cells is not None}
    return X.assign(**worded) if worded else X


def _put_in_words(series: Any, words: Mapping[bool, str]) -> Any:
    """Return words for False and True, or 0 and 1; None if the column holds other values."""
    import pandas as pd

    if not words or getattr(series.dtype, "kind", "O") not in "biuf":
        return None
    values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    absent, truths = np.isnan(values), np.round(values)
    # Scaling and its inverse leave 1 as 0.9999999.
    if not (absent | (np.isclose(values, truths) & np.isin(truths, (0.0, 1.0)))).all():
        return None
    cells = pd.Series(truths == 1.0, index=series.index).map(dict(words))
    return cells.mask(absent)


def _yes_no_words(series: Any) -> dict[bool, str]:
    """Return the words for False and True in a column of text, the most frequent first."""
    if not _is_text(series):
        return {}
    cells = series[~is_missing(series)].str.strip().value_counts().index
    pair = next((pair for pair in BOOLEANS if {cell.lower() for cell in cells} <= pair), None)
    if pair is None or not len(cells):
        return {}
    words: dict[bool, str] = {}
    for cell in cells:
        words.setdefault(cell.lower() in TRUE, cell)
    if len(words) == 1:
        (known,) = words.values()
        other = next(word for word in pair if (word in TRUE) not in words)
        capitals = str.upper if known.isupper() else str.title if known.istitle() else str.lower
        words[other in TRUE] = capitals(other)
    return words


def _is_text(series: Any) -> bool:
    """Whether all cells of a column are text, or missing."""
    import pandas as pd

    if isinstance(series.dtype, pd.StringDtype):
        return True
    return series.dtype == object and all(isinstance(v, str) for v in series[series.notna()])


def _as_numbers(series: Any, absent: Any, decimal: str | None) -> Any:
    """Return numbers as floats."""
    import pandas as pd

    if not _is_text(series):
        if find_type(series).stores not in ("numbers", "booleans"):
            _refuse(series, ~absent, "a number")
        numbers = series.astype(object).where(~absent, np.nan).to_numpy(dtype=np.float64)
    else:
        numbers = np.full(len(series), np.nan)
        numbers[~absent] = _read_numbers(series, absent, decimal)
    infinite = np.isinf(numbers)
    if infinite.any():
        _refuse(series, infinite, "a finite number")
    return pd.Series(numbers, index=series.index, name=series.name)


def _read_numbers(series: Any, absent: Any, decimal: str | None) -> list[float]:
    """Return texts as numbers, without a unit that all have in common."""
    cells = [cell.strip() for cell in series.to_numpy(dtype=object)[~absent]]
    words = {cell.lower() for cell in cells}
    if words <= set().union(*BOOLEANS):
        return [float(cell.lower() in TRUE) for cell in cells]
    notation = _find_notation(series.name, cells, decimal)
    if notation is None:
        parts = [split_unit(cell) for cell in cells]
        unit = common_unit(parts)
        if unit:
            warnings.warn(
                f"column {str(series.name)!r} is read without its unit {unit!r}; the unit must be "
                "the same in all files for this model",
                stacklevel=2,
            )
            cells = [number for number, _ in parts]
            notation = _find_notation(series.name, cells, decimal)
    if notation is None:
        wrong = np.zeros(len(series), dtype=bool)
        wrong[~absent] = [not is_plain_number(cell) for cell in cells]
        _refuse(series, wrong if wrong.any() else ~absent, "numbers in one notation and unit")
    assert notation is not None
    return [float(notation.plain(cell)) for cell in cells]


def _find_notation(name: Any, cells: list[str], decimal: str | None) -> Notation | None:
    """Return the notation of numbers, None if there is none; raise an error if it is unclear."""
    distinct = list(dict.fromkeys(cells))
    notations = fitting_notations(distinct, decimal)
    if len(notations) > 1:
        cell = next(cell for cell in distinct if "," in cell)
        raise CommandError(
            f"column {str(name)!r} holds {cell!r}, whose comma could be a thousands separator or "
            "a decimal mark; choose with --decimal . or --decimal ,"
        )
    return notations[0] if notations else None


def _as_dates(series: Any, absent: Any) -> Any:
    """Return dates and times, in UTC if they have a time zone."""
    import pandas as pd

    if getattr(series.dtype, "kind", "O") in "mM":
        zoned = getattr(series.dtype, "tz", None) is not None
        return series.dt.tz_convert("UTC").dt.tz_localize(None) if zoned else series
    if not _is_text(series):
        _refuse(series, ~absent, "a date such as 2024-12-31")
    cells = series.where(~absent).str.strip()
    notation = _find_dates(series.name, list(dict.fromkeys(cells[~absent])))
    times = pd.to_datetime(
        cells.map(notation.iso, na_action="ignore"), format="ISO8601", utc=True, errors="coerce"
    )
    what = f"a date such as 2024-12-31, or dates in the form {notation.words},"
    _refuse(series, ~absent & times.isna().to_numpy(), what)
    return times.dt.tz_localize(None).astype("datetime64[us]")


def _find_dates(name: Any, cells: list[str]) -> DateNotation:
    """Return the notation of dates; raise an error if day and month may be swapped."""
    notations = fitting_dates(cells)
    if len(notations) > 1:
        raise CommandError(
            f"column {str(name)!r} holds {cells[0]!r}, which could be {notations[0].words} or "
            f"{notations[1].words}; write dates as 2024-12-31"
        )
    return notations[0] if notations else nearest_dates(cells)


def _as_booleans(series: Any, absent: Any) -> Any:
    """Return booleans, some possibly missing."""
    cells = series.where(~absent)
    if _is_text(series):
        words = cells.str.strip().str.lower()
        known = set().union(*BOOLEANS) | {"0", "1"}
        _refuse(series, ~absent & ~words.isin(known).to_numpy(), "true or false")
        cells = words.map({word: word in TRUE for word in known})
    elif getattr(series.dtype, "kind", "O") != "b":
        _refuse(series, ~absent & ~series.isin([0, 1]).to_numpy(), "true or false")
    booleans = cells.astype("boolean")
    return booleans if absent.any() else booleans.astype(bool)


def _as_labels(series: Any, absent: Any, order: Sequence[Any] | None) -> Any:
    """Return texts, or ranks if an order is given."""
    import pandas as pd

    if order is not None:
        if all(isinstance(value, str) for value in order):
            cells = series.astype("str").str.strip().where(~absent)
        else:
            cells = series.where(~absent)
        unknown = ~absent & ~cells.isin(list(order)).to_numpy()
        _refuse(series, unknown, f"one of {', '.join(map(str, order))}")
        return pd.Series(
            pd.Categorical(cells, categories=list(order), ordered=True),
            index=series.index,
            name=series.name,
        )
    return series.astype("str").str.strip().where(~absent)


def _refuse(series: Any, wrong: Any, what: str) -> None:
    """Raise an error about the first wrong cell, if any."""
    rows = np.flatnonzero(np.asarray(wrong, dtype=bool))
    if len(rows):
        value = str(series.iloc[rows[0]])[:40]
        raise CommandError(
            f"column {str(series.name)!r} must hold {what} in every row, got {value!r} in row "
            f"{series.index[rows[0]] + 1}; correct that cell or leave it empty"
        )
