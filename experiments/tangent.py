"""USPS digits, tangent distance (section 5.2): test error against number of prototypes.

The curves show test error at every radius and number of medoids, as the paper's do; which
radius to take is another matter (`digits_choice.py`). All that radii of their own depend on is
chosen on the training images alone, by cross-validation, at each number of prototypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from protocover import pvm_path

from .adaptive_radii import AT_MOST, N_FOLDS, choose_settings, judge_fold, trace_curves
from .baselines.medoids import choose_medoids
from .digits_table import PERCENTILES, load_digits
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds

# Medoids a class; the largest class has 1194 images.
PER_CLASS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 250, 400, 600)
# Every second of the curve's close radii, and some beyond its last, for very few prototypes.
TRIED_OWN = (*PERCENTILES[:24:2], *PERCENTILES[24:], 28, 42)


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return the curves of all methods."""
    base = {"n": 300 if quick else 7291, "folder": parts.folder / "digits"}
    sizes = (1, 3) if quick else PER_CLASS
    medoids = parts.keep_all("tangent medoids", run_medoids, [{**base, "size": k} for k in sizes])
    n_folds = 2 if quick else N_FOLDS
    task = {**base, "n_folds": n_folds, "at_most": (20, 50) if quick else AT_MOST}
    tasks = [{**task, "fold": k} for k in range(n_folds)]
    own = choose_settings(parts.keep_all("tangent own radii", run_own_fold, tasks))
    return {
        "n": base["n"],
        "n_test": 2007 if base["n"] == 7291 else base["n"],
        "1-NN": parts.keep(run_nearest, **base),
        "PVM": parts.keep(run_pvm, **base),
        "K-medoids": {key: [one[key] for one in medoids] for key in ("size", "error")},
        "within": parts.keep(run_within, **base)["mean"],
        "adaptive_radii": parts.keep(run_own, **base, chosen=own),
    }


def run_pvm(n: int, folder: Path) -> dict[str, Any]:
    """Compute the path of PVM and test every model on it."""
    digits = load_digits(n, folder)
    path = pvm_path(
        digits.table,
        digits.labels,
        eps=digits.radii(),
        metric="precomputed",
        solver="greedy",
        solver_options={"bound": False},
        n_jobs=1,
        **PAPER,
    )
    wrong = [
        digits.count_wrong(chosen.candidates, path.classes[chosen.classes])
        for (chosen,) in path.selections
    ]
    return {
        "eps": path.eps,
        "size": path.n_prototypes[:, 0],
        "wrong": wrong,
        "error": np.array(wrong) / len(digits.test_labels),
    }


def run_own_fold(
    n: int, folder: Path, n_folds: int, fold: int, at_most: Sequence[int]
) -> dict[str, Any]:
    """Judge radii of their own, and a shared one, in one fold of the training images."""
    digits = load_digits(n, folder)
    train, held = make_folds(digits.images, digits.labels, seed=0, n_folds=n_folds)[fold]
    limits = digits.radii(TRIED_OWN)
    return judge_fold(digits.table, digits.labels, train, held, radii=limits, at_most=at_most)


def run_own(n: int, folder: Path, chosen: list[dict[str, Any]]) -> dict[str, Any]:
    """Test what the folds have chosen."""
    digits = load_digits(n, folder)
    return trace_curves(digits.table, digits.labels, digits.test_table, digits.test_labels, chosen)


def run_nearest(n: int, folder: Path) -> dict[str, Any]:
    """Test the nearest neighbour rule."""
    digits = load_digits(n, folder)
    wrong = digits.count_wrong(np.arange(n), digits.labels)
    return {"size": n, "wrong": wrong, "error": wrong / len(digits.test_labels)}


def run_medoids(n: int, folder: Path, size: int) -> dict[str, Any]:
    """Test K medoids a class."""
    digits = load_digits(n, folder)
    (rows,) = choose_medoids(
        digits.labels, [size], within=lambda rows: digits.table[np.ix_(rows, rows)], seed=0
    )
    wrong = digits.count_wrong(rows, digits.labels[rows])
    return {"size": len(rows), "error": wrong / len(digits.test_labels)}


def run_within(n: int, folder: Path) -> dict[str, Any]:
    """Return the mean distance between different images of each digit."""
    digits = load_digits(n, folder)
    means = []
    for digit in range(10):
        rows = np.flatnonzero(digits.labels == digit)
        own = digits.table[np.ix_(rows, rows)]
        means.append(float(own[np.triu_indices(len(rows), k=1)].mean()))
    return {"mean": means}
