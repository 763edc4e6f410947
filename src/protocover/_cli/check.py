"""Reading and checking of the rows of a table, and ``protocover check``."""

from __future__ import annotations

import re
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data._check import TableCheck, inspect_table
from ..data._columns import ColumnType
from ..data._findings import COMMAND_LINE
from .cases import Cases
from .columns import NO_COLUMNS, blank_out, convert, find_type, is_missing, type_columns
from .console import CommandError, Console, UsageError, count_things, list_names
from .tables import Dialect, read_table

_MOST_FINDINGS = 20
_MOST_ALIKE = 3
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_TYPES = {"numeric": "numbers", "categorical": "labels", "date": "dates", "asymmetric": "booleans"}


def run_check(options: Namespace, console: Console) -> None:
    """Read a table, print what was found, and fail if something prevents a fit."""
    if options.data.is_dir():
        raise CommandError(f"{options.data} is a folder; `protocover check` is for tables")
    frame, _, checked = check_table(options, console)
    console.say(f"{options.data}: {count_things(len(frame), 'row', 'rows')}\n")
    console.say(repr(checked))
    make_labels(frame[options.target])
    n = len(checked.dangers)
    if n:
        raise CommandError(
            f"{count_things(n, 'problem', 'problems')} to fix before `protocover fit`, marked "
            "with ! above"
        )
    if all(facts.useless for facts in checked.columns):
        raise CommandError(NO_COLUMNS)
    console.say("\nReady for `protocover fit`.")


def read_rows(options: Namespace, console: Console) -> Cases:
    """Read the rows of a table, with labels, names, weights and costs; type the other columns."""
    path, target = options.data, getattr(options, "target", None)
    frame, cells, checked = check_table(options, console)
    y = None
    if hasattr(options, "target"):
        y = make_labels(frame[target], text=options.outlier_label is not None)
    _report_findings(checked, path, go_on=options.ignore_warnings, console=console)
    types = parse_types(options.feature_type, [facts.name for facts in checked.columns], path)
    return Cases(
        type_columns(cells, types, checked, console),
        y,
        frame.index.to_numpy() + 1,
        path.name,
        None if options.id is None else row_names(frame[options.id]),
        shown=frame,
        weights=_amounts(frame, options, "weights", checked),
        costs=_amounts(frame, options, "candidate_cost", checked),
        dialect=Dialect(frame.attrs.get("separator", ","), checked.decimal or "."),
    )


def check_table(options: Namespace, console: Console) -> tuple[Any, Any, TableCheck]:
    """Read a table without the rows that have no label, and check its features.

    Returns the table, its features with marks for missing values blanked, and the check.
    """
    path = options.data
    frame = read_table(path, console=console, **reading_options(options))
    features = _find_features(list(frame.columns), options)
    _check_marks(options, frame)
    marks = parse_marks(options, list(frame.columns))
    types = parse_types(options.feature_type, features, path)
    cells, target = frame[features], getattr(options, "target", None)
    if target is not None:
        # A mark for all columns may be the name of a class; one for the target is not.
        labels = blank_out(frame[[target]], {target: marks.get(target, ())})[target]
        absent = is_missing(labels)
        if absent.any():
            rows = count_things(int(absent.sum()), "row", "rows")
            console.warn(f"left out {rows} without a value of {target!r}")
            frame, cells = frame.loc[~absent], cells.loc[~absent]
    cells = blank_out(cells, marks)
    labeled = cells if target is None else cells.assign(**{target: label_texts(frame[target])})
    checked = inspect_table(
        labeled,
        target,
        remedies=COMMAND_LINE,
        feature_types={name: kind.stores for name, kind in types.items()},
        decimal=options.decimal,
        row_numbers=frame.index.to_numpy() + 1,
    )
    return frame, cells, checked


def _report_findings(checked: TableCheck, path: Path, *, go_on: bool, console: Console) -> None:
    """Print the findings about a table; raise an error unless all dangers are fixed or ignored."""
    refused = [f for f in checked.dangers if f.level == "unclear" or not go_on]
    printed: Counter[str] = Counter()
    for finding in checked.findings:
        if finding not in refused:
            printed[finding.what] += 1
            if printed[finding.what] <= _MOST_ALIKE:
                console.warn(str(finding))
    for what, n in printed.items():
        if n > _MOST_ALIKE:
            console.warn(
                f"{n - _MOST_ALIKE} more findings of this kind ({what}); `protocover check` lists "
                "the columns"
            )
    if not refused:
        return
    for finding in refused[:_MOST_FINDINGS]:
        console.fail(str(finding))
    n = len(refused)
    first = f" (the first {_MOST_FINDINGS} are shown)" if n > _MOST_FINDINGS else ""
    # A number that can be read in two ways cannot be ignored.
    unclear = all(finding.level == "unclear" for finding in refused)
    ignore = "" if unclear else ", or pass --ignore-warnings to continue"
    raise CommandError(
        f"{count_things(n, 'problem', 'problems')} in {path} could silently change the "
        f"result{first}; fix {'it' if n == 1 else 'them'} as suggested above{ignore}"
    )


def reading_options(options: Namespace) -> dict[str, Any]:
    """Return how a table is to be read."""
    return {name: getattr(options, name) for name in ("separator", "encoding", "sheet")}


def parse_marks(options: Namespace, columns: list[str]) -> dict[str | None, list[str]]:
    """Return the values of ``--missing [NAME=]VALUE`` by column, those for all under None."""
    marks: dict[str | None, list[str]] = {}
    for text in options.missing or []:
        matching = [name for name in columns if text.startswith(f"{name}=")]
        name = max(matching, key=len) if matching else None
        marks.setdefault(name, []).append(text if name is None else text[len(name) + 1 :])
    return marks


