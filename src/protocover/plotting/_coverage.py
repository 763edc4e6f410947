"""How much of each class its prototypes cover, and coverage between classes."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._prototypes.coverage import Coverage
from .._typing import Floats, Indices, Mask
from ._style import BLUE, SKY, VERMILION, open_axes, readable_on, shorten, unwrap_to_draw

# Parts of a bar: name, colour, and a hatch for print without colour.
_PARTS = (
    ("own class only", BLUE, ""),
    ("own and other classes", SKY, "////"),
    ("other classes only", VERMILION, "xxxx"),
    ("uncovered", "#E6E6E6", ""),
)


@dataclass(eq=False, repr=False, kw_only=True)
class CoverageDisplay:
    """A bar per class: the fractions that its own and other prototypes cover.

    Parameters
    ----------
    classes : ndarray, shape (n_classes,)
        The labels, sorted.
    shares : ndarray of float, shape (n_classes, 4)
        Fractions of each class covered by its own class only, by its own and other classes, by
        other classes only, and uncovered. They add up to 1; NaN for a class without samples.
    points : ndarray of int, shape (n_classes,)
        Samples of each class.
    prototypes : ndarray of int, shape (n_classes,)
        Prototypes of each class.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    CoverageConfusionDisplay : Coverage between classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import CoverageDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = CoverageDisplay.from_estimator(PVMClassifier(eps=1.0).fit(X, y), X, y)
    >>> display.shares[0]
    array([1., 0., 0., 0.])
    """

    classes: NDArray[Any]
    shares: Floats
    points: Indices
    prototypes: Indices

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the coverage of labelled samples by a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted.
        X, y : samples and their labels
            The training data, or other samples.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        CoverageDisplay
            With the plot drawn.
        """
        return cls.from_coverage(_cover(estimator, X, y), **options)

    @classmethod
    def from_coverage(cls, coverage: Coverage, **options: Any) -> Self:
        """Draw a coverage.

        Parameters
        ----------
        coverage : Coverage
            From :meth:`PVMClassifier.coverage`.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        CoverageDisplay
            With the plot drawn.
        """
        own, other = coverage.covered, coverage.other_count > 0
        counts = coverage.by_class()
        parts = [own & ~other, own & other, ~own & other, ~own & ~other]
        counted = np.column_stack([_count(part, coverage) for part in parts])
        display = cls(
            classes=coverage.classes,
            shares=counted / np.where(counts["points"] > 0, counts["points"], np.nan)[:, None],
            points=counts["points"],
            prototypes=counts["prototypes"],
        )
        return display.plot(**options)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        CoverageDisplay
            This display.
        """
        n_classes = len(self.classes)
        ax = open_axes(ax, 7.0, 1.7 + 0.3 * n_classes)
        rows, left = np.arange(n_classes), np.zeros(n_classes)
        edge = {"edgecolor": "white", "linewidth": 0.0}
        for width, (name, color, hatch) in zip(self.shares.T, _PARTS, strict=True):
            width = np.nan_to_num(width)
            look = {"height": 0.72, "color": color, "hatch": hatch, **edge}
            ax.barh(rows, width, left=left, label=name, **look)
            left = left + width
        for row, (chosen, size) in enumerate(zip(self.prototypes, self.points, strict=True)):
            ax.text(1.015, row, f"{chosen} of {size}", va="center", fontsize="small")
        ax.set(
            xlim=(0, 1), ylim=(n_classes - 0.5, -0.5), xlabel="fraction of the samples of a class"
        )
        ax.set_yticks(rows, [shorten(label) for label in self.classes])
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        self._add_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _add_legend(self, ax: Any) -> None:
        """Put the legend above the bars, and a heading above the counts to their right."""
        ax.legend(
            title="covered by",
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
        look = {"transform": ax.transAxes, "va": "bottom", "fontsize": "small"}
        ax.text(1.015, 1.0, "prototypes\nof samples", **look)


@dataclass(eq=False, repr=False)
class CoverageConfusionDisplay:
    """Number of samples per class (row) that prototypes of a class (column) cover.

    Several classes may cover the same sample, so rows may add up to more than the samples of a
    class. The last column counts the uncovered samples.

    Parameters
    ----------
    confusion : ndarray of int, shape (n_classes, n_classes)
        Number of samples of the row's class that the column's class covers.
    uncovered : ndarray of int, shape (n_classes,)
        Samples of each class that no prototype covers.
    points : ndarray of int, shape (n_classes,)
        Samples of each class.
    classes : ndarray, shape (n_classes,)
        The labels, sorted.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    See Also
    --------
    CoverageDisplay : Coverage by class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import CoverageConfusionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier(eps=1.0).fit(X, y)
    >>> display = CoverageConfusionDisplay.from_estimator(clf, X, y)
    >>> display.confusion[0]
    array([50,  0,  0])
    """

    confusion: Indices
    _: KW_ONLY
    uncovered: Indices
    points: Indices
    classes: NDArray[Any]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw the coverage of labelled samples by a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted.
        X, y : samples and their labels
            The training data, or other samples.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        CoverageConfusionDisplay
            With the plot drawn.
        """
        return cls.from_coverage(_cover(estimator, X, y), **options)

    @classmethod
    def from_coverage(cls, coverage: Coverage, **options: Any) -> Self:
        """Draw a coverage.

        Parameters
        ----------
        coverage : Coverage
            From :meth:`PVMClassifier.coverage`.
        **options
            Passed to :meth:`plot`.

        Returns
        -------
        CoverageConfusionDisplay
            With the plot drawn.
        """
        display = cls(
            coverage.confusion(),
            uncovered=_count(coverage.balls.count_nonzero(axis=1) == 0, coverage),
            points=coverage.by_class()["points"],
            classes=coverage.classes,
        )
        return display.plot(**options)

    def plot(self, *, normalize: str | None = None, cmap: str = "Blues", ax: Any = None) -> Self:
        """Draw the table.

        Parameters
        ----------
        normalize : {"true"} or None, default=None
            "true" writes percentages of the samples of a class, None their number. Colours show
            the percentages in both cases.
        cmap : str, default="Blues"
            Colour map.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        CoverageConfusionDisplay
            This display.
        """
        if normalize not in (None, "true"):
            raise ValueError(f"normalize must be 'true' or None, got {normalize!r}")
        n_classes = len(self.classes)
        side = float(np.clip(2.2 + 0.42 * n_classes, 4.0, 12.0))
        ax = open_axes(ax, side + 0.8, side)
        counts = np.column_stack([self.confusion, self.uncovered])
        shares = counts / np.where(self.points > 0, self.points, 1)[:, None]
        mesh = ax.imshow(shares, cmap=cmap, vmin=0.0, vmax=1.0, aspect="equal")
        self._write(mesh, counts, shares, percent=normalize == "true")
        # A line separates the column of uncovered samples.
        ax.axvline(n_classes - 0.5, color="black", linewidth=0.8)
        names = [shorten(label, 16) for label in self.classes]
        upright = {"rotation": 0, "ha": "center", "rotation_mode": None}
        slanted = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        look = upright if sum(map(len, names)) <= 5 * n_classes else slanted
        ax.set_xticks(np.arange(n_classes + 1), [*names, "none"], **look)
        ax.set_yticks(np.arange(n_classes), names)
        ax.set(xlabel="covered by class", ylabel="samples of class")
        ax.figure.colorbar(
            mesh, ax=ax, label="fraction of the samples of a class", format="{x:.0%}", shrink=0.8
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write(self, mesh: Any, counts: Indices, shares: Floats, *, percent: bool) -> None:
        """Write the number in each non-empty cell, in a readable colour."""
        size = float(np.clip(11.0 - 0.15 * len(self.classes), 6.5, 10.0))
        look = {"ha": "center", "va": "center", "fontsize": size}
        for row, column in np.argwhere(counts > 0):
            share = shares[row, column]
            text = f"{100 * share:.0f}" if percent else f"{counts[row, column]}"
            text = "<1" if percent and share < 0.005 else text
            ink = readable_on(mesh.cmap(mesh.norm(share)))
            mesh.axes.text(column, row, text, color=ink, **look)


def _cover(estimator: Any, X: Any, y: Any) -> Coverage:
    """Return the coverage of labelled samples."""
    within = unwrap_to_draw(estimator)
    return within.classifier.coverage(within.prepare(X), y)


def _count(points: Mask, coverage: Coverage) -> Indices:
    """Count some of the samples by class; unknown labels are omitted."""
    own = coverage.point_classes[points & (coverage.point_classes >= 0)]
    return np.bincount(own, minlength=len(coverage.classes))
