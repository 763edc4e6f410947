"""How much of each class its prototypes cover, and how much those of others do."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from ..prototypes.coverage import Coverage
from .model import unwrap_to_draw
from .palette import BLUE, SKY, VERMILION, shorten

__all__ = ["CoverageDisplay"]

# Parts of a bar: what it is called, its colour, and a hatch for print without colour.
_PARTS = (
    ("own class only", BLUE, ""),
    ("own and other classes", SKY, "////"),
    ("other classes only", VERMILION, "xxxx"),
    ("no ball", "#E6E6E6", ""),
)


class CoverageDisplay:
    """A bar for each class: which share of its points lies in whose balls.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    shares : ndarray of float, shape (n_classes, 4)
        Shares of the points of each class in balls of their own class only, of their own
        and of other classes, of other classes only, and in none. They add up to 1; NaN for
        a class without points.
    points : ndarray of int, shape (n_classes,)
        Points of each class.
    prototypes : ndarray of int, shape (n_classes,)
        Prototypes of each class.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    CoverageConfusionDisplay : Which classes cover which.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import CoverageDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = CoverageDisplay.from_estimator(PVMClassifier(1.0).fit(X, y), X, y)
    >>> display.shares[0]
    array([1., 0., 0., 0.])
    """

    def __init__(
        self,
        *,
        classes: NDArray[Any],
        shares: NDArray[np.float64],
        points: NDArray[np.intp],
        prototypes: NDArray[np.intp],
    ) -> None:
        self.classes = classes
        self.shares = shares
        self.points = points
        self.prototypes = prototypes

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the coverage of labelled points by a fitted classifier.

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
        CoverageDisplay
            With the picture drawn.
        """
        within = unwrap_to_draw(estimator)
        coverage = within.classifier.coverage(within.prepare(X), y)
        return cls.from_coverage(coverage, **options)

    @classmethod
    def from_coverage(cls, coverage: Coverage, **options: Any) -> Self:
        """Draw a coverage that is already known.

        Parameters
        ----------
        coverage : Coverage
            From :meth:`PVMClassifier.coverage`.
        **options
            What :meth:`plot` takes.

        Returns
        -------
        CoverageDisplay
            With the picture drawn.
        """
        own, other = coverage.covered, coverage.other_count > 0
        counts = coverage.by_class()
        parts = [own & ~other, own & other, ~own & other, ~own & ~other]
        known = coverage.point_classes >= 0
        shares = (
            np.column_stack(
                [
                    np.bincount(
                        coverage.point_classes[part & known], minlength=len(coverage.classes)
                    )
                    for part in parts
                ]
            )
            / np.where(counts["points"] > 0, counts["points"], np.nan)[:, None]
        )
        display = cls(
            classes=coverage.classes,
            shares=shares,
            points=counts["points"],
            prototypes=counts["prototypes"],
        )
        return display.plot(**options)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        CoverageDisplay
            This display.
        """
        n_classes = len(self.classes)
        if ax is None:
            _, ax = plt.subplots(figsize=(7.0, 1.7 + 0.3 * n_classes), layout="constrained")
        rows, left = np.arange(n_classes), np.zeros(n_classes)
        for width, (name, colour, hatch) in zip(self.shares.T, _PARTS, strict=True):
            width = np.nan_to_num(width)
            ax.barh(
                rows,
                width,
                left=left,
                height=0.72,
                color=colour,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.0,
                label=name,
            )
            left = left + width
        for row, (chosen, size) in enumerate(zip(self.prototypes, self.points, strict=True)):
            ax.text(1.015, row, f"{chosen} of {size}", va="center", fontsize="small")
        ax.set(xlim=(0, 1), ylim=(n_classes - 0.5, -0.5), xlabel="share of the points of a class")
        ax.set_yticks(rows, [shorten(label) for label in self.classes])
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        self._add_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _add_legend(self, ax: Any) -> None:
        """Set the legend above the bars, and what the notes to their right say."""
        ax.legend(
            title="in balls of",
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=2,
            frameon=False,
            fontsize="small",
            title_fontsize="small",
            alignment="left",
            handlelength=1.4,
            columnspacing=1.2,
        )
        ax.text(
            1.015,
            1.0,
            "prototypes\nof points",
            transform=ax.transAxes,
            va="bottom",
            fontsize="small",
        )
