"""The types of a check: what was found, of which column, and how it is settled."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._cells import Notation
from .._frames import make_frame

# What needs an answer, what needs one or the word to go on, and what is good to know.
LEVELS = ("unclear", "danger", "note")
_WIDTH = 100
# Findings of one kind, and classes, that are printed.
_MOST_ALIKE, _MOST_CLASSES = 5, 20


@dataclass(frozen=True)
class Finding:
    """Something about a table that its owner should look at.

    Parameters
    ----------
    column : str
        The column it is about; "" for rows or the table as a whole.
    what : str
        In a word or two, such as "identifier" or "sentinel".
    why : str
        What was seen.
    option : str
        What to do about it; on the command line, the option of ``protocover fit``.
    level : {"unclear", "danger", "note"}
        "unclear" needs an answer before a fit, "danger" an answer or ``--ignore-warnings``.
    """

    column: str
    what: str
    why: str
    option: str
    level: str = "danger"

    def __str__(self) -> str:
        about = f"column {self.column!r}: " if self.column else ""
        return f"{about}{self.why}; {self.option}" if self.option else f"{about}{self.why}"


@dataclass(frozen=True)
class ColumnFacts:
    """What a column is taken for: "numbers", "dates", "booleans", "labels" or "ranks", and why.

    `notation` is how the numbers of a column of text are written. `useless` says why the
    column cannot help to tell rows apart, "" if it can.
    """

    name: str
    stores: str
    why: str
    n_values: int
    n_missing: int
    notation: Notation | None = None
    useless: str = ""


@dataclass(frozen=True, repr=False)
class TableCheck:
    """What a check of a table has found.

    Parameters
    ----------
    columns : tuple of ColumnFacts
        Every column with what it is taken for.
    findings : tuple of Finding
        What to look at, the worst first.
    decimal : str or None
        The decimal mark of the table, where its cells tell.
    classes : dict of str to int
        The number of rows of each class, the largest first; empty without a target.
    """

    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    decimal: str | None = None
    classes: Mapping[str, int] = field(default_factory=dict)

    @property
    def dangers(self) -> tuple[Finding, ...]:
        """What would change an answer without a word."""
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
        """Return the findings; the first few of each kind, and the columns of the others."""
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
        """Return how many rows each class has, of many classes the largest."""
        shown = [(_cut(label, 30), str(n)) for label, n in self.classes.items()][:_MOST_CLASSES]
        rows = [("class", "rows"), *shown]
        widths = [max(len(row[k]) for row in rows) for k in range(2)]
        lines = [f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}" for row in rows]
        further = len(self.classes) - len(shown)
        return [*lines, f"... and {further} more classes"] if further else lines

    def _column_lines(self) -> list[str]:
        """Return a table of the columns, of many the first and the last ones."""
        rows = [("column", "type", "values", "missing", "why")]
        rows += [
            (_cut(f.name, 30), f.stores, str(f.n_values), str(f.n_missing), f.useless or f.why)
            for f in self.columns
        ]
        if len(rows) > 101:
            rows = [*rows[:81], ("...", "", "", "", f"{len(rows) - 101} more"), *rows[-20:]]
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        return [
            f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  "
            f"{row[3]:>{widths[3]}}  {row[4]}".rstrip()
            for row in rows
        ]


def list_some(values: Any, most: int = 3) -> str:
    """Name the first few of some values."""
    shown = [repr(_cut(str(value), 24)) for value in list(values)[:most]]
    further = len(values) - len(shown)
    return ", ".join(shown) + (f" and {further} more" if further > 0 else "")


def _cut(text: str, width: int) -> str:
    """Return a text of at most so many characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
