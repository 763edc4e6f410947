"""Held-out error against the number of prototypes, as cross-validation found it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._estimators.search_results import name_scoring, trace_path
from .._inspection.fitted import unwrap
from ._canvas import open_axes, use_count_scale
from ._palette import BLUE, GREEN, VERMILION


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
        That of the smallest radius, where all share one.
    limit : float or None, default=None
        The highest loss that the search's rule accepts, drawn as a dotted line.
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

    n_prototypes: NDArray[np.float64]
    loss: NDArray[np.float64]
    error: NDArray[np.float64]
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
            Fitted. Of several metrics, solvers or costs the chosen ones are shown; with
            radii of their own all costs, at the chosen limit.
        ax : matplotlib axes or None, default=None
            Where to draw; None for a new figure.

        Returns
        -------
        PathDisplay
            With the picture drawn.
        """
        search = unwrap(estimator, name="estimator").search
        if search is None:
            raise TypeError(
                "estimator must be, or be a pipeline that ends in, a fitted PVMClassifierCV, got "
                f"{type(estimator).__name__}, which has tried no other radii; for the steps of "
                "one selection use GreedyProgressDisplay"
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
            Where to draw; None for a new figure.

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
