"""Tables from files: CSV, TSV and Parquet, as frames of columns with one name each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .console import Console
from .delimited import read_delimited
from .errors import CommandError
from .parquet import is_parquet, read_parquet

__all__ = ["named_columns", "read_table"]


def read_table(
    path: Path,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    console: Console,
) -> Any:
    """Read a table from a file.

    Parameters
    ----------
    path : Path
        A CSV or TSV file, gzipped or not, or a Parquet file.
    separator, encoding : str or None, default=None
        Of a text file; None to find them.
    console : Console
        Told what is unusual about the file.

    Returns
    -------
    DataFrame
        With a column of text for each column of a text file, and typed columns otherwise.
    """
    if path.is_dir():
        raise CommandError(f"{path} is a folder; give a CSV, TSV or Parquet file")
    if is_parquet(path):
        frame = read_parquet(path)
    else:
        frame = read_delimited(path, separator=separator, encoding=encoding, console=console)
    named = named_columns(list(frame.columns), path, console)
    if not all(named):
        frame = frame.loc[:, named].copy()
    if not len(frame):
        raise CommandError(f"{path} has column names but no rows; give a table with rows")
    return frame


def named_columns(names: Any, path: Path, console: Console) -> list[bool]:
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
