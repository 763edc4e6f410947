"""Parquet files: read whole, batch by batch, some rows of them, or laid out as rows on disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "is_parquet",
    "lay_out_rows",
    "open_parquet",
    "parquet_to_memmap",
    "read_batches",
    "read_parquet",
    "take_rows",
    "unpacked_size",
]

_INDEX = re.compile(r"__index_level_\d+__")
# Rows and cells at a time. A row group may be as large as the file, and is no measure.
_ROWS, _CELLS = 1 << 14, 1 << 20
# Bytes of a column's packed data at a time.
_BUFFER = 1 << 16


def parquet_to_memmap(
    path: str | Path,
    target: str | Path,
    *,
    features: Sequence[str] | None = None,
    label: str | None = None,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Lay the numeric columns of a Parquet file out as rows on disk, some thousand at a time.

    The values stay what they are: single precision where all columns fit it, double
    otherwise.

    Parameters
    ----------
    path : str or Path
        The Parquet file.
    target : str or Path
        File for the rows. It is written over, and must stay while the rows are in use.
    features : sequence of str or None, default=None
        Columns to take, in this order; None for all but `label`.
    label : str or None, default=None
        Column of labels.

    Returns
    -------
    X : numpy.memmap, shape (n_rows, n_features)
        Rows, opened for reading; pass them to ``PVMClassifier.fit``.
    y : ndarray, shape (n_rows,), or None
        Labels, in memory.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> folder = Path(tempfile.mkdtemp())
    >>> table = pa.table({"a": [0.0, 1.0, 5.0], "b": [0, 1, 5], "kind": ["x", "x", "y"]})
    >>> pq.write_table(table, folder / "rows.parquet", row_group_size=2)
    >>> X, y = parquet_to_memmap(folder / "rows.parquet", folder / "rows", label="kind")
    >>> X.shape, X.dtype.name, y.tolist()
    ((3, 2), 'float64', ['x', 'x', 'y'])
    """
    with _open(path) as file:
        names = _feature_names(file, features, label)
        shape = file.metadata.num_rows, len(names)
        dtype = _common_dtype(file, names)
    if 0 in shape:
        raise ValueError(f"{path} must hold rows and features, got {shape[0]} x {shape[1]}")
    labels: list[NDArray[Any]] = []

    def blocks() -> Iterator[NDArray[Any]]:
        for _, batch in read_batches(path, [*names, *([label] if label else [])]):
            columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in names]
            if label is not None:
                labels.append(batch.column(label).to_numpy(zero_copy_only=False))
            yield np.stack(columns, axis=1)

    with Path(target).open("w+b") as rows:
        X = lay_out_rows(blocks(), rows, shape=shape, dtype=dtype)
    return X, np.concatenate(labels) if labels else None


def lay_out_rows(
    blocks: Iterable[NDArray[Any]], file: BinaryIO, *, shape: tuple[int, int], dtype: Any
) -> NDArray[Any]:
    """Write blocks of rows to a file, and return them as they lie there, opened for reading."""
    for block in blocks:
        file.write(np.ascontiguousarray(block, dtype=dtype).data)
    file.flush()
    return np.memmap(file, dtype=dtype, mode="r", shape=shape)


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


def open_parquet(path: Path) -> tuple[list[tuple[str, Any]], int]:
    """Return the names of the columns with their Arrow types, and the number of rows.

    The index that pandas has written along is no column, and has an empty name.
    """
    with _open(path) as file:
        columns = [(_name(field.name), field.type) for field in file.schema_arrow]
        return columns, int(file.metadata.num_rows)


def read_batches(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first row, from 0, and the columns of some thousand rows."""
    start = 0
    # Read ahead, and the whole file is in memory soon.
    with _open(path, buffer_size=_BUFFER, pre_buffer=False) as file:
        size = int(np.clip(_CELLS // max(1, len(columns)), 1 << 8, _ROWS))
        for batch in file.iter_batches(size, columns=list(columns), use_threads=False):
            yield start, batch
            start += batch.num_rows


def take_rows(path: Path, columns: Sequence[str], rows: NDArray[np.intp]) -> Any:
    """Return some rows, numbered from 0 and rising, as a pandas frame."""
    import pyarrow

    parts = []
    for start, batch in read_batches(path, columns):
        low, high = np.searchsorted(rows, [start, start + batch.num_rows])
        parts.append(batch.select(list(columns)).take(pyarrow.array(rows[low:high] - start)))
    return _as_frame(pyarrow.Table.from_batches(parts))


def unpacked_size(path: Path) -> int:
    """Return about how many bytes a Parquet file takes in memory."""
    with _open(path) as file:
        facts = file.metadata
        groups = [facts.row_group(k) for k in range(facts.num_row_groups)]
        packed = sum(int(group.total_byte_size) for group in groups)
        # Values that repeat are packed even so, and are numbers of eight bytes once read.
        return max(packed, 8 * int(facts.num_rows) * int(facts.num_columns))


@contextmanager
def _open(path: str | Path, **how: Any) -> Iterator[Any]:
    """Open a Parquet file; of one that cannot be read say which it is, and why."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'reading Parquet files needs pyarrow; pip install "protocover[cli]"'
        ) from error
    try:
        with ParquetFile(path, **how) as file:
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


def _feature_names(file: Any, features: Sequence[str] | None, label: str | None) -> list[str]:
    """Return the columns to take, after checking that they are there."""
    there = file.schema_arrow.names
    names = [name for name in there if name != label] if features is None else list(features)
    missing = [name for name in [*names, *([label] if label else [])] if name not in there]
    if missing:
        raise ValueError(f"the file has no columns {missing}; it has {there}")
    return names


def _common_dtype(file: Any, names: list[str]) -> np.dtype[Any]:
    """Return the narrower of single and double precision that holds all columns exactly."""
    kinds = [np.dtype(file.schema_arrow.field(name).type.to_pandas_dtype()) for name in names]
    words = [name for name, kind in zip(names, kinds, strict=True) if kind.kind not in "fiub"]
    if words:
        raise ValueError(
            f"columns {words} are not numbers; leave them out with features=, or name the one "
            "with the labels as label="
        )
    return np.dtype(np.float32 if np.result_type(np.float32, *kinds) == np.float32 else np.float64)
