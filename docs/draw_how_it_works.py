"""Draw the pictures of how-it-works.md and print the numbers in its text.

Run: python docs/draw_how_it_works.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Circle
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from protocover import PVMClassifier

FOLDER = Path(__file__).with_name("how-it-works")
COLORS = np.array(["#1f77b4", "#d95f02"])
EPS, COST = 0.55, 1.0


def fit(X: np.ndarray, y: np.ndarray, eps: float = EPS, solver: str = "exact") -> PVMClassifier:
    return PVMClassifier(radii="shared", eps=eps, prototype_cost=COST, solver=solver).fit(X, y)


def draw(ax: Any, X: np.ndarray, y: np.ndarray, chosen: np.ndarray, eps: float = EPS) -> None:
    """Draw samples and the neighbourhoods of the chosen ones; uncovered samples are hollow."""
    near = cdist(X, X[chosen]) < eps
    own = y[:, None] == y[chosen]
    covered = (near & own).any(axis=1) if len(chosen) else np.ones(len(X), dtype=bool)
    wrong = (near & ~own).any(axis=1)
    face = np.where(covered, COLORS[y], "white")
    ax.scatter(*X.T, c=face, edgecolors=COLORS[y], s=22, zorder=2)
    ax.scatter(*X[wrong].T, marker="x", c="black", s=45, zorder=3)
    for j in chosen:
        ax.add_patch(Circle(tuple(X[j]), eps, color=COLORS[y[j]], alpha=0.13))
        ax.scatter(*X[j], marker="*", c=COLORS[y[j]], edgecolors="black", s=170, zorder=4)
    ax.set(xlim=(-1.7, 2.7), ylim=(-1.2, 1.7), xticks=[], yticks=[], aspect="equal")


def save(name: str, panels: list[tuple[str, np.ndarray, float]], X: Any, y: Any) -> None:
    figure, axes = plt.subplots(
        1, len(panels), figsize=(3.9 * len(panels), 2.9), layout="constrained", squeeze=False
    )
    for ax, (title, chosen, eps) in zip(axes.flat, panels, strict=True):
        draw(ax, X, y, chosen, eps)
        ax.set_title(title, fontsize=10)
    figure.savefig(FOLDER / f"{name}.png", dpi=80)
    plt.close(figure)


def text_of(model: PVMClassifier) -> str:
    return f"{len(model.prototype_indices_)} prototypes, objective {model.objective_:g}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    X, y = make_moons(80, noise=0.2, random_state=11)
    best, greedy = fit(X, y), fit(X, y, solver="greedy")
    save("samples", [("80 samples of two classes", np.array([], dtype=int), EPS)], X, y)
    one = best.prototype_indices_[:1]
    save("neighbourhood", [("The neighbourhood of one sample", one, EPS)], X, y)
    save("cover", [(text_of(best), best.prototype_indices_, EPS)], X, y)
    save(
        "greedy",
        [
            (f"{solver}: {text_of(model)}", model.prototype_indices_, EPS)
            for solver, model in (("greedy", greedy), ("optimum", best))
        ],
        X,
        y,
    )
    models = {eps: fit(X, y, eps) for eps in (0.25, 0.55, 1.1)}
    save(
        "eps",
        [
            (
                f"eps {eps}: {len(model.prototype_indices_)} prototypes",
                model.prototype_indices_,
                eps,
            )
            for eps, model in models.items()
        ],
        X,
        y,
    )
    for name, model in {"greedy": greedy, "optimum": best, **models}.items():
        inside = cdist(X, X[model.prototype_indices_]) < model.eps_
        own = y[:, None] == model.prototype_labels_
        uncovered = int((~(inside & own).any(axis=1)).sum())
        wrong = int((inside & ~own).sum())
        print(name, text_of(model), "uncovered", uncovered, "miscovered", wrong, model.gap_)


if __name__ == "__main__":
    main()
