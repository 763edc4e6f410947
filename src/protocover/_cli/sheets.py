"""Sheets of spreadsheets, Excel's or others, as cells of text."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from .console import CommandError, Console, list_names


def read_sheet(path: Path, name: str | None, console: Console) -> Any:
    """Read a sheet as a frame of text: that of a name, or the first that has cells."""
    import pandas as pd
    from python_calamine import CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if name is not None and name not in names:
            raise CommandError(f"--sheet {name!r} is not in {path}; it has {list_names(names)}")
        tables = {n: _rows(book, n) for n in (names if name is None else [name])}
    except CommandError:
        raise
    except Exception as error:  # the reader's errors have no base class of their own
        raise CommandError(
            f"{path} cannot be read as a spreadsheet ({error}); if it is damaged or "
            "locked by a password, save the table as CSV and give that"
        ) from error
    filled = [sheet for sheet, rows in tables.items() if rows]
    if not filled:
        raise CommandError(f"{path} is empty; it needs a row of column names and rows below")
    if len(filled) > 1:
        console.note(f"{path.name} has the sheets {list_names(filled)}; read is {filled[0]!r}.")
    rows = tables[filled[0]]
    return pd.DataFrame([[_text(cell) for cell in row] for row in rows], dtype=object)


def _rows(book: Any, name: str) -> list[list[Any]]:
    """Return the rows of a sheet from the first to the last that is not empty."""
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    return [row for row in rows if any(cell != "" for cell in row)]


def _text(cell: Any) -> str:
    """Write a cell as a file of text would have it."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell)
