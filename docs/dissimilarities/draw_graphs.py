"""Draw the picture of graphs.md: a neighbour graph and the prototypes chosen from it."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection
from sklearn.datasets import make_moons
from sklearn.neighbors import radius_neighbors_graph

from protocover import PVMClassifier

RADIUS = 0.3


def main():
    """Draw the pairs that are near in grey, points and balls by class."""
    X, y = make_moons(400, noise=0.15, random_state=0)
    graph = radius_neighbors_graph(X, radius=0.4, mode="distance")
    model = PVMClassifier(eps=RADIUS, metric="precomputed").fit(graph, y)
    near = graph.tocoo()
    kept = (near.data < RADIUS) & (near.row < near.col)
    lines = np.stack([X[near.row[kept]], X[near.col[kept]]], axis=1)
    figure, ax = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    ax.add_collection(LineCollection(lines, colors="0.85", linewidths=0.2, zorder=0))
    ax.scatter(*X.T, c=y, cmap="coolwarm", s=4)
    for row, label in zip(model.prototype_indices_, model.prototype_labels_, strict=True):
        color = plt.get_cmap("coolwarm")(float(label))
        ax.add_patch(plt.Circle(X[row], RADIUS, fill=False, color=color))
        ax.plot(*X[row], "o", color=color, markeredgecolor="black")
    ax.set_aspect("equal")
    figure.savefig(Path(__file__).with_name("graphs.png"), dpi=55)


if __name__ == "__main__":
    main()
