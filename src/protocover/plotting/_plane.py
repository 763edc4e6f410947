"""Plots in the plane: the neighbourhoods of prototypes, and decision boundaries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length

from .._inspection.fitted import distance_blocks
from .._typing import Floats, Indices, Mask
from ..dissimilarity import Euclidean, SquaredEuclidean
from ._style import (
    add_class_legend,
    class_styles,
    draw_points,
    draw_prototypes,
    encode,
    name_classes,
    open_axes,
    tint,
    unwrap_to_draw,
)

_MARGIN = 0.06


@dataclass(frozen=True, eq=False)
class Plane:
    """A grid in the plane: the coordinates of its columns and rows."""

    x: Floats
    y: Floats

    @classmethod
    def around(cls, points: Floats, resolution: int) -> Self:
        """Return a grid of `resolution` rows and columns around points, with a margin."""
        if not isinstance(resolution, int | np.integer) or resolution < 2:
            raise ValueError(f"resolution must be an integer of at least 2, got {resolution!r}")
        low, high = points.min(axis=0), points.max(axis=0)
        span = max(float((high - low).max()), 1e-9 * float(np.abs(points).max()), 1e-300)
        low, high = low - _MARGIN * span, high + _MARGIN * span
        return cls(
            np.linspace(low[0], high[0], resolution), np.linspace(low[1], high[1], resolution)
        )

    @property
    def points(self) -> Floats:
        """The points of the grid, row by row, shape (n_rows * n_columns, 2)."""
        return np.column_stack([axis.ravel() for axis in np.meshgrid(self.x, self.y)])

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the grid."""
        return float(self.x[0]), float(self.x[-1]), float(self.y[0]), float(self.y[-1])

    def table(self, values: NDArray[Any]) -> NDArray[Any]:
        """Arrange values of the points as rows and columns."""
        return values.reshape(len(self.y), len(self.x), *values.shape[1:])


