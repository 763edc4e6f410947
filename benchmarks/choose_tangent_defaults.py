"""Choose the defaults of TangentDistance by cross-validation on the USPS training images.

The test images are not read. For each setting the 10-fold error of the nearest neighbour
is computed, first over padding, smoothing and derivative at one spring constant, then
over spring constants. The least error wins; equal errors go to the earlier setting.

    python benchmarks/choose_tangent_defaults.py [path to usps.npz]
"""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from protocover.dissimilarity import TangentDistance

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
PADS = (0, 1, 2, 3)
SMOOTHINGS = (0.0, 0.5, 0.7, 0.9, 1.1)
DERIVATIVES = (0.0, 0.7, 1.1)
SPRINGS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def main(path: Path) -> None:
    data = np.load(path)
    X, y = data["X_train"], data["y_train"]
    folds = fold_numbers(y)
    print("pad smoothing derivative spring  error %  (standard error)")
    images = [
        {"pad": pad, "smoothing": smoothing, "derivative": derivative, "spring": 0.05}
        for pad, smoothing, derivative in itertools.product(PADS, SMOOTHINGS, DERIVATIVES)
    ]
    best = least(images, X, y, folds)
    best = least([{**best, "spring": spring} for spring in SPRINGS], X, y, folds)
    print("chosen:", best)


def least(settings: list[dict], X: np.ndarray, y: np.ndarray, folds: np.ndarray) -> dict:
    """Return the setting with the least cross-validated error, the first of equals."""
    errors = []
    for setting in settings:
        wrong = nearest_neighbor_mistakes(setting, X, y, folds)
        rates = np.array([wrong[folds == fold].mean() for fold in np.unique(folds)])
        spread = rates.std(ddof=1) / np.sqrt(len(rates))
        errors.append(int(wrong.sum()))
        print(
            f"{setting['pad']:3d} {setting['smoothing']:9.1f} {setting['derivative']:10.1f} "
            f"{setting['spring']:6.2f} {100 * wrong.mean():8.3f}  ({100 * spread:.3f})",
            flush=True,
        )
    return settings[int(np.argmin(errors))]


def nearest_neighbor_mistakes(
    setting: dict, X: np.ndarray, y: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """Tell which images their nearest neighbour outside their own fold misclassifies."""
    table = TangentDistance((16, 16), **setting).fit(X, y).pairwise(X, X)
    for fold in np.unique(folds):
        held_out = np.flatnonzero(folds == fold)
        table[np.ix_(held_out, held_out)] = np.inf
    return y[table.argmin(axis=1)] != y


def fold_numbers(y: np.ndarray) -> np.ndarray:
    """Deal the images out to ten folds, each class in equal shares."""
    numbers = np.empty(len(y), dtype=int)
    splits = StratifiedKFold(10, shuffle=True, random_state=0).split(y, y)
    for fold, (_, held_out) in enumerate(splits):
        numbers[held_out] = fold
    return numbers


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA / "usps.npz")
