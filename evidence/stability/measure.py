"""How much of a selection stays when the data change a little.

Three changes, each drawn twenty times: as many rows with replacement (bootstrap), the same rows
in another order, and five labels in a hundred changed. What is chosen then is held against what
is chosen from the data as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from experiments.baselines.medoids import choose_medoids
from experiments.machine import PAPER
from experiments.parts import Parts
from scipy.spatial.distance import cdist
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier

from ..budgets import Budget
from ..sets import load_set, load_sets
from ..shortening import shorten

MOST_ROWS = 200
# A class, where a number is given.
NUMBER = 5
NOISE = 0.05
MACHINES = {
    f"{radii}, {solver}": {**PAPER, "radii": radii, "solver": solver}
    for radii in ("shared", "adaptive")
    for solver in ("greedy", "auto")
}

Told = dict[str, Any]


def run(quick: bool, parts: Parts) -> Told:
    """Choose from every set, as it is and changed."""
    names = ("iris", "moons")
    n_draws = 3
    if not quick:
        # No default was tuned on these.
        names = ("penguins", "olive oils", "cells", "skulls", "two classes", "spam")
        names += ("iris", "breast cancer", "glass", "heart")
        n_draws = 20
    sets = list(load_sets(names))
    trials = [{"name": name, "n_draws": n_draws} for name in sets]
    told = parts.keep_all("sets", measure, trials)
    return {
        "most_rows": MOST_ROWS,
        "n_draws": n_draws,
        "number": NUMBER,
        "noise": NOISE,
        "sets": {name: shorten(one, 6) for name, one in zip(sets, told, strict=True)},
    }


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a set in some order, perhaps some more than once, and their labels."""

    rows: np.ndarray
    y: np.ndarray


def bootstrap(y: np.ndarray, rng: np.random.Generator) -> Sample:
    """Draw as many rows with replacement."""
    rows = rng.integers(len(y), size=len(y))
    return Sample(rows, y[rows])


def reorder(y: np.ndarray, rng: np.random.Generator) -> Sample:
    """Shuffle the rows."""
    rows = rng.permutation(len(y))
    return Sample(rows, y[rows])


def mislabel(y: np.ndarray, rng: np.random.Generator) -> Sample:
    """Give a few rows another of the labels."""
    labels, changed = np.unique(y), y.copy()
    for row in rng.choice(len(y), size=round(NOISE * len(y)), replace=False):
        changed[row] = rng.choice(labels[labels != y[row]])
    return Sample(np.arange(len(y)), changed)


CHANGES: dict[str, Callable[[np.ndarray, np.random.Generator], Sample]] = {
    "bootstrap": bootstrap,
    "order": reorder,
    "labels": mislabel,
}


@dataclass(frozen=True, eq=False)
class Picked:
    """Rows of the set that were chosen, each once, and the objective where there is one."""

    rows: np.ndarray
    objective: float | None = None


def measure(name: str, n_draws: int) -> Told:
    """Hold what is chosen from changed data against what is chosen from the data as they are."""
    data = load_set(name, MOST_ROWS)
    X = StandardScaler().fit_transform(data.X) if data.kind == "features" else data.X
    table = cdist(X, X)
    as_is = choose_all(Sample(np.arange(len(X)), data.y), table, np.random.default_rng(0))
    found: Told = {"n": len(X), "n_classes": len(np.unique(data.y))}
    found["size"] = {method: len(picked.rows) for method, picked in as_is.items()}
    for change, draw in CHANGES.items():
        rng = np.random.default_rng(1)
        found[change] = {method: [] for method in as_is}
        for _ in range(n_draws):
            sample = draw(data.y, rng)
            for method, picked in choose_all(sample, table, rng).items():
                found[change][method].append(compare(as_is[method], picked, sample, table))
    return found


def choose_all(sample: Sample, table: np.ndarray, rng: np.random.Generator) -> dict[str, Picked]:
    """Choose from a sample by every method, given the distances in the whole set."""
    within = table[np.ix_(sample.rows, sample.rows)]
    found = {}
    for name, options in MACHINES.items():
        found[name] = choose_cover(sample, within, **options)
        each = Budget(NUMBER).of(int(sample.y.max()) + 1)
        found[f"{name}, few"] = choose_cover(sample, within, max_prototypes=each, **options)
    medoids = choose_medoids(
        sample.y, [NUMBER], within=lambda rows: within[np.ix_(rows, rows)], seed=0
    )[0]
    found["k-medoids, few"] = Picked(np.unique(sample.rows[medoids]))
    order = rng.permutation(len(sample.y))
    drawn = order[Budget(NUMBER).keeps(sample.y[order])]
    found["random, few"] = Picked(np.unique(sample.rows[drawn]))
    return found


def choose_cover(sample: Sample, within: np.ndarray, **options: Any) -> Picked:
    """Fit our machine with its default radius and cost."""
    model = PVMClassifier(metric="precomputed", n_jobs=1, random_state=0, **options)
    model.fit(within, sample.y)
    return Picked(np.unique(sample.rows[model.candidate_indices_]), float(model.objective_))


def compare(old: Picked, new: Picked, sample: Sample, table: np.ndarray) -> Told:
    """Return the Jaccard index among rows of both samples, and how far apart the choices are."""
    stayed = np.intersect1d(old.rows, sample.rows)
    union = np.union1d(stayed, new.rows)
    apart = table[np.ix_(old.rows, new.rows)]
    told = {
        "jaccard": len(np.intersect1d(stayed, new.rows)) / len(union) if len(union) else 1.0,
        "distance": 0.5 * float(apart.min(axis=1).mean() + apart.min(axis=0).mean()) / unit(table),
        "size": len(new.rows),
    }
    if old.objective is not None and new.objective is not None:
        told["objective"] = new.objective - old.objective
    return told


def unit(table: np.ndarray) -> float:
    """Return the median distance of two rows of the set."""
    return float(np.median(table[np.triu_indices(len(table), 1)]))
