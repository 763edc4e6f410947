"""Test errors with DANN and with Euclidean distances where features outnumber points.

Run: python benchmarks/compare_dann.py

Two classes of 50 training points each differ in ten of 500 features; 200 test points, twenty
draws. In the first problem five common factors shake all features, in the second all
features are independent. Prototypes are chosen at a tenth of the pairs.
"""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from protocover import PVMClassifier
from protocover.dissimilarity import DANN, Euclidean

N_DRAWS = 20
N_FEATURES = 500


def main():
    problems = {"five factors": (5, 2.0), "independent": (0, 1.0)}
    print("mean error % (standard deviation)   1-NN         PVM          draws won by DANN")
    for name, (n_factors, shift) in problems.items():
        errors = {"euclidean": [], "DANN": []}
        for seed in range(N_DRAWS):
            problem = draw_problem(np.random.default_rng(seed), n_factors, shift)
            errors["euclidean"].append(test_errors(Euclidean(), *problem))
            errors["DANN"].append(test_errors(DANN(), *problem))
        won = (np.array(errors["DANN"]) < np.array(errors["euclidean"])).sum(axis=0)
        for metric, values in errors.items():
            mean, spread = 100 * np.mean(values, axis=0), 100 * np.std(values, axis=0, ddof=1)
            cells = [f"{m:4.1f} ({s:.1f})" for m, s in zip(mean, spread, strict=True)]
            print(f"{name:14} {metric:18}  {cells[0]:12} {cells[1]:12}", end=" ")
            print(f"{won[0]} and {won[1]} of {N_DRAWS}" if metric == "DANN" else "")


def draw_problem(rng, n_factors, shift):
    """Training points, their classes, test points and theirs."""
    loadings = rng.normal(size=(n_factors, N_FEATURES))

    def draw(size):
        y = np.arange(size) % 2
        X = rng.normal(size=(size, N_FEATURES)) + rng.normal(size=(size, n_factors)) @ loadings
        X[:, :10] += shift * (y[:, None] - 0.5)
        return X, y

    return *draw(100), *draw(200)


def test_errors(metric, X, y, X_test, y_test):
    """Errors of the nearest neighbour and of the prototypes."""
    fitted = clone(metric).fit(X, y)
    table = fitted.cross(X, X)
    nearest = fitted.cross(X_test, X).argmin(axis=1)
    eps = float(np.quantile(table, 0.1))
    model = PVMClassifier(eps=eps, metric=metric, solver="greedy").fit(X, y)
    return np.mean(y[nearest] != y_test), 1.0 - model.score(X_test, y_test)


if __name__ == "__main__":
    main()
