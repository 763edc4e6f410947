"""A map on which similar prototypes lie close together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib import patheffects
from numpy.typing import NDArray

from ._arrangement import arrange, between_prototypes, place
from ._canvas import open_axes, unwrap_to_draw
from ._images import CARD_WITH_NAME, draw_card, prototype_images
from ._palette import MANY_CLASSES, add_class_legend, class_styles, encode, shorten
from ._scatter import draw_prototypes

Floats = NDArray[np.float64]

_METHODS = {"sammon": "Sammon's mapping", "mds": "classical scaling", "given": "given map"}
# Width of a letter and height of a line, in units of the size of the font.
_LETTER, _LINE = 0.62, 1.3
_HALO = [patheffects.withStroke(linewidth=1.8, foreground="white")]
_ROOM = 1.14
# Share of the axes that images may fill before they are made smaller, and inches at least.
_FILLED, _SMALLEST_THUMBNAIL = 0.45, 0.16


@dataclass(eq=False, repr=False)
class PrototypeMapDisplay:
    """Prototypes on a map, as images, names or markers.

    Images and names that would hide one another are pushed apart, with a line to the true
    place of any that was moved by much. Those for which there is no room are left out,
    the ones selected last first; their markers stay.

    Parameters
    ----------
    coordinates : ndarray of float, shape (n_prototypes, 2)
        Their places.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        The classes they stand for, as places in `classes`.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    method : {"sammon", "mds", "given"}
        Where the places come from.
    stress : float or None
        Sammon's stress of the map, None where the dissimilarities are not known.
    images : ndarray, shape (n_prototypes, height, width[, 3]), or None
        The prototypes as images.
    names : sequence of str or None
        What to write at each.

    Attributes
    ----------
    shown_ : ndarray of bool, shape (n_prototypes,)
        Whether the image or name of each found room in the last plot.
    places_ : ndarray of float, shape (n_prototypes, 2)
        Where the middles of the images or names are.
    ax_, figure_
        The axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import PrototypeMapDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = PVMClassifier(eps=25.0).fit(X, y)
    >>> display = PrototypeMapDisplay.from_estimator(clf, image_shape=(8, 8), max_prototypes=40)
    >>> display.coordinates.shape
    (40, 2)
    >>> bool(display.stress < 0.2)
    True
    """

    coordinates: Floats
    _: KW_ONLY
    prototype_classes: NDArray[np.intp]
    classes: NDArray[Any]
    method: str = "given"
    stress: float | None = None
    images: NDArray[Any] | None = None
    names: Sequence[Any] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        method: Any = "sammon",
        max_prototypes: int | None = None,
        image_shape: tuple[int, ...] | None = None,
        images: Any = None,
        names: Sequence[Any] | None = None,
        dissimilarities: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a map of the prototypes of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV or BallCover, or a pipeline that ends in one
            Fitted.
        method : {"sammon", "mds"} or array-like, shape (n_prototypes, 2), default="sammon"
            Sammon's mapping, classical scaling, or places of your own, in order of
            selection.
        max_prototypes : int or None, default=None
            How many to show, the first in order of selection; None for all.
        image_shape : tuple of int or None, default=None
            Height and width, and 3 for colour, of prototypes that are images.
        images : array-like, shape (n_prototypes, height, width[, 3]), or None, default=None
            Images to show where the prototypes are not themselves images.
        names : sequence or None, default=None
            What to write at each prototype where there are no images; None for the class, of a
            cover for the row.
        dissimilarities : array-like, shape (n_prototypes, n_prototypes), or None, default=None
            Those between the prototypes in order of selection. Needed with precomputed
            ones, for which they are
            ``D[np.ix_(clf.prototype_indices_, clf.candidate_indices_)]``.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        PrototypeMapDisplay
            With the picture drawn.

        Notes
        -----
        Of an asymmetric dissimilarity the mean of both directions is mapped.
        """
        within = unwrap_to_draw(estimator, covers=True)
        model = within.classifier
        if within.cover is not None:
            options.setdefault("legend", False)
        if within.cover is not None and names is None:
            rows = enumerate(within.cover.representative_indices_.tolist())
            names = [f"row {row}" if row >= 0 else f"number {k}" for k, row in rows]
        shown = slice(max_prototypes)
        labels = model.prototype_labels_[shown]
        D = between_prototypes(model, dissimilarities, len(labels), needed=isinstance(method, str))
        coordinates, stress = place(method, D, len(labels))
        if image_shape is not None or images is not None:
            images = prototype_images(model, image_shape, images, max_prototypes=max_prototypes)
        display = cls(
            coordinates,
            prototype_classes=encode(labels, model.classes_),
            classes=model.classes_,
            method=method if isinstance(method, str) else "given",
            stress=stress,
            images=images,
            names=None if names is None else list(names)[shown],
        )
        return display.plot(**options)

    def plot(
        self,
        *,
        cmap: str = "gray_r",
        thumbnail: float = 0.36,
        fontsize: float = 7.0,
        legend: bool | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the map.

        Parameters
        ----------
        cmap : str, default="gray_r"
            Colour map of grey images.
        thumbnail : float, default=0.36
            Width of an image in inches; many get smaller ones.
        fontsize : float, default=7.0
            Size of names in points.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for one in a new figure only.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        PrototypeMapDisplay
            This display.
        """
        own_figure = ax is None
        ax = open_axes(ax, 7.6, 6.4)
        stress = "" if self.stress is None else f", stress {self.stress:.2g}"
        ax.set_title(f"{_METHODS[self.method]}{stress}", fontsize="medium")
        ax.set(xticks=[], yticks=[])
        self_explained = self.images is None and self.names is None
        if legend or (legend is None and own_figure and not self_explained):
            add_class_legend(ax, self.classes)
        if own_figure:
            # Only now is it known how large the axes are, and what fits into them.
            ax.figure.draw_without_rendering()
        self._set_limits(ax)
        boxes = self._box_sizes(ax, thumbnail, fontsize)
        limits = (*ax.get_xlim(), *ax.get_ylim())
        # Names stand above their markers, images on their places.
        lift = [0.0, 0.0] if self.images is not None else [0.0, 0.8]
        furthest = 0.08 * (limits[1] - limits[0]) + boxes.max()
        self.places_, self.shown_ = arrange(
            self.coordinates + boxes * lift, boxes, limits, furthest=furthest
        )
        self._draw_leaders(ax, boxes)
        if self.images is None:
            self._draw_names(ax, fontsize)
        else:
            self._draw_images(ax, boxes, cmap)
        marked = ~self.shown_ | (self.images is None)
        places, codes = self.coordinates[marked], self.prototype_classes[marked]
        draw_prototypes(ax, places, codes, n_classes=len(self.classes))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _set_limits(self, ax: Any) -> None:
        """Fit the map into the axes, the same unit on both, with room for boxes at the edge."""
        width, height = ax.bbox.width, ax.bbox.height
        low, high = self.coordinates.min(axis=0), self.coordinates.max(axis=0)
        middle, span = (low + high) / 2, high - low
        unit = max(float(max(span[0] / width, span[1] / height)), 1e-300)
        if not span.any():
            unit = 1.0 / width
        half = 0.5 * _ROOM * unit * np.array([width, height])
        xlim, ylim = np.column_stack([middle - half, middle + half])
        ax.set(xlim=xlim, ylim=ylim, aspect="equal")

    def _box_sizes(self, ax: Any, thumbnail: float, fontsize: float) -> Floats:
        """Return width and height of each image or name in units of the map."""
        inches = np.array([ax.bbox.width, ax.bbox.height]) / ax.figure.dpi
        unit = (ax.get_xlim()[1] - ax.get_xlim()[0]) / inches[0]
        n_boxes = len(self.coordinates)
        if self.images is not None:
            height, width = self.images.shape[1:3]
            named = len(self.classes) > MANY_CLASSES
            tall = height / width * (CARD_WITH_NAME if named else 1.0)
            most = np.sqrt(_FILLED * inches.prod() / n_boxes / tall)
            side = np.clip(most, min(_SMALLEST_THUMBNAIL, thumbnail), thumbnail)
            return np.tile([side * unit, side * unit * tall], (n_boxes, 1))
        letters = np.array([len(name) for name in self._short_names()])
        em = fontsize / 72 * unit
        widths = em * (_LETTER * letters + 0.5)
        return np.column_stack([widths, np.full(n_boxes, _LINE * em)])

    def _short_names(self) -> list[str]:
        """Return what is written at each prototype."""
        names = self.classes[self.prototype_classes] if self.names is None else self.names
        return [shorten(name) for name in names]

    def _draw_leaders(self, ax: Any, boxes: Floats) -> None:
        """Draw a line from each box that was moved off its true place to that place."""
        styles = class_styles(len(self.classes))
        reach = 0.5 if self.images is not None else 1.0
        off = (np.abs(self.places_ - self.coordinates) > reach * boxes).any(axis=1)
        for k in np.flatnonzero(off & self.shown_):
            color = styles[self.prototype_classes[k]].color
            ends = np.array([self.coordinates[k], self.places_[k]])
            ax.plot(*ends.T, color=color, linewidth=0.6, alpha=0.7, zorder=1)
            ax.plot(*ends[0], color=color, marker=".", markersize=2.5, zorder=1)

    def _draw_images(self, ax: Any, boxes: Floats, cmap: str) -> None:
        """Draw the images that have found room, framed in colour, named where colours repeat."""
        assert self.images is not None
        limits = ax.axis()
        styles = class_styles(len(self.classes))
        for k in np.flatnonzero(self.shown_):
            code = self.prototype_classes[k]
            box = (*(self.places_[k] - boxes[k] / 2), *boxes[k])
            name = shorten(self.classes[code], 7) if len(styles) > MANY_CLASSES else None
            draw_card(ax, self.images[k], box, color=styles[code].color, name=name, cmap=cmap)
        ax.axis(limits)

    def _draw_names(self, ax: Any, fontsize: float) -> None:
        """Write the names that have found room."""
        names = self._short_names()
        look = {"ha": "center", "va": "center", "path_effects": _HALO, "zorder": 6}
        for k in np.flatnonzero(self.shown_):
            ax.text(*self.places_[k], names[k], fontsize=fontsize, **look)
