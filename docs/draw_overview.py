"""Draw the picture on the first page: points, the prototypes chosen among them, their balls.

Run: python docs/draw_overview.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from protocover import PVMClassifier
from protocover.plotting import BallsDisplay


def main() -> None:
    X, y = make_moons(240, noise=0.16, random_state=3)
    labels = [["red fox", "grey wolf"][k] for k in y]
    model = PVMClassifier(0.42, prototype_cost=2, solver="exact").fit(X, labels)
    figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
    BallsDisplay.from_estimator(model, X, labels, boundary=True, legend=True, ax=ax)
    ax.set_axis_off()
    figure.savefig(Path(__file__).with_name("overview.png"), dpi=110)


if __name__ == "__main__":
    main()
