"""The decision boundary of a classifier in the plane, be it ours or any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from .canvas import open_axes, unwrap_to_draw
from .palette import add_class_legend, encode
from .plane import Plane, check_plane, draw_boundary, draw_regions
from .scatter import draw_points, draw_prototypes, name_classes

__all__ = ["BoundaryDisplay"]


@dataclass(eq=False, repr=False, kw_only=True)
class BoundaryDisplay:
    """Training points in the plane and the regions that a classifier gives each class.

    Parameters
    ----------
    plane : Plane
        The grid on which the classifier was asked.
    regions : ndarray of int, shape (n_rows, n_columns)
        Its answers there, as places in `classes`; -1 for an answer that is no class.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    points : ndarray of float, shape (n_points, 2)
        Training points.
    point_classes : ndarray of int, shape (n_points,)
        Their labels, as places in `classes`.
    prototypes : ndarray of float, shape (n_prototypes, 2), or None
        Points to mark, such as the prototypes.
    prototype_classes : ndarray of int, shape (n_prototypes,), or None
        Their labels, as places in `classes`.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    BallsDisplay : The balls that cover the points.

    Examples
    --------
    Any classifier, here the rule "right of zero":

    >>> import numpy as np
    >>> from protocover.plotting import BoundaryDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> y = X[:, 0] > 0
    >>> display = BoundaryDisplay.from_predictor(lambda X: X[:, 0] > 0, X, y)
    >>> display.regions.shape
    (300, 300)
    """

    plane: Plane
    regions: NDArray[np.intp]
    classes: NDArray[Any]
    points: NDArray[np.float64]
    point_classes: NDArray[np.intp]
    prototypes: NDArray[np.float64] | None = None
    prototype_classes: NDArray[np.intp] | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, resolution: int = 300, **options: Any
    ) -> Self:
        """Draw the boundary of a fitted PVMClassifier or PVMClassifierCV.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted on points of the plane.
        X, y : points and their labels
            What to show on the regions, usually the training data.
        resolution : int, default=300
            Rows and columns of the grid on which it is asked.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        BoundaryDisplay
            With the picture drawn.
        """
        within = unwrap_to_draw(estimator)
        model, X = within.classifier, within.prepare(X)
        return cls.from_predictor(
            model.predict,
            X,
            y,
            prototypes=check_plane(model.prototypes_, "the data that estimator was fitted on"),
            prototype_labels=model.prototype_labels_,
            classes=model.classes_,
            resolution=resolution,
            **options,
        )

    @classmethod
    def from_predictor(
        cls,
        predict: Callable[[NDArray[np.float64]], Any] | Any,
        X: Any,
        y: Any,
        *,
        prototypes: Any = None,
        prototype_labels: Any = None,
        classes: Any = None,
        resolution: int = 300,
        **options: Any,
    ) -> Self:
        """Draw the boundary of any classifier or rule.

        Parameters
        ----------
        predict : callable, or object with ``predict``
            Gives the labels of an array of points, shape (n, 2).
        X, y : points and their labels
            What to show on the regions, usually the training data.
        prototypes : array-like, shape (n_prototypes, 2), or None, default=None
            Points to mark.
        prototype_labels : array-like, shape (n_prototypes,), or None, default=None
            Their labels.
        classes : array-like or None, default=None
            All labels, sorted; None for those in `y`. A region of another label stays white.
        resolution : int, default=300
            Rows and columns of the grid on which it is asked.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        BoundaryDisplay
            With the picture drawn.
        """
        points, y = check_plane(X), np.asarray(y)
        check_consistent_length(points, y)
        plane = Plane.around(points, resolution)
        labels = np.asarray(getattr(predict, "predict", predict)(plane.points))
        if labels.shape != (len(plane.points),):
            raise ValueError(
                f"predict must give one label for each of {len(plane.points)} points, got shape "
                f"{labels.shape}"
            )
        classes = np.unique(y) if classes is None else np.asarray(classes)
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
        """Draw regions, boundary, points and prototypes.

        Parameters
        ----------
        show_points, show_prototypes, fill : bool, default=True
            Whether to draw the points, mark the prototypes and tint the regions.
        color : str, default="black"
            Colour of the boundary.
        linewidth : float, default=1.2
            Its width.
        legend : bool or None, default=None
            Whether to add a legend of classes; None for one in a new figure only.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

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
