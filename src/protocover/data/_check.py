"""The check of a table: the type of each column, and what could silently change a result."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cells import MISSING, Notation, Reading, decimal_mark, read_cells
from ._columns import Column, find_missing, read_columns
from ._findings import (
    MANY,
    PYTHON,
    Classes,
    Finding,
    Remedies,
    list_some,
    look_at_classes,
    look_at_numbers,
    look_at_text,
    look_for_leak,
    look_for_thresholds,
    number_values,
    shorten,
)
from ._frames import make_frame

_LEVELS = ("unclear", "danger", "note")
_WIDTH = 100
# Findings of one kind, and classes, that are printed.
_MOST_ALIKE, _MOST_CLASSES = 5, 20
# Rows with a smaller fraction of known values cannot become prototypes.
_LEAST_KNOWN = 0.5


@dataclass(frozen=True)
class ColumnFacts:
    """The type of a column ("numbers", "dates", "booleans", "labels" or "ranks"), and why.

    `order` has the values of "ranks", lowest first; `notation` is how the numbers of a column of
    text are written; `useless` is why the column cannot distinguish rows, "" if it can.
    """

    name: str
    stores: str
    why: str
    n_values: int
    n_missing: int
    notation: Notation | None = None
    useless: str = ""
    order: tuple[Any, ...] | None = None


@dataclass(frozen=True, repr=False)
class TableCheck:
    """The result of a check of a table.

    Parameters
    ----------
    columns : tuple of ColumnFacts
        Every column with its type.
    findings : tuple of Finding
        What to look at, the most serious first.
    decimal : str or None
        The decimal mark of the table, if its cells determine it.
    classes : dict of str to int
        The number of rows per class, the largest first; empty without a target.
    """

    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    decimal: str | None = None
    classes: Mapping[str, int] = field(default_factory=dict)

    @property
    def dangers(self) -> tuple[Finding, ...]:
        """The findings that could silently change a result."""
        return tuple(finding for finding in self.findings if finding.level != "note")

    def to_frame(self) -> Any:
        """Return the findings as a pandas data frame, one row each."""
        names = ("column", "what", "why", "option", "level")
        return make_frame({name: [getattr(f, name) for f in self.findings] for name in names})

    def __repr__(self) -> str:
        lines = [*self._column_lines(), ""]
        if self.classes:
            lines += [*self._class_lines(), ""]
        if not self.findings:
            return "\n".join([*lines, "No problems found."])
        for text in self._finding_texts():
            lines += textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        return "\n".join(lines)

    def _finding_texts(self) -> list[str]:
        """Return the first few findings of each kind, and the columns of the others."""
        texts = []
        for level, what in dict.fromkeys((f.level, f.what) for f in self.findings):
            same = [f for f in self.findings if (f.level, f.what) == (level, what)]
            mark = " " if level == "note" else "!"
            texts += [f"{mark} {finding}" for finding in same[:_MOST_ALIKE]]
            others = [finding.column for finding in same[_MOST_ALIKE:]]
            if others:
                texts.append(f"{mark} {len(others)} more ({what}): {list_some(others, 8)}")
        return texts

    def _class_lines(self) -> list[str]:
        """Return the number of rows per class, for the largest classes."""
        shown = [(shorten(label, 30), str(n)) for label, n in self.classes.items()][:_MOST_CLASSES]
        further = len(self.classes) - len(shown)
        more = [f"... and {further} more classes"] if further else []
        return _aligned([("class", "rows"), *shown], "<>") + more

    def _column_lines(self) -> list[str]:
        """Return a table of the columns; if there are many, of the first and the last ones."""
        rows = [("column", "type", "values", "missing", "why")]
        rows += [
            (shorten(f.name, 30), f.stores, str(f.n_values), str(f.n_missing), f.useless or f.why)
            for f in self.columns
        ]
        if len(rows) > 101:
            rows = [*rows[:81], ("...", "", "", "", f"{len(rows) - 101} more"), *rows[-20:]]
        return _aligned(rows, "<<>> ")


def _aligned(rows: Sequence[tuple[str, ...]], sides: str) -> list[str]:
    """Return rows as lines, cells aligned to the left, to the right, or not at all."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    forms = [side.strip() and f"{side}{width}" for side, width in zip(sides, widths, strict=True)]
    return ["  ".join(map(format, row, forms)).rstrip() for row in rows]


