"""Proteins by their mismatch kernel (section 5.3): error in ten folds against prototypes.

PVM and K-medoids on the distances that the kernel induces, and a support vector machine on
the kernel itself, all on the same folds. Which folds the paper had is not known, so there
are several random choices of them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .datasets import load_proteins
from .parts import Parts
from .proteins_compared import average, best_radius, compare_methods, count_prototypes, thin_out
from .tuning import make_folds


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return each method's curve for every choice of folds, and the final models of PVM."""
    n = 150 if quick else 1708
    n_folds, seeds = (2, range(1)) if quick else (10, range(10))
    curves = []
    for seed in seeds:
        tasks = [{"n": n, "seed": seed, "n_folds": n_folds, "fold": k} for k in range(n_folds)]
        curves.append(average(parts.keep_all(f"proteins {seed}", run_fold, tasks), n))
    # The paper's best model has about 870 prototypes in the folds.
    radii = curves[0]["PVM"]["parameter"]
    sizes = np.mean([curve["PVM"]["size"] for curve in curves], axis=0)
    alike = int(np.abs(sizes - 870).argmin())
    return {
        "n": n,
        "n_folds": n_folds,
        "curves": curves,
        "final": [parts.keep(run_final, n=n, eps=best_radius(curve)) for curve in curves],
        "alike": {"row": alike, **parts.keep(run_final, n=n, eps=radii[alike])},
    }


def run_fold(n: int, seed: int, n_folds: int, fold: int) -> dict[str, Any]:
    """Train every method without one fold and test it there."""
    kernel, y = load(n)
    train, held = make_folds(y, y, seed=seed, n_folds=n_folds)[fold]
    return dict(compare_methods(kernel, y, train, held))


def run_final(n: int, eps: float) -> dict[str, Any]:
    """Fit PVM to all proteins."""
    told = count_prototypes(*load(n), eps)
    del told["prototypes"]
    return told


@cache
def load(n: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the normalised kernel and the labels, of all proteins or of `n`."""
    proteins = load_proteins()
    rows = thin_out(proteins.target, n)
    return proteins.kernel[np.ix_(rows, rows)], proteins.target[rows]
