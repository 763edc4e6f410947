"""The rank dissimilarity (section 4.1) beside the distance that it is made of.

On splits of the UCI experiment, the radius tuned in the same way: with the rank dissimilarity
it is a number of points, and every ball holds as many.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from protocover import PVMClassifierCV, suggest_eps
from protocover.dissimilarity import RankDissimilarity

from .datasets import UCI_NAMES
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds
from .uci import N_RADII, split

METRICS = ("euclidean", "rank")


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors and sizes with both dissimilarities, split by split."""
    names = ("wine",) if quick else UCI_NAMES
    n_splits, n_folds = (2, 3) if quick else (10, 10)
    told: dict[str, Any] = {"n_splits": n_splits, "n_folds": n_folds, "sets": {}}
    for name in names:
        tasks = [{"name": name, "seed": k, "n_folds": n_folds} for k in range(n_splits)]
        rows = parts.keep_all(f"rank {name}", run_split, tasks)
        told["sets"][name] = {
            metric: {key: [row[metric][key] for row in rows] for key in rows[0][metric]}
            for metric in METRICS
        }
    return told


def run_split(name: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Tune and test PVM with both dissimilarities on one split."""
    X, y, X_test, y_test = split(name, seed)
    folds = make_folds(X, y, seed=seed, n_folds=n_folds)
    told: dict[str, Any] = {}
    for metric in METRICS:
        compared_by = RankDissimilarity() if metric == "rank" else metric
        search = PVMClassifierCV(
            eps=suggest_eps(X, y, N_RADII, metric=compared_by, random_state=seed),
            cv=folds,
            metric=compared_by,
            solver="greedy",
            n_jobs=1,
            random_state=seed,
            **PAPER,
        ).fit(X, y)
        told[metric] = {
            "error": float(1.0 - search.score(X_test, y_test)),
            "size": len(search.best_estimator_.prototype_labels_),
            "eps": search.eps_,
        }
    told["rank"]["odd_balls"] = count_odd_balls(X, told["rank"]["eps"])
    return told


def count_odd_balls(X: Any, eps: float) -> int:
    """Return how many balls of the rank dissimilarity do not hold the points they should.

    Those are the nearest ones, as many as there are whole numbers from 1 up to below eps.
    """
    ranks = RankDissimilarity().fit(X).pairwise(X, X)
    return int(np.sum((ranks < eps).sum(axis=0) != np.ceil(eps) - 1))