def check(
    table: Any,
    target: Any = None,
    *,
    feature_types: Mapping[Any, str] | None = None,
    missing: Mapping[Any, Collection[str]] | None = None,
    decimal: str | None = None,
    row_numbers: Sequence[int] | None = None,
) -> TableCheck:
    """Check a table before a fit: find the type of each column, and values that may mislead.

    Parameters
    ----------
    table : pandas or polars DataFrame, ndarray or list of rows
        Columns of text are read as ``protocover fit`` reads those of a file.
    target : column name or array-like of shape (n_rows,), optional
        The column of the class, or the labels.
    feature_types : dict, default=None
        Known column types by name: "numbers", "dates", "booleans", "labels" or "ranks". These
        columns are not checked.
    missing : dict, default=None
        Values that mean missing, by column; those under None apply to all columns.
    decimal : {".", ","}, default=None
        The decimal mark; None to detect it.
    row_numbers : sequence of int, default=None
        Numbers of the rows in findings; None counts from 1.

    Returns
    -------
    TableCheck
        Prints as a table of columns and a list of findings; ``to_frame()`` returns the findings.

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
    """Check a table as :func:`check` does, with the remedies of the calling interface."""
    columns = read_columns(table)
    _refuse_repeated(columns)
    labels = _labels(columns, target)
    classes = None if labels is None else Classes(labels, number_values(labels))
    one_column = target is not None and not np.ndim(target)
    features = [c for c in columns if not (one_column and c.name == target)]
    cells = {str(c.name): _clean(c, missing or {}) for c in features}
    mark = decimal or find_decimal(cells.values())
    given = {str(name): stores for name, stores in (feature_types or {}).items()}
    facts: list[ColumnFacts] = []
    findings: list[Finding] = []
    for column in features:
        name = str(column.name)
        reading = _read(column, cells[name], mark)
        of_column = _gather_facts(column, cells[name], reading, given.get(name), remedies)
        facts.append(of_column)
        if name not in given:
            findings.extend(_look_at(of_column, cells[name], reading, classes, remedies))
    counts = Counter([] if labels is None else [v for v in labels if v is not None])
    if counts:
        findings.extend(look_at_classes(str(target) if one_column else "", counts, remedies))
    findings.extend(_look_at_rows(facts, cells, row_numbers))
    findings.sort(key=lambda finding: _LEVELS.index(finding.level))
    return TableCheck(tuple(facts), tuple(findings), mark, dict(counts.most_common()))


def find_decimal(columns: Iterable[NDArray[Any]]) -> str | None:
    """Return the decimal mark of the columns of text that determine theirs, if it is the same."""
    marks = set()
    for cells in columns:
        if cells.dtype != np.float64:
            distinct = [v for v in dict.fromkeys(cells.tolist()) if isinstance(v, str)]
            marks.add(decimal_mark([v for v in distinct if v not in MISSING]))
    marks.discard(None)
    return marks.pop() if len(marks) == 1 else None


def _read(column: Column, cells: NDArray[Any], decimal: str | None) -> Reading:
    """Return how a column is read."""
    distinct = dict.fromkeys(cells[~_is_absent(cells)].tolist())
    if any(isinstance(value, str) for value in distinct):
        # Spreadsheets store numbers as such, and odd cells among them as text.
        return read_cells(list(dict.fromkeys(map(str, distinct))), decimal=decimal)
    return Reading(column.holds, "by its type")


def _gather_facts(
    column: Column, cells: NDArray[Any], reading: Reading, given: str | None, remedies: Remedies
) -> ColumnFacts:
    """Return the facts about one column, whose type may be `given`."""
    absent = _is_absent(cells)
    name, n_values, n_missing = str(column.name), len(set(cells[~absent].tolist())), absent.sum()
    return ColumnFacts(
        name,
        given or reading.stores,
        remedies.given if given else reading.why,
        n_values,
        int(n_missing),
        reading.notation,
        "" if given else _useless(name, reading.stores, n_values, ~absent, remedies),
        column.order,
    )


def _useless(
    name: str, stores: str, n_values: int, present: NDArray[np.bool_], remedies: Remedies
) -> str:
    """Return why a column cannot distinguish rows, "" if it can."""
    n_present = int(present.sum())
    if not n_present:
        return "no values"
    if n_values == 1 and present.all():
        return "the same value in every row"
    if stores == "labels" and n_values == n_present >= MANY:
        return remedies.all_texts_differ
    if stores == "labels" and n_values > n_present / 2 and n_present >= 2 * MANY:
        return f"{n_values} different texts in {n_present} rows{remedies.most_texts_differ(name)}"
    return ""


def _look_at(
    facts: ColumnFacts,
    cells: NDArray[Any],
    reading: Reading,
    classes: Classes | None,
    remedies: Remedies,
) -> Iterator[Finding]:
    """Report the findings about one column."""
    # Numbers with an odd cell or a unit are often all different without being free text.
    if facts.useless and not (reading.odd or reading.unit):
        if not remedies.leaves_out and facts.stores == "labels" and facts.n_values > 1:
            why = f"most of its {facts.n_values} texts occur in one row only"
            option = f"{remedies.drop(facts.name)} if it is a name or free text"
            yield Finding(facts.name, "free text", why, option, "note")
        return
    yield from look_at_text(facts.name, reading, remedies)
    if reading.stores == "numbers" and not reading.unclear:
        numbers = _numbers(cells, reading)
        found = list(look_at_numbers(facts.name, numbers, remedies))
        yield from found
        # A table may be sorted by class and then numbered.
        if classes is not None and not any(finding.what == "identifier" for finding in found):
            yield from look_for_thresholds(facts.name, numbers, classes, remedies)
    if classes is not None and facts.n_values <= len(cells) / 5:
        codes = number_values(cells)
        stores = "numbers" if reading.stores == "numbers" else "labels"
        yield from look_for_leak(
            facts.name, codes, classes.codes, stores=stores, remedies=remedies
        )


def _clean(column: Column, missing: Mapping[Any, Collection[str]]) -> NDArray[Any]:
    """Return the values of a column, text stripped, None or NaN where one is missing."""
    marks = {str(value) for key in (None, column.name) for value in missing.get(key, ())}
    absent = find_missing(column.values, marks)
    if column.values.dtype == np.float64:
        return np.where(absent, np.nan, column.values)
    cleaned = np.empty(len(absent), dtype=object)
    cleaned[:] = [v.strip() if isinstance(v, str) else v for v in column.values]
    cleaned[absent] = None
    return cleaned


def _is_absent(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which clean cells are missing."""
    if cells.dtype == np.float64:
        return np.asarray(np.isnan(cells))
    return np.fromiter((v is None for v in cells), dtype=bool, count=len(cells))


