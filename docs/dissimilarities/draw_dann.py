"""Draw the picture of dann.md: circles around candidates, as their local metrics see them."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from protocover.dissimilarity import DANN


def main():
    """Draw, around some points of two moons, all that is at one distance."""
    X, y = make_moons(400, noise=0.15, random_state=0)
    candidates = X[::25]
    grid = np.stack(np.meshgrid(np.linspace(-1.6, 2.6, 420), np.linspace(-1.1, 1.6, 270)), -1)
    distance = DANN().fit(X, y).pairwise(grid.reshape(-1, 2), candidates)
    figure, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.scatter(*X.T, s=8, c=np.where(y, "C1", "C0"), alpha=0.35, linewidths=0)
    for column in distance.T:
        ax.contour(*np.moveaxis(grid, -1, 0), column.reshape(270, 420), [0.6], colors="k")
    ax.plot(*candidates.T, "k+", markersize=5)
    ax.set(aspect="equal", xticks=[], yticks=[])
    figure.savefig(Path(__file__).with_name("dann.png"), dpi=90)


if __name__ == "__main__":
    main()
