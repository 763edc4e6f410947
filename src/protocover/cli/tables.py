"""Tables from files: CSV, TSV and Parquet, as frames of columns with one name each."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

from .console import Console
from .delimited import read_delimited
from .errors import CommandError
from .packages import check_packages

__all__ = ["read_table"]

_INDEX = re.compile(r"__index_level_\d+__")


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
    if _is_parquet(path):
        frame = _read_parquet(path)
    else:
        frame = read_delimited(path, separator=separator, encoding=encoding, console=console)
    _check_names(frame, path)
    frame = _without_unnamed(frame, path, console)
    if not len(frame):
        raise CommandError(f"{path} has column names but no rows; give a table with rows")
    return frame


def _is_parquet(path: Path) -> bool:
    """Tell a Parquet file by its first bytes, which all have."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _read_parquet(path: Path) -> Any:
    """Read a Parquet file."""
    check_packages("pyarrow")
    import pyarrow
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise CommandError(
            f"{path} cannot be read as Parquet ({reason}); write it anew"
        ) from error
    # An index that pandas has written along is no column, and gets no name.
    names = ["" if _INDEX.fullmatch(name) else name for name in table.column_names]
    unique = table.rename_columns([str(i) for i in range(len(names))])
    frame = unique.replace_schema_metadata(None).to_pandas()
    frame.columns = names
    return frame


def _check_names(frame: Any, path: Path) -> None:
    """Refuse names that several columns have."""
    repeated = [name for name, count in Counter(frame.columns).items() if name and count > 1]
    if repeated:
        raise CommandError(
            f"{path} has several columns named {', '.join(map(repr, repeated[:3]))}; "
            "rename them so that each has a name of its own"
        )


def _without_unnamed(frame: Any, path: Path, console: Console) -> Any:
    """Leave out columns without a name: a row index, or what a trailing separator makes."""
    named = [bool(name) for name in frame.columns]
    if all(named):
        return frame
    if not any(named):
        raise CommandError(f"{path} has no column names in its first line; add them")
    console.note(f"Left out: {named.count(False)} of the columns, which have no name.")
    return frame.loc[:, named].copy()
