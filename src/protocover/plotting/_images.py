"""Rows of pixels as images, and images as cards in the colour of a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from .._balls import traits_of
from ._palette import readable_on

# Height of a card with a name under its image, as a multiple of the image's.
CARD_WITH_NAME = 1.28


def prototype_images(
    model: Any, image_shape: tuple[int, ...] | None, images: Any, *, max_prototypes: int | None
) -> NDArray[Any]:
    """Return the first prototypes as images: given ones, or their own pixels in a shape."""
    if images is None:
        return _own_images(model, image_shape, max_prototypes)
    pictures, wanted = np.asarray(images), len(model.prototype_labels_[:max_prototypes])
    if pictures.ndim not in (3, 4) or len(pictures) < wanted:
        raise ValueError(
            f"images must be {wanted} images, one for each prototype in order of selection, got "
            f"shape {pictures.shape}"
        )
    return pictures[:wanted]


def _own_images(
    model: Any, image_shape: tuple[int, ...] | None, max_prototypes: int | None
) -> NDArray[Any]:
    """Return the pixels of the first prototypes in a shape, with 3 or 4 channels for colour."""
    if image_shape is None:
        raise ValueError(
            "image_shape must be (height, width) of prototypes that are images, got None; pass "
            "images of other prototypes, or use PrototypeTableDisplay for rows of a table"
        )
    rows = model.prototypes_[:max_prototypes]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    if rows.ndim != 2 or traits_of(model.dissimilarity_).precomputed:
        raise ValueError(
            "the prototypes are not rows of features; pass images, such as "
            "images[clf.prototype_indices_]"
        )
    shape = tuple(image_shape)
    if len(shape) not in (2, 3) or (len(shape) == 3 and shape[2] not in (3, 4)):
        raise ValueError(
            "image_shape must be (height, width), or (height, width, 3) for colour, got "
            f"{image_shape!r}"
        )
    if rows.shape[1] != np.prod(shape):
        raise ValueError(
            f"image_shape {shape} does not multiply out to the {rows.shape[1]} features of a "
            "prototype"
        )
    return rows.reshape(-1, *shape)


def displayable(image: NDArray[Any]) -> NDArray[Any]:
    """Return an image as matplotlib takes it: colours of 0 to 255 that are floats are scaled."""
    if image.ndim == 3 and image.dtype.kind == "f" and image.max(initial=0.0) > 1.0:
        image = image / 255.0
    return np.clip(image, 0.0, 1.0) if image.ndim == 3 and image.dtype.kind == "f" else image


def draw_card(
    ax: Any,
    image: NDArray[Any],
    box: tuple[float, ...],
    *,
    color: str,
    name: str | None,
    cmap: str,
) -> None:
    """Draw an image in a coloured frame, with a name on a strip of that colour under it."""
    x, y, width, height = box
    strip = 0.0 if name is None else height * (1.0 - 1.0 / CARD_WITH_NAME)
    extent = (x, x + width, y + strip, y + height)
    ax.imshow(displayable(image), cmap=cmap, extent=extent, interpolation="nearest", zorder=2)
    frame: dict[str, Any] = {"edgecolor": color, "linewidth": 1.0, "zorder": 3}
    ax.add_patch(Rectangle((x, y), width, height, fill=False, **frame))
    if name is not None:
        ax.add_patch(Rectangle((x, y), width, strip, facecolor=color, **frame))
        ink: dict[str, Any] = {"color": readable_on(color), "fontsize": 5, "zorder": 4}
        ax.text(x + width / 2, y + strip / 2, name, ha="center", va="center_baseline", **ink)
