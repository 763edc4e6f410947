"""Model files: arrays and JSON with a version and a checksum, never code.

The layers, from the bytes up: `container` knows the bytes of a file, `frames` and `encoding` turn
values into JSON and arrays, and `solutions` and `models` know what belongs to a model.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .._exceptions import ModelFileError
from ..data._fields import check_record, check_text, refuse
from ..data._files import read_whole, write_whole
from .container import VERSION, Contents, pack, unpack
from .encoding import Loaded
from .models import decode_model, encode_model

__all__ = ["ModelFileError", "ModelInfo", "load_model", "model_info", "save_model"]

MODEL_FILE = "model.protocover"  # in the folder that `protocover fit` writes
_PACKAGES = ("protocover", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of itself.

    Parameters
    ----------
    format_version : int
        Version of the file's format.
    model : str
        Name of the estimator's class.
    saved : str
        When it was saved, by the clock of that machine, in UTC.
    versions : dict of str
        Versions of Python and of the packages it was saved with.
    """

    format_version: int
    model: str
    saved: str
    versions: dict[str, str]


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted model to a file of arrays and JSON.

    The file is written whole or not at all: where anything fails, one that was there
    before stays as it was.

    Parameters
    ----------
    model : PVMClassifier, PVMClassifierCV, PVMSelector, BallCover or Pipeline
        Fitted. A pipeline may have a StandardScaler or MinMaxScaler before one of the
        others.
    path : str or path-like
        Where to, customarily ending in ``.protocover``.

    Raises
    ------
    ModelFileError
        If the model holds functions, or objects that are not protocover's.

    See Also
    --------
    load_model : Read it again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier, load_model, save_model
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier(eps=1.0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(clf, Path(folder) / "iris.protocover")
    ...     again = load_model(Path(folder) / "iris.protocover")
    >>> bool((again.predict(X) == clf.predict(X)).all())
    True
    """
    arrays: list[Any] = []
    document = {
        "saved": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_package_versions()},
        "model": encode_model(model, arrays),
    }
    parts = pack(document, arrays)
    # What has been written must be readable: better to find out now than when it is needed.
    _read_document(unpack(b"".join(parts)))
    write_whole(path, parts)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read a model that :func:`save_model` has written.

    No code comes from the file: names in it are looked up in a closed table, and all
    sizes, shapes, types and ranges are checked.

    Parameters
    ----------
    path : str or path-like
        The file, or the folder that ``protocover fit`` or ``protocover cover`` wrote.

    Returns
    -------
    PVMClassifier, PVMClassifierCV, PVMSelector, BallCover or Pipeline
        Fitted. It predicts what the saved one did.

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, of another version, or no model file at all.

    See Also
    --------
    save_model : Write one.
    model_info : When and with what it was saved.
    """
    path = _file_of(path)
    with _named_in_errors(path):
        return _read_document(unpack(read_whole(path)))


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """Tell what a model file holds, and when and with what it was saved.

    Parameters
    ----------
    path : str or path-like
        The file, or the folder that ``protocover fit`` or ``protocover cover`` wrote.

    Returns
    -------
    ModelInfo
        Without the model itself.
    """
    path = _file_of(path)
    with _named_in_errors(path):
        return _read_info(unpack(read_whole(path)))


def _file_of(path: str | os.PathLike[str]) -> Path:
    """Return the model file that is meant: the one in a folder that the command wrote."""
    given = Path(path)
    file = given / MODEL_FILE if given.is_dir() else given
    if not file.exists():
        missing = f"{given} holds no {MODEL_FILE}" if file != given else f"there is no {given}"
        raise FileNotFoundError(
            f"{missing}; give a model file, or the folder that `protocover fit` wrote"
        )
    return file


@contextmanager
def _named_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file that cannot be read."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error


def _read_document(contents: Contents) -> Any:
    """Return the model in a file whose bytes are in order."""
    _read_info(contents)
    try:
        return decode_model(contents.document["model"], Loaded(contents.arrays))
    except ModelFileError:
        raise
    # Constructors and libraries have checks of their own. Whatever they object to in a file
    # whose checksum fits was put there on purpose.
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"the file does not describe a model: {error}") from error


def _read_info(contents: Contents) -> ModelInfo:
    """Return what the document says of itself."""
    document = check_record(contents.document, "the document", ("saved", "versions", "model"))
    versions, model = document["versions"], document["model"]
    if not isinstance(versions, dict) or not isinstance(model, dict):
        refuse("the document lacks versions or a model")
    return ModelInfo(
        format_version=VERSION,
        model=check_text(model.get("model"), "the name of a model"),
        saved=check_text(document["saved"], "the date"),
        versions={name: check_text(text, "a version") for name, text in versions.items()},
    )


def _package_versions() -> dict[str, str]:
    """Return the versions of the packages that matter."""
    found = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
