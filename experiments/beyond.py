"""Beyond the paper: the UCI table with the exact solver.

On the splits of the UCI experiment. PVM's radius is the one chosen there with the greedy
solver, so that greedy and exact selections can be compared one by one. Times are processor
time of one fit as ratios to the greedy fit of the same split.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from protocover import PVMClassifier

from .baselines.codebook import Codebook
from .baselines.medoids import fit_medoids
from .baselines.olvq1 import fit_olvq1
from .datasets import UCI_NAMES
from .machine import PAPER
from .parts import Parts
from .uci import run_split, split
from .words import proof


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors, sizes and ratios of times, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits, n_folds = (2, 3) if quick else (50, 10)
    results: dict[str, Any] = {"n_splits": n_splits, "sets": {}}
    for name in names:
        rows = []
        for seed in range(n_splits):
            chosen = parts.keep(run_split, name=name, seed=seed, n_folds=n_folds)
            settings = {"eps": chosen["PVM"]["eps"], "k": chosen["K-medoids"]["k"]}
            settings["codebook"] = chosen["LVQ"]["asked"]
            rows.append(parts.keep(run_selection, name=name, seed=seed, **settings))
        results["sets"][name] = {
            method: {key: [row[method][key] for row in rows] for key in rows[0][method]}
            for method in rows[0]
            if method != "cpu_seconds"
        }
    return results


def run_selection(name: str, seed: int, eps: float, k: int, codebook: int) -> dict[str, Any]:
    """Fit and test every selection on one split."""
    X, y, X_test, y_test = split(name, seed)
    fits: dict[str, Callable[[], Any]] = {
        "greedy": lambda: PVMClassifier(eps=eps, solver="greedy", n_jobs=1, **PAPER).fit(X, y),
        "exact": lambda: PVMClassifier(
            eps=eps,
            solver="exact",
            solver_options={"time_limit": 30.0},
            n_jobs=1,
            random_state=0,
            **PAPER,
        ).fit(X, y),
        "1-NN": lambda: Codebook(X, y),
        "K-medoids": lambda: fit_medoids(X, y, [k], seed=seed)[0],
        "LVQ": lambda: fit_olvq1(X, y, [codebook], seed=seed)[0],
    }
    told = {}
    for method, fit in fits.items():
        seconds, model = _timed(fit)
        labels = model.labels if isinstance(model, Codebook) else model.prototype_labels_
        told[method] = {
            "error": float(np.mean(model.predict(X_test) != y_test)),
            "size": len(labels),
            "seconds": seconds,
        }
        if isinstance(model, PVMClassifier):
            told[method] |= {
                "objective": model.objective_,
                "gap": model.gap_,
                "certificate": proof(model),
            }
    return told


def _timed(fit: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor time of a fit, the least of three, and its result."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        model = fit()
        seconds.append(time.process_time() - start)
    return min(seconds), model
