"""The other methods: with k prototypes a class, or with as many as they come out with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from experiments.baselines.codebook import Codebook
from experiments.baselines.condensed import condense
from experiments.baselines.edited import edit, multiedit
from experiments.baselines.means import fit_means
from experiments.baselines.medoids import choose_medoids
from experiments.baselines.olvq1 import train as train_lvq

from ..baselines.hardness import instance_hardness
from ..baselines.kernels import gaussian_kernel
from ..baselines.mmd_critic import order_by_discrepancy
from ..baselines.protodash import order_by_gradient
from ..budgets import Budget
from .splits import Split

PER_CLASS = (2, 5, 10, 20)


def measure_rivals(split: Split, *, seed: int) -> dict[str, Any]:
    """Return error and size of the other methods at each budget."""
    rng = np.random.default_rng(seed)
    hardness = instance_hardness(split.X, split.y, seed=seed)
    # Equally hard ones in a random order.
    easiest = rng.permutation(len(split.y))
    easiest = easiest[np.argsort(hardness[easiest], kind="stable")]
    medoids = choose_medoids(
        split.y, PER_CLASS, within=lambda rows: split.within[np.ix_(rows, rows)], seed=seed
    )
    means = fit_means(split.X, split.y, PER_CLASS, seed=seed)
    quantized = [train_lvq(split.X, split.y, book, rng) for book in means]
    orders = {
        "MMD-critic": by_class(split, order_by_discrepancy),
        "ProtoDash": by_class(split, order_by_gradient),
        "easiest": easiest,
        "random": rng.permutation(len(split.y)),
    }
    chosen = {
        name: [first_of(split, order, k) for k in PER_CLASS] for name, order in orders.items()
    }
    chosen["k-medoids"] = medoids
    found = {
        name: [(split.of_rows(rows), len(rows)) for rows in some] for name, some in chosen.items()
    }
    for name, books in (("K-means", means), ("LVQ", quantized)):
        found[name] = [(book.error(split.X_test, split.y_test), len(book)) for book in books]
    return found


def by_class(split: Split, order: Callable[[np.ndarray, int], np.ndarray]) -> np.ndarray:
    """Put rows in the order in which they are chosen for each class."""
    found = []
    for label in np.unique(split.y):
        rows = np.flatnonzero(split.y == label)
        kernel = gaussian_kernel(split.within[np.ix_(rows, rows)])
        found.append(rows[order(kernel, max(PER_CLASS))])
    return np.concatenate(found)


def first_of(split: Split, order: np.ndarray, k: int) -> np.ndarray:
    """Return the first k of each class."""
    return order[Budget(k).keeps(split.y[order])]


def sizeless(split: Split, seed: int) -> dict[str, Codebook]:
    """Return what the methods keep that have no number."""
    return {
        "Hart's condensing": condense(split.X, split.y, seed=seed),
        "edited neighbours": edit(split.X, split.y),
        "multiedit": multiedit(split.X, split.y, seed=seed),
    }
