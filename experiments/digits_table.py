"""All distances between USPS digits, computed once and kept in a file.

The table of tangent distances between 7291 training images is most of the work of everything
that is done with it, so it is computed once, and paths, folds and medoids all read from it. As
for the other finished parts: after a change of the package remove the folder they are kept in.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from protocover.dissimilarity import TangentDistance

from .datasets import load_usps

# From the smallest distance to the 14th percentile, closer together where there are more
# prototypes.
PERCENTILES = (*(0.125 * step for step in range(25)), 3.5, 4, 5, 6, 8, 10, 12, 14)

# The tangent distance of the package, whose settings were chosen by cross-validation on the
# training images, and one without padding and smoothing, nearer to the paper's in its errors.
TANGENTS: dict[str, dict[str, float]] = {
    "tangent": {},
    "paper-like": {"pad": 0, "smoothing": 0.0, "derivative": 1.1},
}
DISTANCES = ("euclidean", *TANGENTS)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Digits:
    """Images, their labels, and the distances between them.

    Parameters
    ----------
    images, test_images : ndarray, shapes (n, 256) and (n_test, 256)
        Pixels from -1 to 1.
    labels, test_labels : ndarray of int, shapes (n,) and (n_test,)
        Digits.
    table : ndarray, shape (n, n)
        Distances between training images.
    test_table : ndarray, shape (n_test, n)
        Those of test images from training images.
    """

    images: Floats
    labels: NDArray[np.intp]
    test_images: Floats
    test_labels: NDArray[np.intp]
    table: Floats
    test_table: Floats

    def radii(self, percentiles: tuple[float, ...] = PERCENTILES) -> Floats:
        """Return percentiles of the positive distances between training images."""
        pairs = self.table[np.triu_indices(len(self.table), k=1)]
        shares = np.array(percentiles) / 100.0
        return np.unique(np.quantile(pairs[pairs > 0.0], shares, method="lower"))

    def find_wrong(self, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the test images that get a wrong label from the nearest of some images."""
        answers = labels[self.test_table[:, rows].argmin(axis=1)]
        return np.flatnonzero(answers != self.test_labels)

    def count_wrong(self, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> int:
        """Return how many these are."""
        return len(self.find_wrong(rows, labels))


@cache
def load_digits(n: int, folder: Path, distance: str = "tangent") -> Digits:
    """Return `n` training images and all test images, with one of the `DISTANCES`.

    With fewer than all training images there are also only `n` test images.
    """
    usps = load_usps()
    rows = _sample(len(usps.target), n)
    tested = _sample(len(usps.test_target), len(usps.test_target) if n == 7291 else n)
    X, X_test = usps.data[rows], usps.test_data[tested]
    labels = {"labels": usps.target[rows], "test_labels": usps.test_target[tested]}
    if distance == "euclidean":
        tables = {"table": cdist(X, X), "test_table": cdist(X_test, X)}
    else:
        tables = _kept_tables(folder / f"{distance}-{n}.npz", distance, X, X_test)
    return Digits(images=X, test_images=X_test, **labels, **tables)


def pack_images(images: Floats) -> list[str]:
    """Write images with pixels from -1 to 1 as texts, two hexadecimal digits a pixel."""
    return [np.round(127.5 * (image + 1.0)).astype(np.uint8).tobytes().hex() for image in images]


def unpack_images(texts: list[str]) -> NDArray[np.uint8]:
    """Return the images that texts stand for, shape (n, 16, 16)."""
    pixels = [np.frombuffer(bytes.fromhex(text), dtype=np.uint8) for text in texts]
    return np.array(pixels, dtype=np.uint8).reshape(-1, 16, 16)


def _kept_tables(path: Path, distance: str, X: Floats, X_test: Floats) -> dict[str, Floats]:
    """Return both tables of a tangent distance from a file, which is written if need be."""
    if not path.exists():
        metric = TangentDistance((16, 16), **TANGENTS[distance]).fit(X)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{os.getpid()}.npz")
        np.savez(unfinished, table=metric.pairwise(X, X), test_table=metric.pairwise(X_test, X))
        unfinished.replace(path)
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in ("table", "test_table")}


def _sample(n_rows: int, n: int) -> NDArray[np.intp]:
    """Return `n` of so many rows, in order."""
    return np.sort(np.random.default_rng(0).permutation(n_rows)[:n])
