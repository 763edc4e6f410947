"""Cases: rows of a table or images, with their labels, names and weights."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .tables import Dialect


@dataclass(frozen=True)
class ImageLayout:
    """How a row of numbers forms an image: row by row, pixel by pixel, from 0 to 1.

    With `color` a pixel is three numbers (red, green, blue), otherwise one (black to white).
    """

    height: int
    width: int
    color: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image as an array."""
        return (self.height, self.width, 3) if self.color else (self.height, self.width)

    def __str__(self) -> str:
        return f"{self.width} x {self.height} pixels, {'color' if self.color else 'gray'}"


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases in the order of their source.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_cases, n_features)
        The features that distances are computed from.
    y : ndarray, shape (n_cases,), or None
        The labels, if known.
    rows : ndarray of int, shape (n_cases,)
        Row number of each case in its source, from 1.
    source : str
        Name of the file or folder.
    names : ndarray of str, shape (n_cases,), or None
        Names in the source: an identifier, or the file name of an image.
    shown : DataFrame or None
        All cells as they are in the source.
    layout : ImageLayout or None
        For images.
    weights : ndarray of float, shape (n_cases,), or None
        Sample weights.
    pictures : Thumbnails or None
        Images for display, larger than those that distances are computed from.
    dialect : Dialect
        The separator and decimal mark of the source, if it is a table of text.
    costs : ndarray of float, shape (n_cases,), or None
        Cost of each case as a representative.
    """

    X: Any
    y: NDArray[Any] | None
    rows: NDArray[np.intp]
    source: str
    names: NDArray[Any] | None = None
    shown: Any = None
    layout: ImageLayout | None = None
    weights: NDArray[np.float64] | None = None
    pictures: Any = None
    dialect: Dialect = field(default_factory=Dialect)
    costs: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def titles(self) -> list[str]:
        """A name for each case: its own, or the number of its row."""
        if self.names is not None:
            return [str(name) for name in self.names]
        return [f"row {row}" for row in self.rows]

    def take(self, index: NDArray[Any] | slice) -> Self:
        """Return some of the cases."""

        def pick(values: Any) -> Any:
            return None if values is None else values[index]

        return replace(
            self,
            X=_safe_indexing(self.X, index),
            y=pick(self.y),
            rows=self.rows[index],
            names=pick(self.names),
            shown=None if self.shown is None else self.shown.iloc[index],
            weights=pick(self.weights),
            pictures=None if self.pictures is None else self.pictures.take(index),
            costs=pick(self.costs),
        )


def split_cases(cases: Cases, share: float, seed: int) -> tuple[Cases, Cases | None]:
    """Split cases into a training and a stratified test set, both in the order of the source.

    At least one case per class is left for training. The test set is None if it is empty.
    """
    labels = np.asarray(cases.y)
    rng = np.random.default_rng(seed)
    held_out = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        size = min(round(share * len(own)), len(own) - 1)
        held_out[rng.permutation(own)[:size]] = True
    if not held_out.any():
        return cases, None
    return cases.take(np.flatnonzero(~held_out)), cases.take(np.flatnonzero(held_out))
