"""What equal_numbers.py has measured, by set, method and number of prototypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

NAMES = {
    "adaptive": "ours, own radii",
    "shared": "ours, shared radius",
    "k-medoids": "k-medoids",
    "K-means": "K-means",
    "LVQ": "LVQ",
    "ProtoDash": "ProtoDash",
    "MMD-critic": "MMD-critic",
    "easiest": "easiest points",
    "random": "random points",
}
OURS = ("adaptive", "shared")
RIVALS = [method for method in NAMES if method not in (*OURS, "random")]

Results = dict[str, Any]


def folds_of(results: Results, name: str, method: str, budget: int, what: int = 0) -> np.ndarray:
    """Return a method's errors (or numbers of prototypes, `what` 1) in all folds of a set.

    Ours is what the default solver chooses, where it was measured in all folds.
    """
    if method in OURS and default_everywhere(results):
        folds = [fold for one in results["default"][name] for fold in one[method]]
    else:
        folds = [fold for one in results["trials"][name] for fold in one["errors"][method]]
    return np.array([fold[budget][what] for fold in folds])


def greedy_of(results: Results, name: str, radii: str, budget: int) -> np.ndarray:
    """Return the errors of the greedy's choice in all folds of a set."""
    repeats = results["trials"][name]
    return np.array([fold[budget][0] for one in repeats for fold in one["errors"][radii]])


def default_everywhere(results: Results) -> bool:
    """Whether the default solver was measured in all folds of all sets."""
    found = results["default"]
    return all(len(found.get(name, ())) == len(one) for name, one in results["trials"].items())


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
