"""What equal_numbers.py has measured, by set, method and number of prototypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NAMES = {
    "own": "ours, own radii",
    "shared": "ours, shared radius",
    "k-medoids": "k-medoids",
    "K-means": "K-means",
    "LVQ": "LVQ",
    "ProtoDash": "ProtoDash",
    "MMD-critic": "MMD-critic",
    "easiest": "easiest points",
    "random": "random points",
}
OURS = ("own", "shared")
RIVALS = [method for method in NAMES if method not in (*OURS, "random")]

Results = dict[str, Any]


def folds_of(results: Results, name: str, method: str, budget: int, what: int = 0) -> np.ndarray:
    """Return a method's errors (or numbers of prototypes, `what` 1) in all folds of a set."""
    repeats = results["trials"][name]
    return np.array([fold[budget][what] for one in repeats for fold in one["errors"][method]])


def means_of(results: Results, methods: Sequence[str], budget: int, names: Any) -> np.ndarray:
    """Return mean errors, shape (n_sets, n_methods)."""
    return np.array(
        [[folds_of(results, name, m, budget).mean() for m in methods] for name in names]
    )


def others_of(results: Results, name: str, method: str) -> np.ndarray:
    """Return the errors of a method without a number in all folds of a set."""
    repeats = results["trials"][name]
    return np.array([fold[0] for one in repeats for fold in one["others"][method]])


def budgets_of(results: Results) -> range:
    """Return the places of the numbers a class."""
    return range(len(results["per_class"]))
