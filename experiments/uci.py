"""UCI table (section 5.4): 1-NN, PVM, K-medoids and LVQ on six data sets, many splits.

Two thirds to train on, standardised by their own means and deviations; the parameter of
each method by 10-fold cross-validation on them with the one-standard-error rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifierCV, suggest_eps

from .baselines.codebook import Codebook
from .baselines.medoids import fit_medoids
from .baselines.olvq1 import fit_olvq1
from .datasets import UCI_NAMES, load_uci
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds, spread_sizes, tune

N_RADII = 20
N_SIZES = 12


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors and numbers of prototypes by data set and method, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits, n_folds = (2, 3) if quick else (50, 10)
    results: dict[str, Any] = {"n_splits": n_splits, "n_folds": n_folds, "sets": {}}
    results |= {"n_radii": N_RADII, "n_sizes": N_SIZES}
    for name in names:
        settings = [{"name": name, "seed": k, "n_folds": n_folds} for k in range(n_splits)]
        splits = parts.keep_all(f"uci {name}", run_split, settings)
        data = load_uci(name)
        results["sets"][name] = {
            "n_features": data.data.shape[1],
            "n_classes": len(np.unique(data.target)),
            "methods": {
                method: {
                    key: [split[method][key] for split in splits] for key in ("error", "size")
                }
                for method in ("1-NN", "PVM", "K-medoids", "LVQ")
            },
        }
    return results


def run_split(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Tune and test all methods on one random split."""
    X, y, X_test, y_test = split(name, seed)
    folds = make_folds(X, y, seed=seed, n_folds=n_folds)
    grid = suggest_eps(X, y, N_RADII, random_state=seed)
    pvm = PVMClassifierCV(
        eps=grid, cv=folds, solver="greedy", n_jobs=1, random_state=seed, **PAPER
    ).fit(X, y)
    per_class = spread_sizes(1, int(np.unique(y, return_counts=True)[1].max()), N_SIZES)
    in_total = spread_sizes(len(np.unique(y)), len(y), N_SIZES)
    medoids, k = tune(fit_medoids, X, y, per_class, seed=seed, n_folds=n_folds)
    lvq, size = tune(fit_olvq1, X, y, in_total, seed=seed, n_folds=n_folds)
    books = {"1-NN": Codebook(X, y), "K-medoids": medoids, "LVQ": lvq}
    results = {m: {"error": b.error(X_test, y_test), "size": len(b)} for m, b in books.items()}
    results["PVM"] = {
        "error": 1.0 - pvm.score(X_test, y_test),
        "size": len(pvm.best_estimator_.prototype_labels_),
        "eps": pvm.eps_,
    }
    results["K-medoids"]["k"], results["LVQ"]["asked"] = k, size
    return results


def split(name: str, seed: int, *, standardized: bool = True) -> tuple[NDArray[Any], ...]:
    """Return a random two thirds and the rest, standardised by the former if asked for."""
    data = load_uci(name)
    train, test = train_test_split(
        np.arange(len(data.target)), train_size=round(2 / 3 * len(data.target)), random_state=seed
    )
    scaler = StandardScaler(with_mean=standardized, with_std=standardized).fit(data.data[train])
    return (
        scaler.transform(data.data[train]),
        data.target[train],
        scaler.transform(data.data[test]),
        data.target[test],
    )
