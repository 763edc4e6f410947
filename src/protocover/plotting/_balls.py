"""The balls of the prototypes over the points that they cover, in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.collections import PatchCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle
from numpy.typing import NDArray

from .._inspection.fitted import distance_blocks
from ..dissimilarity import Euclidean, SquaredEuclidean
from ._canvas import open_axes, unwrap_to_draw
from ._palette import add_class_legend, class_styles, encode
from ._plane import Plane, check_plane, draw_boundary, draw_regions
from ._scatter import draw_points, draw_prototypes, name_classes

Grids = NDArray[np.float32]


@dataclass(eq=False, repr=False, kw_only=True)
class BallsDisplay:
    """Points in the plane, the prototypes of each class, and their balls.

    Points that no prototype of their own class covers are hollow. Balls are circles where
    the dissimilarity is Euclidean; otherwise their rims are found on a grid.

    Parameters
    ----------
    points : ndarray of float, shape (n_points, 2)
        The points.
    point_classes : ndarray of int, shape (n_points,)
        Their labels, as places in `classes`.
    covered : ndarray of bool, shape (n_points,)
        Whether a prototype of their class covers them.
    prototypes : ndarray of float, shape (n_prototypes, 2)
        The prototypes, in order of selection.
    prototype_classes : ndarray of int, shape (n_prototypes,)
        The classes they stand for, as places in `classes`.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    eps : float
        The radius of the balls, or the largest that was allowed.
    plane : Plane
        What is shown of the plane, and the grid for all that is found on one.
    circle_radius : float, ndarray of float, shape (n_prototypes,), or None
        The radius of the balls as circles in the plane, where each has its own that of
        each; None where they are no circles.
    distances : ndarray of float32, shape (n_prototypes, n_rows, n_columns), or None
        Where they are none: the dissimilarity of the grid from each prototype.
    regions : ndarray of int, shape (n_rows, n_columns), or None
        What the classifier says on the grid, as places in `classes`.
    radii : ndarray of float, shape (n_prototypes,), or None
        The radius of each ball where each has its own; None where all have `eps`.

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

    points: NDArray[np.float64]
    point_classes: NDArray[np.intp]
    covered: NDArray[np.bool_]
    prototypes: NDArray[np.float64]
    prototype_classes: NDArray[np.intp]
    classes: NDArray[Any]
    eps: float
    plane: Plane
    circle_radius: float | NDArray[np.float64] | None = None
    distances: Grids | None = None
    regions: NDArray[np.intp] | None = None
    radii: NDArray[np.float64] | None = None

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
        """Draw the balls of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV or BallCover, or a pipeline that ends in one
            Fitted on points of the plane.
        X, y : points and their labels
            What to show under the balls, usually the training data; of a cover without `y`.
        boundary : bool, default=False
            Whether to find and draw the decision boundary, too.
        resolution : int, default=300
            Rows and columns of the grid for the boundary and for balls that are no circles.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        BallsDisplay
            With the picture drawn.
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
        """Draw points, prototypes and balls, and the boundary if there is one.

        Parameters
        ----------
        show_points, show_balls : bool, default=True
            Whether to draw the points and the balls.
        fill : bool, default=False
            Whether to tint the region of each class, where the boundary was asked for.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for one in a new figure only.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

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
        """Draw the balls class by class."""
        # Where balls lie on one another their tints add up: many balls get fainter ones.
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
        """Draw the ball of one prototype, which is no circle."""
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
    """Draw balls that are circles: faint disks with clear rims."""
    disks: dict[str, Any] = {"facecolor": color, "edgecolor": "none", "alpha": alpha}
    rims: dict[str, Any] = {"facecolor": "none", "edgecolor": color, "linewidth": 0.7}
    for look in (disks, rims):
        ax.add_collection(PatchCollection(circles, zorder=1, **look), autolim=False)


def _circle_radius(model: Any) -> Any:
    """Return the radius of a model's balls as circles in the plane, if they are circles."""
    radius = float(model.eps_) if model.solution_.radii is None else model.solution_.radii
    if isinstance(model.dissimilarity_, Euclidean):
        return radius
    if isinstance(model.dissimilarity_, SquaredEuclidean):
        return np.sqrt(radius)
    return None


def _grid_distances(model: Any, plane: Plane) -> Grids:
    """Return the dissimilarity of each point of a grid from each prototype."""
    points = plane.points
    table = np.empty((len(points), len(model.prototype_labels_)), dtype=np.float32)
    for rows, distances in distance_blocks(model, points):
        table[rows] = distances
    return np.ascontiguousarray(np.moveaxis(plane.table(table), 2, 0))
