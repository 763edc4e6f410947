"""Draw docs/dissimilarities/kernel.png: a Gaussian kernel keeps who is nearer than whom.

Run: python docs/dissimilarities/draw_kernel.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from protocover import PVMClassifier
from protocover.dissimilarity import KernelDistance

COLORS = ("#0072B2", "#D55E00")


def main() -> None:
    X, y = make_moons(200, noise=0.15, random_state=0)
    grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 160), np.linspace(-1.2, 1.7, 120)), -1)
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="constrained", sharey=True)
    for ax, gamma in zip(axes, (0.5, 8.0), strict=True):
        model = PVMClassifier(metric=KernelDistance("rbf", {"gamma": gamma})).fit(X, y)
        margin = model.decision_function(grid.reshape(-1, 2)).reshape(grid.shape[:2])
        ax.contour(*grid.transpose(2, 0, 1), margin, levels=[0.0], colors="0.4", linewidths=1)
        for label, color in enumerate(COLORS):
            ax.scatter(*X[y == label].T, s=8, color=color, alpha=0.4, linewidths=0)
            chosen = model.prototypes_[model.prototype_labels_ == label]
            ax.scatter(*chosen.T, s=45, color=color, edgecolors="black", linewidths=0.8)
        count = len(model.prototype_labels_)
        ax.set_title(
            f"gamma = {gamma:g}: {count} prototypes at eps = {model.eps_:.2f}", fontsize=9
        )
        ax.set(xticks=[], yticks=[], aspect="equal")
    figure.savefig(Path(__file__).parent / "kernel.png", dpi=100)


if __name__ == "__main__":
    main()
