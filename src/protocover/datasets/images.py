"""USPS digits and Fashion-MNIST."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

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
    "train-images-idx3-ubyte.gz": (
        "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7"
    ),
    "train-labels-idx1-ubyte.gz": (
        "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05"
    ),
}


def load_usps(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load the USPS zip code digits, 7291 to train on and 2007 to test on.

    Parameters
    ----------
    folder : path or None, default=None
        Where ``usps.npz`` is; None for PROTOCOVER_DATA or ``../shared/data``, then OpenML
        (set 41082).

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``test_data``, ``test_target``: images of 16 x 16 pixels
        from -1 to 1, row by row, and digits 0 to 9; and ``image_shape``.

    Examples
    --------
    >>> from protocover.datasets import load_usps
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
    check_shape("USPS (train)", X, (7291, 256))
    check_shape("USPS (test)", X_test, (2007, 256))
    check_counts("USPS (train)", y, _USPS_COUNTS[0])
    check_counts("USPS (test)", y_test, _USPS_COUNTS[1])
    return Bunch(data=X, target=y, test_data=X_test, test_target=y_test, image_shape=(16, 16))


def load_fashion_mnist(folder: str | os.PathLike[str] | None = None) -> Bunch:
    """Load Fashion-MNIST, 60,000 images of clothes to train on and 10,000 to test on.

    Parameters
    ----------
    folder : path or None, default=None
        Where ``fashion-mnist/`` with its four IDX files is; None for PROTOCOVER_DATA or
        ``../shared/data``, then OpenML (set 40996).

    Returns
    -------
    Bunch
        With ``data``, ``target``, ``test_data``, ``test_target``: images of 28 x 28 pixels
        from 0 to 255 (uint8), row by row, and classes 0 to 9; ``target_names`` and
        ``image_shape``.

    Examples
    --------
    >>> from protocover.datasets import load_fashion_mnist
    >>> load_fashion_mnist().data.shape  # doctest: +SKIP
    (60000, 784)
    """
    paths = [
        find_file(f"fashion-mnist/{name}", checksum, folder)
        for name, checksum in _FASHION_SUMS.items()
    ]
    local = [path for path in paths if path is not None]
    if len(local) == len(paths):
        X, X_test = (_read_idx(local[k]).reshape(-1, 784) for k in (0, 2))
        y, y_test = (_read_idx(local[k]).astype(np.intp) for k in (1, 3))
    else:
        files = "fashion-mnist/ with " + ", ".join(_FASHION_SUMS)
        got = fetch("Fashion-MNIST", files, data_id=40996, as_frame=False)
        X, y = got.data.astype(np.uint8), np.asarray(got.target).astype(np.intp)
        X, y, X_test, y_test = X[:60000], y[:60000], X[60000:], y[60000:]
    check_shape("Fashion-MNIST (train)", X, (60000, 784))
    check_shape("Fashion-MNIST (test)", X_test, (10000, 784))
    check_counts("Fashion-MNIST (train)", y, (6000,) * 10)
    check_counts("Fashion-MNIST (test)", y_test, (1000,) * 10)
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
    return Bunch(
        data=X,
        target=y,
        test_data=X_test,
        test_target=y_test,
        target_names=names,
        image_shape=(28, 28),
    )


def _read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an array of bytes in IDX format, packed with gzip."""
    with gzip.open(path, "rb") as file:
        content = file.read()
    n_axes = content[3]
    shape = np.frombuffer(content, ">i4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)
