"""Fit and predict of sparse rows, as multiples of the bare sparse products, in one run.

Run: python benchmarks/bench_sparse.py [--points 2000] [--words 50000] [--repeats 3]

The rows are made documents of about 120 words, the more frequent ones as frequent as in a
language, weighted by TF-IDF. Processor time, the least of several repetitions taken in turn.
scikit-learn's 1-NN on the same prototypes stands beside `predict`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import KNeighborsClassifier

from paper import PAPER
from protocover import PVMClassifier


def documents(n_points, n_words, seed):
    """Count words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    frequency = 1.0 / np.arange(1, n_words + 1)
    lengths = rng.poisson(120, n_points)
    words = rng.choice(n_words, lengths.sum(), p=frequency / frequency.sum())
    rows = np.repeat(np.arange(n_points), lengths)
    return csr_array((np.ones(len(words)), (rows, words)), shape=(n_points, n_words))


def least_times(functions, repeats):
    """Least processor time of each function."""
    least = [np.inf] * len(functions)
    for _ in range(repeats):
        for k, function in enumerate(functions):
            start = time.process_time()
            function()
            least[k] = min(least[k], time.process_time() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    weights = TfidfTransformer()
    X = csr_array(weights.fit_transform(documents(given.points, given.words, 0)))
    queries = csr_array(weights.transform(documents(given.points // 2, given.words, 1)))
    y = np.random.default_rng(2).integers(4, size=given.points)
    print(f"{given.points} x {given.words} TF-IDF, {X.nnz / given.points:.0f} words a row")
    for metric in ("euclidean", "cosine"):
        model = PVMClassifier(
            metric=metric, solver="greedy", n_jobs=1, random_state=0, **PAPER
        ).fit(X, y)
        prototypes = csr_array(model.prototypes_)
        neighbors = KNeighborsClassifier(1, algorithm="brute", metric=metric, n_jobs=1)
        neighbors.fit(prototypes, model.prototype_labels_)
        fit, squared, predict, product, nearest = least_times(
            (
                lambda model=model: model.fit(X, y),
                lambda: X @ X.T,
                lambda model=model: model.predict(queries),
                lambda prototypes=prototypes: queries @ prototypes.T,
                lambda neighbors=neighbors: neighbors.predict(queries),
            ),
            given.repeats,
        )
        print(f"  {metric}: fit {fit:.2f} s, {fit / squared:.1f} times X @ X.T  (at most 3)")
        print(
            f"  {metric}: predict {predict:.3f} s, {predict / product:.1f} times the product, "
            f"{predict / nearest:.2f} of scikit-learn's 1-NN"
        )


if __name__ == "__main__":
    main()
