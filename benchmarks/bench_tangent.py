"""All two-sided tangent distances of USPS against the bare product of their bases, in one run.

Run: python benchmarks/bench_tangent.py [number of images]

The bare product is float32 (7n x p) @ (p x 7n), half of it by symmetry: strips of the upper
half, the time scaled down by what the strips compute beyond it. Repetitions alternate, and
the ratio is the median over repetitions, so that a busy machine slows both.
"""

from __future__ import annotations

import os
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np

from protocover._balls import build_balls
from protocover.dissimilarity import TangentDistance

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))
REPEATS = 3
STRIP = 512


def main(n: int | None) -> None:
    X = np.ascontiguousarray(np.load(DATA / "usps.npz")["X_train"][:n])
    distance = TangentDistance((16, 16)).fit(X)
    bases = stacked_bases(distance, X)
    sample = distance.pairwise(X[::10], X[::10])
    eps = float(np.quantile(sample[sample > 0.0], 0.0175))
    del sample
    times: dict[str, list[float]] = {"bare": [], "pairwise": [], "balls": []}
    for _ in range(REPEATS):
        times["bare"].append(seconds(lambda: half_product(bases)) / excess(len(X)))
        times["pairwise"].append(seconds(lambda: distance.pairwise(X, X)))
        times["balls"].append(seconds(lambda: build_balls(distance, X, X, eps=eps)))
    least = {name: min(values) for name, values in times.items()}
    print(f"{len(X)} images, tangent bases of {bases.shape[1]} pixels")
    print(f"half of the bare product     {least['bare']:7.2f} s")
    for name, what in {"pairwise": "pairwise(X, X)", "balls": "balls, 1.75th percentile"}.items():
        ratios = np.array(times[name]) / np.array(times["bare"])
        print(
            f"{what:29}{least[name]:7.2f} s, median ratio {np.median(ratios):.2f}", ratios.round(2)
        )
    print(f"peak memory of the balls     {peak_megabytes(distance, X, eps):7.0f} MB")
    print(f"the bases alone              {8 / 7 * bases.nbytes / 1e6:7.0f} MB")
    print(f"all distances would be       {8e-6 * len(X) ** 2:7.0f} MB")


def stacked_bases(distance: TangentDistance, X: np.ndarray) -> np.ndarray:
    """Tangent bases of all images, one vector a row, in single precision."""
    images = X.reshape(-1, *distance.image_shape)
    bases = distance.maps_.bases(images, distance.transformations_)
    return bases.reshape(-1, bases.shape[2]).astype(np.float32)


def half_product(bases: np.ndarray) -> None:
    """Compute strips of the upper half of ``bases @ bases.T``."""
    for start in range(0, len(bases), 7 * STRIP):
        bases[start : start + 7 * STRIP] @ bases[start:].T


def excess(n: int) -> float:
    """How many times the half of n x n the strips compute."""
    return sum(min(STRIP, n - i) * (n - i) for i in range(0, n, STRIP)) / (n * n / 2)


def peak_megabytes(distance: TangentDistance, X: np.ndarray, eps: float) -> float:
    """Most memory that building balls holds beyond the images."""
    tracemalloc.start()
    build_balls(distance, X, X, eps=eps)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def seconds(function) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else None)
