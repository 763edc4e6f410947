"""What the paper says of its two algorithms (section 3), against the proved optimum.

On whole data sets and USPS, at several radii, with lambda = 1/n: the objective of the
paper's greedy, of the standard ratio greedy it is compared with in words, of the linear
relaxation with randomized rounding, and of the exact solver with its certificate.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier, suggest_eps

from .datasets import UCI_NAMES, load_uci, load_usps, make_gaussian_mixture
from .machine import PAPER
from .parts import Parts
from .words import proof

SOLVERS = ("greedy", "ratio-greedy", "lp-rounding", "exact")
N_DRAWS = 500
# Seconds of wall time for all classes together.
TIME_LIMIT = 120.0


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return objectives, times and certificates by data set and percentile."""
    names = ("mixture",) if quick else ("mixture", *UCI_NAMES, "usps")
    tasks = []
    for name in names:
        percentiles = (1, 2, 5, 14) if name == "usps" else (2, 5, 10, 20, 40)
        tasks += [{"name": name, "percentile": p} for p in percentiles[: 2 if quick else None]]
    rows = parts.keep_all("solvers", run_radius, tasks)
    return {"n_draws": N_DRAWS, "time_limit": TIME_LIMIT, "rows": rows}


def run_radius(name: str, percentile: int) -> dict[str, Any]:
    """Solve one data set at one radius with every solver."""
    X, y = load(name)
    eps = radius(X, y, percentile)
    told: dict[str, Any] = {"name": name, "percentile": percentile, "eps": eps, "n": len(y)}
    for solver in SOLVERS:
        options = {"lp-rounding": {"n_draws": N_DRAWS}, "exact": {"time_limit": TIME_LIMIT}}
        start = time.process_time()
        model = PVMClassifier(
            eps=eps,
            solver=solver,
            solver_options=options.get(solver),
            n_jobs=1,
            random_state=0,
            **PAPER,
        ).fit(X, y)
        told[solver] = {
            "objective": model.objective_,
            "bound": model.lower_bound_,
            "size": len(model.prototype_labels_),
            "certificates": [proof(one) for one in model.solution_.solutions],
            "cpu": time.process_time() - start,
        }
        if solver == "lp-rounding":
            told[solver] |= _rounding(model.solution_.solutions)
    return told


def _rounding(solutions: Any) -> dict[str, Any]:
    """Return the relaxation's value, the mean objective of a draw, and the paper's bound on it."""
    details = [one.details for one in solutions]
    if any("lp_value" not in one for one in details):
        return {}
    return {
        "lp_value": float(sum(one["lp_value"] for one in details)),
        "mean_draw": float(sum(np.mean(one["draw_objectives"]) for one in details)),
        "expected_at_most": float(sum(one["expected_at_most"] for one in details)),
    }


def radius(X: NDArray[np.float64], y: NDArray[Any], percentile: int) -> float:
    """Return a percentile of the distances between points."""
    # A grid of one per cent steps, so that radii are the same percentiles for all sets.
    grid = suggest_eps(X, y, percentile + 1, max_quantile=percentile / 100, random_state=0)
    return float(grid[-1])


def load(name: str) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return a data set, UCI's standardised."""
    if name == "mixture":
        drawn = make_gaussian_mixture(100, random_state=1)
        return drawn.data, drawn.target
    if name == "usps":
        usps = load_usps()
        return usps.data, usps.target
    data = load_uci(name)
    return StandardScaler().fit_transform(data.data), data.target
