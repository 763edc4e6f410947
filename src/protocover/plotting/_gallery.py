"""Prototypes that are images, in order of selection, with the samples that each covers."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from .._balls import traits_of
from .._typing import Indices
from ._style import open_axes, readable_on, shorten, unwrap_to_draw

# Heights of captions of one and two lines, in widths of an image; letters per line.
_CAPTION = {1: 0.38, 2: 0.52}
_LINE = 13
# Height of a card with a name, in heights of its image.
CARD_WITH_NAME = 1.28


@dataclass(eq=False, repr=False)
class PrototypeGalleryDisplay:
    """A gallery of prototypes that are images.

    The caption of an image is the number of training samples of its class that it newly covers
    and, in parentheses, the number of miscovered samples, as in the paper. For a cover it is the
    number of samples that it represents.

    Parameters
    ----------
    images : ndarray, shape (n_prototypes, height, width[, 3])
        The prototypes, or any other images.
    labels : ndarray, shape (n_prototypes,)
        The class of each.
    covered, miscovered : ndarray of int, shape (n_prototypes,), or None
        Newly covered samples of the class, and miscovered samples. None for labels only.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    PrototypeTableDisplay : For prototypes that are rows of a table.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import PrototypeGalleryDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = PVMClassifier(eps=25.0).fit(X, y)
    >>> display = PrototypeGalleryDisplay.from_estimator(
    ...     clf, image_shape=(8, 8), max_prototypes=30
    ... )
    >>> len(display.images)
    30
    """

    images: NDArray[Any]
    _: KW_ONLY
    labels: NDArray[Any]
    covered: Indices | None = None
    miscovered: Indices | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        image_shape: tuple[int, ...] | None = None,
        images: Any = None,
        max_prototypes: int | None = None,
        **options: Any,
    ) -> Self:
        """Draw the prototypes of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV or BallCover, or a pipeline that ends in one
            Fitted on rows of pixels, unless `images` are given.
        image_shape : tuple of int or None, default=None
            Height and width, and 3 for colour, of prototypes that are images.
        images : array-like, shape (n_prototypes, height, width[, 3]), or None, default=None
            Images of the prototypes in order of selection, if the model was not fitted on
            pixels, such as ``images[clf.prototype_indices_]``.
        max_prototypes : int or None, default=None
            Number of prototypes to show, in order of selection; None for all.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        PrototypeGalleryDisplay
            With the plot drawn.
        """
        within = unwrap_to_draw(estimator, covers=True)
        model = within.classifier
        pictures = prototype_images(model, image_shape, images, max_prototypes=max_prototypes)
        if within.cover is not None:
            return cls(pictures, labels=within.cover.counts_[:max_prototypes]).plot(**options)
        display = cls(
            pictures,
            labels=model.prototype_labels_[:max_prototypes],
            covered=model.newly_covered_count_[:max_prototypes],
            miscovered=model.miscovered_count_[:max_prototypes],
        )
        return display.plot(**options)

    def plot(self, *, n_columns: int = 10, cmap: str = "gray_r", ax: Any = None) -> Self:
        """Draw the gallery.

        Parameters
        ----------
        n_columns : int, default=10
            Images per row.
        cmap : str, default="gray_r"
            Colour map of grey images.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PrototypeGalleryDisplay
            This display.
        """
        n_columns = max(1, min(n_columns, len(self.images)))
        n_rows = math.ceil(len(self.images) / n_columns)
        height, width = self.images.shape[1:3]
        captions = self._captions()
        tall = height / width + _CAPTION[2 if any("\n" in text for text in captions) else 1]
        ax = open_axes(ax, 0.95 * n_columns, 0.95 * tall * max(1, n_rows))
        for k, image in enumerate(self.images):
            left, bottom = k % n_columns, -(k // n_columns + 1) * tall
            top = bottom + 0.06 + 0.88 * height / width
            extent = (left + 0.06, left + 0.94, bottom + 0.06, top)
            ax.imshow(displayable(image), cmap=cmap, extent=extent, interpolation="nearest")
            ax.text(left + 0.5, top + 0.03, captions[k], ha="center", va="bottom", fontsize=7)
        ax.set(xlim=(0, n_columns), ylim=(-n_rows * tall, 0.05), aspect="equal")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _captions(self) -> list[str]:
        """Return the captions, all on one line or all on two."""
        if self.covered is None or self.miscovered is None:
            return [shorten(label, _LINE) for label in self.labels]
        counts = [f"{a} ({b})" for a, b in zip(self.covered, self.miscovered, strict=True)]
        pairs = list(zip(self.labels, counts, strict=True))
        if all(len(f"{label}: {count}") <= _LINE for label, count in pairs):
            return [f"{label}: {count}" for label, count in pairs]
        return [f"{shorten(label, _LINE)}\n{count}" for label, count in pairs]


def prototype_images(
    model: Any, image_shape: tuple[int, ...] | None, images: Any, *, max_prototypes: int | None
) -> NDArray[Any]:
    """Return the first prototypes as images, given or made of their own pixels."""
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
    """Return the pixels of the first prototypes as images."""
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
    """Return an image for matplotlib, with float colours from 0 to 255 scaled to 1."""
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
    """Draw an image in a coloured frame, with its name on a strip below."""
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
