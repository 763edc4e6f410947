"""Against k-medoids (FasterPAM) and condensed nearest neighbours, on five data sets.

Run: make bench-peers, or python benchmarks/compare_baselines.py [--write]

Each data set is standardised and split ten times, two thirds for training. Each method
chooses its prototypes on the training part and classifies by the nearest one: ours with
eps="auto", k-medoids with as many a class as ours chose (there is no other rule for k that
costs nothing), condensed nearest neighbours as imbalanced-learn sets it up. Times are the
fastest of the ten, over that of our fit; with eps given, ours would be faster still.
"""

from __future__ import annotations

import argparse
import time
import warnings

import kmedoids
import numpy as np
from imblearn.under_sampling import CondensedNearestNeighbour
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier

SPLITS = 10


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Bundled with scikit-learn, or made by it."""
    return {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "digits": load_digits(return_X_y=True),
        "moons": make_moons(2000, noise=0.3, random_state=0),
    }


def by_cover(X, y, sizes):
    model = PVMClassifier(random_state=0, solver="greedy", **PAPER).fit(X, y)
    return model.prototypes_, model.prototype_labels_


def by_medoids(X, y, sizes):
    chosen = []
    for label, size in sizes.items():
        rows = np.flatnonzero(y == label)
        if 0 < size < len(rows):
            rows = rows[
                kmedoids.fasterpam(cdist(X[rows], X[rows]), int(size), random_state=0).medoids
            ]
        chosen.append(rows[: max(size, 0)])
    chosen = np.concatenate(chosen)
    return X[chosen], y[chosen]


def by_condensing(X, y, sizes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CondensedNearestNeighbour(random_state=0).fit_resample(X, y)


METHODS = {"protocover": by_cover, "k-medoids": by_medoids, "condensed": by_condensing}


def measure(X, y) -> dict[str, np.ndarray]:
    """Seconds, prototypes and held-out error (%) of each method, a row for each split."""
    results: dict[str, list[tuple[float, int, float]]] = {name: [] for name in METHODS}
    for seed in range(SPLITS):
        parts = train_test_split(X, y, test_size=1 / 3, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(parts[0])
        X_train, X_test = scaler.transform(parts[0]), scaler.transform(parts[1])
        y_train, y_test = parts[2:]
        sizes = {}
        for name, select in METHODS.items():
            start = time.perf_counter()
            prototypes, labels = select(X_train, y_train, sizes)
            seconds = time.perf_counter() - start
            if name == "protocover":
                sizes = dict(zip(*np.unique(labels, return_counts=True), strict=True))
            nearest = KNeighborsClassifier(1).fit(prototypes, labels)
            error = 100 * (1 - nearest.score(X_test, y_test))
            results[name].append((seconds, len(labels), error))
    return {name: np.array(rows) for name, rows in results.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    options = parser.parse_args()
    rows, wins = [], 0
    for name, (X, y) in data_sets().items():
        results = measure(X, y)
        wins += results["k-medoids"][:, 2].mean() < results["protocover"][:, 2].mean()
        ours = results["protocover"][:, 0].min()
        for method, result in results.items():
            error, spread = result[:, 2].mean(), result[:, 2].std()
            ratio, kept = result[:, 0].min() / ours, result[:, 1].mean()
            rows.append(
                [name, method, f"{ratio:.2g}", f"{kept:.0f}", f"{error:.1f} ± {spread:.1f}"]
            )
    header = ["data", "method", "time / ours", "prototypes", "held-out error, %"]
    text = (
        f"{table(header, rows)}\n\nGiven the number, k-medoids has the lower mean error on {wins} "
        f"of the {len(data_sets())} sets."
    )
    print(text)
    if options.write:
        write_section("benchmarks.md", "baselines", text)


if __name__ == "__main__":
    main()
