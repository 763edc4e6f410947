"""USPS digits (section 5.2): the radius chosen on training images, one rule for every distance.

The rule, settled before this was run: 10-fold cross-validation on the training
images is repeated with 20 choices of folds, and the radius of the lowest error on average over
all of them is taken, however many prototypes it keeps; of equals the larger one. That is the
headline. Beside it stands the one-standard-error rule, whose standard error is that of a single
cross-validation, since further choices of folds bring no further images.

What any single choice of folds would have chosen, and what the same radius gives when the
images come in another order, says how much of a headline is luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from protocover import PVMClassifierCV, pvm_path

from .digits_table import DISTANCES, load_digits
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds

# The grid of the first run, every quarter of a percentile: the curves have closer ones, which
# were added with test errors in view. Beyond the third the error in the folds only rises.
TRIED = tuple(0.25 * step for step in range(13))
# As many prototypes as the paper's best model keeps: the limit of a third rule, to compare.
LIMIT = 3372
RULES: dict[str, dict[str, Any]] = {
    "lowest": {"n_errors": 0.0},
    "1se": {"n_errors": 1.0},
    "limited": {"n_errors": 0.0, "at_most": LIMIT},
}

Floats = NDArray[np.float64]


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return paths, errors in the folds and choices, for each distance."""
    n, n_folds, n_seeds, n_orders = (150, 3, 2, 2) if quick else (7291, 10, 20, 10)
    told: dict[str, Any] = {"n": n, "n_folds": n_folds, "limit": LIMIT, "distances": {}}
    for distance in DISTANCES:
        base = {"n": n, "folder": parts.folder / "digits", "distance": distance}
        path = parts.keep(run_path, **base)
        task = {**base, "eps": path["eps"], "n_folds": n_folds}
        tasks = [{**task, "seed": seed} for seed in range(n_seeds)]
        folds = parts.keep_all(f"folds, {distance}", run_folds, tasks)
        choice = choose_all(np.array([one["error"] for one in folds]), path["size"])
        radii = sorted({path["eps"][row] for row in choice["chosen"].values()})
        tasks = [{**base, "eps": radii, "seed": seed} for seed in range(n_orders)]
        orders = parts.keep_all(f"orders, {distance}", run_order, tasks)
        told["distances"][distance] = {"path": path, "by_order": orders, **choice}
    return told


def choose_all(errors: Floats, sizes: Sequence[int]) -> dict[str, Any]:
    """Return what each rule chooses, from all choices of folds together and from each alone."""
    return {
        "cv_error": errors.mean(axis=(0, 2)),
        "cv_spread": standard_error(errors),
        "chosen": {rule: choose_radius(errors, sizes, **how) for rule, how in RULES.items()},
        "by_seed": {
            rule: [choose_radius(one[None], sizes, **how) for one in errors]
            for rule, how in RULES.items()
        },
    }


def choose_radius(
    errors: Floats, sizes: Sequence[int], *, n_errors: float, at_most: int | None = None
) -> int:
    """Return the row of the chosen radius.

    Parameters
    ----------
    errors : ndarray, shape (n_seeds, n_radii, n_folds)
        Errors in the folds.
    sizes : sequence of int
        Prototypes on all training images, at each radius.
    n_errors : float
        So many standard errors above the lowest are still accepted.
    at_most : int or None
        The most prototypes that are allowed.
    """
    mean = errors.mean(axis=(0, 2)).round(12)
    allowed = [k for k, size in enumerate(sizes) if at_most is None or size <= at_most]
    best = min(allowed, key=lambda k: (mean[k], sizes[k]))
    limit = mean[best] + n_errors * standard_error(errors)[best]
    return min((k for k in allowed if mean[k] <= limit), key=lambda k: (sizes[k], mean[k]))


def standard_error(errors: Floats) -> Floats:
    """Return the standard error of one cross-validation at each radius, over all seeds."""
    n_folds = errors.shape[2]
    return np.sqrt(errors.var(axis=2, ddof=1).mean(axis=0) / n_folds)


def run_path(n: int, folder: Path, distance: str) -> dict[str, Any]:
    """Return the models of all radii, and which test images each gets wrong; and 1-NN's."""
    digits = load_digits(n, folder, distance)
    path = pvm_path(digits.table, digits.labels, eps=digits.radii(TRIED), **_greedy())
    models = [(one.candidates, path.classes[one.classes]) for (one,) in path.selections]
    return {
        "eps": path.eps,
        "size": path.n_prototypes[:, 0],
        "by_digit": path.n_prototypes_by_class[:, 0],
        "wrong": [digits.find_wrong(*model) for model in models],
        "wrong_of_nearest": digits.find_wrong(np.arange(n), digits.labels),
        "n_test": len(digits.test_labels),
    }


def run_folds(
    n: int, folder: Path, distance: str, eps: Sequence[float], n_folds: int, seed: int
) -> dict[str, Any]:
    """Return the error of each radius in each fold of one choice of folds."""
    digits = load_digits(n, folder, distance)
    folds = make_folds(digits.images, digits.labels, seed=seed, n_folds=n_folds)
    search = PVMClassifierCV(
        eps=eps, cv=folds, metric="precomputed", solver="greedy", n_jobs=1, **PAPER
    )
    search.fit(digits.table, digits.labels)
    scores = [search.cv_results_[f"split{k}_test_score"] for k in range(n_folds)]
    return {"error": (1.0 - np.array(scores).T).round(12)}


def run_order(
    n: int, folder: Path, distance: str, eps: Sequence[float], seed: int
) -> dict[str, Any]:
    """Return sizes and wrong answers of the models of some radii, the images shuffled."""
    digits = load_digits(n, folder, distance)
    order = np.random.default_rng(seed).permutation(n)
    shuffled = digits.table[np.ix_(order, order)]
    path = pvm_path(shuffled, digits.labels[order], eps=eps, **_greedy())
    models = [(order[one.candidates], path.classes[one.classes]) for (one,) in path.selections]
    return {
        "eps": path.eps,
        "size": path.n_prototypes[:, 0],
        "wrong": [len(digits.find_wrong(*model)) for model in models],
    }


def _greedy() -> dict[str, Any]:
    """Return how the paper's machine is asked for on a table of distances."""
    options = {"bound": False}
    table = {"metric": "precomputed", "n_jobs": 1}
    return {**PAPER, **table, "solver": "greedy", "solver_options": options}
