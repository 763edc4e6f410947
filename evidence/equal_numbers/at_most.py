"""The number of prototypes of the other methods, chosen in inner folds as ours is.

Ours may stay below the number that is allowed, where it errs less with fewer in inner folds. Here
the strongest of the others may do so, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from experiments.baselines.codebook import Codebook
from experiments.baselines.means import fit_means
from experiments.baselines.medoids import fit_medoids
from experiments.baselines.olvq1 import train as train_lvq
from experiments.tuning import make_folds

from ..budgets import N_FOLDS
from .rivals import PER_CLASS
from .splits import Split, splits_of


def choose_numbers(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Return which of the numbers a class is chosen at each budget, [method][fold][budget]."""
    splits = splits_of(name, seed, n_folds)
    each = [choose_in(split, seed=1000 * seed + k) for k, split in enumerate(splits)]
    return {method: [one[method] for one in each] for method in each[0]}


def choose_in(split: Split, *, seed: int) -> dict[str, list[int]]:
    """Choose by the least error in folds of the training part, of equals the fewest."""
    found: dict[str, list[list[float]]] = {}
    for train, test in make_folds(split.X, split.y, seed=seed, n_folds=N_FOLDS):
        for method, books in fit_books(split.X[train], split.y[train], seed).items():
            errors = [book.error(split.X[test], split.y[test]) for book in books]
            found.setdefault(method, []).append(errors)
    means = {method: np.round(np.mean(errors, axis=0), 9) for method, errors in found.items()}
    return {
        method: [int(mean[: b + 1].argmin()) for b in range(len(PER_CLASS))]
        for method, mean in means.items()
    }


def fit_books(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, list[Codebook]]:
    """Fit the methods with each number a class."""
    rng = np.random.default_rng(seed)
    means = fit_means(X, y, PER_CLASS, seed=seed)
    return {
        "k-medoids": fit_medoids(X, y, PER_CLASS, seed=seed),
        "K-means": means,
        "LVQ": [train_lvq(X, y, book, rng) for book in means],
    }
