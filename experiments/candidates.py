"""What the paper says of candidates that are no training points (section 4.2), tested.

Two classes of two round clouds each, equally far apart in every number of dimensions:
the harder it is to be near a point by chance, the more should centroids help. Then few
labelled points with many unlabelled ones as further candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from protocover import PVMClassifierCV, suggest_eps
from protocover.candidates import HullCandidates, KMeansCandidates

from .baselines.codebook import Codebook
from .datasets import GaussianMixtures, load_usps, make_gaussian_mixture
from .machine import PAPER
from .parts import Parts
from .tuning import make_folds

# In these numbers of dimensions samples of a hull of 50 points are exactly uniform and quick.
DIMENSIONS = (2, 4, 100, 400)
N_PER_CLASS = 50
N_EXTRA = 5
N_RADII = 12
Labeled = (5, 20)


def run(quick: bool, parts: Parts) -> dict[str, Any]:
    """Return errors by number of dimensions and candidates, and by number of labels."""
    draws = range(1 if quick else 20)
    dimensions = DIMENSIONS[:1] if quick else DIMENSIONS
    labeled = Labeled[:1] if quick else Labeled
    n_folds = 2 if quick else 5
    made = {
        p: parts.keep_all(
            f"candidates p={p}",
            run_clouds,
            [{"n_features": p, "seed": s, "n_folds": n_folds} for s in draws],
        )
        for p in dimensions
    }
    semi = {
        f"{name}, {n} a class": parts.keep_all(
            f"semi-supervised {name} {n}",
            run_labeled,
            [{"name": name, "n": n, "seed": s, "n_folds": min(n_folds, n)} for s in draws],
        )
        for name in (("mixture",) if quick else ("mixture", "usps"))
        for n in labeled
    }
    return {
        "n_draws": len(draws),
        "n_folds": n_folds,
        "n_per_class": N_PER_CLASS,
        "n_extra": N_EXTRA,
        "n_radii": N_RADII,
        "clouds": {str(p): _columns(rows) for p, rows in made.items()},
        "semi": {name: _columns(rows) for name, rows in semi.items()},
    }


def run_clouds(n_features: int, seed: int, n_folds: int) -> dict[str, Any]:
    """Test PVM with each set of candidates on one draw of clouds."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(2, 2, n_features))
    # Two centres of this norm are some 4.2 standard deviations apart.
    centers *= 3.0 / np.linalg.norm(centers, axis=2, keepdims=True)
    law = GaussianMixtures(centers, variance=1.0)
    X, y = law.sample(N_PER_CLASS, random_state=seed)
    X_test, y_test = law.sample(1000, random_state=10_000 + seed)
    told = {
        "Bayes": float(np.mean(law.predict(X_test) != y_test)),
        "1-NN": Codebook(X, y).error(X_test, y_test),
    }
    for name, extra in (
        ("training points", None),
        ("with centroids", KMeansCandidates(N_EXTRA)),
        ("with hull samples", HullCandidates(N_EXTRA)),
    ):
        model = _tuned(X, y, extra, seed, n_folds)
        told[name] = float(1.0 - model.score(X_test, y_test))
        told[f"{name}: prototypes"] = len(model.best_estimator_.prototype_labels_)
    return told


def run_labeled(name: str, n: int, seed: int, n_folds: int) -> dict[str, Any]:
    """Test PVM with `n` labelled points a class, without and with unlabelled candidates.

    The unlabelled points are the test points, as the paper suggests.
    """
    X, y, X_test, y_test = _few(name, n, seed)
    told = {"1-NN": Codebook(X, y).error(X_test, y_test)}
    for title, extra in (("labelled only", None), ("with unlabelled", X_test)):
        model = _tuned(X, y, extra, seed, n_folds)
        told[title] = float(1.0 - model.score(X_test, y_test))
        told[f"{title}: prototypes"] = len(model.best_estimator_.prototype_labels_)
    return told


def _tuned(X: Any, y: Any, extra: Any, seed: int, n_folds: int) -> PVMClassifierCV:
    """Choose the radius by the lowest cross-validated error, `extra` being further candidates.

    Points may be nearer to centroids than any two points are to one another, so that the
    grid has quantiles of the distances from either.
    """
    folds = make_folds(X, y, seed=seed, n_folds=n_folds)
    radii, candidates = suggest_eps(X, y, N_RADII, random_state=seed), "train"
    if extra is not None:
        made = hasattr(extra, "generate")
        drawn = extra.generate(X, y, np.random.default_rng(seed)).points if made else extra
        distances = cdist(X, drawn)
        shares = np.linspace(0.0, 0.5, N_RADII)
        radii = np.union1d(radii, np.quantile(distances[distances > 0.0], shares))
        candidates = ["train", extra]
    return PVMClassifierCV(
        eps=radii,
        cv=folds,
        rule="best",
        candidates=candidates,
        solver="greedy",
        n_jobs=1,
        random_state=seed,
        **PAPER,
    ).fit(X, y)


def _few(name: str, n: int, seed: int) -> tuple[Any, ...]:
    """Return `n` labelled points a class, and the points to be tested."""
    rng = np.random.default_rng(seed)
    if name == "mixture":
        drawn = make_gaussian_mixture(n, random_state=seed)
        return drawn.data, drawn.target, *drawn.law.sample(200, random_state=10_000 + seed)
    usps = load_usps()
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(usps.target == digit), n, replace=False) for digit in range(10)]
    )
    test = rng.choice(len(usps.test_target), 600, replace=False)
    return usps.data[rows], usps.target[rows], usps.test_data[test], usps.test_target[test]


def _columns(rows: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Turn a list of results into a list for each of their entries."""
    return {key: [row[key] for row in rows] for key in rows[0] if key != "cpu_seconds"}