def check_plane(X: Any, name: str = "X") -> Floats:
    """Return points of the plane as float64."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{name} must have two features to be drawn in the plane, got shape {points.shape}; "
            "PrototypeMapDisplay draws a map of any data"
        )
    return points.astype(np.float64)


def draw_regions(ax: Any, plane: Plane, codes: Indices, *, n_classes: int) -> None:
    """Fill the region of each class with a tint of its colour; -1 stays white."""
    tints = ["#FFFFFF", *(tint(style.color, 0.75) for style in class_styles(n_classes))]
    half = (plane.x[1] - plane.x[0]) / 2, (plane.y[1] - plane.y[0]) / 2
    left, right, bottom, top = plane.limits
    extent = (left - half[0], right + half[0], bottom - half[1], top + half[1])
    look = {"origin": "lower", "interpolation": "nearest", "zorder": 0}
    colors = {"cmap": ListedColormap(tints), "vmin": -0.5, "vmax": n_classes + 0.5}
    ax.imshow(codes + 1, extent=extent, **colors, **look)


def draw_boundary(ax: Any, plane: Plane, codes: Indices, *, color: str, linewidth: float) -> None:
    """Draw the lines where the class changes."""
    # The boundary of the last class is part of the others.
    look = {"levels": [0.5], "colors": [color], "linewidths": linewidth, "zorder": 2}
    for code in np.unique(codes)[:-1]:
        ax.contour(plane.x, plane.y, (codes == code).astype(float), **look)


@dataclass(eq=False, repr=False, kw_only=True)
class BallsDisplay:
    """Samples in the plane, the prototypes of each class, and their neighbourhoods.

    Uncovered samples are hollow. Neighbourhoods are circles for Euclidean distances; for other
    distances their boundaries are found on a grid.

    Parameters
    ----------
    points : ndarray of float, shape (n_points, 2)
        The points.
    point_classes : ndarray of int, shape (n_points,)
        Their labels, as indices of `classes`.
    covered : ndarray of bool, shape (n_points,)
        Whether a prototype of their class covers them.
    prototypes : ndarray of float, shape (n_prototypes, 2)
        The prototypes, in order of selection.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        The classes they represent, as indices of `classes`.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    eps : float
        The radius, or the maximum radius.
    plane : Plane
        The visible part of the plane, as a grid.
    circle_radius : float, ndarray of float, shape (n_prototypes,), or None
        The radius of the circles, one or one per prototype; None if neighbourhoods are not
        circles.
    distances : ndarray of float32, shape (n_prototypes, n_rows, n_columns), or None
        The distance of the grid from each prototype, if neighbourhoods are not circles.
    regions : ndarray of int, shape (n_rows, n_columns), or None
        Predictions on the grid, as indices of `classes`.
    radii : ndarray of float, shape (n_prototypes,), or None
        The radius of each prototype; None if all have `eps`.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    BoundaryDisplay : The decision boundary of any classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import BallsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> X = X[:, 2:]
    >>> clf = PVMClassifier(eps=0.6, radii="shared").fit(X, y)
    >>> display = BallsDisplay.from_estimator(clf, X, y)
    >>> display.circle_radius, len(display.prototypes) == len(clf.prototypes_)
    (0.6, True)
    """

    points: Floats
    point_classes: Indices
    covered: Mask
    prototypes: Floats
    prototype_classes: Indices
    classes: NDArray[Any]
    eps: float
    plane: Plane
    circle_radius: float | Floats | None = None
    distances: NDArray[np.float32] | None = None
    regions: Indices | None = None
    radii: Floats | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        boundary: bool = False,
        resolution: int = 300,
        **options: Any,
    ) -> Self:
        """Draw the neighbourhoods of a fitted classifier or cover.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV or BallCover, or a pipeline that ends in one
            Fitted on two features.
        X, y : samples and their labels
            Samples to show, usually the training data. Omit `y` for a cover.
        boundary : bool, default=False
            Whether to draw the decision boundary.
        resolution : int, default=300
            Rows and columns of the grid for the boundary and other shapes than circles.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        BallsDisplay
            With the plot drawn.
        """
        within = unwrap_to_draw(estimator, covers=True)
        model, X = within.classifier, within.prepare(X)
        prototypes = check_plane(model.prototypes_, "the data that estimator was fitted on")
        points, classes = check_plane(X), model.classes_
        coverage = model.coverage(X, within.labels(y, len(points)))
        plane = Plane.around(points, resolution)
        radius, regions = _circle_radius(model), None
        if boundary:
            regions = plane.table(encode(model.predict(plane.points), classes))
        display = cls(
            points=points,
            point_classes=coverage.point_classes,
            covered=coverage.covered,
            prototypes=prototypes,
            prototype_classes=coverage.prototype_classes,
            classes=classes,
            eps=model.eps_,
            plane=plane,
            circle_radius=radius,
            distances=_grid_distances(model, plane) if radius is None else None,
            regions=regions,
            radii=model.solution_.radii,
        )
        return display.plot(**options)

    def plot(
        self,
        *,
        show_points: bool = True,
        show_balls: bool = True,
        fill: bool = False,
        legend: bool | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw samples, prototypes and neighbourhoods, and the boundary if there is one.

        Parameters
        ----------
        show_points, show_balls : bool, default=True
            Whether to draw the samples and the neighbourhoods.
        fill : bool, default=False
            Whether to tint the region of each class, if there is a boundary.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for new figures only.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        BallsDisplay
            This display.
        """
        legend = ax is None if legend is None else legend
        ax = open_axes(ax, 6.4, 4.8)
        n_classes = len(self.classes)
        if self.regions is not None:
            if fill:
                draw_regions(ax, self.plane, self.regions, n_classes=n_classes)
            draw_boundary(ax, self.plane, self.regions, color="black", linewidth=1.2)
        if show_balls:
            self._draw_balls(ax)
        if show_points:
            draw_points(
                ax, self.points, self.point_classes, n_classes=n_classes, filled=self.covered
            )
        draw_prototypes(ax, self.prototypes, self.prototype_classes, n_classes=n_classes)
        name_classes(ax, self.points, self.point_classes, self.classes)
        if legend:
            add_class_legend(ax, self.classes, further=self._further_marks())
        ax.set(xlim=self.plane.limits[:2], ylim=self.plane.limits[2:], aspect="equal")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_balls(self, ax: Any) -> None:
        """Draw the neighbourhoods class by class."""
        # Tints add up where neighbourhoods overlap, so many of them get fainter ones.
        alpha = float(np.clip(2.0 / np.sqrt(max(1, len(self.prototypes))), 0.03, 0.16))
        for code, style in enumerate(class_styles(len(self.classes))):
            own = np.flatnonzero(self.prototype_classes == code)
            if self.circle_radius is not None:
                radii = np.broadcast_to(self.circle_radius, len(self.prototypes))
                circles = [Circle(self.prototypes[k], radii[k]) for k in own]
                _draw_circles(ax, circles, style.color, alpha)
            elif self.distances is not None:
                for k in own.tolist():
                    self._draw_contour(ax, k, style.color, alpha)

    def _draw_contour(self, ax: Any, k: int, color: str, alpha: float) -> None:
        """Draw one neighbourhood that is not a circle."""
        assert self.distances is not None
        distance = self.distances[k]
        radius = self.eps if self.radii is None else self.radii[k]
        if distance.min() >= radius:
            return
        x, y = self.plane.x, self.plane.y
        ax.contourf(x, y, distance, levels=[-1.0, radius], colors=[color], alpha=alpha, zorder=1)
        ax.contour(x, y, distance, levels=[radius], colors=[color], linewidths=0.7, zorder=1)

    def _further_marks(self) -> list[Line2D]:
        """Return legend entries for prototypes and points left uncovered."""
        look: dict[str, Any] = {"ls": "none", "marker": "o"}
        marks = [Line2D([], [], ms=8, mfc="0.7", mec="black", label="prototype", **look)]
        if not self.covered.all():
            marks.append(Line2D([], [], ms=5, mfc="none", mec="0.4", label="uncovered", **look))
        return marks


