"""The six UCI sets of the paper's table."""

from __future__ import annotations

import csv
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_wine
from sklearn.utils import Bunch

from .sources import check_counts, check_shape, fetch, find_file

__all__ = ["UCI_NAMES", "load_uci"]

# The vowel set's training part was spoken by these eight of its fifteen speakers.
_SPEAKERS = ("Andrew", "Bill", "David", "Mark", "Jo", "Kate", "Penny", "Rose")


def load_uci(name: str, folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load one of the six UCI sets of the paper's table.

    Parameters
    ----------
    name : {"diabetes", "glass", "heart", "liver", "vowel", "wine"}
        Pima Indians diabetes (its zeros in glucose, pressure, triceps, insulin and mass are
        missing values, left as they are), glass, heart (Statlog), liver (BUPA), the training
        part of vowel, wine.
    folder : path or None, default=None
        Where ``uci/{name}.csv`` is; None for that of PROTOCOVER_DATA, then
        scikit-learn's own copy (wine) or OpenML.

    Returns
    -------
    Bunch
        With ``data`` (float), ``target`` (labels as text), ``feature_names``.

    Examples
    --------
    >>> from experiments.datasets import load_uci
    >>> load_uci("wine").data.shape
    (178, 13)
    """
    if name not in _FACTS:
        raise ValueError(f"name must be one of {', '.join(UCI_NAMES)}, got {name!r}")
    shape, counts, elsewhere = _FACTS[name]
    path = find_file(f"uci/{name}.csv", _SUMS[name], folder)
    if path is not None:
        X, y, features = _read_csv(path)
    else:
        frame, target = elsewhere()
        features = [str(column) for column in frame.columns]
        X, y = frame.to_numpy(dtype=np.float64), np.asarray(target).astype(str)
    check_shape(name, X, shape)
    check_counts(name, y, counts, ordered=False)
    return Bunch(data=X, target=y, feature_names=features)


def _read_csv(path: Path) -> tuple[NDArray[np.float64], NDArray[Any], list[str]]:
    """Read a table whose first line names the columns and whose last column is the class."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    return X, np.array([row[-1] for row in rows]), header[:-1]


def _openml(name: str, data_id: int, **options: Any) -> tuple[Any, Any]:
    """Fetch a set as a frame and its labels."""
    got = fetch(name, f"uci/{name}.csv", data_id=data_id, as_frame=True, **options)
    return got.data, got.target


def _vowel() -> tuple[Any, Any]:
    """Fetch the vowels and keep the training part and its ten numeric columns."""
    frame, target = _openml("vowel", 307)
    rows = frame["Speaker_Number"].isin(_SPEAKERS)
    columns = [column for column in frame.columns if str(column).startswith("Feature_")]
    return frame.loc[rows, columns], target[rows]


def _wine() -> tuple[Any, Any]:
    """Return scikit-learn's copy of the wines."""
    got = load_wine(as_frame=True)
    return got.data, got.target + 1


_SUMS = {
    "diabetes": "0774701d3afc58b07ab4e790805daeba34561aca0ce6e99d1c7488c27829fd74",
    "glass": "fd387739ca07871315fb269019222c850481e64430287aabc98160fdb2e9e723",
    "heart": "df18111186e0f7be079fcf7bae731411c68f56fa1bb8518092d9629612b2d55b",
    "liver": "fa67269bf682152a8399b11795782ad326d6d6f0601e833ab0928410506d9e5f",
    "vowel": "8fd7dab4f9b868fbb4bdfaffd10c0eb4d377abf78c28ba79a68d77ba969e4230",
    "wine": "a1e2b950c187a406a5a60ef95745cc531fb4d81e091a932fcbfb66172ffbd6a5",
}
# Shape, sizes of the classes, and where a second copy is. The sizes are sorted, because the
# other copies name some classes differently.
_FACTS: dict[str, tuple[Any, tuple[int, ...], Any]] = {
    "diabetes": ((768, 8), (268, 500), partial(_openml, "diabetes", 37)),
    "glass": ((214, 9), (9, 13, 17, 29, 70, 76), partial(_openml, "glass", 41)),
    "heart": ((270, 13), (120, 150), partial(_openml, "heart", 53)),
    "liver": ((345, 6), (145, 200), partial(_openml, "liver", 8, target_column="selector")),
    "vowel": ((528, 10), (48,) * 11, _vowel),
    "wine": ((178, 13), (48, 59, 71), _wine),
}

UCI_NAMES = tuple(_FACTS)
