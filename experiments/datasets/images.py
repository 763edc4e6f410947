"""USPS digits and Fashion-MNIST."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from .sources import check_counts, check_shape, fetch, find_file

__all__ = ["load_fashion_mnist", "load_usps"]

_USPS_SUM = "e235309cf607eebe7418396ccdb31d9a215801e0e93525b34294ccffa5f45302"
_USPS_COUNTS = (
    (1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
    (359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
)
_FASHION_SUMS = {
    "train-images-idx3": "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    "train-labels-idx1": "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    "t10k-images-idx3": "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    "t10k-labels-idx1": "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
}


def load_usps(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load the USPS zip code digits, 7291 to train on and 2007 to test on.

    Parameters
    ----------
    folder : path or None, default=None
        Where ``usps.npz`` is; None for that of PROTOCOVER_DATA, then OpenML
        (set 41082).

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``test_data``, ``test_target``: images of 16 x 16 pixels
        from -1 to 1, row by row, and digits 0 to 9; and ``image_shape``.

    Examples
    --------
    >>> from experiments.datasets import load_usps
    >>> usps = load_usps()  # doctest: +SKIP
    >>> usps.data.shape, usps.test_data.shape  # doctest: +SKIP
    ((7291, 256), (2007, 256))
    """
    path = find_file("usps.npz", _USPS_SUM, folder)
    if path is not None:
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X_train"], file["y_train"].astype(np.intp)
            X_test, y_test = file["X_test"], file["y_test"].astype(np.intp)
    else:
        got = fetch("USPS", "usps.npz", data_id=41082, as_frame=False)
        # OpenML numbers the digits from 1 and has the training images first.
        digits = np.asarray(got.target).astype(np.intp) - 1
        X, y, X_test, y_test = got.data[:7291], digits[:7291], got.data[7291:], digits[7291:]
    return _checked("USPS", (X, X_test), (y, y_test), counts=_USPS_COUNTS, image_shape=(16, 16))


def load_fashion_mnist(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load Fashion-MNIST, 60,000 images of clothes to train on and 10,000 to test on.

    Parameters
    ----------
    folder : path or None, default=None
        Where ``fashion-mnist/`` with its four IDX files is; None for that of
        PROTOCOVER_DATA, then OpenML (set 40996).

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``test_data``, ``test_target``: images of 28 x 28 pixels
        from 0 to 255 (uint8), row by row, and classes 0 to 9; ``target_names`` and
        ``image_shape``.

    Examples
    --------
    >>> from experiments.datasets import load_fashion_mnist
    >>> load_fashion_mnist().data.shape  # doctest: +SKIP
    (60000, 784)
    """
    files = {f"{name}-ubyte.gz": checksum for name, checksum in _FASHION_SUMS.items()}
    paths = [find_file(f"fashion-mnist/{name}", files[name], folder) for name in files]
    local = [path for path in paths if path is not None]
    if len(local) == len(paths):
        X, X_test = (_read_idx(local[k]).reshape(-1, 784) for k in (0, 2))
        y, y_test = (_read_idx(local[k]).astype(np.intp) for k in (1, 3))
    else:
        wanted = "fashion-mnist/ with " + ", ".join(files)
        got = fetch("Fashion-MNIST", wanted, data_id=40996, as_frame=False)
        X, y = got.data.astype(np.uint8), np.asarray(got.target).astype(np.intp)
        X, y, X_test, y_test = X[:60000], y[:60000], X[60000:], y[60000:]
    made = _checked(
        "Fashion-MNIST",
        (X, X_test),
        (y, y_test),
        counts=((6000,) * 10, (1000,) * 10),
        image_shape=(28, 28),
    )
    names = [
        "T-shirt",
        "trouser",
        "pullover",
        "dress",
        "coat",
        "sandal",
        "shirt",
        "sneaker",
        "bag",
        "boot",
    ]
    return Bunch(**made, target_names=names)


def _checked(
    name: str,
    images: tuple[Any, Any],
    digits: tuple[Any, Any],
    *,
    counts: tuple[tuple[int, ...], tuple[int, ...]],
    image_shape: tuple[int, int],
) -> Bunch:
    """Put images and classes to train and to test on together if they have the known sizes."""
    for part, X, y, known in zip(("train", "test"), images, digits, counts, strict=True):
        check_shape(f"{name} ({part})", X, (sum(known), image_shape[0] * image_shape[1]))
        check_counts(f"{name} ({part})", y, known)
    (X, X_test), (y, y_test) = images, digits
    return Bunch(data=X, target=y, test_data=X_test, test_target=y_test, image_shape=image_shape)


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes in IDX format, packed with gzip."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
