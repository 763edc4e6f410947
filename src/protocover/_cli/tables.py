"""Tables from files: CSV, TSV, Parquet and Excel, as frames of columns with one name each."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

from .._resources import available_memory
from ..data._parquet import is_parquet, read_parquet
from .console import CommandError, Console, check_packages
from .dialect import is_disarmed, rearm
from .sheets import read_sheet

SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")

_USUAL_MEMORY = 8 << 30
_PART = 1 << 20

# Those of UTF-32 first: one of them begins as one of UTF-16 does.
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
# The line by which Excel is told what separates columns.
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

    Separator and encoding of a text file are None to be found; its columns are text, and so
    are those of a spreadsheet. What separates columns is in the frame's ``attrs``.
    """
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give a CSV, TSV, Parquet or Excel file")
    spreadsheet = path.suffix.lower() in SPREADSHEETS and path.is_file()
    if sheet is not None and not spreadsheet:
        raise CommandError(f"--sheet is for spreadsheets, and {path} is none; leave it out")
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
    """Tell which columns have a name, and refuse names that several have.

    Those without are a row index, or what a trailing separator makes.
    """
    repeated = [name for name, count in Counter(names).items() if name and count > 1]
    if repeated:
        raise CommandError(
            f"{path} has several columns named {', '.join(map(repr, repeated[:3]))}; "
            "rename them so that each has a name of its own"
        )
    named = [bool(name) for name in names]
    if not any(named):
        raise CommandError(f"{path} has no column names in its first line; add them")
    if not all(named):
        console.note(f"Left out: {named.count(False)} of the columns, which have no name.")
    return named


def _read_delimited(
    path: Path, *, separator: str | None, encoding: str | None, console: Console
) -> Any:
    """Read a CSV or TSV file as a frame of text, empty where a row is too short.

    Its first line names the columns.
    """
    text = _decode(_read_bytes(path), path, encoding, console)
    if not text.strip():
        raise CommandError(f"{path} is empty; it needs a line of column names and rows below")
    declared = _DECLARATION.match(text)
    if declared:
        text = text[declared.end() :]
        separator = separator or declared[1]
    found = separator or _find_separator(text, path)
    if separator is None and found not in (",", "\t"):
        console.note(f"The columns of {path.name} are separated by {_SEPARATOR_NAMES[found]}.")
    frame = _name_by_first_row(_parse(text, found, path), rearmed="'" in text)
    frame.attrs["separator"] = found
    return frame


def _name_by_first_row(cells: Any, *, rearmed: bool = False) -> Any:
    """Take the first row of a table for the names of its columns, and undo `disarm` if asked."""
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
    """Read a file or pipe once, unpacking it if it is gzipped, and refuse what is no text."""
    data = path.read_bytes() if path.is_file() else _read_pipe(path)
    if data.startswith(b"\x1f\x8b"):
        try:
            data = _unpack(data, path)
        except (OSError, EOFError, zlib.error) as error:
            raise CommandError(
                f"{path} cannot be unpacked ({error}); the file is damaged or cut off"
            ) from error
    if data.startswith(b"PAR1"):  # a Parquet file is read elsewhere
        raise CommandError(
            f"{path} is a pipe with a Parquet file; save it as a file, or give the table as CSV"
        )
    if data.startswith(b"PK\x03\x04"):
        raise CommandError(
            f"{path} is a spreadsheet or a zip archive; give a spreadsheet the ending .xlsx or "
            ".ods that it had, or save the table as CSV and give that"
        )
    if b"\0" in data[:4096] and _wide_encoding(data) is None:
        raise CommandError(f"{path} is not a text file; give a CSV, TSV or Parquet file")
    return data


def _decode(data: bytes, path: Path, encoding: str | None, console: Console) -> str:
    """Decode by the given encoding, a byte order mark, as UTF-8, or as Windows would."""
    if encoding is None:
        marked = (name for bom, name in _BOMS if data.startswith(bom))
        encoding = next(marked, _wide_encoding(data) or "utf-8")
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            console.note(
                f"{path.name} is not UTF-8 and is read as Windows-1252; --encoding changes that."
            )
            return data.decode("cp1252", errors="replace")
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise CommandError(
            f"{path} cannot be read with --encoding {encoding} ({error}); leave --encoding out "
            "to have it found"
        ) from error


def _wide_encoding(data: bytes) -> str | None:
    """Tell the encodings of two or four bytes a letter, by a mark or by where zeros stand."""
    marked = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    if marked in ("utf-16", "utf-32"):
        return marked
    sample = data[:4096]
    for width, name in ((4, "utf-32"), (2, "utf-16")):
        whole = len(sample) // width * width
        places = [sample[:whole][k::width] for k in range(width)]
        # In text most letters have zeros in all of their bytes but one, which has none.
        zeros = [part.count(0) / max(1, len(part)) for part in places]
        for low, end in ((0, "le"), (width - 1, "be")):
            others = [share for k, share in enumerate(zeros) if k != low]
            if whole >= 8 and zeros[low] == 0.0 and min(others) > 0.5:
                return f"{name}-{end}"
    return None


def _read_pipe(path: Path) -> bytes:
    """Read a pipe, or a device, to its end, unless that is more than memory can hold."""
    with path.open("rb") as file:
        return _read_some(file, f"{path} holds")


def _unpack(data: bytes, path: Path) -> bytes:
    """Unpack a gzipped file, unless it grows beyond what memory can hold as a table."""
    with gzip.open(io.BytesIO(data)) as file:
        return _read_some(file, f"{path} unpacks to")


def _read_some(file: Any, what: str) -> bytes:
    """Read a file to its end, and refuse more than memory can hold as a table."""
    limit = (available_memory() or _USUAL_MEMORY) // 8
    parts, size = [], 0
    while part := file.read(_PART):
        parts.append(part)
        size += len(part)
        if size > limit:
            raise CommandError(
                f"{what} more than {limit / 1e9:.1f} GB, too much for this machine's memory; give "
                "fewer rows"
            )
    return b"".join(parts)


def _find_separator(text: str, path: Path) -> str:
    """Return the separator that gives all lines the same, largest number of fields."""
    if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")):
        return "\t"
    lines = text[: 1 << 20].splitlines(keepends=True)
    # The last line of a sample may be cut off.
    sample = [line for line in (lines if len(text) < 1 << 20 else lines[:-1]) if line.strip()]
    return max(_SEPARATORS, key=lambda separator: _regularity(sample, separator))


def _regularity(lines: list[str], separator: str) -> tuple[bool, int]:
    """Tell whether the first lines have the same number of fields, and the header's number."""
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
            f"{path} is no regular table ({reason}); mend that line, or set --separator"
        ) from error
