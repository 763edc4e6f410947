"""USPS with the exact solver: what a proved optimum changes in the paper's main example.

Euclidean distance, lambda = 1/n, six radii: objective, prototypes and test error of the
greedy and of the exact selection, and what the optimum's certificates rest on. Edited
nearest neighbours, which drop only what their neighbours disagree with, for comparison.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from protocover import pvm_path, suggest_eps

from .baselines.codebook import Codebook
from .baselines.edited import edit
from .machine import PAPER
from .parts import Parts
from .usps import load
from .words import proof

PERCENTILES = (0.5, 1.0, 2.0, 5.0, 10.0, 14.0)
# Seconds of wall time for each class at each radius.
TIME_LIMIT = 20.0


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return both selections radius by radius."""
    n = 150 if quick else 7291
    percentiles = PERCENTILES[-2:] if quick else PERCENTILES
    tasks = [{"n": n, "percentile": p} for p in percentiles]
    return {
        "n": n,
        "time_limit": TIME_LIMIT,
        "rows": parts.keep_all("usps exact", run_radius, tasks),
        "edited": parts.keep(run_edited, n=n),
    }


def run_radius(n: int, percentile: float) -> dict[str, Any]:
    """Solve one radius both ways."""
    X, y, X_test, y_test = load(n)
    eps = suggest_eps(X, y, 2, max_quantile=percentile / 100.0, random_state=0)[-1:]
    told: dict[str, Any] = {"percentile": percentile, "eps": float(eps[0])}
    for solver, options in (("greedy", None), ("exact", {"time_limit": TIME_LIMIT})):
        path = pvm_path(
            X, y, eps=eps, solver=solver, solver_options=options, n_jobs=1, random_state=0, **PAPER
        )
        selection = path.selections[0][0]
        book = Codebook(X[selection.candidates], path.classes[selection.classes])
        told[solver] = {
            "objective": path.objective[0, 0],
            "bound": path.lower_bound[0, 0],
            "size": len(book),
            "uncovered": n - int(path.covered[0, 0]),
            "miscovered": int(path.miscovered[0, 0]),
            "error": book.error(X_test, y_test),
            "certificates": dict(Counter(proof(one) for one in selection.solutions)),
        }
    return told


def run_edited(n: int) -> dict[str, Any]:
    """Test edited nearest neighbours."""
    X, y, X_test, y_test = load(n)
    book = edit(X, np.asarray(y))
    return {"size": len(book), "error": book.error(X_test, y_test)}
