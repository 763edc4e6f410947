"""Balls of 20,000 rows of 2,048 bits against the bare product of the same shape, in one run.

Run: python benchmarks/bench_tanimoto.py [number of rows]

The bare product is float32, in strips of 2,048 rows, over all pairs; the balls are those of one
set of rows about another, all pairs too, with about one in ten thousand of them members. Where the
rows are their own candidates half of the pairs are enough. All on one thread, in processor time;
runs alternate, and ratios are medians. SciPy's `jaccard` is taken of 500 rows and scaled up.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from protocover._balls import build_balls
from protocover.dissimilarity import Tanimoto

N_BITS, ONES = 2048, 0.025
REPEATS = 3
STRIP = 2048
FEW = 500


def seconds(function) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def product(left: np.ndarray, right: np.ndarray) -> None:
    for start in range(0, len(left), STRIP):
        left[start : start + STRIP] @ right.T


def main(n: int) -> None:
    rng = np.random.default_rng(0)
    # Mixtures, so that some pairs are near: fingerprints with a common core.
    cores = rng.random((n // 20, N_BITS)) < ONES
    X, Z = (
        cores[rng.integers(len(cores), size=n)] | (rng.random((n, N_BITS)) < ONES / 2)
        for _ in range(2)
    )
    x, z = np.packbits(X, axis=1), np.packbits(Z, axis=1)
    eps = float(np.quantile(Tanimoto().pairwise(X[:2000], Z[:2000]), 1e-4))
    left, right = X.astype(np.float32), Z.astype(np.float32)
    sparse = csr_array(X), csr_array(Z)
    ways = {
        "bare product": lambda: product(left, right),
        "booleans": lambda: build_balls(Tanimoto(), X, Z, eps=eps, n_jobs=1),
        "packed": lambda: build_balls(Tanimoto(True), x, z, eps=eps, n_jobs=1),
        "packed, their own candidates": lambda: build_balls(
            Tanimoto(True), x, x, eps=eps, n_jobs=1
        ),
        "sparse": lambda: build_balls(Tanimoto(), *sparse, eps=eps, n_jobs=1),
        "SciPy's jaccard": lambda: cdist(X[:FEW], Z[:FEW], "jaccard"),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    with threadpool_limits(1):
        for _ in range(REPEATS):
            for name, way in ways.items():
                scale = (n / FEW) ** 2 if "SciPy" in name else 1.0
                times[name].append(seconds(way) * scale)
    print(f"{n} x {n} rows of {N_BITS} bits, eps = {eps:.3f}")
    for name, taken in times.items():
        ratio = np.median(np.array(taken) / np.array(times["bare product"]))
        print(f"{name:30}{np.median(taken):8.1f} s   {ratio:7.2f} products")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory of the process {peak:.2f} GB, with both tables in single precision")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 20_000)
