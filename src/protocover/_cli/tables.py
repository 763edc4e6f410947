"""Tables: read from CSV, TSV, Parquet and spreadsheets, and written as CSV."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from .._resources import available_memory
from .console import CommandError, Console, check_packages, count_things, list_names

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

_USUAL_MEMORY = 8 << 30
_PART = 1 << 20

# UTF-32 comes first, because one of its marks begins like one of UTF-16.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEPARATORS = (",", ";", "\t", "|")
_SEPARATOR_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_SAMPLE_LINES = 100
# The line that declares the separator for Excel.
_DECLARATION = re.compile(r"sep=(.)\r?\n", re.IGNORECASE)


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    console: Console,
) -> Any:
    """Read a CSV or TSV file, gzipped or not, a Parquet file or a spreadsheet as a pandas frame.

    Separator and encoding of a text file are detected if None. The columns of text files and
    spreadsheets are text. The separator is stored in the frame's ``attrs``.
    """
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give a CSV, TSV, Parquet or Excel file")
    spreadsheet = path.suffix.lower() in SPREADSHEETS and path.is_file()
    if sheet is not None and not spreadsheet:
        raise CommandError(
            f"--sheet is only valid for spreadsheets, and {path} is not one; omit it"
        )
    if is_parquet(path):
        check_packages("pyarrow")
        frame = read_parquet(path)
    elif spreadsheet:
        check_packages("python_calamine")
        frame = _name_by_first_row(read_sheet(path, sheet, console), rearmed=True)
    else:
        frame = _read_delimited(path, separator=separator, encoding=encoding, console=console)
    named = _named_columns(list(frame.columns), path, console)
    if not all(named):
        frame = frame.loc[:, named].copy()
    if not len(frame):
        raise CommandError(f"{path} has column names but no rows; give a table with rows")
    return frame


def _named_columns(names: Any, path: Path, console: Console) -> list[bool]:
    """Return which columns have a name; raise an error if two have the same.

    Columns without a name are a row index, or the result of a trailing separator.
    """
    repeated = [name for name, count in Counter(names).items() if name and count > 1]
    if repeated:
        raise CommandError(
            f"{path} has several columns named {', '.join(map(repr, repeated[:3]))}; "
            "rename them so that each name is unique"
        )
    named = [bool(name) for name in names]
    if not any(named):
        raise CommandError(f"{path} has no column names in its first line; add them")
    if not all(named):
        columns = count_things(named.count(False), "column", "columns")
        console.note(f"Left out: {columns} without a name.")
    return named


def _read_delimited(
    path: Path, *, separator: str | None, encoding: str | None, console: Console
) -> Any:
    """Read a CSV or TSV file as a frame of text, with empty cells where a row is too short.

    Its first line names the columns.
    """
    text = _decode(_read_bytes(path), path, encoding, console)
    if not text.strip():
        raise CommandError(
            f"{path} is empty; it must contain a line of column names and rows below"
        )
    declared = _DECLARATION.match(text)
    if declared:
        text = text[declared.end() :]
        separator = separator or declared[1]
    found = separator or _find_separator(text, path)
    if separator is None and found not in (",", "\t"):
        console.note(f"Columns of {path.name} are separated by {_SEPARATOR_NAMES[found]}.")
    frame = _name_by_first_row(_parse(text, found, path), rearmed="'" in text)
    frame.attrs["separator"] = found
    return frame


def _name_by_first_row(cells: Any, *, rearmed: bool = False) -> Any:
    """Use the first row of a table as column names; with `rearmed` undo `disarm`."""
    frame = cells.iloc[1:].reset_index(drop=True)
    frame.columns = [str(name).strip() for name in cells.iloc[0].fillna("")]
    columns = [series.to_numpy(object) for _, series in frame.items()] if rearmed else []
    if rearmed and all(map(is_disarmed, (frame.columns, *columns))):
        frame.columns = [rearm(name) for name in frame.columns]
        for place, values in enumerate(columns):
            if any(isinstance(cell, str) and cell[:1] == "'" for cell in values):
                frame.isetitem(place, frame.iloc[:, place].map(rearm, na_action="ignore"))
    return frame


def _read_bytes(path: Path) -> bytes:
    """Read a file or pipe once, decompress it if gzipped; raise an error if it is not text."""
    data = path.read_bytes() if path.is_file() else _read_pipe(path)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = _unpack(data, path)
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(
                f"{path} cannot be decompressed ({error}); the file is damaged or truncated"
            ) from error
    if data.startswith(b"PAR1"):  # Parquet files are read elsewhere
        raise CommandError(
            f"{path} is a pipe with a Parquet file; save it to a file, or give the table as CSV"
        )
    if data.startswith(b"PK\x03\x04"):
        raise CommandError(
            f"{path} is a spreadsheet or a zip archive; rename a spreadsheet to .xlsx or .ods, or "
            "save the table as CSV"
        )
    if b"\0" in data[:4096] and _wide_encoding(data) is None:
        raise CommandError(f"{path} is not a text file; give a CSV, TSV or Parquet file")
    return data


def _decode(data: bytes, path: Path, encoding: str | None, console: Console) -> str:
    """Decode with the given encoding, by a byte order mark, as UTF-8 or as Windows-1252."""
    if encoding is None:
        marked = (name for bom, name in _BOMS if data.startswith(bom))
        encoding = next(marked, _wide_encoding(data) or "utf-8")
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            console.note(
                f"{path.name} is not UTF-8 and is read as Windows-1252; change this with "
                "--encoding."
            )
            return data.decode("cp1252", errors="replace")
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise CommandError(
            f"{path} cannot be read with --encoding {encoding} ({error}); omit --encoding to "
            "detect it"
        ) from error


def _wide_encoding(data: bytes) -> str | None:
    """Return an encoding of 2 or 4 bytes per character, by a mark or the positions of zeros."""
    marked = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    if marked in ("utf-16", "utf-32"):
        return marked
    sample = data[:4096]
    for width, name in ((4, "utf-32"), (2, "utf-16")):
        whole = len(sample) // width * width
        places = [sample[:whole][k::width] for k in range(width)]
        # Most characters of text have zeros in all bytes except one.
        zeros = [part.count(0) / max(1, len(part)) for part in places]
        for low, end in ((0, "le"), (width - 1, "be")):
            others = [share for k, share in enumerate(zeros) if k != low]
            if whole >= 8 and zeros[low] == 0.0 and min(others) > 0.5:
                return f"{name}-{end}"
    return None


def _read_pipe(path: Path) -> bytes:
    """Read a pipe or device to its end, unless it is too large for the memory."""
    with path.open("rb") as file:
        return _read_some(file, f"{path} contains")


def _unpack(data: bytes, path: Path) -> bytes:
    """Decompress a gzipped file, unless it is too large for the memory."""
    with gzip.open(io.BytesIO(data)) as file:
        return _read_some(file, f"{path} decompresses to")


def _read_some(file: Any, what: str) -> bytes:
    """Read a file to its end; raise an error if it is too large for the memory as a table."""
    limit = (available_memory() or _USUAL_MEMORY) // 8
    parts, size = [], 0
    while part := file.read(_PART):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise CommandError(
                f"{what} more than {limit / 1e9:.1f} GB, too much for the memory of this "
                "computer; "
                "give fewer rows"
            )
    return b"".join(parts)


def _find_separator(text: str, path: Path) -> str:
    """Return the separator that gives all lines the same number of fields, the largest."""
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    lines = text[: 1 << 20].splitlines(keepends=True)
    # The last line of a sample may be cut off.
    sample = [line for line in (lines if len(text) < 1 << 20 else lines[:-1]) if line.strip()]
    return max(_SEPARATORS, key=lambda separator: _regularity(sample, separator))


def _regularity(lines: list[str], separator: str) -> tuple[bool, int]:
    """Return whether the first lines have the same number of fields, and that of the header."""
    try:
        reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
        counts = [len(row) for row, _ in zip(reader, range(_SAMPLE_LINES), strict=False)]
    except csv.Error:
        return (False, 0)
    return (counts[0] > 1 and len(set(counts)) == 1, counts[0])


def _parse(text: str, separator: str, path: Path) -> Any:
    """Split a text into cells, the header as the first row."""
    import pandas as pd

    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=None,
            dtype=str,
            keep_default_na=False,
            skipinitialspace=True,
            engine="c",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError) as error:
        reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
        if "out of memory" in reason:
            raise MemoryError(reason) from error
        raise CommandError(
            f"{path} is not a regular table ({reason}); correct that line, or set --separator"
        ) from error


def read_sheet(path: Path, name: str | None, console: Console) -> Any:
    """Read a sheet as a frame of text: the named one, or the first that is not empty."""
    import pandas as pd
    from python_calamine import CalamineWorkbook

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        if name is not None and name not in names:
            raise CommandError(
                f"--sheet {name!r} is not in {path}; the sheets are {list_names(names)}"
            )
        tables = {n: _rows(book, n) for n in (names if name is None else [name])}
    except CommandError:
        raise
    except Exception as error:  # the errors of the reader have no common base class
        raise CommandError(
            f"{path} cannot be read as a spreadsheet ({error}); if it is damaged or protected by "
            "a password, save the table as CSV"
        ) from error
    filled = [sheet for sheet, rows in tables.items() if rows]
    if not filled:
        raise CommandError(
            f"{path} is empty; it must contain a row of column names and rows below"
        )
    if len(filled) > 1:
        console.note(f"{path.name} has the sheets {list_names(filled)}; reading {filled[0]!r}.")
    rows = tables[filled[0]]
    return pd.DataFrame([[_text(cell) for cell in row] for row in rows], dtype=object)


def _rows(book: Any, name: str) -> list[list[Any]]:
    """Return the rows of a sheet that are not empty."""
    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
    return [row for row in rows if any(cell != "" for cell in row)]


def _text(cell: Any) -> str:
    """Return a cell as it would be in a text file."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    return str(cell)


