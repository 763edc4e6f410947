"""The prototypes as pictures, in order of selection, with what each covers."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._canvas import open_axes, unwrap_to_draw
from ._images import displayable, prototype_images
from ._palette import shorten

# Height of a caption of one line and of two, in widths of an image; letters in a line.
_CAPTION = {1: 0.38, 2: 0.52}
_LINE = 13


@dataclass(eq=False, repr=False)
class PrototypeGalleryDisplay:
    """A gallery of prototypes that are images.

    Above each image stands how many training points of its class it newly covers and, in
    brackets, how many points of other classes lie in its ball, as in the paper. Above a
    representative of a cover stands how many points it stands for.

    Parameters
    ----------
    images : ndarray, shape (n_prototypes, height, width[, 3])
        The prototypes, or any other images.
    labels : ndarray, shape (n_prototypes,)
        The class each stands for.
    covered, miscovered : ndarray of int, shape (n_prototypes,), or None
        Newly covered points of the class, and points of other classes in the ball. None
        writes the labels alone.

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
    covered: NDArray[np.intp] | None = None
    miscovered: NDArray[np.intp] | None = None

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
            Fitted, on images, one a row, unless `images` are given.
        image_shape : tuple of int or None, default=None
            Height and width, and 3 for colour, of prototypes that are images.
        images : array-like, shape (n_prototypes, height, width[, 3]), or None, default=None
            The images of the prototypes in order of selection, where these are not
            themselves images, such as ``images[clf.prototype_indices_]``.
        max_prototypes : int or None, default=None
            How many to show, the first in order of selection; None for all.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        PrototypeGalleryDisplay
            With the picture drawn.
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
            Images side by side.
        cmap : str, default="gray_r"
            Colour map of grey images.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

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
        """Return what stands above each image, all on one line or all on two."""
        if self.covered is None or self.miscovered is None:
            return [shorten(label, _LINE) for label in self.labels]
        counts = [f"{a} ({b})" for a, b in zip(self.covered, self.miscovered, strict=True)]
        pairs = list(zip(self.labels, counts, strict=True))
        if all(len(f"{label}: {count}") <= _LINE for label, count in pairs):
            return [f"{label}: {count}" for label, count in pairs]
        return [f"{shorten(label, _LINE)}\n{count}" for label, count in pairs]
