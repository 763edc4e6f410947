"""USPS digits, Euclidean distance (section 5.2): test error against number of prototypes.

The curves show test error at every value of a method's parameter, as the paper's do; which
radius to take is another matter (`digits_choice.py`). All that radii of their own depend on is
chosen on the training images alone, by cross-validation, at each number of prototypes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from protocover import pvm_path, suggest_eps

from .adaptive_radii import AT_MOST, N_FOLDS, choose_settings, judge_fold, trace_curves
from .baselines.codebook import Codebook
from .baselines.means import fit_means
from .baselines.medoids import fit_medoids
from .baselines.olvq1 import fit_olvq1
from .datasets import load_usps
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds

# Medoids and means a class; the largest class has 1194 images.
PER_CLASS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 250, 400, 600)
CODEBOOKS = (10, 20, 40, 70, 100, 150, 250, 400, 700, 1100, 1800, 3000, 7291)
# The time LVQ takes grows with the square of the codebook: larger ones are trained once.
REPEATED = 1100


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return each method's curve."""
    n = 150 if quick else 7291
    seeds = range(1) if quick else range(3)
    small = (1, 3) if quick else PER_CLASS
    books = (10, 40) if quick else CODEBOOKS
    centroids = [parts.keep(run_pvm, n=n, centroids=True, seed=seed) for seed in seeds]
    means = parts.keep_all(
        "usps K-means", run_means, [{"n": n, "size": k, "seed": s} for s in seeds for k in small]
    )
    tasks = [{"n": n, "size": k, "seed": s} for s in seeds for k in books]
    tasks = [task for task in tasks if task["seed"] == 0 or task["size"] <= REPEATED]
    lvq = parts.keep_all("usps LVQ", run_lvq, tasks)
    medoids = parts.keep_all("usps K-medoids", run_medoids, [{"n": n, "size": k} for k in small])
    n_folds = 2 if quick else N_FOLDS
    at_most = (20, 50) if quick else AT_MOST
    tasks = [{"n": n, "n_folds": n_folds, "fold": k, "at_most": at_most} for k in range(n_folds)]
    folds = parts.keep_all("usps own radii", run_own_fold, tasks)
    return {
        "n": n,
        "n_seeds": len(seeds),
        "lvq_repeated": REPEATED,
        "1-NN": parts.keep(run_nearest, n=n),
        "PVM": parts.keep(run_pvm, n=n, centroids=False, seed=0),
        "PVM with centroids": centroids,
        "K-medoids": _curve(medoids),
        "K-means": [_curve([m for m in means if m["seed"] == s]) for s in seeds],
        "LVQ": [_curve([m for m in lvq if m["seed"] == s]) for s in seeds],
        "adaptive_radii": parts.keep(run_own, n=n, chosen=choose_settings(folds)),
    }


def run_pvm(n: int, centroids: bool, seed: int) -> dict[str, Any]:
    """Compute the path of PVM, with ten centroids a class among the candidates if asked for."""
    X, y, X_test, y_test = load(n)
    Z = fit_means(X, y, [10], seed=seed)[0].points if centroids else X[:0]
    candidates = ["train", Z] if centroids else "train"
    path = pvm_path(
        X, y, eps=radii(X, y), candidates=candidates, solver="greedy", n_jobs=1, **PAPER
    )
    pool = np.vstack((X, Z))
    curve = []
    for row in path.selections:
        book = Codebook(pool[row[0].candidates], path.classes[row[0].classes])
        curve.append({"size": len(book), "error": book.error(X_test, y_test)})
    gap = (path.objective - path.lower_bound) / path.lower_bound
    return _curve(curve) | {"eps": path.eps.tolist(), "above_bound": gap[:, 0].tolist()}


def run_own_fold(n: int, n_folds: int, fold: int, at_most: Sequence[int]) -> dict[str, Any]:
    """Judge radii of their own, and a shared one, in one fold of the training images."""
    X, y, _, _ = load(n)
    train, held = make_folds(X, y, seed=0, n_folds=n_folds)[fold]
    # For very few prototypes the curve's radii do not go far enough.
    wide = suggest_eps(X, y, 4, max_quantile=0.42, random_state=0)
    limits = np.union1d(radii(X, y), wide)
    return judge_fold(cdist(X, X), y, train, held, radii=limits, at_most=at_most)


def run_own(n: int, chosen: list[dict[str, Any]]) -> dict[str, Any]:
    """Test what the folds have chosen."""
    X, y, X_test, y_test = load(n)
    return trace_curves(cdist(X, X), y, cdist(X_test, X), y_test, chosen)


def run_nearest(n: int) -> dict[str, Any]:
    """Test the nearest neighbour rule."""
    X, y, X_test, y_test = load(n)
    return {"size": n, "error": Codebook(X, y).error(X_test, y_test)}


def run_medoids(n: int, size: int) -> dict[str, Any]:
    """Test K medoids a class."""
    return _test(fit_medoids, n, size, 0)


def run_means(n: int, size: int, seed: int) -> dict[str, Any]:
    """Test K means a class."""
    return _test(fit_means, n, size, seed)


def run_lvq(n: int, size: int, seed: int) -> dict[str, Any]:
    """Test a codebook of `size` vectors."""
    return _test(fit_olvq1, n, size, seed)


def load(n: int) -> tuple[NDArray[Any], ...]:
    """Return `n` training images and all test images."""
    usps = load_usps()
    rows = np.random.default_rng(0).permutation(len(usps.target))[:n]
    rows.sort()
    return usps.data[rows], usps.target[rows], usps.test_data, usps.test_target


def radii(X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return radii from the smallest distance to the 14th percentile, the small ones closer."""
    fine = suggest_eps(X, y, 9, max_quantile=0.02, random_state=0)
    return np.union1d(fine, suggest_eps(X, y, 13, max_quantile=0.14, random_state=0))


def _test(fit_many: Any, n: int, size: int, seed: int) -> dict[str, Any]:
    """Fit one codebook and test it."""
    X, y, X_test, y_test = load(n)
    book = fit_many(X, y, [size], seed=seed)[0]
    return {"size": len(book), "error": book.error(X_test, y_test), "seed": seed}


def _curve(points: list[dict[str, Any]]) -> dict[str, Any]:
    """Arrange points as a curve."""
    return {key: [point[key] for point in points] for key in ("size", "error")}