def _numbers(cells: NDArray[Any], reading: Reading) -> NDArray[np.float64]:
    """Return the numbers of a column, NaN where one is missing."""
    if cells.dtype == np.float64:
        return cells
    present = ~_is_absent(cells)
    values = cells[present].tolist()
    if reading.notation is not None:
        values = [reading.notation.plain(str(value)) for value in values]
    numbers = np.full(len(cells), np.nan)
    numbers[present] = [float(value) for value in values]
    return numbers


def _refuse_repeated(columns: Sequence[Column]) -> None:
    """Raise an error if two columns have the same name."""
    counts = Counter(str(column.name) for column in columns)
    repeated = [name for name, n in counts.items() if n > 1]
    if repeated:
        raise ValueError(
            f"table has several columns named {repeated[0]!r}; rename them so that each name is "
            "unique"
        )


def _labels(columns: list[Column], target: Any) -> NDArray[Any] | None:
    """Return the labels as text, None where one is missing."""
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
            f"target must have one label for each of the {len(columns[0].values)} rows, got "
            f"{len(labels)}"
        )
    return labels


def _label_text(label: Any) -> str:
    """Return the text of a label; integers may have been read as floats."""
    return str(int(label) if isinstance(label, float) and label.is_integer() else label)


def _look_at_rows(
    facts: list[ColumnFacts],
    cells: Mapping[str, NDArray[Any]],
    row_numbers: Sequence[int] | None,
) -> Iterator[Finding]:
    """Report rows with values in fewer than half of the columns that are used."""
    useful = [fact for fact in facts if not fact.useless]
    incomplete = [fact.name for fact in useful if fact.n_missing]
    if not incomplete:
        return
    n_known = len(useful) - sum(_is_absent(cells[name]).astype(np.intp) for name in incomplete)
    rows = np.flatnonzero(n_known < _LEAST_KNOWN * len(useful))
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
        f"{'they are' if many else 'it is'} compared by the known values only and cannot become "
        f"{'prototypes' if many else 'a prototype'}",
        "note",
    )
