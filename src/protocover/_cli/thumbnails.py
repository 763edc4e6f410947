"""Small pictures of image files, decoded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Decode = Callable[[Path, tuple[int, int]], NDArray[np.uint8]]


class Thumbnails:
    """Images of one size, seen as an array of shape (n_images, height, width, 3).

    Only rows that are asked for are read, so that a report decodes the images it shows.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    size : tuple (width, height)
        Of all pictures.
    decode : callable
        Reads a file at a size.
    """

    dtype = np.dtype(np.uint8)

    def __init__(self, paths: Sequence[Path], size: tuple[int, int], decode: Decode) -> None:
        self.paths, self.size, self._decode = list(paths), size, decode
        self.shape = (len(self.paths), size[1], size[0], 3)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: Any) -> NDArray[np.uint8]:
        chosen = np.atleast_1d(np.arange(len(self))[index])
        pictures = np.empty((len(chosen), *self.shape[1:]), dtype=np.uint8)
        for place, i in enumerate(chosen):
            pictures[place] = self._decode(self.paths[i], self.size)
        return pictures

    def take(self, index: Any) -> Thumbnails:
        """Return some of the pictures, none of them read."""
        chosen = np.atleast_1d(np.arange(len(self))[index])
        return Thumbnails([self.paths[i] for i in chosen], self.size, self._decode)