def _draw_circles(ax: Any, circles: list[Circle], color: str, alpha: float) -> None:
    """Draw faint disks with clear boundaries."""
    disks: dict[str, Any] = {"facecolor": color, "edgecolor": "none", "alpha": alpha}
    rims: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "linewidth": 0.7}
    for look in (disks, rims):
        ax.add_collection(PatchCollection(circles, zorder=1, **look), autolim=False)


def _circle_radius(model: Any) -> Any:
    """Return the radius of the neighbourhoods in the plane, None if they are not circles."""
    radius = float(model.eps_) if model.solution_.radii is None else model.solution_.radii
    if isinstance(model.dissimilarity_, Euclidean):
        return radius
    if isinstance(model.dissimilarity_, SquaredEuclidean):
        return np.sqrt(radius)
    return None


def _grid_distances(model: Any, plane: Plane) -> NDArray[np.float32]:
    """Return the distance of each point of a grid from each prototype."""
    points = plane.points
    table = np.empty((len(points), len(model.prototype_labels_)), dtype=np.float32)
    for rows, distances in distance_blocks(model, points):
        table[rows] = distances
    return np.ascontiguousarray(np.moveaxis(plane.table(table), 2, 0))


@dataclass(eq=False, repr=False, kw_only=True)
class BoundaryDisplay:
    """Training samples in the plane and the region of each class.

    Parameters
    ----------
    plane : Plane
        The grid of the predictions.
    regions : ndarray of int, shape (n_rows, n_columns)
        Predictions on the grid, as indices of `classes`; -1 for other labels.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    points : ndarray of float, shape (n_points, 2)
        Training samples.
    point_classes : ndarray of int, shape (n_points,)
        Their labels, as indices of `classes`.
    prototypes : ndarray of float, shape (n_prototypes, 2), or None
        Points to mark, such as the prototypes.
    prototype_classes : ndarray of int, shape (n_prototypes,), or None
        Their labels, as indices of `classes`.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    BallsDisplay : The neighbourhoods of the prototypes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from protocover.plotting import BoundaryDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> y = X[:, 0] > 0
    >>> display = BoundaryDisplay.from_estimator(KNeighborsClassifier().fit(X, y), X, y)
    >>> display.regions.shape
    (300, 300)
    """

    plane: Plane
    regions: Indices
    classes: NDArray[Any]
    points: Floats
    point_classes: Indices
    prototypes: Floats | None = None
    prototype_classes: Indices | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        prototypes: Any = None,
        prototype_labels: Any = None,
        resolution: int = 300,
        **options: Any,
    ) -> Self:
        """Draw the boundary of a fitted classifier.

        Parameters
        ----------
        estimator : object with ``predict``
            A classifier fitted on two features. The prototypes of a PVMClassifier, a
            PVMClassifierCV, or a pipeline or search that ends in one are marked, and `X` is
            transformed as the steps before it do.
        X, y : array-like, shape (n_samples, 2) and (n_samples,)
            Samples to show on the regions, usually the training data, and their labels.
        prototypes : array-like, shape (n_prototypes, 2), or None, default=None
            Samples to mark for another classifier.
        prototype_labels : array-like, shape (n_prototypes,), or None, default=None
            Their labels.
        resolution : int, default=300
            Rows and columns of the grid on which the classifier predicts.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        BoundaryDisplay
            With the plot drawn.

        Notes
        -----
        The classes are `classes_` of the estimator if it has them, and otherwise those in `y`.
        A region of any other label stays white.
        """
        other = isinstance(estimator, BaseEstimator) and not is_classifier(estimator)
        if other or not hasattr(estimator, "predict"):
            raise TypeError(
                "estimator must be a fitted classifier with a predict method, got "
                f"{type(estimator).__name__}"
            )
        if prototypes is None and _has_prototypes(estimator):
            within = unwrap_to_draw(estimator)
            estimator, X = within.classifier, within.prepare(X)
            source = "the data that estimator was fitted on"
            prototypes = check_plane(estimator.prototypes_, source)
            prototype_labels = estimator.prototype_labels_
        points, y = check_plane(X), np.asarray(y)
        check_consistent_length(points, y)
        plane = Plane.around(points, resolution)
        labels = np.asarray(estimator.predict(plane.points))
        if labels.shape != (len(plane.points),):
            raise ValueError(
                f"predict must give one label for each of {len(plane.points)} points, got shape "
                f"{labels.shape}"
            )
        classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        marked = None if prototypes is None else check_plane(prototypes, "prototypes")
        display = cls(
            plane=plane,
            regions=plane.table(encode(labels, classes)),
            classes=classes,
            points=points,
            point_classes=encode(y, classes),
            prototypes=marked,
            prototype_classes=None if marked is None else encode(prototype_labels, classes),
        )
        return display.plot(**options)

    def plot(
        self,
        *,
        show_points: bool = True,
        show_prototypes: bool = True,
        fill: bool = True,
        color: str = "black",
        linewidth: float = 1.2,
        legend: bool | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw regions, boundary, samples and prototypes.

        Parameters
        ----------
        show_points, show_prototypes, fill : bool, default=True
            Whether to draw the samples, mark the prototypes and tint the regions.
        color : str, default="black"
            Colour of the boundary.
        linewidth : float, default=1.2
            Its width.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for new figures only.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        BoundaryDisplay
            This display.
        """
        legend = ax is None if legend is None else legend
        ax = open_axes(ax, 6.4, 4.8)
        n_classes = len(self.classes)
        if fill:
            draw_regions(ax, self.plane, self.regions, n_classes=n_classes)
        if show_points:
            draw_points(ax, self.points, self.point_classes, n_classes=n_classes)
            name_classes(ax, self.points, self.point_classes, self.classes)
        draw_boundary(ax, self.plane, self.regions, color=color, linewidth=linewidth)
        if show_prototypes and self.prototypes is not None and self.prototype_classes is not None:
            draw_prototypes(ax, self.prototypes, self.prototype_classes, n_classes=n_classes)
        if legend:
            add_class_legend(ax, self.classes)
        ax.set(xlim=self.plane.limits[:2], ylim=self.plane.limits[2:], aspect="equal")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _has_prototypes(estimator: Any) -> bool:
    """Whether an estimator is, or ends in, a classifier of this package."""
    if isinstance(estimator, Pipeline):
        return _has_prototypes(estimator[-1])
    held = getattr(estimator, "best_estimator_", None)
    return hasattr(estimator, "prototypes_") or (held is not None and _has_prototypes(held))
