"""Find labels that were flipped on purpose, beside the disagreement of nearest neighbours.

On each data set 5 % of the labels are changed to another class at random, a model is
fitted on the result, and the points are ranked by how suspect their labels are. Printed
is the share of the flipped labels among the first 5 % of the points, as a mean over
several draws with its standard error. The baseline is the share of a point's 10 (or 5) nearest
neighbours with another label, ties broken by how near the nearest of its own label is
compared with the nearest of another.

Run: python benchmarks/flipped_labels.py [--write]

With --write the table is put into docs/suspect-labels.md.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier, suspect_labels

SHARE = 0.05
FACTORS = (1.0, 0.75, 1.5)
# Suspects do not depend on how far from the best the selection is.
FIT: dict[str, Any] = {
    "solver": "greedy",
    "solver_options": {"bound": False},
    "random_state": 0,
}
NEIGHBOURS = (10, 5)
PAGE = Path(__file__).parents[1] / "docs" / "suspect-labels.md"
MARKS = ("<!-- flipped labels: begin -->", "<!-- flipped labels: end -->")
DATA = Path(os.environ.get("PROTOCOVER_DATA", Path(__file__).parents[1] / "../shared/data"))


def load() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the data sets; features on different scales are standardised."""
    found = {}
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        found[name] = (StandardScaler().fit_transform(X), y)
    found["digits"] = datasets.load_digits(return_X_y=True)
    if (DATA / "usps.npz").exists():
        usps = np.load(DATA / "usps.npz")
        rows = np.random.default_rng(0).choice(len(usps["y_train"]), 2000, replace=False)
        found["USPS, 2000"] = (usps["X_train"][rows].astype(float), usps["y_train"][rows])
    return found


def flip(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Change some labels; return all labels and the rows of those changed."""
    rows = rng.choice(len(y), max(1, round(SHARE * len(y))), replace=False)
    classes, codes = np.unique(y, return_inverse=True)
    codes[rows] = (codes[rows] + rng.integers(1, len(classes), len(rows))) % len(classes)
    return classes[codes], rows


def rank_by_prototypes(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the rows of suspects, with multiples of the default radius and with own radii."""
    fits = [PVMClassifier(**FIT).fit(X, y)]
    for factor in FACTORS[1:]:
        fits.append(PVMClassifier(factor * fits[0].eps_, **FIT).fit(X, y))
    fits.append(PVMClassifier(radii="own", **FIT).fit(X, y))
    return [suspect_labels(model, X, y).row for model in fits]


def rank_by_neighbours(D: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Return all rows by the share of their k nearest neighbours with another label."""
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    other = y[:, None] != y
    near = np.argpartition(D, k, axis=1)[:, :k]
    share = np.take_along_axis(other, near, axis=1).mean(axis=1)
    own, rival = np.where(other, np.inf, D).min(axis=1), np.where(other, D, np.inf).min(axis=1)
    return np.lexsort((-own / np.maximum(own + rival, 1e-300), -share))


def measure(X: np.ndarray, y: np.ndarray, n_draws: int) -> np.ndarray:
    """Return the share found by each method (columns) in each draw (rows)."""
    D = pairwise_distances(X)
    results = []
    for seed in range(n_draws):
        labels, rows = flip(y, np.random.default_rng(seed))
        rankings = rank_by_prototypes(X, labels)
        rankings += [rank_by_neighbours(D, labels, k) for k in NEIGHBOURS]
        results.append([np.isin(rows, ranking[: len(rows)]).mean() for ranking in rankings])
    return np.array(results)


def tabulate() -> str:
    """Measure all data sets and write the table."""
    factors = (f"x {factor:g}" for factor in FACTORS[1:])
    heads = ["default radius", *factors, "own radii", *(f"{k}-NN" for k in NEIGHBOURS)]
    lines = ["| data | points | flipped | draws | " + " | ".join(heads) + " |"]
    lines.append("|---" * (len(heads) + 4) + "|")
    means = []
    for name, (X, y) in load().items():
        n_draws = 20 if len(y) < 1000 else 5
        shares = 100 * measure(X, y, n_draws)
        error = shares.std(axis=0, ddof=1) / np.sqrt(n_draws)
        means.append(shares.mean(axis=0))
        cells = [f"{m:.0f} ± {e:.0f}" for m, e in zip(means[-1], error, strict=True)]
        counts = f"{len(y)} | {round(SHARE * len(y))} | {n_draws}"
        lines.append(f"| {name} | {counts} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    overall = " | ".join(f"{mean:.1f}" for mean in np.mean(means, axis=0))
    lines.append(f"| mean | | | | {overall} |")
    return "\n".join(lines)


def main() -> None:
    table = tabulate()
    print(table)
    if "--write" in sys.argv[1:]:
        text = PAGE.read_text()
        before, rest = text.split(MARKS[0])
        _, after = rest.split(MARKS[1])
        PAGE.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