# Cells that a spreadsheet would evaluate; a leading apostrophe makes them text. Cells that begin
# with apostrophes already get another, so that reading, which removes one, restores them. East
# Asian versions of spreadsheets treat full-width characters like the others.
_STARTS = r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
_FORMULA = re.compile(rf"'*{_STARTS}.", re.DOTALL)
_HARMLESS = re.compile(r"[-+]?[\d.,' ]+(?:[eE][-+]?\d+)?%?|-+")
_DISARMED = re.compile(rf"'+{_STARTS}.", re.DOTALL)


@dataclass(frozen=True)
class Dialect:
    """The separator and the decimal mark of a table of text."""

    separator: str = ","
    decimal: str = "."

    @property
    def written(self) -> Dialect:
        """Return the closest dialect that spreadsheets open: with commas or semicolons."""
        semicolons = self.separator == ";" or self.decimal == ","
        return Dialect(";" if semicolons else ",", self.decimal)


def csv_text(table: Any, *, dialect: Dialect | None = None) -> str:
    """Return a table as CSV, with cells as in the data except for formulas."""
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
            # A carriage return ends a row for every reader, and is not quoted by default.
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
    )


def csv_bytes(table: Any, *, dialect: Dialect | None = None) -> bytes:
    """Return a CSV file, with a byte order mark if it is not ASCII, for spreadsheets."""
    text = csv_text(table, dialect=dialect)
    return text.encode("utf-8" if text.isascii() else "utf-8-sig")


