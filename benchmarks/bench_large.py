"""Large fits on one machine: their time, the memory they add, and the memory estimated.

Run: python benchmarks/bench_large.py [fashion] [million] [--points N]

`fashion` fits 60,000 images of 784 pixels (Fashion-MNIST where it is at hand, see
PROTOCOVER_DATA, else made data of that shape) with about 50 points to a ball; `million`
fits 1,000,000 x 16 numbers from a mixture of Gaussians of 10 classes with 50,000 sampled
candidates. Time is processor time of all threads, which other work on the machine
disturbs least. Without --points the results are written into docs/big-data.md.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from page import write_section
from paper import PAPER
from protocover import PVMClassifier
from protocover._balls.forecast import estimate_memberships
from protocover.candidates._gather import draw_stratified
from protocover.dissimilarity import Euclidean

DATA = Path(os.environ.get("PROTOCOVER_DATA", "data"))


def fashion():
    """Return 60,000 images in single precision and their labels."""
    folder = DATA / "fashion-mnist"
    if not folder.exists():
        rng = np.random.default_rng(0)
        y = rng.integers(10, size=60_000)
        X = rng.normal(size=(10, 784))[y] + rng.normal(size=(60_000, 784))
        return "made data", X.astype(np.float32), y
    images = gzip.decompress((folder / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "train-labels-idx1-ubyte.gz").read_bytes())
    X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784).astype(np.float32)
    return "Fashion-MNIST", X, np.frombuffer(labels, np.uint8, offset=8).astype(int)


def mixture(n_points):
    """Return points of 10 classes, each of five Gaussians in 16 dimensions."""
    rng = np.random.default_rng(0)
    centers = 1.5 * rng.normal(size=(50, 16))
    part = rng.integers(50, size=n_points)
    X = np.empty((n_points, 16), dtype=np.float32)
    for start in range(0, n_points, 100_000):
        some = part[start : start + 100_000]
        X[start : start + 100_000] = centers[some] + rng.normal(size=(len(some), 16))
    return X, part % 10


def radius(X, members):
    """Find a radius at which a ball holds about so many points."""
    rng = np.random.default_rng(1)
    few, many = (rng.choice(len(X), min(n, len(X)), replace=False) for n in (300, 30_000))
    table = Euclidean().pairwise(X[np.sort(few)], X[np.sort(many)])
    return float(np.quantile(table[table > 0], members / len(X)))


def half_product(X):
    """Multiply the tiles on and above the diagonal, in single precision, and drop them."""
    out = np.empty((1024, 1024), np.float32)
    for i in range(0, len(X), 1024):
        for j in range(i, len(X), 1024):
            some, others = X[i : i + 1024], X[j : j + 1024]
            np.matmul(some, others.T, out=out[: len(some), : len(others)])


def memory(key):
    """Return an entry of the process's status, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key)) * 1024


def bench(X, y, eps, candidates):
    """Fit once; return its seconds, and lines with what it took and what was estimated."""
    PVMClassifier(eps=eps, radii="shared", solver="greedy").fit(X[:500], y[:500])
    rng = np.random.default_rng(0)
    Z = X if candidates == "train" else X[draw_stratified(candidates, y, rng)]
    estimate = estimate_memberships(Euclidean(), X, Z, eps=eps, rng=rng)
    del Z
    Path("/proc/self/clear_refs").write_text("5")
    before, start, wall = memory("VmRSS:"), time.process_time(), time.perf_counter()
    model = PVMClassifier(
        eps=eps, candidates=candidates, random_state=0, solver="greedy", **PAPER
    ).fit(X, y)
    seconds, wall = time.process_time() - start, time.perf_counter() - wall
    added, peak = memory("VmHWM:") - before, memory("VmHWM:")
    return seconds, [
        f"  eps = {eps:.4g}, {len(model.prototype_labels_)} prototypes, gap {model.gap_:.0%}",
        f"  memberships estimated: {estimate.memberships:.3g}",
        f"  memory added: {added / 1e9:.2f} GB (peak of the process {peak / 1e9:.2f} GB)",
        f"  memory estimated / added: {estimate.n_bytes / added:.2f}  (between 0.67 and 1.5)",
        f"  processor time {seconds:.0f} s (clock {wall:.0f} s)",
    ]


def bench_fashion(n_points):
    name, X, y = fashion()
    X, y = X[:n_points], y[:n_points]
    seconds, lines = bench(X, y, radius(X, 50), "train")
    with threadpool_limits(1):
        start = time.process_time()
        half_product(X)
        product = time.process_time() - start
    ratio = f"  fit / bare product over half of the pairs: {seconds / product:.2f}  (at most 2)"
    return [f"{name}: {len(X)} x {X.shape[1]}, all points candidates", *lines, ratio]


def bench_million(n_points):
    X, y = mixture(n_points or 1_000_000)
    n_candidates = len(X) // 20
    _, lines = bench(X, y, radius(X, len(X) / 1000), n_candidates)
    return [f"mixture: {len(X)} x 16, {n_candidates} candidates", *lines]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", default=["fashion", "million"])
    parser.add_argument("--points", type=int, default=None, help="use only so many")
    given = parser.parse_args()
    for what in given.what:
        lines = {"fashion": bench_fashion, "million": bench_million}[what](given.points)
        print("\n".join(lines), flush=True)
        if given.points is None:
            write_section("big-data.md", what, "\n".join(["```text", *lines, "```"]))


if __name__ == "__main__":
    main()
