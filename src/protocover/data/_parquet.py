"""Parquet files, read as pandas frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_INDEX = re.compile(r"__index_level_\d+__")


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file by its first bytes, which all have.

    A pipe is none: it can be read only once, and is not opened here.
    """
    if path.exists() and not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pandas frame; columns without a name have an empty one."""
    with _open(path) as file:
        return _as_frame(file.read())


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a Parquet file; of one that cannot be read say which it is, and why."""
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
    except MemoryError:  # one of Arrow's errors, and none of the file's
        raise
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as Parquet ({reason}); write it anew") from error


def _as_frame(table: Any) -> Any:
    """Return an Arrow table as a frame, without what pandas has noted about its index."""
    names = [_name(name) for name in table.column_names]
    unique = table.rename_columns([str(i) for i in range(len(names))])
    frame = unique.replace_schema_metadata(None).to_pandas()
    frame.columns = names
    return frame


def _name(name: str) -> str:
    """Return the name of a column: none for an index that pandas has written along."""
    return "" if _INDEX.fullmatch(name) else name
