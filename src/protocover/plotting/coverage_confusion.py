"""Whose balls hold whose points, as a table of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from ..prototypes.coverage import Coverage
from .model import unwrap_to_draw
from .palette import readable_on, shorten

__all__ = ["CoverageConfusionDisplay"]

_NORMALIZE = (None, "true")


class CoverageConfusionDisplay:
    """Points of each class (row) that lie in a ball of each class (column).

    A point may lie in balls of several classes, so that rows may add up to more than the
    points of a class. The last column holds the points that lie in no ball at all.

    Parameters
    ----------
    confusion : ndarray of int, shape (n_classes, n_classes)
        Number of points of the row's class in at least one ball of the column's class.
    uncovered : ndarray of int, shape (n_classes,)
        Points of each class in no ball.
    points : ndarray of int, shape (n_classes,)
        Points of each class.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    CoverageDisplay : Coverage class by class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import CoverageConfusionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier(1.0).fit(X, y)
    >>> display = CoverageConfusionDisplay.from_estimator(clf, X, y)
    >>> display.confusion[0]
    array([50,  0,  0])
    """

    def __init__(
        self,
        confusion: NDArray[np.intp],
        *,
        uncovered: NDArray[np.intp],
        points: NDArray[np.intp],
        classes: NDArray[Any],
    ) -> None:
        self.confusion = confusion
        self.uncovered = uncovered
        self.points = points
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the confusion of the coverage of labelled points by a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted.
        X, y : points and their labels
            Those of the training, or others.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        CoverageConfusionDisplay
            With the picture drawn.
        """
        within = unwrap_to_draw(estimator)
        coverage = within.classifier.coverage(within.prepare(X), y)
        return cls.from_coverage(coverage, **options)

    @classmethod
    def from_coverage(cls, coverage: Coverage, **options: Any) -> Self:
        """Draw the confusion of a coverage that is already known.

        Parameters
        ----------
        coverage : Coverage
            From :meth:`PVMClassifier.coverage`.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        CoverageConfusionDisplay
            With the picture drawn.
        """
        alone = (coverage.balls.count_nonzero(axis=1) == 0) & (coverage.point_classes >= 0)
        display = cls(
            coverage.confusion(),
            uncovered=np.bincount(coverage.point_classes[alone], minlength=len(coverage.classes)),
            points=coverage.by_class()["points"],
            classes=coverage.classes,
        )
        return display.plot(**options)

    def plot(self, *, normalize: str | None = None, cmap: str = "Blues", ax: Any = None) -> Self:
        """Draw the table.

        Parameters
        ----------
        normalize : {"true"} or None, default=None
            "true" writes shares of the points of a class in percent, None their number.
            Colours show the shares in either case.
        cmap : str, default="Blues"
            Colour map.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        CoverageConfusionDisplay
            This display.
        """
        if normalize not in _NORMALIZE:
            raise ValueError(f"normalize must be 'true' or None, got {normalize!r}")
        n_classes = len(self.classes)
        if ax is None:
            side = float(np.clip(2.2 + 0.42 * n_classes, 4.0, 12.0))
            _, ax = plt.subplots(figsize=(side + 0.8, side), layout="constrained")
        counts = np.column_stack([self.confusion, self.uncovered])
        shares = counts / np.where(self.points > 0, self.points, 1)[:, None]
        mesh = ax.imshow(shares, cmap=cmap, vmin=0.0, vmax=1.0, aspect="equal")
        self._write(ax, counts, shares, mesh, percent=normalize == "true")
        # A line sets the column of no class apart.
        ax.axvline(n_classes - 0.5, color="black", linewidth=0.8)
        names = [shorten(label, 16) for label in self.classes]
        upright = sum(map(len, names)) <= 5 * n_classes
        ax.set_xticks(
            np.arange(n_classes + 1),
            [*names, "none"],
            rotation=0 if upright else 45,
            ha="center" if upright else "right",
            rotation_mode="anchor" if not upright else None,
        )
        ax.set_yticks(np.arange(n_classes), names)
        ax.set(xlabel="in a ball of class", ylabel="points of class")
        ax.figure.colorbar(
            mesh, ax=ax, label="share of the points of a class", format="{x:.0%}", shrink=0.8
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write(
        self,
        ax: Any,
        counts: NDArray[np.intp],
        shares: NDArray[np.float64],
        mesh: Any,
        *,
        percent: bool,
    ) -> None:
        """Write the number in each cell that is not empty, in ink that can be read on it."""
        size = float(np.clip(11.0 - 0.15 * len(self.classes), 6.5, 10.0))
        for row, column in np.argwhere(counts > 0):
            share = shares[row, column]
            text = f"{100 * share:.0f}" if percent else f"{counts[row, column]}"
            ax.text(
                column,
                row,
                "<1" if percent and share < 0.005 else text,
                ha="center",
                va="center",
                fontsize=size,
                color=readable_on(mesh.cmap(mesh.norm(share))),
            )
