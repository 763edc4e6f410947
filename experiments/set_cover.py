"""Set cover itself (section 1.1): the fewest balls that hold every point, labels left aside."""

from __future__ import annotations

from typing import Any

import numpy as np

from protocover import BallCover

from .parts import Parts
from .solvers import load, radius
from .words import proof

SETS = ("mixture", "wine", "glass")
PERCENTILES = (2, 5, 10, 20, 40)


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return the sizes of both covers by data set and percentile."""
    tasks = [
        {"name": name, "percentile": percentile}
        for name in SETS[: 1 if quick else None]
        for percentile in PERCENTILES[-2 if quick else 0 :]
    ]
    return {"rows": parts.keep_all("set cover", run_radius, tasks)}


def run_radius(name: str, percentile: int) -> dict[str, Any]:
    """Cover one data set at one radius, by the greedy and by the exact solver."""
    X, y = load(name)
    eps = radius(X, y, percentile)
    told: dict[str, Any] = {"name": name, "percentile": percentile, "n": len(X), "eps": eps}
    for solver in ("greedy", "exact"):
        cover = BallCover(eps=eps, coverage=1.0, solver=solver, n_jobs=1, random_state=0).fit(X)
        chosen = cover.candidate_indices_
        far = np.linalg.norm(X[:, None] - X[chosen], axis=2).min(axis=1)
        told[solver] = {
            "size": len(chosen),
            "bound": cover.lower_bound_,
            "certificate": proof(cover),
            "uncovered": int(np.sum(far >= eps)),
        }
    return told
