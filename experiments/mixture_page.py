"""The mixture of Gaussians: balls, boundaries, and errors over many draws."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from protocover import PVMClassifier, suggest_eps
from protocover.plotting import BallsDisplay, BoundaryDisplay

from .datasets import make_gaussian_mixture
from .figures import save
from .machine import PAPER
from .mixture import all_books
from .words import compare_draws, mean_sd, percent, table

TITLE = "Mixture of Gaussians (section 5.1)"

PERCENTILES = (0, 2, 5, 10, 25, 50)
# Classes overlap where not even the Bayes rule gets more right.
OVERLAP = 0.05


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section and draw its figures."""
    # A draw whose classes overlap enough for the methods to differ.
    overlapping = [k for k, error in enumerate(results["Bayes"]) if error >= 0.1]
    seed = overlapping[0] if overlapping else int(np.argmax(results["Bayes"]))
    return "\n".join(
        (
            f"## {TITLE}\n",
            "Three classes in the plane, each a mixture of ten Gaussians, 100 training points "
            f"of each. The figures show draw {seed}, the first whose Bayes error is at least "
            "10 %.\n"
            if overlapping
            else f"Three classes in the plane. The figures show draw {seed}.\n",
            _draw_balls(seed, folder),
            _draw_boundaries(seed, folder, resolution=60 if results["quick"] else 300),
            _tabulate(results),
            _judge(results),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    overlap = np.array(results["Bayes"]) >= OVERLAP
    if not overlap.any():
        return "Mixture of Gaussians: in no draw do the classes overlap."
    told = []
    for kind, words in (("chosen", "parameters chosen by CV"), ("lowest", "lowest test errors")):
        pvm, medoids = (
            np.array([draw[kind]["error"] for draw in results["methods"][method]])[overlap]
            for method in ("PVM", "K-medoids")
        )
        told.append(f"{words}: {compare_draws(pvm, medoids)}")
    return (
        "Mixture of Gaussians: PVM against K-medoids where classes overlap (Bayes error of "
        f"{percent(OVERLAP, 0)} % or more), {'; '.join(told)}."
    )


def _draw_balls(seed: int, folder: Path) -> str:
    """Draw the paper's first figure: covers at rising radii."""
    drawn = make_gaussian_mixture(100, random_state=seed)
    X, y = drawn.data, drawn.target
    grid = suggest_eps(X, y, 51, max_quantile=0.5, random_state=0)
    figure, axes = plt.subplots(2, 3, figsize=(9.0, 5.7), layout="constrained")
    for ax, percentile in zip(axes.flat, PERCENTILES, strict=True):
        model = PVMClassifier(eps=float(grid[percentile]), solver="greedy", **PAPER).fit(X, y)
        BallsDisplay.from_estimator(model, X, y, ax=ax)
        at = f"{percentile} %" if percentile else "smallest distance"
        ax.set_title(f"{at}: eps = {model.eps_:.2f}, {len(model.prototype_labels_)} prototypes")
        ax.title.set_fontsize(8)
        ax.set(xticks=[], yticks=[])
    caption = (
        "Figure 1 of the paper: the balls of the prototypes at percentiles of the distances "
        "between points, from the smallest distance (every point is a prototype) to the median. "
        "Hollow points are not covered by their class."
    )
    return save(figure, folder, "mixture_balls", caption)


def _draw_boundaries(seed: int, folder: Path, *, resolution: int) -> str:
    """Draw the paper's second figure: boundaries of the lowest test error of each method."""
    drawn = make_gaussian_mixture(100, random_state=seed)
    X, y = drawn.data, drawn.target
    X_test, y_test = drawn.law.sample(2000, random_state=10_000 + seed)
    figure, axes = plt.subplots(1, 4, figsize=(11.0, 2.9), layout="constrained")
    fine = {"resolution": resolution}
    BoundaryDisplay.from_estimator(drawn.law, X, y, ax=axes[0], **fine)
    error = np.mean(drawn.law.predict(X_test) != y_test)
    axes[0].set_title(f"Bayes: {percent(error)} %")
    for ax, (method, books) in zip(axes[1:], all_books(X, y, seed=seed).items(), strict=True):
        best = min(books.values(), key=lambda book: (book.error(X_test, y_test), len(book)))
        BoundaryDisplay.from_estimator(
            best, X, y, prototypes=best.points, prototype_labels=best.labels, ax=ax, **fine
        )
        BoundaryDisplay.from_estimator(
            drawn.law, X, y, show_points=False, fill=False, color="0.55", ax=ax, **fine
        )
        ax.set_title(f"{method}: {percent(best.error(X_test, y_test))} %, {len(best)} prototypes")
    for ax in axes:
        ax.title.set_fontsize(8)
        ax.set(xticks=[], yticks=[])
    caption = (
        "Figure 2 of the paper: boundaries (black) of the Bayes rule and of each method at the "
        "value of its parameter with the lowest test error; the Bayes boundary in grey."
    )
    return save(figure, folder, "mixture_boundaries", caption)


def _tabulate(results: dict[str, Any]) -> str:
    """Tabulate errors over draws; the paper gives no numbers here."""
    bayes = np.array(results["Bayes"])
    rows = [("Bayes rule", mean_sd(bayes, scale=100.0), "", "", "", "")]
    for method, draws in results["methods"].items():
        cells: list[str] = [method]
        for kind in ("lowest", "chosen"):
            if kind not in draws[0]:
                cells += ["", ""]
                continue
            errors = np.array([draw[kind]["error"] for draw in draws])
            sizes = [draw[kind]["size"] for draw in draws]
            cells += [mean_sd(errors, scale=100.0), mean_sd(sizes, 0)]
        excess = np.array([draw["chosen"]["error"] for draw in draws]) - bayes
        rows.append((*cells, mean_sd(excess, scale=100.0)))
    header = (
        "method",
        "lowest test error",
        "prototypes",
        "chosen by CV",
        "prototypes",
        "chosen by CV above Bayes",
    )
    return (
        f"Test error in per cent over {results['n_draws']} draws of everything, centres included "
        f"({results['n_test']} test points each); ± is the standard deviation over draws, which "
        "differ widely in how far apart the classes lie. *Chosen by CV*: "
        f"{results['n_folds']}-fold cross-validation on the training points, one-standard-error "
        "rule. The paper shows one draw and gives no numbers.\n\n" + table(header, rows)
    )


def _judge(results: dict[str, Any]) -> str:
    """Judge the paper's sentence about K-medoids."""
    overlap = np.array(results["Bayes"]) >= OVERLAP
    groups = {"all draws": np.ones(len(overlap), dtype=bool)}
    if overlap.any() and not overlap.all():
        name = f"the {overlap.sum()} draws with a Bayes error of {percent(OVERLAP, 0)} % or more"
        groups[name] = overlap
    rows = []
    for group, shown in groups.items():
        for kind, words in (("lowest", "lowest test error"), ("chosen", "chosen by CV")):
            errors = {
                method: np.array([draw[kind]["error"] for draw in draws])[shown]
                for method, draws in results["methods"].items()
                if kind in draws[0]
            }
            against = [compare_draws(errors["PVM"], errors[m]) for m in ("K-medoids", "LVQ")]
            rows.append((group, words, *against))
    header = ("over", "parameter", "PVM against K-medoids", "PVM against LVQ")
    return (
        "The paper: PVM succeeds in capturing the shape of the boundary; K-medoids *does not "
        "perform well when classes overlap*. Draw by draw; the draws are independent "
        "and judged by signed ranks:\n\n" + table(header, rows)
    )
