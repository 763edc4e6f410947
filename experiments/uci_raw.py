"""Whether the paper's UCI table (section 5.4) rests on standardised features.

1-NN has no parameter, so that its errors on the same splits, with features standardised and as
they are, can be held against the paper's; PVM beside it, tuned as in the UCI experiment.
"""

from __future__ import annotations

from typing import Any

from protocover import PVMClassifierCV
from protocover.datasets import UCI_NAMES

from .baselines.codebook import Codebook
from .parts import Parts
from .tuning import make_folds
from .uci import N_RADII, split


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors with both kinds of features, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits, n_folds = (2, 3) if quick else (50, 10)
    told: dict[str, Any] = {"n_splits": n_splits, "n_folds": n_folds, "sets": {}}
    for name in names:
        tasks = [{"name": name, "seed": k, "n_folds": n_folds} for k in range(n_splits)]
        rows = parts.keep_all(f"uci raw {name}", run_both, tasks)
        told["sets"][name] = {
            kind: {method: [row[kind][method] for row in rows] for method in ("1-NN", "PVM")}
            for kind in ("standardised", "raw")
        }
    return told


def run_both(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Test 1-NN and PVM on one split, with features standardised and as they are."""
    told = {}
    for kind in ("standardised", "raw"):
        X, y, X_test, y_test = split(name, seed, standardised=kind == "standardised")
        folds = make_folds(X, y, seed=seed, n_folds=n_folds)
        search = PVMClassifierCV(
            n_eps=N_RADII, cv=folds, solver="greedy", n_jobs=1, random_state=seed
        ).fit(X, y)
        told[kind] = {
            "1-NN": Codebook(X, y).error(X_test, y_test),
            "PVM": float(1.0 - search.score(X_test, y_test)),
        }
    return told
