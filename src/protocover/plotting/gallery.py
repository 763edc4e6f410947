"""The prototypes as pictures, in order of selection, with what each covers."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["PrototypeGalleryDisplay"]

_CAPTION = 0.38


class PrototypeGalleryDisplay:
    """A gallery of prototypes that are images.

    Above each image stands how many training points of its class it newly covers and, in
    brackets, how many points of other classes lie in its ball, as in the paper.

    Parameters
    ----------
    images : ndarray, shape (n_prototypes, height, width)
        The prototypes.
    labels : ndarray, shape (n_prototypes,)
        The class each stands for.
    covered, miscovered : ndarray of int, shape (n_prototypes,)
        Newly covered points of the class, and points of other classes in the ball.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import PrototypeGalleryDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = PVMClassifier(eps=25.0).fit(X, y)
    >>> display = PrototypeGalleryDisplay.from_estimator(clf, image_shape=(8, 8), n_prototypes=30)
    >>> len(display.images)
    30
    """

    def __init__(
        self,
        images: NDArray[Any],
        *,
        labels: NDArray[Any],
        covered: NDArray[np.intp],
        miscovered: NDArray[np.intp],
    ) -> None:
        self.images = images
        self.labels = labels
        self.covered = covered
        self.miscovered = miscovered

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        image_shape: tuple[int, int],
        n_prototypes: int | None = None,
        n_columns: int = 10,
        cmap: str = "gray_r",
        ax: Any = None,
    ) -> Self:
        """Draw the prototypes of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier
            Fitted on images, one a row.
        image_shape : tuple of int
            Height and width of an image.
        n_prototypes : int or None, default=None
            How many to show, the first in order of selection; None for all.
        n_columns : int, default=10
            Images side by side.
        cmap : str, default="gray_r"
            Colour map.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        PrototypeGalleryDisplay
            With the picture drawn.
        """
        check_is_fitted(estimator)
        height, width = image_shape
        rows = np.asarray(estimator.prototypes_)[:n_prototypes]
        if rows.ndim != 2 or rows.shape[1] != height * width:
            raise ValueError(
                f"image_shape {image_shape} does not multiply out to the "
                f"{estimator.n_features_in_} features of a prototype"
            )
        display = cls(
            rows.reshape(-1, height, width),
            labels=estimator.prototype_labels_[:n_prototypes],
            covered=estimator.prototype_covered_[:n_prototypes],
            miscovered=estimator.prototype_miscovered_[:n_prototypes],
        )
        return display.plot(n_columns=n_columns, cmap=cmap, ax=ax)

    def plot(self, *, n_columns: int = 10, cmap: str = "gray_r", ax: Any = None) -> Self:
        """Draw the gallery.

        Parameters
        ----------
        n_columns : int, default=10
            Images side by side.
        cmap : str, default="gray_r"
            Colour map.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        PrototypeGalleryDisplay
            This display.
        """
        n_columns = max(1, min(n_columns, len(self.images)))
        n_rows = math.ceil(len(self.images) / n_columns)
        height, width = self.images.shape[1:]
        tall = height / width + _CAPTION
        if ax is None:
            size = (0.95 * n_columns, 0.95 * tall * max(1, n_rows))
            _, ax = plt.subplots(figsize=size, layout="constrained")
        for k, image in enumerate(self.images):
            left, bottom = k % n_columns, -(k // n_columns + 1) * tall
            extent = (
                left + 0.06,
                left + 0.94,
                bottom + 0.06,
                bottom + 0.06 + 0.88 * height / width,
            )
            ax.imshow(image, cmap=cmap, extent=extent, interpolation="nearest")
            ax.text(
                left + 0.5,
                extent[3] + 0.03,
                f"{self.labels[k]}: {self.covered[k]} ({self.miscovered[k]})",
                ha="center",
                va="bottom",
                fontsize=7,
            )
        ax.set(xlim=(0, n_columns), ylim=(-n_rows * tall, 0.05), aspect="equal")
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self
