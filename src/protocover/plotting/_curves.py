"""Curves: error against the number of prototypes, by cross-validation or step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib import pyplot as plt

from .._estimators.search_results import name_scoring, trace_path
from .._inspection.fitted import distance_blocks, nearness, unwrap
from .._typing import Floats, Indices
from ._style import BLUE, GREEN, VERMILION, open_axes, unwrap_to_draw, use_count_scale


@dataclass(eq=False, repr=False, kw_only=True)
class PathDisplay:
    """Cross-validated score against the number of prototypes.

    Parameters
    ----------
    n_prototypes : ndarray of float, shape (n_settings,)
        Mean number of prototypes over the folds.
    loss : ndarray of float, shape (n_settings,)
        One minus the mean score.
    error : ndarray of float, shape (n_settings,)
        Its standard error.
    chosen : int
        The chosen setting.
    nearest_neighbor : int or None, default=None
        The setting of the smallest radius, if the radius is global.
    limit : float or None, default=None
        The largest loss that the rule of the search accepts, drawn as a dotted line.
    loss_name : str, default="error"
        What the vertical axis shows.

    Attributes
    ----------
    ax_, figure_
        The axes and figure of the last plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from protocover import PVMClassifierCV
    >>> from protocover.plotting import PathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = PVMClassifierCV(cv=5, random_state=0).fit(X, y)
    >>> display = PathDisplay.from_estimator(clf)
    >>> tried = clf.cv_results_["params"]
    >>> at_best_limit = [one for one in tried if one["eps"] == clf.best_params_["eps"]]
    >>> len(display.loss) == len(at_best_limit)
    True
    """

    n_prototypes: Floats
    loss: Floats
    error: Floats
    chosen: int
    nearest_neighbor: int | None = None
    limit: float | None = None
    loss_name: str = "error"

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the path of a fitted PVMClassifierCV.

        Parameters
        ----------
        estimator : PVMClassifierCV, or a pipeline that ends in one
            Fitted. Only the chosen metric, solver and cost are shown; with adaptive radii, all
            costs at the chosen maximum radius.
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PathDisplay
            With the plot drawn.
        """
        search = unwrap(estimator, name="estimator").search
        if search is None:
            raise TypeError(
                "estimator must be, or be a pipeline that ends in, a fitted PVMClassifierCV, got "
                f"{type(estimator).__name__}, which has tried no other radii; use "
                "GreedyProgressDisplay for the steps of one selection"
            )
        path = trace_path(search)
        plain = name_scoring(search) == "accuracy"
        display = cls(
            n_prototypes=path.n_prototypes,
            loss=1.0 - path.score,
            error=path.error,
            chosen=path.chosen,
            nearest_neighbor=0 if path.keeps_all else None,
            limit=1.0 - path.lowest,
            loss_name="error" if plain else "1 - score",
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PathDisplay
            This display.
        """
        ax = open_axes(ax, 6.4, 4.0)
        order = np.argsort(self.n_prototypes)
        line = {"color": BLUE, "marker": "o", "markersize": 3.5, "linewidth": 1.2}
        bars = {"yerr": self.error[order], "elinewidth": 0.8, "capsize": 2}
        label = "mean over the folds, ± one standard error"
        ax.errorbar(self.n_prototypes[order], self.loss[order], label=label, **line, **bars)
        if self.limit is not None:
            ax.axhline(self.limit, color="0.6", linewidth=0.8, linestyle=":")
        for place, color, marker, name in (
            (self.nearest_neighbor, GREEN, "s", "smallest radius (1-NN)"),
            (self.chosen, VERMILION, "D", "chosen"),
        ):
            if place is None:
                continue
            count = self.n_prototypes[place]
            look = {"marker": marker, "markersize": 8, "linestyle": "none", "color": color}
            ax.plot(count, self.loss[place], label=f"{name}: {count:.0f}", zorder=3, **look)
        use_count_scale(ax)
        ax.set(xlabel="number of prototypes", ylabel=f"cross-validated {self.loss_name}")
        ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self


@dataclass(eq=False, repr=False, kw_only=True)
class GreedyProgressDisplay:
    """Improvement of the objective, and error, against the number of prototypes.

    Parameters
    ----------
    improvement : ndarray of float, shape (n_prototypes,)
        Decrease of the objective at each step, before the cost of the prototype.
    covered : ndarray of int, shape (n_prototypes,)
        Samples newly covered at each step.
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

    improvement: Floats
    covered: Indices
    error: Floats | None = None

    @property
    def tail_(self) -> int:
        """Number of prototypes before the tail, in which each gains at most one sample.

        The gain is the number of newly covered samples minus that of miscovered ones.
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
        X, y : samples and their labels, or None
            Held-out samples to measure the error on; None to omit it.
        ax : pair of matplotlib axes, one of them, or None, default=None
            Two axes if the error is shown, otherwise one. None for a new figure.

        Returns
        -------
        GreedyProgressDisplay
            With the plot drawn.
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
            Two axes if the error is shown, otherwise one. None for a new figure.

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
            self._panel(axes[1], steps, 100.0 * self.error, "error (%)")
        self.axes_, self.figure_ = axes, axes[0].figure
        return self

    def _panel(self, ax: Any, steps: Indices, values: Any, name: str) -> None:
        """Draw one curve, with the tail in another colour."""
        ax.plot(steps, values, color=BLUE, linewidth=1.4)
        if self.tail_ < len(steps):
            tail = slice(max(0, self.tail_ - 1), None)
            label = f"the last {len(steps) - self.tail_} gain one sample each"
            ax.plot(steps[tail], values[tail], color=VERMILION, linewidth=1.4, label=label)
            ax.legend(frameon=False, fontsize="small")
        use_count_scale(ax)
        ax.set(xlabel="prototypes added", ylabel=name)


def running_error(estimator: Any, X: Any, y: Any) -> Floats:
    """Return the error with the first k prototypes, for every k from 1.

    Ties go to the prototype selected first. A sample without any of them in a neighbour graph
    counts as an error.
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


def _steps(model: Any) -> Indices:
    """Return the prototypes in descending order of their gain."""
    return np.argsort(-model.solution_.score, kind="stable")
