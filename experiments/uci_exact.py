"""UCI table with PVM tuned and fitted by the exact solver, beside the greedy one.

The splits, folds and radii of the UCI experiment; every fold's selection at every radius
is the exact solver's, and so is the final one, with its certificate.
"""

from __future__ import annotations

import time
from typing import Any

from protocover import PVMClassifierCV, suggest_eps

from .datasets import UCI_NAMES
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds
from .uci import N_RADII, split
from .words import proof


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors, sizes and times of both searches, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits, n_folds = (1, 2) if quick else (7, 10)
    tasks = [
        {"name": name, "seed": seed, "n_folds": n_folds}
        for seed in range(n_splits)
        for name in names
    ]
    rows = parts.keep_all("uci exact", run_search, tasks)
    return {
        "n_splits": n_splits,
        "n_folds": n_folds,
        "n_radii": N_RADII,
        "sets": {
            name: [row for row, task in zip(rows, tasks, strict=True) if task["name"] == name]
            for name in names
        },
    }


def run_search(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Tune, fit and test PVM with both solvers on one split."""
    X, y, X_test, y_test = split(name, seed)
    folds = make_folds(X, y, seed=seed, n_folds=n_folds)
    told = {}
    for solver in ("greedy", "exact"):
        start = time.process_time()
        grid = suggest_eps(X, y, N_RADII, random_state=seed)
        search = PVMClassifierCV(
            eps=grid, cv=folds, solver=solver, n_jobs=1, random_state=seed, **PAPER
        )
        search.fit(X, y)
        model = search.best_estimator_
        told[solver] = {
            "seconds": time.process_time() - start,
            "error": float(1.0 - search.score(X_test, y_test)),
            "size": len(model.prototype_labels_),
            "gap": model.gap_,
            "certificate": proof(model),
        }
    return told
