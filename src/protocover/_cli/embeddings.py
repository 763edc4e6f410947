"""Vectors beside images, one for each file: what an encoder has made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .console import CommandError, list_names

# Columns of a table that may hold the names of the files.
_NAMES = ("file", "filename", "name", "path")


def read_vectors(path: Path, names: Sequence[str], folder: Path) -> Any:
    """Read a vector for each of the files `names` in a folder, as a frame.

    A NumPy file has them in the order of the names. A Parquet file says which is whose in a
    column of names, or has them in that order, too.
    """
    import pandas as pd

    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", str(path))
    vectors = _read_parquet(path, names) if path.suffix == ".parquet" else _read_numpy(path)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        raise CommandError(
            f"--features {path} must hold a row of numbers for each image, got {vectors.dtype} "
            f"of shape {vectors.shape}"
        )
    if len(vectors) != len(names):
        raise CommandError(
            f"--features {path} has {len(vectors)} rows and {folder} {len(names)} images; there "
            "must be a row for each, in the order of the files' names, or a Parquet file with a "
            "column 'file'"
        )
    if not np.isfinite(vectors).all():
        row = int(np.argmin(np.isfinite(vectors).all(axis=1)))
        raise CommandError(
            f"--features {path} must hold finite numbers, got others for {names[row]!r}; encode "
            "it again, or leave it out"
        )
    columns = [f"v{j}" for j in range(vectors.shape[1])]
    return pd.DataFrame(vectors.astype(np.float32), columns=columns)


def _read_numpy(path: Path) -> NDArray[Any]:
    """Read an array, and nothing that could run code."""
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise CommandError(
            f"--features {path} cannot be read as an array of NumPy ({error}); write it with "
            "np.save, or as Parquet"
        ) from error


def _read_parquet(path: Path, names: Sequence[str]) -> NDArray[Any]:
    """Read a table, its rows put into the order of the files by their names if it has these."""
    import pandas as pd

    table = pd.read_parquet(path)
    column = next((name for name in _NAMES if name in table.columns), None)
    if column is None:
        return _stack(table)
    keys = table[column].astype(str)
    if keys.duplicated().any():
        raise CommandError(
            f"--features {path} names {keys[keys.duplicated()].iloc[0]!r} twice in {column!r}; "
            "leave one of the rows out"
        )
    places = {name: row for row, name in enumerate(keys)}
    absent = [name for name in names if name not in places]
    if absent:
        raise CommandError(
            f"--features {path} has no row for {len(absent)} of {len(names)} images: "
            f"{list_names(absent)}; {column!r} must hold names such as {names[0]!r}"
        )
    return _stack(table.drop(columns=column).iloc[[places[name] for name in names]])


def _stack(table: Any) -> NDArray[Any]:
    """Return the vectors of a table: a column for each place, or one column of lists."""
    if table.shape[1] == 1 and table.dtypes.iloc[0].kind == "O":
        return np.stack([np.asarray(vector) for vector in table.iloc[:, 0]])
    return np.asarray(table.to_numpy())
