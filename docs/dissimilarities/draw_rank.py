"""Draw the picture of rank.md: balls of one radius, and balls of one number of points."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from protocover.dissimilarity import Euclidean, RankDissimilarity


def main():
    """Draw the members of two balls, one in a dense and one in a sparse cloud."""
    rng = np.random.default_rng(0)
    dense, sparse = rng.normal(0, 0.3, size=(60, 2)), rng.normal(0, 1.4, size=(60, 2))
    X = np.vstack((dense, sparse + np.array([5.0, 0.0])))
    middles = np.array([[0.0, 0.0], [5.0, 0.0]])
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.9), layout="constrained", sharey=True)
    balls = (
        ("euclidean, eps = 0.6", Euclidean(), 0.6),
        ("rank, eps = 21", RankDissimilarity(), 21),
    )
    for ax, (title, metric, eps) in zip(axes, balls, strict=True):
        inside = (metric.fit(X).pairwise(X, middles) < eps).any(axis=1)
        ax.scatter(*X[~inside].T, s=14, color="0.75")
        ax.scatter(*X[inside].T, s=14, color="C0", label="in the ball")
        ax.plot(*middles.T, "k+", markersize=10)
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])
    figure.savefig(Path(__file__).with_name("rank.png"), dpi=90)


if __name__ == "__main__":
    main()