def disarm(cell: str) -> str:
    """Return a cell that spreadsheets do not evaluate as a formula."""
    if _FORMULA.match(cell) and not _HARMLESS.fullmatch(cell):
        return "'" + cell
    return cell


def rearm(cell: str) -> str:
    """Return the cell before `disarm`."""
    return cell[1:] if _DISARMED.match(cell) and disarm(cell[1:]) == cell else cell


def is_disarmed(cells: Iterable[Any]) -> bool:
    """Whether all texts among some cells may have been written by `disarm`.

    If not, as with a bare formula, another program wrote the table, and its apostrophes are part
    of the cells. Removing them could merge two values.
    """
    texts = (cell for cell in cells if isinstance(cell, str) and _FORMULA.match(cell))
    return all(disarm(text) == text or rearm(text) != text for text in texts)


_INDEX = re.compile(r"__index_level_\d+__")


def is_parquet(path: Path) -> bool:
    """Whether a file is a Parquet file by its first bytes.

    A pipe can be read only once, and is not opened here.
    """
    if path.exists() and not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pandas frame; columns without a name are named ""."""
    with _open(path) as file:
        return _as_frame(file.read())


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a Parquet file; raise an error that names it if it cannot be read."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'reading Parquet files needs pyarrow; pip install "protocover[cli]"'
        ) from error
    try:
        with ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise
    except MemoryError:  # also an error of Arrow, but not about the file
        raise
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path} cannot be read as Parquet ({reason}); write the file again"
        ) from error


def _as_frame(table: Any) -> Any:
    """Return an Arrow table as a frame, without the metadata of pandas about its index."""
    names = [_name(name) for name in table.column_names]
    unique = table.rename_columns([str(i) for i in range(len(names))])
    frame = unique.replace_schema_metadata(None).to_pandas()
    frame.columns = names
    return frame


def _name(name: str) -> str:
    """Return the name of a column, "" for an index written by pandas."""
    return "" if _INDEX.fullmatch(name) else name