def _check_marks(options: Namespace, frame: Any) -> None:
    """Refuse a mark that names no column and occurs in no cell: the name is misspelt."""
    columns = list(frame.columns)
    for text in options.missing:
        named = "=" not in text or any(text.startswith(f"{name}=") for name in columns)
        if not named and not (frame.astype(str) == text).to_numpy().any():
            raise UsageError(
                f"--missing {text} names no column of {options.data} and occurs in no cell; the "
                f"columns are {list_names(columns)}"
            )


def _amounts(
    frame: Any, options: Namespace, option: str, checked: TableCheck
) -> NDArray[np.float64] | None:
    """Return the column that an option names as non-negative numbers, None without the option."""
    name = getattr(options, option, None)
    if name is None:
        return None
    return read_amounts(frame[name], f"--{option.replace('_', '-')}", checked.decimal)


def read_amounts(cells: Any, option: str, decimal: str | None = None) -> NDArray[np.float64]:
    """Return weights or costs: non-negative numbers, weights not all 0.

    `decimal` is the decimal mark of the file, if known.
    """
    import pandas as pd

    read = cells
    if find_type(cells).stores == "numbers" and not is_missing(cells).any():
        read = convert(cells, ColumnType("numbers"), decimal=decimal)
    numbers = pd.to_numeric(read, errors="coerce")
    amounts: NDArray[np.float64] = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    wrong = np.flatnonzero(~(np.isfinite(amounts) & (amounts >= 0.0)))
    if len(wrong):
        raise CommandError(
            f"{option} {str(cells.name)!r} must hold a non-negative number in every row, got "
            f"{str(cells.iloc[wrong[0]])!r} in row {cells.index[wrong[0]] + 1}; correct that cell"
        )
    if option == "--weights" and not amounts.any():
        raise CommandError(
            f"{option} {str(cells.name)!r} is 0 in every row; at least one must be positive"
        )
    return amounts


def _find_features(columns: list[str], options: Namespace) -> list[str]:
    """Return the columns that are not the target, names, weights, costs or dropped."""
    if hasattr(options, "target") and options.target is None:
        raise UsageError(
            f"--target is missing; name the column of the class, one of {list_names(columns)}"
        )
    taken = {find_column(columns, name, "--drop", options.data) for name in options.drop}
    for option in ("target", "id", "weights", "candidate_cost"):
        name = getattr(options, option, None)
        if name is not None:
            option = f"--{option.replace('_', '-')}"
            taken.add(find_column(columns, name, option, options.data))
    return [name for name in columns if name not in taken]


def find_column(columns: list[str], name: str, option: str, path: Path) -> str:
    """Return the name of a column, or raise an error that lists the columns."""
    if name in columns:
        return name
    near = get_close_matches(name, columns, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the columns are {list_names(columns)}"
    if any(column.replace(".", "", 1).isdecimal() for column in columns):
        hint += ". The first line must hold column names, not values"
    raise CommandError(f"{option} {name!r} is not a column of {path}; {hint}")


def row_names(cells: Any) -> NDArray[Any]:
    """Return the cells of an identifier as the names of rows."""
    return np.asarray(cells.astype(str).to_numpy(dtype=object))


def make_labels(target: Any, *, text: bool = False) -> NDArray[Any]:
    """Return labels, none missing: integers if all are (unless `text`), otherwise text."""
    cells = label_texts(target)
    counts = Counter(cells)
    _check_classes(target.name, counts)
    # Numbers of more than 18 digits are names.
    integers = all(_INTEGER.fullmatch(cell) for cell in counts)
    return np.asarray(cells, dtype=np.int64 if integers and not text else str)


def label_texts(target: Any) -> NDArray[Any]:
    """Return the cells of a target, none missing, as text: 1.0 is 1."""
    cells = target.astype(str).str.strip().to_numpy(dtype=object)
    if getattr(target.dtype, "kind", "O") == "f":
        cells = np.array([cell.removesuffix(".0") for cell in cells], dtype=object)
    return np.asarray(cells)


def _check_classes(name: Any, counts: Mapping[str, int]) -> None:
    """Raise an error if a target with these labels does not define classes."""
    n_rows = sum(counts.values())
    if len(counts) == 1:
        raise CommandError(
            f"the target {name!r} has one class only, {next(iter(counts))!r}; at least two "
            "classes are required"
        )
    if not counts:
        raise CommandError(f"the target {name!r} has no values; choose another column")
    if len(counts) > max(20, n_rows // 2):
        raise CommandError(
            f"the target {name!r} has {len(counts)} different values in {n_rows} rows, too many "
            "for classes; group its values, or choose another column"
        )


def parse_types(
    specifications: list[str], columns: list[str], path: Path
) -> dict[str, ColumnType]:
    """Return the column types that ``--feature-type NAME=TYPE`` sets."""
    types: dict[str, ColumnType] = {}
    for text in specifications:
        matching = [name for name in columns if text.startswith(f"{name}=")]
        if not matching:
            find_column(columns, text.partition("=")[0], "--feature-type", path)
            raise UsageError(f"--feature-type must be NAME=TYPE, got {text!r}")
        name = max(matching, key=len)
        given = text[len(name) + 1 :]
        values = tuple(value.strip() for value in given.split(","))
        if given not in _TYPES and len(values) < 2:
            raise UsageError(
                f"--feature-type {name}= must be numeric, categorical, date, asymmetric or "
                f"ordered values such as low,medium,high, got {given!r}"
            )
        known = _TYPES.get(given)
        types[name] = ColumnType("ranks", values) if known is None else ColumnType(known)
    return types
