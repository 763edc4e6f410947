"""The decision boundary of a classifier in the plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length

from ._canvas import open_axes, unwrap_to_draw
from ._palette import add_class_legend, encode
from ._plane import Plane, check_plane, draw_boundary, draw_regions
from ._scatter import draw_points, draw_prototypes, name_classes


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
    regions: NDArray[np.intp]
    classes: NDArray[Any]
    points: NDArray[np.float64]
    point_classes: NDArray[np.intp]
    prototypes: NDArray[np.float64] | None = None
    prototype_classes: NDArray[np.intp] | None = None

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


def _has_prototypes(estimator: Any) -> bool:
    """Whether an estimator is, or ends in, one of this package's classifiers."""
    if isinstance(estimator, Pipeline):
        return _has_prototypes(estimator[-1])
    held = getattr(estimator, "best_estimator_", None)
    return hasattr(estimator, "prototypes_") or (held is not None and _has_prototypes(held))
