"""Error, objective and time against the share of the training points that are candidates.

Run: python benchmarks/candidate_share.py

The data are the USPS digits where they are at hand (PROTOCOVER_DATA), else scikit-learn's
own digits. The radii are percentiles of the distances. The table is written into
docs/big-data.md.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bench_fit import DATA
from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import Euclidean

SHARES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, "train"]
PERCENTILES = [2, 10]
SEEDS = 3


def load():
    """Return the name of the data, training points and labels, test points and labels."""
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        X, X_test = usps["X_train"].astype(np.float32), usps["X_test"].astype(np.float32)
        return "USPS", X, usps["y_train"].astype(int), X_test, usps["y_test"].astype(int)
    X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
    return "digits", X, y, X_test, y_test


def measure(share, seed, X, y, X_test, y_test, eps):
    """Fit once: error, objective, prototypes and processor time."""
    start = time.process_time()
    model = PVMClassifier(
        eps=eps, candidates=share, random_state=seed, solver="greedy", **PAPER
    ).fit(X, y)
    seconds = time.process_time() - start
    error = float((model.predict(X_test) != y_test).mean())
    return error, model.objective_, len(model.prototype_labels_), seconds


def percentile(X, q):
    """Return a percentile of the distances between points, from a sample."""
    rows = np.random.default_rng(0).choice(len(X), min(1500, len(X)), replace=False)
    table = Euclidean().pairwise(X[rows], X[rows])
    return float(np.percentile(table[np.triu_indices(len(rows), 1)], q))


def rows_of_table(q, *data):
    """Measure all shares at one radius."""
    eps = percentile(data[0], q)
    results = {
        share: np.mean(
            [measure(share, s, *data, eps) for s in range(1 if share == "train" else SEEDS)],
            axis=0,
        )
        for share in SHARES
    }
    whole = results["train"]
    for share, (error, objective, prototypes, seconds) in results.items():
        yield (
            f"{eps:.3g}",
            "all" if share == "train" else f"{share:.0%}",
            f"{100 * error:.1f}",
            f"{objective / whole[1]:.2f}",
            f"{prototypes:.0f}",
            f"{seconds / whole[3]:.2f}",
        )


def main() -> None:
    name, *data = load()
    header = ("eps", "candidates", "test error %", "objective / all", "prototypes", "time / all")
    text = table(header, [row for q in PERCENTILES for row in rows_of_table(q, *data)])
    print(text)
    about = (
        f"{name}, {len(data[0])} points; eps is percentile {PERCENTILES[0]} and {PERCENTILES[1]} "
        f"of the distances; means over {SEEDS} samples; processor time:"
    )
    write_section("big-data.md", "candidate shares", f"{about}\n\n{text}")


if __name__ == "__main__":
    main()
