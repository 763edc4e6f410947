"""Draw the picture of tangent.md: a digit's tangent vectors, and what they buy."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from protocover.dissimilarity import TangentDistance


def main():
    """Draw seven tangent vectors above the distance of a digit from itself, turned."""
    images = load_digits().images / 16.0
    X = images.reshape(len(images), -1)
    distance = TangentDistance((8, 8)).fit(X)
    # Without background around it the picture of a tangent vector is easier to read.
    plain = TangentDistance((8, 8), pad=0).fit(X)
    digit = images[2]
    figure = plt.figure(figsize=(7.2, 3.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1, 2))
    axes = above.subplots(1, 8)
    axes[0].imshow(digit, cmap="gray_r")
    for ax, name in zip(axes[1:], distance.transformations_, strict=True):
        vector = plain.maps_.bases(digit[None], [name]).reshape(8, 8)
        ax.imshow(vector, cmap="RdBu", vmin=-0.4, vmax=0.4)
        ax.set_title(name, fontsize=8)
    for ax in axes:
        ax.axis("off")
    draw_turning(below.subplots(), distance, digit, X)
    figure.savefig(Path(__file__).with_name("tangent.png"), dpi=90)


def draw_turning(ax, distance, digit, X):
    """Draw how far the turned digit is from itself, with and without tangent vectors."""
    angles = np.linspace(-40, 40, 41)
    turned = [ndimage.rotate(digit, angle, reshape=False, order=3) for angle in angles]
    turned = np.array(turned).reshape(len(angles), -1)
    stiff = TangentDistance((8, 8), spring=1e9).fit(X)
    for metric, label in ((stiff, "smoothed images"), (distance, "tangent distance")):
        ax.plot(angles, metric.pairwise(turned, digit.reshape(1, -1))[:, 0], label=label)
    ax.set(xlabel="turned by degrees", ylabel="distance", ylim=(0, None))
    ax.legend(frameon=False, loc="upper center")


if __name__ == "__main__":
    main()
