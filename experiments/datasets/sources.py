"""Where data files are, whether they are whole, and OpenML where they are not there."""

from __future__ import annotations

import hashlib
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

__all__ = ["DataNotFoundError", "check_counts", "check_shape", "fetch", "find_file"]

_TIMEOUT = 20.0
_logger = logging.getLogger(__name__)


class DataNotFoundError(OSError):
    """A data set is on none of the paths and cannot be fetched."""


def find_file(name: str, checksum: str, folder: str | os.PathLike[str] | None) -> Path | None:
    """Return the path of a data file with this SHA-256, or None where no folder has it."""
    for place in data_folders(folder):
        path = place / name
        if path.is_file():
            _check_sum(path, checksum)
            return path
    return None


def data_folders(folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the folders to look in, the first that has a file wins."""
    if folder is not None:
        return [Path(folder)]
    named = os.environ.get("PROTOCOVER_DATA")
    return [Path(named)] if named else []


def fetch(what: str, files: str, **options: Any) -> Any:
    """Fetch a set from OpenML, or say which files may be put into the folder of data instead.

    The `options` are those of :func:`sklearn.datasets.fetch_openml`, which also checks
    OpenML's checksum of what it downloads.
    """
    _logger.info("%s is not among the local data, asking OpenML", what)
    try:
        with _patience(_TIMEOUT):
            return fetch_openml(parser="auto", n_retries=1, delay=1.0, **options)
    except (OSError, HTTPException) as reason:
        raise DataNotFoundError(
            f"{what} is not among the local data and OpenML did not answer ({reason}); put "
            f"{files} into a folder and point PROTOCOVER_DATA at it, or try again online"
        ) from reason


def check_shape(name: str, X: Any, shape: tuple[int, ...]) -> None:
    """Raise an error if a table does not have the shape that it is known to have."""
    if X.shape != shape:
        raise ValueError(f"{name} should have shape {shape}, got {X.shape}: not the same data")


def check_counts(
    name: str, y: NDArray[Any], counts: tuple[int, ...], *, ordered: bool = True
) -> None:
    """Raise an error if the classes do not have the sizes that they are known to have.

    `counts` are in the order of the sorted labels, or rising if not `ordered`.
    """
    sizes = np.unique(y, return_counts=True)[1].tolist()
    got = tuple(sizes if ordered else sorted(sizes))
    if got != counts:
        raise ValueError(f"{name} should have classes of {counts} examples, got {got}")


def _check_sum(path: Path, checksum: str) -> None:
    """Raise an error if a file is not the one that is meant."""
    with path.open("rb") as file:
        got = hashlib.file_digest(file, "sha256").hexdigest()
    if got != checksum:
        raise ValueError(
            f"{path} is damaged or another version: its SHA-256 is {got}, not {checksum}; "
            "replace it or remove it"
        )


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Give up on connections that are silent for so long."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
