"""A map on which similar prototypes are close together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from matplotlib import patheffects
from numpy.typing import NDArray

from .._balls import traits_of
from .._maps import classical_scaling, sammon_map, sammon_stress
from .._typing import Floats, Indices, Mask
from ._gallery import CARD_WITH_NAME, draw_card, prototype_images
from ._style import (
    MANY_CLASSES,
    add_class_legend,
    class_styles,
    draw_prototypes,
    encode,
    open_axes,
    shorten,
    unwrap_to_draw,
)

_METHODS = {"sammon": "Sammon's mapping", "mds": "classical scaling", "given": "given map"}
# Width of a letter and height of a line, in units of the font size.
_LETTER, _LINE = 0.62, 1.3
_HALO = [patheffects.withStroke(linewidth=1.8, foreground="white")]
_ROOM = 1.14
# Fraction of the axes that images may fill before they shrink, and their least size in inches.
_FILLED, _SMALLEST_THUMBNAIL = 0.45, 0.16
_ROUNDS = 300
_HAIR = 0.05


@dataclass(eq=False, repr=False)
class PrototypeMapDisplay:
    """Prototypes on a map, as images, names or markers.

    Overlapping images and names are pushed apart, with a line to the true position of those
    that moved far. If there is not enough space, the prototypes selected last are shown as
    markers only.

    Parameters
    ----------
    coordinates : ndarray of float, shape (n_prototypes, 2)
        Their positions.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        The classes they represent, as indices of `classes`.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    method : {"sammon", "mds", "given"}
        Source of the positions.
    stress : float or None
        Sammon's stress of the map, None if the distances are not known.
    images : ndarray, shape (n_prototypes, height, width[, 3]), or None
        The prototypes as images.
    names : sequence of str or None
        Text at each prototype.

    Attributes
    ----------
    shown_ : ndarray of bool, shape (n_prototypes,)
        Whether the last plot shows the image or name of each.
    places_ : ndarray of float, shape (n_prototypes, 2)
        Centres of the images or names.
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
    prototype_classes: Indices
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
            Sammon's mapping, classical scaling, or your own positions, in order of selection.
        max_prototypes : int or None, default=None
            Number of prototypes to show, in order of selection; None for all.
        image_shape : tuple of int or None, default=None
            Height and width, and 3 for colour, of prototypes that are images.
        images : array-like, shape (n_prototypes, height, width[, 3]), or None, default=None
            Images of the prototypes, if the model was not fitted on pixels.
        names : sequence or None, default=None
            Text at each prototype without images; None for the class or, for a cover, the row.
        dissimilarities : array-like, shape (n_prototypes, n_prototypes), or None, default=None
            Distances between the prototypes in order of selection, required for a precomputed
            metric: ``D[np.ix_(clf.prototype_indices_, clf.candidate_indices_)]``.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        PrototypeMapDisplay
            With the plot drawn.

        Notes
        -----
        Asymmetric distances are averaged over both directions.
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
            Width of an image in inches, reduced if there are many.
        fontsize : float, default=7.0
            Size of names in points.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for new figures only.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

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
            # The size of the axes is known only after drawing.
            ax.figure.draw_without_rendering()
        self._set_limits(ax)
        boxes = self._box_sizes(ax, thumbnail, fontsize)
        limits = (*ax.get_xlim(), *ax.get_ylim())
        # Names are above their markers, images on their positions.
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
        """Fit the map into the axes, with equal units and a margin for boxes."""
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
        """Return the text at each prototype."""
        names = self.classes[self.prototype_classes] if self.names is None else self.names
        return [shorten(name) for name in names]

    def _draw_leaders(self, ax: Any, boxes: Floats) -> None:
        """Draw a line from each box that moved far to its true position."""
        styles = class_styles(len(self.classes))
        reach = 0.5 if self.images is not None else 1.0
        off = (np.abs(self.places_ - self.coordinates) > reach * boxes).any(axis=1)
        for k in np.flatnonzero(off & self.shown_):
            color = styles[self.prototype_classes[k]].color
            ends = np.array([self.coordinates[k], self.places_[k]])
            ax.plot(*ends.T, color=color, linewidth=0.6, alpha=0.7, zorder=1)
            ax.plot(*ends[0], color=color, marker=".", markersize=2.5, zorder=1)

    def _draw_images(self, ax: Any, boxes: Floats, cmap: str) -> None:
        """Draw the visible images in coloured frames, with names if colours repeat."""
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
        """Write the visible names."""
        names = self._short_names()
        look = {"ha": "center", "va": "center", "path_effects": _HALO, "zorder": 6}
        for k in np.flatnonzero(self.shown_):
            ax.text(*self.places_[k], names[k], fontsize=fontsize, **look)


