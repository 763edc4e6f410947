"""Parquet files too large for memory, laid out as rows on disk for `fit` to stream through."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["parquet_to_memmap"]


def parquet_to_memmap(
    path: str | Path,
    target: str | Path,
    *,
    features: Sequence[str] | None = None,
    label: str | None = None,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Lay the numeric columns of a Parquet file out as rows on disk, a row group at a time.

    Only one row group is in memory at any moment. The values stay what they are: single
    precision where all columns fit it, double otherwise.

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
    file = _open(path)
    names = _feature_names(file, features, label)
    shape = file.metadata.num_rows, len(names)
    if 0 in shape:
        raise ValueError(f"{path} must hold rows and features, got {shape[0]} x {shape[1]}")
    dtype = _common_dtype(file, names)
    stored = np.memmap(target, dtype=dtype, mode="w+", shape=shape)
    labels: list[NDArray[Any]] = []
    start = 0
    for k in range(file.num_row_groups):
        group = file.read_row_group(k, columns=[*names, *([label] if label else [])])
        stop = start + group.num_rows
        for column, name in enumerate(names):
            stored[start:stop, column] = group.column(name).to_numpy()
        if label is not None:
            labels.append(group.column(label).to_numpy(zero_copy_only=False))
        start = stop
    stored.flush()
    X = np.memmap(target, dtype=dtype, mode="r", shape=shape)
    return X, np.concatenate(labels) if labels else None


def _open(path: str | Path) -> Any:
    """Open a Parquet file without reading it."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError as error:
        raise ImportError(
            'reading Parquet files needs pyarrow; pip install "protocover[cli]"'
        ) from error
    return ParquetFile(path)


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
