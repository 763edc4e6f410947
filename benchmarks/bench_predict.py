"""Prediction and explanation against scikit-learn's brute force nearest neighbour, as ratios.

Run: make bench, or python benchmarks/bench_predict.py

Every model has made data for prototypes, of 64 features. Each ratio is of the medians of
processor time with one thread, and of the least times that passed with two, over
repetitions taken alternately.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from page import table, write_section
from paper import PAPER
from protocover import PVMClassifier

PROTOTYPES = (10, 100, 1_000, 10_000)
QUERIES = (1, 100, 10_000)
WHAT = ("predict", "explain")
# Repetitions until so many seconds have passed, and no fewer than so many.
SECONDS, FEWEST = 1.5, 5


def models(
    n_prototypes: int, n_features: int, dtype: str
) -> tuple[PVMClassifier, KNeighborsClassifier]:
    """Return a model in which every point is a prototype, and the peer of the same points."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_prototypes, n_features)).astype(dtype)
    y = np.arange(n_prototypes) % 5
    ours = PVMClassifier(eps=1e-6, solver="greedy", **PAPER).fit(X, y)
    assert len(ours.prototypes_) == n_prototypes
    return ours, KNeighborsClassifier(1, algorithm="brute").fit(X, y)


def measure(functions, clock, summary):
    """Return a summary of each function's times, over repetitions taken in turn."""
    times = [[] for _ in functions]
    start = time.perf_counter()
    while time.perf_counter() - start < SECONDS or len(times[0]) < FEWEST:
        for taken, function in zip(times, functions, strict=True):
            before = clock()
            function()
            taken.append(clock() - before)
    return [float(summary(taken)) for taken in times]


def ratios(n_prototypes: int, n_queries: int, n_threads: int, n_features: int, dtype: str):
    """Return predict / peer's predict, explain / peer's predict."""
    ours, peer = models(n_prototypes, n_features, dtype)
    Q = np.random.default_rng(1).normal(size=(n_queries, n_features)).astype(dtype)
    clock, summary = (
        (time.process_time, np.median) if n_threads == 1 else (time.perf_counter, np.min)
    )
    with threadpool_limits(n_threads):
        ours.n_jobs = peer.n_jobs = n_threads
        assert (ours.predict(Q) == peer.predict(Q)).all()
        mine, theirs, why = measure(
            (lambda: ours.predict(Q), lambda: peer.predict(Q), lambda: ours.explain(Q)),
            clock,
            summary,
        )
    return mine / theirs, why / theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--dtype", default="float64")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--write", action="store_true", help="put the table in docs/benchmarks.md")
    asked = parser.parse_args()
    rows = []
    for n_prototypes in PROTOTYPES:
        for n_queries in QUERIES:
            found = [
                f"{value:.2f}"
                for n_threads in asked.threads
                for value in ratios(
                    n_prototypes, n_queries, n_threads, asked.features, asked.dtype
                )
            ]
            rows.append((n_prototypes, n_queries, *found))
    named = [f"{what}, {n} thread{'s' * (n > 1)}" for n in asked.threads for what in WHAT]
    text = table(("prototypes", "queries", *named), rows)
    print(f"times of scikit-learn's 1-NN, {asked.features} features, {asked.dtype}:\n{text}")
    if asked.write:
        write_section("benchmarks.md", "predict", text)


if __name__ == "__main__":
    main()
