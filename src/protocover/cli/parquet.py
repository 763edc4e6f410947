"""Parquet files: read whole, batch by batch, or some rows of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import CommandError
from .packages import check_packages

__all__ = ["is_parquet", "open_parquet", "read_batches", "read_parquet", "take_rows", "unpacked"]

_INDEX = re.compile(r"__index_level_\d+__")
# Rows and cells at a time. A row group may be as large as the file, and is no measure.
_ROWS, _CELLS = 1 << 14, 1 << 20
# Bytes of a column's packed data at a time.
_BUFFER = 1 << 16


def is_parquet(path: Path) -> bool:
    """Tell a Parquet file by its first bytes, which all have."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a frame; columns without a name have an empty one."""
    with _telling_damage(path):
        return _as_frame(_open(path).read())


def open_parquet(path: Path) -> tuple[list[tuple[str, Any]], int]:
    """Return the names of the columns with their Arrow types, and the number of rows.

    The index that pandas has written along is no column, and has an empty name.
    """
    with _telling_damage(path):
        file = _open(path)
        columns = [(_name(field.name), field.type) for field in file.schema_arrow]
        return columns, int(file.metadata.num_rows)


def read_batches(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first row, from 0, and the columns of some thousand rows."""
    start = 0
    with _telling_damage(path):
        # Read ahead, and the whole file is in memory soon.
        file = _open(path, buffer_size=_BUFFER, pre_buffer=False)
        size = int(np.clip(_CELLS // max(1, len(columns)), 1 << 8, _ROWS))
        for batch in file.iter_batches(size, columns=list(columns), use_threads=False):
            yield start, batch
            start += batch.num_rows


def take_rows(path: Path, columns: Sequence[str], rows: NDArray[np.intp]) -> Any:
    """Return some rows, numbered from 0 and rising, as a frame."""
    import pyarrow

    parts = []
    for start, batch in read_batches(path, columns):
        low, high = np.searchsorted(rows, [start, start + batch.num_rows])
        parts.append(batch.select(list(columns)).take(pyarrow.array(rows[low:high] - start)))
    return _as_frame(pyarrow.Table.from_batches(parts))


def unpacked(path: Path) -> int:
    """Return about how many bytes a Parquet file takes in memory."""
    with _telling_damage(path):
        facts = _open(path).metadata
        groups = [facts.row_group(k) for k in range(facts.num_row_groups)]
        packed = sum(int(group.total_byte_size) for group in groups)
        # Values that repeat are packed even so, and are numbers of eight bytes once read.
        return max(packed, 8 * int(facts.num_rows) * int(facts.num_columns))


def _open(path: Path, **how: Any) -> Any:
    """Open a Parquet file without reading more than what it says of itself."""
    check_packages("pyarrow")
    from pyarrow.parquet import ParquetFile

    return ParquetFile(path, **how)


@contextmanager
def _telling_damage(path: Path) -> Iterator[None]:
    """Say of a file that cannot be read which it is, and why."""
    check_packages("pyarrow")
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())
        raise CommandError(
            f"{path} cannot be read as Parquet ({reason}); write it anew"
        ) from error


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
