"""How tables are written so that spreadsheets open them right, and we read them back the same."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# What a spreadsheet would compute: an apostrophe before it makes it text. Those that are there
# already get one more, so that reading, which takes one away, gives back what was written.
# East Asian versions of spreadsheets take the full-width characters for the others.
_STARTS = r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"'*{_STARTS}.", re.DOTALL)
_HARMLESS = re.compile(r"[-+]?[\d.,' ]+(?:[eE][-+]?\d+)?%?|-+")
_DISARMED = re.compile(rf"'+{_STARTS}.", re.DOTALL)


@dataclass(frozen=True)
class Dialect:
    """What separates the columns of a table of text, and the decimal mark of its numbers."""

    separator: str = ","
    decimal: str = "."

    @property
    def written(self) -> Dialect:
        """Return the like of it that spreadsheets open: with commas, or else semicolons."""
        semicolons = self.separator == ";" or self.decimal == ","
        return Dialect(";" if semicolons else ",", self.decimal)


def csv_text(table: Any, *, dialect: Dialect | None = None) -> str:
    """Return a table as CSV, cells as they are in the data but for what would be computed."""
    written = (dialect or Dialect()).written
    safe = table.copy(deep=False)
    returns = any("\r" in str(name) for name in table.columns)
    for place, (_, series) in enumerate(table.items()):
        if getattr(series.dtype, "kind", "O") not in "iufb":
            cells = [disarm(v) if isinstance(v, str) else v for v in series]
            returns = returns or any(isinstance(v, str) and "\r" in v for v in cells)
            if any(new is not old for new, old in zip(cells, series, strict=True)):
                safe.isetitem(place, cells)
    safe.columns = [disarm(str(name)) for name in table.columns]
    return str(
        safe.to_csv(
            index=False,
            lineterminator="\n",
            sep=written.separator,
            decimal=written.decimal,
            # A lone return ends a row for every reader, and is not quoted for being that.
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
    )


def csv_bytes(table: Any, *, dialect: Dialect | None = None) -> bytes:
    """Return a CSV file, with a byte order mark where spreadsheets would misread it without."""
    text = csv_text(table, dialect=dialect)
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


def disarm(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    if _FORMULA.match(cell) and not _HARMLESS.fullmatch(cell):
        return "'" + cell
    return cell


def rearm(cell: str) -> str:
    """Return what `disarm` was given."""
    return cell[1:] if _DISARMED.match(cell) and disarm(cell[1:]) == cell else cell


def is_disarmed(cells: Iterable[Any]) -> bool:
    """Whether all texts among some cells may have come from `disarm`.

    If one of them cannot, such as a bare formula, the table was written by another program, and
    its apostrophes are part of the cells: to remove them could make two values one.
    """
    texts = (cell for cell in cells if isinstance(cell, str) and _FORMULA.match(cell))
    return all(disarm(text) == text or rearm(text) != text for text in texts)
