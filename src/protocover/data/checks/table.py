"""The check of a table: every column for itself, then the classes and the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import MISSING, Reading, decimal_mark, read_cells, stands_for_missing
from ..columns import Column, read_columns
from .classes import look_at_classes, look_for_leak
from .columns import MANY, look_at_numbers, look_at_text
from .findings import LEVELS, ColumnFacts, Finding, TableCheck

__all__ = ["LEAST_KNOWN", "check", "find_decimal"]

# Rows with a smaller share of known values cannot stand for others.
LEAST_KNOWN = 0.5


def check(
    table: Any,
    target: Any = None,
    *,
    kinds: Mapping[Any, str] | None = None,
    missing: Mapping[Any, Collection[str]] | None = None,
    decimal: str | None = None,
    row_numbers: Sequence[int] | None = None,
) -> TableCheck:
    """Look at a table before a fit: what its columns are, and what in them is not what it seems.

    Parameters
    ----------
    table : DataFrame of pandas or polars, ndarray or list of rows
        Columns of text are read as ``protocover fit`` reads those of a file.
    target : column name or array-like of shape (n_rows,), optional
        The column of the class, or the labels.
    kinds : dict, default=None
        What columns are known to hold, by name: "numbers", "dates", "booleans", "labels" or
        "ranks". Nothing is said of what is in them.
    missing : dict, default=None
        Values that stand for missing ones, by column; those under None in all columns.
    decimal : {".", ","}, default=None
        The decimal mark; None to have it found.
    row_numbers : sequence of int, default=None
        How rows are named in findings; None to count them from 1.

    Returns
    -------
    TableCheck
        Prints as a table of columns and a list of findings; ``to_frame()`` gives the latter.

    Examples
    --------
    >>> from protocover.data import check
    >>> rows = [["1,675", "a"], ["750", "b"], ["1,675", "b"], ["750", "a"]] * 3
    >>> found = check(rows, target=1)
    >>> [(finding.column, finding.what) for finding in found.findings]
    [('0', 'thousands or decimals')]
    """
    columns = read_columns(table)
    _refuse_repeated(columns)
    labels = _labels(columns, target)
    features = [c for c in columns if _is_no_target(c, target)]
    cells = {str(c.name): _clean(c, missing or {}) for c in features}
    mark = decimal or find_decimal(cells.values())
    given = {str(name): kind for name, kind in (kinds or {}).items()}
    classes = None if labels is None else _number(labels)
    facts, findings = [], []
    for column in features:
        name = str(column.name)
        of_column, said = _look_at(
            column, cells[name], given=given.get(name), decimal=mark, classes=classes
        )
        facts.append(of_column)
        findings.extend(said)
    if labels is not None:
        known = labels[[label is not None for label in labels]]
        name = "" if np.ndim(target) else str(target)
        findings.extend(look_at_classes(name, known))
    findings.extend(_look_at_rows(facts, cells, row_numbers))
    findings.sort(key=lambda finding: LEVELS.index(finding.level))
    return TableCheck(tuple(facts), tuple(findings), mark)


def _look_at(
    column: Column,
    cells: NDArray[Any],
    *,
    given: str | None,
    decimal: str | None,
    classes: NDArray[np.intp] | None,
) -> tuple[ColumnFacts, list[Finding]]:
    """Return what one column is, and what is to be said of it unless its kind is `given`."""
    name = str(column.name)
    absent = _is_absent(cells)
    present = cells[~absent]
    distinct = list(dict.fromkeys(present.tolist()))
    if any(isinstance(value, str) for value in distinct):
        # Spreadsheets give numbers as such and what is odd among them as text.
        reading = read_cells(list(dict.fromkeys(map(str, distinct))), decimal=decimal)
    else:
        reading = Reading(_store(column), "by its type")
    useless = _useless(reading.stores, len(distinct), len(present), len(cells))
    found: list[Finding] = []
    # Numbers spoiled by a cell or a unit are often all different, and no free text for that.
    spoiled = bool(reading.odd or reading.unit)
    if given is None and (spoiled or not useless):
        found.extend(look_at_text(name, reading, len(distinct), len(cells)))
        if reading.stores == "numbers" and not reading.unclear:
            found.extend(look_at_numbers(name, _numbers(cells, absent, reading)))
        if classes is not None and len(distinct) <= len(cells) / 5:
            codes = np.where(absent, -1, _number(cells))
            kind = "numeric" if reading.stores == "numbers" else "categorical"
            found.extend(look_for_leak(name, codes, classes, kind=kind))
    facts = ColumnFacts(
        name,
        given or reading.stores,
        "as --kind says" if given else reading.why,
        len(distinct),
        int(absent.sum()),
        reading.notation,
        "" if given else useless,
    )
    return facts, found


def _store(column: Column) -> str:
    """Return what a column that is no text holds."""
    if column.stores != "anything":
        return column.stores
    if column.holds_only_booleans:
        return "booleans"
    return "numbers" if column.holds_only_numbers else "labels"


def _useless(stores: str, n_values: int, n_present: int, n_rows: int) -> str:
    """Say why a column cannot help to tell rows apart, if so."""
    if not n_present:
        return "no values"
    if n_values == 1 and n_present == n_rows:
        return "the same value in every row"
    if stores == "labels" and n_values == n_present >= MANY:
        return "another text in every row; --id names the rows by it"
    return ""


def _clean(column: Column, missing: Mapping[Any, Collection[str]]) -> NDArray[Any]:
    """Return the cells of a column, text stripped, None or NaN where one is missing."""
    wanted = {str(value) for key in (None, column.name) for value in missing.get(key, ())}
    if column.values.dtype == np.float64:
        marks = [float(value) for value in wanted if _is_float(value)]
        return np.where(np.isin(column.values, marks), np.nan, column.values)
    cells = [value.strip() if isinstance(value, str) else value for value in column.values]
    is_mark = stands_for_missing(wanted) if wanted else MISSING.__contains__
    kept = [None if str(v) in MISSING or is_mark(str(v)) else v for v in cells]
    cleaned = np.empty(len(kept), dtype=object)
    cleaned[:] = kept
    return cleaned


def _is_float(text: str) -> bool:
    """Whether Python reads a text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_absent(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which clean cells are missing."""
    if cells.dtype == np.float64:
        return np.asarray(np.isnan(cells))
    return np.fromiter((v is None for v in cells), dtype=bool, count=len(cells))


def _numbers(
    cells: NDArray[Any], absent: NDArray[np.bool_], reading: Reading
) -> NDArray[np.float64]:
    """Return the numbers of a column, NaN where one is missing."""
    if cells.dtype == np.float64:
        return cells
    present = cells[~absent].tolist()
    if reading.notation is not None:
        present = [reading.notation.plain(str(value)) for value in present]
    numbers = np.full(len(cells), np.nan)
    numbers[~absent] = [float(value) for value in present]
    return numbers


def find_decimal(columns: Iterable[NDArray[Any]]) -> str | None:
    """Return the one decimal mark of the columns of text that leave no doubt about theirs."""
    marks = set()
    for cells in columns:
        if cells.dtype != np.float64:
            distinct = [v for v in dict.fromkeys(cells.tolist()) if isinstance(v, str)]
            marks.add(decimal_mark([v for v in distinct if v not in MISSING]))
    marks.discard(None)
    return marks.pop() if len(marks) == 1 else None


def _refuse_repeated(columns: Sequence[Column]) -> None:
    """Refuse columns that cannot be told apart by name."""
    counts = Counter(str(column.name) for column in columns)
    repeated = [name for name, n in counts.items() if n > 1]
    if repeated:
        raise ValueError(
            f"table has several columns named {repeated[0]!r}; rename them so that each has a "
            "name of its own"
        )


def _is_no_target(column: Column, target: Any) -> bool:
    """Whether a column is not the one of the class."""
    return target is None or bool(np.ndim(target)) or column.name != target


def _labels(columns: list[Column], target: Any) -> NDArray[Any] | None:
    """Return the labels as objects, None where one is missing."""
    if target is None:
        return None
    if not np.ndim(target):
        named = [column for column in columns if column.name == target]
        if not named:
            names = [column.name for column in columns]
            raise ValueError(
                f"target must be a column of the table or labels, got {target!r}; "
                f"the columns are {names[:8]}"
            )
        target = named[0].values
    labels = np.empty(len(target), dtype=object)
    labels[:] = [None if v is None or v != v else v for v in list(target)]
    if columns and len(labels) != len(columns[0].values):
        raise ValueError(
            f"target must have a label for each of the {len(columns[0].values)} rows, got "
            f"{len(labels)}"
        )
    return labels


def _number(values: NDArray[Any]) -> NDArray[np.intp]:
    """Give each different value a number, None -1."""
    places: dict[Any, int] = {None: -1}
    return np.array(
        [places.setdefault(v, len(places) - 1) for v in values.tolist()], dtype=np.intp
    )


def _look_at_rows(
    facts: list[ColumnFacts],
    cells: Mapping[str, NDArray[Any]],
    row_numbers: Sequence[int] | None,
) -> Iterator[Finding]:
    """Tell of rows with values in fewer than half of the columns that count."""
    useful = [fact.name for fact in facts if not fact.useless]
    gappy = [fact.name for fact in facts if not fact.useless and fact.n_missing]
    if not gappy:
        return
    n_known = len(useful) - sum(_is_absent(cells[name]).astype(np.intp) for name in gappy)
    rows = np.flatnonzero(n_known < LEAST_KNOWN * len(useful))
    rows = rows + 1 if row_numbers is None else np.asarray(row_numbers)[rows]
    if not len(rows):
        return
    first = ", ".join(map(str, rows[:5].tolist())) + (", ..." if len(rows) > 5 else "")
    many = len(rows) > 1
    yield Finding(
        "",
        "nearly empty rows",
        f"{len(rows)} {'rows have' if many else 'row has'} values in fewer than half of the "
        f"columns (row {first})",
        f"{'they are' if many else 'it is'} compared by what is known and cannot be "
        f"{'prototypes' if many else 'a prototype'}",
        "note",
    )
