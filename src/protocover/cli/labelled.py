"""Labelled rows of a table: which column is the class, which are features, and of what type."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cases import Cases
from .columns import ColumnType, convert, find_type, is_missing, type_of
from .console import CommandError, Console, UsageError
from .tables import read_table

__all__ = [
    "NO_COLUMNS",
    "check_classes",
    "count_kinds",
    "count_things",
    "find_column",
    "find_features",
    "label_texts",
    "label_type",
    "list_names",
    "make_labels",
    "note_left_out",
    "read_labelled",
    "row_names",
    "warn_of_row_numbers",
]

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
_WORDS = {"numeric": "numbers", "categorical": "labels", "date": "dates", "asymmetric": "booleans"}


def read_labelled(path: Path, options: Namespace, console: Console) -> Cases:
    """Read a table, take target and identifier out, and give the other columns their types."""
    frame = read_table(
        path, separator=options.separator, encoding=options.encoding, console=console
    )
    features = find_features(list(frame.columns), options, path)
    absent = is_missing(frame[options.target])
    if absent.any():
        console.warn(f"left out {absent.sum()} rows without a value of {options.target!r}")
        frame = frame.loc[~absent]
    y = make_labels(frame[options.target], text=options.outlier_label is not None)
    kinds = _parse_kinds(options.kind, features, path)
    X = _type_columns(frame[features], kinds, console)
    names = None if options.id is None else row_names(frame[options.id])
    return Cases(X, y, frame.index.to_numpy() + 1, path.name, names, frame)


def find_features(columns: list[str], options: Namespace, path: Path) -> list[str]:
    """Return the columns that are neither the target nor the identifier nor to be dropped."""
    if options.target is None:
        raise UsageError(
            f"which column holds the class? add --target NAME, one of {list_names(columns)}"
        )
    taken = {find_column(columns, options.target, "--target", path)}
    if options.id is not None:
        taken.add(find_column(columns, options.id, "--id", path))
    taken |= {find_column(columns, name, "--drop", path) for name in options.drop}
    return [name for name in columns if name not in taken]


def find_column(columns: list[str], name: str, option: str, path: Path) -> str:
    """Return the name of a column, or say which there are."""
    if name in columns:
        return name
    near = get_close_matches(name, columns, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {list_names(columns)}"
    if any(column.replace(".", "", 1).isdecimal() for column in columns):
        hint += ". The first line must hold the names of the columns, not values"
    raise CommandError(f"{option} {name!r} is not a column of {path}; {hint}")


def row_names(cells: Any) -> NDArray[Any]:
    """Return the cells of an identifier as the names of rows."""
    return np.asarray(cells.astype(str).to_numpy(dtype=object))


def make_labels(target: Any, *, text: bool = False) -> NDArray[Any]:
    """Return labels, none missing: whole numbers if all are (unless `text`), else text."""
    cells = label_texts(target)
    counts = Counter(cells)
    check_classes(target.name, counts)
    return np.asarray(cells, dtype=label_type(counts, text=text))


def label_texts(target: Any) -> NDArray[Any]:
    """Return the cells of a target, none missing, as text: 1.0 is 1."""
    cells = target.astype(str).str.strip().to_numpy(dtype=object)
    if getattr(target.dtype, "kind", "O") == "f":
        cells = np.array([cell.removesuffix(".0") for cell in cells], dtype=object)
    return np.asarray(cells)


def check_classes(name: Any, counts: Mapping[str, int]) -> None:
    """Refuse a target whose labels, each with the number of its rows, are no classes."""
    n_rows = sum(counts.values())
    if len(counts) == 1:
        raise CommandError(
            f"the target {name!r} has one class only, {next(iter(counts))!r}; there must be "
            "something to tell apart"
        )
    if not counts:
        raise CommandError(f"the target {name!r} has no values; choose another column")
    if len(counts) > max(20, n_rows // 2):
        raise CommandError(
            f"the target {name!r} has {len(counts)} different values in {n_rows} rows; "
            "it must name classes that many rows share: group its values, or choose another"
        )


def label_type(labels: Iterable[str], *, text: bool) -> type:
    """Return the type of labels: int if all are whole numbers, unless `text` is asked for."""
    whole = all(cell.lstrip("-").isdecimal() and str(int(cell)) == cell for cell in labels)
    return np.int64 if whole and not text else str


def count_things(n: int, one: str, many: str) -> str:
    """Return a number with the right form of what it counts."""
    return f"{n} {one if n == 1 else many}"


def count_kinds(X: Any) -> str:
    """Say how many columns of each type a typed frame has."""
    counts = Counter(type_of(X[name]).stores for name in X.columns)
    return ", ".join(count_things(n, *_KINDS[kind]) for kind, n in counts.items())


def _type_columns(frame: Any, given: dict[str, str | tuple[str, ...]], console: Console) -> Any:
    """Return the columns that can tell cases apart, each of its type."""
    import pandas as pd

    columns, left_out = {}, {}
    for name in frame.columns:
        series = frame[name]
        wanted = _wanted(given[name]) if name in given else find_type(series)
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


def note_left_out(reasons: Mapping[str, str], console: Console) -> None:
    """Say which columns are left out, and why."""
    for reason in dict.fromkeys(reasons.values()):
        same = [name for name, why in reasons.items() if why == reason]
        console.note(f"Left out: {list_names(same)} ({reason}).")


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


def warn_of_row_numbers(name: str, n_rows: int, console: Console) -> None:
    """Warn of a column whose values rise by one from row to row, if there are many."""
    if n_rows >= _MANY:
        console.warn(
            f"column {name!r} numbers the rows and is taken as a measurement; use "
            f"--id or --drop if it is none"
        )


def _parse_kinds(
    specifications: list[str], columns: list[str], path: Path
) -> dict[str, str | tuple[str, ...]]:
    """Return what ``--kind NAME=KIND`` says of columns: a kind, or values in order."""
    kinds: dict[str, str | tuple[str, ...]] = {}
    for text in specifications:
        fitting = [name for name in columns if text.startswith(f"{name}=")]
        if not fitting:
            find_column(columns, text.partition("=")[0], "--kind", path)
            raise UsageError(f"--kind must be NAME=KIND, got {text!r}")
        name = max(fitting, key=len)
        kind = text[len(name) + 1 :]
        values = tuple(value.strip() for value in kind.split(","))
        if kind not in _WORDS and len(values) < 2:
            raise UsageError(
                f"--kind {name}= must be numeric, categorical, date, asymmetric or values in "
                f"order such as low,medium,high, got {kind!r}"
            )
        kinds[name] = kind if kind in _WORDS else values
    return kinds


def _wanted(kind: str | tuple[str, ...]) -> ColumnType:
    """Return the type of a column whose kind is given."""
    return ColumnType(_WORDS[kind]) if isinstance(kind, str) else ColumnType("ranks", kind)


def list_names(names: Any) -> str:
    """Name some columns, of many the first few and the last."""
    shown = [repr(str(name)) for name in names]
    if len(shown) > 8:
        shown = [*shown[:6], f"{len(shown) - 7} more", shown[-1]]
    return ", ".join(shown)
