"""Flip labels on purpose and count how many of them `find_label_issues` finds.

For each data set and each fraction of flipped labels, means over several draws:

- recall: flipped labels among all that disagree with nearby prototypes;
- precision at k: flipped labels among the first k of the ranking, k being the number flipped;
- listed: length of the list with the default limit, and how many of these labels were flipped.

Tables of your own are added as FILE.csv:TARGET and compared by Gower's dissimilarity.

Run: python benchmarks/label_flips.py [FILE.csv:TARGET ...]
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier, find_label_issues

SHARES = (0.0, 0.02, 0.05, 0.1)
N_DRAWS = 5
BUNDLED = ("iris", "wine", "breast_cancer", "digits")
MADE: dict[str, Callable[[], Any]] = {
    "moons": lambda: datasets.make_moons(500, noise=0.2, random_state=0),
    "blobs, 6 classes": lambda: datasets.make_blobs(600, centers=6, random_state=0),
    "5 % rare class": lambda: datasets.make_classification(
        1000, 8, n_informative=5, weights=[0.95], class_sep=1.5, random_state=0
    ),
    "classes that overlap": lambda: datasets.make_classification(
        800, 6, n_informative=4, class_sep=0.5, random_state=1
    ),
}


def load(arguments: list[str]) -> Iterator[tuple[str, Any, NDArray[Any], str]]:
    for name in BUNDLED:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X if name == "digits" else StandardScaler().fit_transform(X), y, "euclidean"
    for name, make in MADE.items():
        yield name, *make(), "euclidean"
    for argument in arguments:
        import pandas as pd

        path, _, target = argument.rpartition(":")
        table = pd.read_csv(path)
        table = table[table[target].notna()]
        # What counts the rows says nothing of a class.
        table = table.drop(columns=[name for name in table if name == "rownames"])
        yield path, table.drop(columns=target), table[target].to_numpy(), "gower"


def flip(
    y: NDArray[np.intp], share: float, rng: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Give a fraction of the samples any other class."""
    rows = rng.choice(len(y), round(share * len(y)), replace=False)
    labels, n_classes = y.copy(), int(y.max()) + 1
    labels[rows] = (y[rows] + rng.integers(1, n_classes, len(rows))) % n_classes
    flipped = np.zeros(len(y), dtype=bool)
    flipped[rows] = True
    return labels, flipped


def measure(X: Any, y: NDArray[np.intp], metric: str, share: float) -> NDArray[np.float64]:
    """Return recall, precision at k, listed, and flipped among the listed."""
    found = []
    for draw in range(N_DRAWS if share else 1):
        labels, flipped = flip(y, share, np.random.default_rng(draw))
        # The model lends its metric only.
        model = PVMClassifier(eps=1.0, metric=metric, candidates=0.1, solver="greedy", **PAPER)
        model.fit(X, labels)
        ranked = find_label_issues(model, X, labels, max_suspects=None).row
        listed = find_label_issues(model, X, labels).row
        k = max(1, int(flipped.sum()))
        recall, first = flipped[ranked].sum() / k, flipped[ranked[:k]].sum() / k
        found.append((recall, first, len(listed), flipped[listed].sum()))
    return np.mean(found, axis=0)


def main() -> None:
    print("| data | samples | flipped | recall | precision at k | listed | flipped among these |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, X, y, metric in load(sys.argv[1:]):
        codes = np.unique(y.astype(str), return_inverse=True)[1]
        for share in SHARES:
            recall, first, listed, right = measure(X, codes, metric, share)
            scores = f"{recall:.2f} | {first:.2f}" if share else "- | -"
            print(
                f"| {name} | {len(codes)} | {round(share * len(codes))} | {scores} | "
                f"{listed:.0f} | {right:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
