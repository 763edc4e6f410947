"""What is learned from or asked about: rows of a table or images, and how to name them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .console import Console

__all__ = ["Cases", "ImageLayout", "announce_split", "split_cases"]


@dataclass(frozen=True)
class ImageLayout:
    """How a row of numbers is an image: row after row, pixel after pixel, from 0 to 1.

    Parameters
    ----------
    height, width : int
        In pixels.
    colour : bool
        Whether a pixel is three numbers, red, green and blue, or one, black to white.
    """

    height: int
    width: int
    colour: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one image as an array."""
        return (self.height, self.width, 3) if self.colour else (self.height, self.width)

    def __str__(self) -> str:
        return f"{self.width} x {self.height} pixels, {'colour' if self.colour else 'grey'}"


@dataclass(frozen=True, eq=False)
class Cases:
    """Cases, row for row.

    Parameters
    ----------
    X : DataFrame or ndarray, shape (n_cases, n_features)
        What distances are measured between.
    y : ndarray, shape (n_cases,), or None
        Their labels, where known.
    rows : ndarray of int, shape (n_cases,)
        Number of each in its source, from 1.
    source : str
        Name of the file or folder they come from.
    names : ndarray of str, shape (n_cases,), or None
        What the source calls them: an identifier, or the name of the image's file.
    shown : DataFrame or None
        All cells as they are in the source.
    layout : ImageLayout or None
        For images.
    """

    X: Any
    y: NDArray[Any] | None
    rows: NDArray[np.intp]
    source: str
    names: NDArray[Any] | None = None
    shown: Any = None
    layout: ImageLayout | None = None

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
        return replace(
            self,
            X=None if self.X is None else _safe_indexing(self.X, index),
            y=None if self.y is None else self.y[index],
            rows=self.rows[index],
            names=None if self.names is None else self.names[index],
            shown=None if self.shown is None else self.shown.iloc[index],
        )


def split_cases(cases: Cases, share: float, seed: int) -> tuple[Cases, Cases | None]:
    """Keep back a share of each class, drawn by chance; a class always keeps one case.

    Both parts are in the order of the source; None in place of the latter if it is empty.
    """
    labels = np.asarray(cases.y)
    rng = np.random.default_rng(seed)
    kept_back = np.zeros(len(labels), dtype=bool)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        size = min(round(share * len(own)), len(own) - 1)
        kept_back[rng.permutation(own)[:size]] = True
    if not kept_back.any():
        return cases, None
    return cases.take(np.flatnonzero(~kept_back)), cases.take(np.flatnonzero(kept_back))


def announce_split(training: Cases, held_out: Cases | None, console: Console) -> None:
    """Say how many cases there are to choose from, and how many were kept back."""
    kept = "none" if held_out is None else f"{len(held_out)}"
    console.note(
        f"Choosing prototypes from {len(training)} cases, {kept} kept back for a test ..."
    )
