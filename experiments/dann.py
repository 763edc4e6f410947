"""DANN where features outnumber points (section 4.1: gains "in some p >> n simulations").

Two classes of 50 points differ in ten of 500 features. Either five common factors shake
all features, or all are independent. The radius is chosen by cross-validation. Both metrics
see features standardised by the training points, as DANN would do by itself, and draws that
had no part in settling DANN's defaults: those were seeds 0 to 3.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifierCV, suggest_eps
from protocover.dissimilarity import DANN, Euclidean

from .machine import PAPER
from .parts import Parts
from .tuning import make_folds

PROBLEMS = {"five common factors": (5, 2.0), "independent features": (0, 1.0)}
N_FEATURES = 500
# Of the first draw.
FIRST_SEED = 1000


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors by problem, metric and classifier, draw by draw."""
    draws = range(FIRST_SEED, FIRST_SEED + (1 if quick else 20))
    n_folds = 2 if quick else 5
    results: dict[str, Any] = {"n_draws": len(draws), "n_folds": n_folds, "problems": {}}
    results |= {"n_features": N_FEATURES, "first_seed": FIRST_SEED}
    for problem in list(PROBLEMS)[: 1 if quick else None]:
        settings = [{"problem": problem, "seed": s, "n_folds": n_folds} for s in draws]
        rows = parts.keep_all(f"DANN, {problem}", run_draw, settings)
        results["problems"][problem] = {
            key: [row[key] for row in rows] for key in rows[0] if key != "cpu_seconds"
        }
    return results


def run_draw(problem: str, seed: int, n_folds: int) -> dict[str, Any]:
    """Test 1-NN and PVM with both metrics on one draw."""
    X, y, X_test, y_test = draw(problem, seed)
    told = {}
    for name, metric in (("euclidean", Euclidean()), ("DANN", DANN())):
        fitted = metric.fit(X, y)
        nearest = fitted.pairwise(X_test, X).argmin(axis=1)
        told[f"1-NN, {name}"] = float(np.mean(y[nearest] != y_test))
        folds = make_folds(X, y, seed=seed, n_folds=n_folds)
        model = PVMClassifierCV(
            eps=suggest_eps(X, y, 10, metric=metric),
            cv=folds,
            metric=metric,
            rule="best",
            solver="greedy",
            n_jobs=1,
            **PAPER,
        ).fit(X, y)
        told[f"PVM, {name}"] = float(1.0 - model.score(X_test, y_test))
        told[f"PVM, {name}: prototypes"] = len(model.best_estimator_.prototype_labels_)
    return told


def draw(problem: str, seed: int) -> tuple[NDArray[Any], ...]:
    """Return training points, their classes, test points and theirs, standardised."""
    n_factors, shift = PROBLEMS[problem]
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(n_factors, N_FEATURES))
    drawn = []
    for size in (100, 400):
        y = np.arange(size) % 2
        X = rng.normal(size=(size, N_FEATURES)) + rng.normal(size=(size, n_factors)) @ loadings
        X[:, :10] += shift * (y[:, None] - 0.5)
        drawn += [X, y]
    scaler = StandardScaler().fit(drawn[0])
    X, y, X_test, y_test = drawn
    return scaler.transform(X), y, scaler.transform(X_test), y_test