def between_prototypes(
    model: Any, given: Any, n_prototypes: int, *, needed: bool
) -> Floats | None:
    """Return the distances between the first prototypes, averaged over both directions."""
    if given is None:
        if traits_of(model.dissimilarity_).precomputed:
            if not needed:
                return None
            raise ValueError(
                "dissimilarities between the prototypes must be passed for a precomputed metric, "
                "got None; pass D[np.ix_(clf.prototype_indices_, clf.candidate_indices_)] of the "
                "training matrix D"
            )
        given = model._distances(model.prototypes_[:n_prototypes])
    D = np.asarray(given, dtype=np.float64)
    if D.ndim != 2 or min(D.shape) < n_prototypes:
        raise ValueError(
            f"dissimilarities must be a matrix between the {n_prototypes} prototypes, got shape "
            f"{D.shape}; pass one row and one column per prototype"
        )
    D = D[:n_prototypes, :n_prototypes]
    D = (D + D.T) / 2
    # With rounding and with ranks, a prototype may not be at distance 0 from itself.
    np.fill_diagonal(D, 0.0)
    return D


def place(method: Any, D: Floats | None, n_prototypes: int) -> tuple[Floats, float | None]:
    """Return the positions on the map and, if distances are known, the stress."""
    if isinstance(method, str):
        if method not in ("sammon", "mds"):
            raise ValueError(f"method must be 'sammon', 'mds' or coordinates, got {method!r}")
        if method == "sammon":
            result = sammon_map(D)
            return result.coordinates, result.stress
        coordinates = classical_scaling(D)
    else:
        coordinates = np.asarray(method, dtype=np.float64)
        if coordinates.ndim != 2 or coordinates.shape[1] != 2 or len(coordinates) < n_prototypes:
            raise ValueError(
                f"method must give two coordinates for each of {n_prototypes} prototypes, got "
                f"shape {coordinates.shape}"
            )
        coordinates = coordinates[:n_prototypes]
    return coordinates, None if D is None else sammon_stress(D, coordinates)


def arrange(
    centers: Floats, sizes: Floats, limits: tuple[float, float, float, float], *, furthest: float
) -> tuple[Floats, Mask]:
    """Move boxes apart, with precedence for the first ones.

    Boxes of given centres and sizes (width, height) stay within the limits (left, right, bottom,
    top) and move at most `furthest`. Returns the new centres and a mask of the boxes that do not
    overlap any earlier one.
    """
    places = _push_apart(centers, sizes, limits, furthest)
    shown = np.zeros(len(places), dtype=bool)
    for k in range(len(places)):
        gap = np.abs(places[shown] - places[k]) - (sizes[shown] + sizes[k]) / 2
        # Pushing may leave a tiny overlap.
        shown[k] = not (gap < -_HAIR * sizes[k]).all(axis=1).any()
    return places, shown


def _push_apart(
    centers: Floats, sizes: Floats, limits: tuple[float, float, float, float], furthest: float
) -> Floats:
    """Repeatedly push overlapping pairs apart along the axis of the smaller overlap."""
    low = np.array([limits[0], limits[2]]) + sizes / 2
    high = np.array([limits[1], limits[3]]) - sizes / 2
    low, high = np.maximum(low, centers - furthest), np.minimum(high, centers + furthest)
    high = np.maximum(high, low)
    places = np.clip(centers, low, high)
    for _ in range(_ROUNDS):
        first, second = _touching(places, sizes)
        if not len(first):
            break
        apart = places[second] - places[first]
        room = (sizes[first] + sizes[second]) / 2
        overlap = room - np.abs(apart)
        along = np.argmin(overlap / room, axis=1)[:, None] == np.arange(2)
        # Of two boxes in the same position the later moves right or up.
        push = np.where(along, np.where(apart < 0.0, -overlap, overlap), 0.0)
        moves = np.zeros_like(places)
        np.add.at(moves, second, push)
        np.add.at(moves, first, -push)
        # A fraction only, because several boxes may push the same one.
        places = np.clip(places + 0.3 * moves, low, high)
    return places


def _touching(places: Floats, sizes: Floats) -> tuple[Indices, Indices]:
    """Return the indices of each overlapping pair of boxes, the lower one first."""
    overlapping = np.triu(np.ones((len(places), len(places)), dtype=bool), k=1)
    for middle, size in zip(places.T, sizes.T, strict=True):
        low, high = middle - 0.4999995 * size, middle + 0.4999995 * size
        overlapping &= (low[:, None] < high) & (low < high[:, None])
    first, second = np.nonzero(overlapping)
    return first, second
