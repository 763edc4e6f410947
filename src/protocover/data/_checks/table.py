"""The check of a table: every column for itself, then the classes and the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells import MISSING, Reading, decimal_mark, read_cells, stands_for_missing
from .._columns import Column, read_columns
from .classes import Classes, look_at_classes, look_for_leak, look_for_thresholds, number_values
from .columns import MANY, look_at_free_text, look_at_numbers, look_at_text
from .findings import LEVELS, ColumnFacts, Finding, TableCheck
from .remedies import PYTHON, Remedies

# Rows with a smaller share of known values cannot stand for others.
LEAST_KNOWN = 0.5


def check(
    table: Any,
    target: Any = None,
    *,
    feature_types: Mapping[Any, str] | None = None,
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
    feature_types : dict, default=None
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
    return inspect_table(
        table,
        target,
        remedies=PYTHON,
        feature_types=feature_types,
        missing=missing,
        decimal=decimal,
        row_numbers=row_numbers,
    )


def inspect_table(
    table: Any,
    target: Any = None,
    *,
    remedies: Remedies,
    feature_types: Mapping[Any, str] | None = None,
    missing: Mapping[Any, Collection[str]] | None = None,
    decimal: str | None = None,
    row_numbers: Sequence[int] | None = None,
) -> TableCheck:
    """Check a table as :func:`check` does, with the remedies of the interface it is called by."""
    columns = read_columns(table)
    _refuse_repeated(columns)
    labels = _labels(columns, target)
    classes = None if labels is None else Classes(labels, number_values(labels))
    features = [c for c in columns if _is_no_target(c, target)]
    cells = {str(c.name): _clean(c, missing or {}) for c in features}
    mark = decimal or find_decimal(cells.values())
    given = {str(name): kind for name, kind in (feature_types or {}).items()}
    facts: list[ColumnFacts] = []
    findings: list[Finding] = []
    for column in features:
        name = str(column.name)
        reading = _read(column, cells[name], mark)
        of_column = _gather_facts(name, cells[name], reading, given.get(name), remedies)
        facts.append(of_column)
        if name not in given:
            findings.extend(_look_at(of_column, cells[name], reading, classes, remedies))
    counts = Counter([] if labels is None else [v for v in labels if v is not None])
    if counts:
        name = "" if np.ndim(target) else str(target)
        findings.extend(look_at_classes(name, counts, remedies))
    findings.extend(_look_at_rows(facts, cells, row_numbers))
    findings.sort(key=lambda finding: LEVELS.index(finding.level))
    return TableCheck(tuple(facts), tuple(findings), mark, dict(counts.most_common()))


def _read(column: Column, cells: NDArray[Any], decimal: str | None) -> Reading:
    """Return what a column is taken for."""
    distinct = dict.fromkeys(cells[~_is_absent(cells)].tolist())
    if any(isinstance(value, str) for value in distinct):
        # Spreadsheets give numbers as such and what is odd among them as text.
        return read_cells(list(dict.fromkeys(map(str, distinct))), decimal=decimal)
    return Reading(_store(column), "by its type")


def _gather_facts(
    name: str, cells: NDArray[Any], reading: Reading, given: str | None, remedies: Remedies
) -> ColumnFacts:
    """Return what one column is, or is `given` as."""
    absent = _is_absent(cells)
    n_values = len(set(cells[~absent].tolist()))
    useless = _useless(name, reading.stores, n_values, len(cells), int(absent.sum()), remedies)
    return ColumnFacts(
        name,
        given or reading.stores,
        remedies.given if given else reading.why,
        n_values,
        int(absent.sum()),
        reading.notation,
        "" if given else useless,
    )


def _look_at(
    facts: ColumnFacts,
    cells: NDArray[Any],
    reading: Reading,
    classes: Classes | None,
    remedies: Remedies,
) -> Iterator[Finding]:
    """Tell what is to be said of one column."""
    # Numbers spoiled by a cell or a unit are often all different, and no free text for that.
    spoiled = bool(reading.odd or reading.unit)
    if facts.useless and not spoiled:
        if not remedies.leaves_out:
            yield from look_at_free_text(facts, remedies)
        return
    yield from look_at_text(facts, reading, remedies)
    if reading.stores == "numbers" and not reading.unclear:
        numbers = _numbers(cells, _is_absent(cells), reading)
        said = list(look_at_numbers(facts.name, numbers, remedies))
        yield from said
        # A table may be sorted by class and then numbered.
        if classes is not None and not any(finding.what == "identifier" for finding in said):
            yield from look_for_thresholds(facts.name, numbers, classes, remedies)
    if classes is not None and facts.n_values <= len(cells) / 5:
        codes = number_values(cells)
        stores = "numbers" if reading.stores == "numbers" else "labels"
        yield from look_for_leak(
            facts.name, codes, classes.codes, stores=stores, remedies=remedies
        )


def _store(column: Column) -> str:
    """Return what a column that is no text holds."""
    if column.stores != "anything":
        return column.stores
    if column.holds_only_booleans:
        return "booleans"
    return "numbers" if column.holds_only_numbers else "labels"


def _useless(
    name: str, stores: str, n_values: int, n_rows: int, n_missing: int, remedies: Remedies
) -> str:
    """Say why a column cannot help to tell rows apart, if so."""
    n_present = n_rows - n_missing
    if not n_present:
        return "no values"
    if n_values == 1 and not n_missing:
        return "the same value in every row"
    if stores == "labels" and n_values == n_present >= MANY:
        return remedies.all_texts_differ
    if stores == "labels" and n_values > n_present / 2 and n_present >= 2 * MANY:
        return f"{n_values} different texts in {n_present} rows{remedies.most_texts_differ(name)}"
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
    """Return the labels as texts, None where one is missing."""
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
    labels[:] = [None if v is None or v != v else _label_text(v) for v in list(target)]
    if columns and len(labels) != len(columns[0].values):
        raise ValueError(
            f"target must have a label for each of the {len(columns[0].values)} rows, got "
            f"{len(labels)}"
        )
    return labels


def _label_text(label: Any) -> str:
    """Return the text of a label; whole numbers may have been read as floats."""
    return str(int(label) if isinstance(label, float) and label.is_integer() else label)


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
