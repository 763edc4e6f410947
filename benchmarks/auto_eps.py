"""Compare quantiles of the distances to the nearest rival as default radii.

For data sets of different shape: held-out error and number of prototypes, as a share of
the training set, for several quantiles, beside 1-NN and the best radius of the paper's
grid (which looks at the held-out error, so it is a limit and no competitor).

Run: python benchmarks/auto_eps.py
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier, suggest_eps
from protocover._selection.radii import propose_eps
from protocover._selection.training import prepare_training

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
N_SPLITS = 5
DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))


def made() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(0)
    centers = rng.normal(scale=4, size=(3, 1, 2)) + rng.normal(size=(3, 10, 2))
    y = np.repeat(np.arange(3), 100)
    mixture = centers[y, rng.integers(10, size=300)] + rng.normal(scale=0.2**0.5, size=(300, 2))
    rare = datasets.make_classification(
        1000, 8, n_informative=5, weights=[0.95], class_sep=1.5, random_state=0
    )
    wide = datasets.make_classification(
        200, 1000, n_informative=20, n_redundant=0, shuffle=False, random_state=0
    )
    noisy = datasets.make_classification(800, 6, n_informative=4, flip_y=0.2, random_state=1)
    return {
        "moons": datasets.make_moons(500, noise=0.2, random_state=0),
        "circles": datasets.make_circles(500, noise=0.1, factor=0.5, random_state=0),
        "blobs, 10 classes": datasets.make_blobs(600, centers=10, random_state=0),
        "mixture of Gaussians": (mixture, y),
        "5 % rare class": rare,
        "200 x 1000": wide,
        "20 % label noise": noisy,
    }


def bundled() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    loaders = ("iris", "wine", "breast_cancer", "digits")
    return {name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in loaders}


def optional() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    found = {}
    for name in ("diabetes", "glass", "heart", "liver", "vowel"):
        path = DATA / "uci" / f"{name}.csv"
        if path.exists():
            table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
            table = np.char.strip(table, '"')
            found[name] = (table[:, :-1].astype(float), table[:, -1])
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        rows = np.random.default_rng(0).choice(len(usps["y_train"]), 2000, replace=False)
        found["USPS, 2000"] = (usps["X_train"][rows], usps["y_train"][rows].astype(int))
    return found


def try_radius(eps, X, y, X_test, y_test):
    model = PVMClassifier(eps=eps, solver="greedy", **PAPER).fit(X, y)
    return 1 - model.score(X_test, y_test), len(model.prototype_labels_) / len(y)


def measure(X, y):
    rows = []
    for train, test in StratifiedShuffleSplit(N_SPLITS, test_size=1 / 3, random_state=0).split(
        X, y
    ):
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        rng = np.random.default_rng(0)
        training = prepare_training(
            A, y[train], None, metric="euclidean", metric_params=None, candidates="train", rng=rng
        )
        radii = [propose_eps(training, rng=rng, quantile=q) for q in QUANTILES]
        results = [try_radius(eps, A, y[train], B, y[test]) for eps in radii]
        grid = [try_radius(eps, A, y[train], B, y[test]) for eps in suggest_eps(A, y[train])]
        nearest = KNeighborsClassifier(1).fit(A, y[train])
        rows.append([(1 - nearest.score(B, y[test]), 1.0), *results, min(grid)])
    return np.mean(rows, axis=0)


def main() -> None:
    heads = ["1-NN", *(f"q={q:g}" for q in QUANTILES), "best of grid"]
    print("error % / prototypes as % of the training set")
    print("| data | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name, (X, y) in {**made(), **bundled(), **optional()}.items():
        cells = [f"{100 * error:.1f} / {100 * share:.0f}" for error, share in measure(X, y)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
