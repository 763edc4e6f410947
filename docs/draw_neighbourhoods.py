"""Draw the picture of start.md: samples, prototypes and their neighbourhoods.

Run: python docs/draw_neighbourhoods.py
"""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image
from sklearn.datasets import make_moons

from protocover import PVMClassifier
from protocover.plotting import BallsDisplay


def main() -> None:
    X, y = make_moons(240, noise=0.16, random_state=3)
    labels = [["red fox", "grey wolf"][k] for k in y]
    model = PVMClassifier(eps=0.42, prototype_cost=2, solver="exact").fit(X, labels)
    figure, ax = plt.subplots(figsize=(5.6, 4.0), layout="constrained")
    BallsDisplay.from_estimator(model, X, labels, boundary=True, legend=True, ax=ax)
    handles = ax.get_legend().legend_handles
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    ax.get_legend().remove()
    # Below the picture, so that it stays readable at the width of a phone.
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    ax.set_ylim(min(X[:, 1]) - 0.05, max(model.prototypes_[:, 1]) + 0.44)
    ax.set_axis_off()
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=170)
    picture = Image.open(drawn).convert("RGB").quantize(128)
    picture.save(Path(__file__).with_name("neighbourhoods.png"), optimize=True)


if __name__ == "__main__":
    main()
