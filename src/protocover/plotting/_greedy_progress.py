"""What each further prototype brings, in the objective and in the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from .._inspection.fitted import distance_blocks, nearness
from ._canvas import unwrap_to_draw, use_count_scale
from ._palette import BLUE, VERMILION


@dataclass(eq=False, repr=False, kw_only=True)
class GreedyProgressDisplay:
    """Improvement of the objective, and error, against prototypes added.

    Parameters
    ----------
    improvement : ndarray of float, shape (n_prototypes,)
        Drop in the objective at each step, before the cost of the prototype.
    covered : ndarray of int, shape (n_prototypes,)
        Points newly covered at each step.
    error : ndarray of float, shape (n_prototypes,), or None
        Error with the prototypes up to each step.

    Attributes
    ----------
    axes_, figure_
        The axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifier
    >>> from protocover.plotting import GreedyProgressDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifier(eps=0.5).fit(X[::2], y[::2])
    >>> display = GreedyProgressDisplay.from_estimator(clf, X[1::2], y[1::2])
    >>> len(display.error) == len(clf.candidate_indices_)
    True
    """

    improvement: NDArray[np.float64]
    covered: NDArray[np.intp]
    error: NDArray[np.float64] | None = None

    @property
    def tail_(self) -> int:
        """Number of prototypes after which each one gains a single point at most.

        What it gains is what it newly covers less what it covers of other classes.
        """
        several = np.flatnonzero((self.covered > 1) & (self.improvement > 1.0))
        return int(several[-1]) + 1 if len(several) else 0

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Any = None
    ) -> Self:
        """Draw the progress of a fitted classifier.

        Parameters
        ----------
        estimator : PVMClassifier, PVMClassifierCV, or a pipeline or search that ends in one
            Fitted.
        X, y : queries and their labels, or None
            Held-out points on which the error is measured; None to leave it out.
        ax : pair of matplotlib axes, one of them, or None, default=None
            Where to draw: two if the error is shown, else one. None for a new figure.

        Returns
        -------
        GreedyProgressDisplay
            With the picture drawn.
        """
        within = unwrap_to_draw(estimator)
        model = within.classifier
        steps = _steps(model)
        display = cls(
            improvement=model.solution_.score[steps],
            covered=model.newly_covered_count_[steps],
            error=None if X is None else running_error(model, within.prepare(X), y),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the progress.

        Parameters
        ----------
        ax : pair of matplotlib axes, one of them, or None, default=None
            Where to draw: two if the error is shown, else one. None for a new figure.

        Returns
        -------
        GreedyProgressDisplay
            This display.
        """
        n_panels = 1 if self.error is None else 2
        if ax is None:
            _, ax = plt.subplots(
                1, n_panels, figsize=(4.6 * n_panels, 3.6), layout="constrained", squeeze=False
            )
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != n_panels:
            raise ValueError(f"ax must be {n_panels} axes for this display, got {len(axes)}")
        steps = np.arange(1, len(self.improvement) + 1)
        self._panel(axes[0], steps, self.improvement, "improvement of the objective")
        axes[0].set_yscale("log")
        if self.error is not None:
            self._panel(axes[1], steps, 100.0 * self.error, "error in per cent")
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _panel(self, ax: Any, steps: NDArray[np.intp], values: Any, name: str) -> None:
        """Draw one curve, its tail of balls that gain one point each set off."""
        ax.plot(steps, values, color=BLUE, linewidth=1.4)
        if self.tail_ < len(steps):
            tail = slice(max(0, self.tail_ - 1), None)
            label = f"the last {len(steps) - self.tail_} gain one point each"
            ax.plot(steps[tail], values[tail], color=VERMILION, linewidth=1.4, label=label)
            ax.legend(frameon=False, fontsize="small")
        use_count_scale(ax)
        ax.set(xlabel="prototypes added", ylabel=name)


def running_error(estimator: Any, X: Any, y: Any) -> NDArray[np.float64]:
    """Return the error with the first k prototypes, for every k from 1.

    Ties between prototypes go to the one selected first. A query is wrong, too, as long as a
    neighbour graph has no entry for any of them.
    """
    y = np.asarray(y)
    steps = _steps(estimator)
    labels = estimator.prototype_labels_[steps]
    wrong = np.zeros(len(labels))
    for rows, table in distance_blocks(estimator, X):
        table = nearness(estimator, table)[:, steps]
        least = np.minimum.accumulate(table, axis=1)
        newer = np.ones_like(table, dtype=bool)
        newer[:, 1:] = table[:, 1:] < least[:, :-1]
        nearest = np.maximum.accumulate(np.where(newer, np.arange(table.shape[1]), 0), axis=1)
        wrong += ((labels[nearest] != y[rows, None]) | np.isinf(least)).sum(axis=0)
    return wrong / len(y)


def _steps(model: Any) -> NDArray[np.intp]:
    """Return the prototypes as they were chosen; those of a table may be in another order."""
    return np.argsort(-model.solution_.score, kind="stable")
