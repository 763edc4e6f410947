"""Draw the 20 prototypes of the digits that README.md and docs/index.md show.

Run: python docs/draw_digits.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from protocover import PVMClassifier


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X, _, y, _ = train_test_split(X, y, stratify=y, random_state=0)
    clf = PVMClassifier(max_prototypes=20, radii="shared").fit(X, y)
    figure, axes = plt.subplots(2, 10, figsize=(8.4, 2.0), layout="constrained")
    for ax, image, label, covers in zip(
        axes.flat, clf.prototypes_, clf.prototype_labels_, clf.covered_count_, strict=True
    ):
        ax.imshow(image.reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{label}: covers {covers}", fontsize=7.5)
        ax.set_axis_off()
    figure.savefig(Path(__file__).with_name("digits.png"), dpi=110)


if __name__ == "__main__":
    main()
