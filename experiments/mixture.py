"""Mixture of Gaussians (section 5.1): PVM, K-medoids and LVQ beside the Bayes rule.

Centres, training and test points are drawn anew a hundred times. For each method two
errors: of the value of its parameter with the lowest test error, which the paper shows,
and of the value that cross-validation on the training points chooses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocover import PVMClassifierCV, pvm_path, suggest_eps

from .baselines.codebook import Codebook
from .baselines.medoids import fit_medoids
from .baselines.olvq1 import fit_olvq1
from .datasets import make_gaussian_mixture
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds, spread_sizes, tune

N_RADII = 20
MEDOIDS = spread_sizes(1, 100, 12)
CODEBOOKS = spread_sizes(3, 300, 12)


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors draw by draw."""
    n_draws, n_folds, n_test = (1, 2, 100) if quick else (100, 10, 2000)
    settings = [{"seed": k, "n_folds": n_folds, "n_test": n_test} for k in range(n_draws)]
    draws = parts.keep_all("mixture", run_draw, settings)
    methods = [name for name in draws[0] if name not in ("Bayes", "cpu_seconds")]
    return {
        "n_draws": n_draws,
        "n_folds": n_folds,
        "n_test": 3 * n_test,
        "Bayes": [draw["Bayes"] for draw in draws],
        "methods": {name: [draw[name] for draw in draws] for name in methods},
    }


def run_draw(seed: int, n_folds: int, n_test: int) -> dict[str, Any]:
    """Train and test everything on one draw, `n_test` test points a class."""
    drawn = make_gaussian_mixture(100, random_state=seed)
    X, y = drawn.data, drawn.target
    X_test, y_test = drawn.law.sample(n_test, random_state=10_000 + seed)
    folds = make_folds(X, y, seed=seed, n_folds=n_folds)
    tuned = {
        "PVM": pvm_book(
            PVMClassifierCV(
                eps=suggest_eps(X, y, N_RADII), cv=folds, solver="greedy", n_jobs=1, **PAPER
            )
            .fit(X, y)
            .best_estimator_
        ),
        "K-medoids": tune(fit_medoids, X, y, MEDOIDS, seed=seed, n_folds=n_folds)[0],
        "LVQ": tune(fit_olvq1, X, y, CODEBOOKS, seed=seed, n_folds=n_folds)[0],
    }
    results: dict[str, Any] = {
        "Bayes": float(np.mean(drawn.law.predict(X_test) != y_test)),
        "1-NN": {"chosen": tell(Codebook(X, y), X_test, y_test)},
    }
    for method, books in all_books(X, y, seed=seed).items():
        best = min(books.values(), key=lambda book: (book.error(X_test, y_test), len(book)))
        results[method] = {
            "lowest": tell(best, X_test, y_test),
            "chosen": tell(tuned[method], X_test, y_test),
        }
    return results


def all_books(
    X: NDArray[np.float64], y: NDArray[np.intp], *, seed: int
) -> dict[str, dict[float, Codebook]]:
    """Return each method's prototypes for every value of its parameter."""
    path = pvm_path(
        X, y, eps=suggest_eps(X, y, N_RADII, random_state=seed), solver="greedy", n_jobs=1, **PAPER
    )
    pvm = {
        float(eps): Codebook(X[row[0].candidates], path.classes[row[0].classes])
        for eps, row in zip(path.eps, path.selections, strict=True)
    }
    medoids = fit_medoids(X, y, MEDOIDS, seed=seed)
    lvq = fit_olvq1(X, y, CODEBOOKS, seed=seed)
    return {
        "PVM": pvm,
        "K-medoids": dict(zip(MEDOIDS, medoids, strict=True)),
        "LVQ": dict(zip(CODEBOOKS, lvq, strict=True)),
    }


def pvm_book(model: Any) -> Codebook:
    """Return the prototypes of a fitted PVMClassifier."""
    return Codebook(np.asarray(model.prototypes_), model.prototype_labels_)


def tell(book: Codebook, X: NDArray[np.float64], y: NDArray[np.intp]) -> dict[str, Any]:
    """Return error and size."""
    return {"error": book.error(X, y), "size": len(book)}
