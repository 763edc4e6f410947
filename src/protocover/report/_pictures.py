"""Images as sheets of PNG: all of one size, reduced until they fit into a page."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data._png import encode_png
from ._summary import PictureSheets

_PER_SHEET = 256
_BUDGET = 6_000_000  # bytes of all pictures of a page, before compression


def check_images(images: Any, n_points: int) -> Any:
    """Return images as an array, shape (n_points, height, width) or (..., 3).

    What has a shape and a type is not read as a whole: it is asked for rows alone.
    """
    array = images if hasattr(images, "shape") and hasattr(images, "dtype") else np.asarray(images)
    good = len(array.shape) == 3 or (len(array.shape) == 4 and array.shape[3] == 3)
    if not good or len(array) != n_points or array.dtype.kind not in "biuf":
        raise ValueError(
            f"images must be an array of shape ({n_points}, height, width) or "
            f"({n_points}, height, width, 3), got {array.dtype} of shape {array.shape}; bring "
            "them to one size first"
        )
    return array


def as_bytes(images: NDArray[Any], *, ink: bool) -> NDArray[np.uint8]:
    """Return images with values from 0 (black) to 255.

    Whole numbers from 0 to 255 and floats from 0 to 1 keep their brightness; other
    values are stretched over the whole range. With `ink`, high values are dark.
    """
    if images.dtype != np.uint8:
        values = np.nan_to_num(images.astype(np.float64))
        low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
        if low >= 0.0 and high <= 1.0:
            low, high = 0.0, 1.0
        elif images.dtype.kind in "iu" and low >= 0.0 and 16.0 < high <= 255.0:
            low, high = 0.0, 255.0
        images = np.rint(255.0 * (values - low) / max(high - low, 1e-300)).astype(np.uint8)
    return 255 - images if ink else images


def make_sheets(images: NDArray[np.uint8], *, budget: int = _BUDGET) -> PictureSheets:
    """Put images, at least one, on sheets, reduced so that all take `budget` bytes raw."""
    factor = math.ceil(math.sqrt(max(1.0, images.size / budget)))
    images = _reduce(images, factor)
    n, height, width = images.shape[:3]
    per_sheet = min(_PER_SHEET, n)
    across = math.ceil(math.sqrt(per_sheet))
    sheets = [_sheet(images[i : i + per_sheet], across) for i in range(0, n, per_sheet)]
    return PictureSheets(width, height, across, per_sheet, n, sheets, is_reduced=factor > 1)


def _reduce(images: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """Average squares of `factor` pixels a side; a rest at the edges is cut off."""
    height, width = (max(1, side // factor) for side in images.shape[1:3])
    tall, wide = min(factor, images.shape[1]), min(factor, images.shape[2])
    if tall == wide == 1:
        return images
    reduced = [
        image[: height * tall, : width * wide]
        .reshape(height, tall, width, wide, *image.shape[2:])
        .mean(axis=(1, 3))
        for image in images
    ]
    return np.asarray(np.rint(np.stack(reduced)), dtype=np.uint8)


def _sheet(images: NDArray[np.uint8], across: int) -> str:
    """Lay images out in rows of `across` and return the PNG in base64."""
    n, height, width, *channels = images.shape
    down = math.ceil(n / across)
    grid = np.zeros((down * across, height, width, *channels), dtype=np.uint8)
    grid[:n] = images
    cells = grid.reshape(down, across, height, width, *channels)
    sheet = np.swapaxes(cells, 1, 2).reshape(down * height, across * width, *channels)
    return base64.b64encode(encode_png(sheet)).decode("ascii")
