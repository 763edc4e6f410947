"""Gap and time of the default with adaptive radii, and the exact solver, table by table.

Run: PYTHONPATH=. python benchmarks/bench_adaptive.py [--exact] [--most SAMPLES]

Numeric tables are standardised. Times are the processor's; a greedy fit is that of the same
table with solver="greedy". The aim is a gap of at most 2 % in the median and 5 % at the 90th
percentile on tables of up to 5,000 samples, within 2 seconds or 60 greedy fits, whichever is
longer. With --exact tables of up to 1,500 samples are solved to optimality.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator

import numpy as np
from experiments.datasets import DataNotFoundError, load_uci
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier

UCI = ("diabetes", "glass", "heart", "liver", "vowel")
EXACT_SAMPLES = 1500


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, samples and labels of each table."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X if name == "digits" else StandardScaler().fit_transform(X), y
    for name in UCI:
        try:
            table = load_uci(name)
        except DataNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        X = np.asarray(table.data, dtype=float)
        yield name, StandardScaler().fit_transform(X), np.asarray(table.target)
    for n in (1500, 5000):
        yield f"moons {n}", *datasets.make_moons(n, noise=0.35, random_state=0)
        for n_features, n_classes in ((4, 2), (10, 4)):
            X, y = datasets.make_classification(
                n,
                n_features,
                n_informative=n_features - 2,
                n_redundant=0,
                n_classes=n_classes,
                flip_y=0.05,
                random_state=1,
            )
            yield f"mixture {n} x {n_features}", X, y
    for n in (5000, 50_000):
        yield f"plane {n}", *plane(n)


def plane(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points of a chequered square with one label in ten drawn at random."""
    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    y = np.floor(6 * X).sum(axis=1).astype(int) % 3
    noisy = rng.random(n) < 0.1
    y[noisy] = rng.integers(3, size=noisy.sum())
    return X, y


def fit(solver: str, X: np.ndarray, y: np.ndarray) -> tuple[PVMClassifier, float]:
    """Return a fitted model and the processor time it took."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PVMClassifier(radii="adaptive", solver=solver).fit(X, y)
    return model, time.process_time() - start


def gap(model: PVMClassifier) -> float:
    """Return the gap of a model in per cent."""
    return 100.0 * (model.objective_ - model.lower_bound_) / model.objective_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--exact", action="store_true", help="also prove the optimum")
    parser.add_argument("--most", type=int, default=50_000, help="largest table, in samples")
    asked = parser.parse_args()
    fit("greedy", *datasets.load_iris(return_X_y=True))  # warm up: imports
    gaps = []
    print("table                 samples  greedy   auto    gap %  seconds  greedy fits")
    for name, X, y in tables():
        if len(y) > asked.most:
            continue
        (first, least), (model, seconds) = fit("greedy", X, y), fit("auto", X, y)
        gaps.append(gap(model))
        print(
            f"{name:20} {len(y):8} {first.objective_:7g} {model.objective_:6g} {gaps[-1]:8.2f} "
            f"{seconds:8.2f} {seconds / least:12.1f}"
        )
        if asked.exact and len(y) <= EXACT_SAMPLES:
            model, seconds = fit("exact", X, y)
            print(f"    exact: {model.objective_:g}, gap {gap(model):.2f} %, {seconds:.2f} s")
    print(f"gap: median {np.median(gaps):.2f} %, 90th percentile {np.quantile(gaps, 0.9):.2f} %")


if __name__ == "__main__":
    main()
