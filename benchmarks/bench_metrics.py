"""Pairs per second of every dissimilarity, beside the bare product and its home, in one run.

Run: python benchmarks/bench_metrics.py [--write] [name ...]

Of each the balls of 3,000 candidates among 3,000 points, 64 features, with 2 % of the pairs as
members, on one thread. The bare product is one of that shape in single precision. The home
is SciPy or scikit-learn computing the table and comparing it with the radius. All three
alternate, and times are processor time, medians; dissimilarities that take long see fewer rows.
`--write` puts the table into docs/big-data.md.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse import random as random_sparse
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from page import table, write_section
from protocover._balls import build_balls
from protocover.dissimilarity import (
    DANN,
    Cosine,
    Euclidean,
    Function,
    Gower,
    KernelDistance,
    Metric,
    MismatchDistance,
    RankDissimilarity,
    SpectrumDistance,
    SquaredEuclidean,
    TangentDistance,
    Tanimoto,
)
from protocover.dissimilarity._metric import METRIC_NAMES

N, P = 3000, 64
MEMBERS = 0.02
REPEATS = 3
# Fewer rows of what takes long.
SLOW = {"jensenshannon": 600, "mahalanobis": 600}
RNG = np.random.default_rng(0)
NUMBERS = RNG.gamma(2.0, size=(2 * N, P))
BITS = NUMBERS > 2.0
# "manhattan" and "l1" are "cityblock".
NAMED = sorted(METRIC_NAMES - {"manhattan", "l1", "matching"})
TRUTHS = {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}

Table = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Case:
    """A dissimilarity, points and candidates, and what else computes the same table."""

    name: str
    dissimilarity: Any
    points: Any
    home: Table | None = None
    n: int = N
    width: int = P  # of the product that it is compared with


def cases() -> Iterator[Case]:
    """Yield everything that is measured."""
    yield Case("euclidean", Euclidean(), NUMBERS, _pairwise("euclidean"))
    yield Case("euclidean, float32", Euclidean(), NUMBERS.astype(np.float32), _pairwise("l2"))
    yield Case("euclidean, float16", Euclidean(), NUMBERS.astype(np.float16))
    yield Case("sqeuclidean", SquaredEuclidean(), NUMBERS, _pairwise("sqeuclidean"))
    yield Case("cosine", Cosine(), NUMBERS, _pairwise("cosine"))
    yield Case("cosine, float32", Cosine(), NUMBERS.astype(np.float32), _pairwise("cosine"))
    sparse = csr_array(random_sparse(2 * N, 20_000, density=0.003, rng=RNG, format="csr"))
    yield Case("cosine, sparse (20,000 columns, 60 a row)", Cosine(), sparse, _pairwise("cosine"))
    for name in NAMED:
        yield _named(name)
    yield Case(
        "minkowski, p = 3", Metric("minkowski", {"p": 3}), NUMBERS, _cdist("minkowski", p=3)
    )
    bits = RNG.random((2 * N, 2048)) < 0.05
    packed = np.packbits(bits, axis=1)
    yield Case("Tanimoto, 64 bits", Tanimoto(), BITS, _cdist("jaccard"))
    yield Case("Tanimoto, 2,048 bits", Tanimoto(), bits, _cdist("jaccard"), n=600, width=2048)
    yield Case("Tanimoto, packed", Tanimoto(packed=True), packed, n=600, width=2048)
    yield Case("Tanimoto, sparse", Tanimoto(), csr_array(bits), n=600, width=2048)
    gaps = np.where(RNG.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
    yield Case(
        "nan_euclidean, 10 % missing", Metric("nan_euclidean"), gaps, _pairwise("nan_euclidean")
    )
    yield Case("Gower, numbers", Gower(), NUMBERS)
    yield Case("Gower, half of them labels", Gower(), _mixed())
    yield Case("KernelDistance('rbf')", KernelDistance("rbf"), NUMBERS)
    yield Case("DANN", DANN(), NUMBERS, n=500)
    yield Case("RankDissimilarity()", RankDissimilarity(), NUMBERS)
    images = RNG.random((2 * N, 256))
    yield Case("TangentDistance, 16 x 16", TangentDistance((16, 16)), images, n=1000, width=256)
    words = ["".join(RNG.choice(list("ACGT"), size=100)) for _ in range(2 * N)]
    yield Case("SpectrumDistance(4), 100 letters", SpectrumDistance(4), words)
    yield Case("MismatchDistance(4, 1), 100 letters", MismatchDistance(4, 1), words)
    function = lambda a, b: np.abs(a - b).max()  # noqa: E731
    yield Case("a function of two points", Function(function), NUMBERS, _call(function), n=300)


def _named(name: str) -> Case:
    """Return the case of a named metric, with its home."""
    points: Any = BITS if name in TRUTHS else NUMBERS
    home = _cdist(name)
    if name == "haversine":
        points, home = np.radians(NUMBERS[:, :2] * 20.0), _pairwise(name)
    elif name == "nan_euclidean":
        home = _pairwise(name)
    elif name == "seuclidean":
        home = _cdist(name, V=NUMBERS.var(axis=0))
    elif name == "mahalanobis":
        home = _cdist(name, VI=np.linalg.inv(np.cov(NUMBERS.T)))
    return Case(name, Metric(name), points, home, n=SLOW.get(name, N))


def _mixed() -> Any:
    """Half numbers, half labels of six kinds."""
    mixed = NUMBERS.astype(object)
    mixed[:, P // 2 :] = RNG.choice(list("abcdef"), size=(2 * N, P - P // 2))
    return mixed


def _pairwise(name: str) -> Table:
    return lambda A, B: pairwise_distances(A, B, metric=name)


def _cdist(name: str, **params: Any) -> Table:
    return lambda A, B: cdist(A, B, name, **params)


def _call(function: Callable[[Any, Any], float]) -> Table:
    return lambda A, B: cdist(A, B, function)


def measure(case: Case) -> list[str]:
    """Return the row of the table about a case."""
    points, candidates = case.points[: case.n], case.points[case.n : 2 * case.n]
    labels = np.arange(case.n) % 2
    fitted = case.dissimilarity.fit(points, labels)
    eps = float(np.quantile(fitted.pairwise(points[:300], candidates[:300]), MEMBERS))
    left, right = (RNG.random((case.n, case.width), dtype=np.float32) for _ in range(2))
    ways = [
        lambda: left @ right.T,
        lambda: build_balls(fitted, points, candidates, eps=eps, n_jobs=1),
    ]
    if case.home is not None:
        ways.append(lambda: np.nonzero(case.home(points, candidates) < eps))
    times = np.array([[_seconds(way) for way in ways] for _ in range(REPEATS)])
    product, ours, *home = np.median(times, axis=0)
    return [
        case.name,
        f"{case.n**2 / ours / 1e6:.3g}",
        f"{ours / product:.3g}",
        f"{ours / home[0]:.2g}" if home else "",
    ]


def _seconds(function: Callable[[], Any]) -> float:
    """Processor time of a call, or of as many as take a measurable time."""
    start, calls = time.process_time(), 0
    while calls == 0 or time.process_time() - start < 0.02:
        function()
        calls += 1
    return (time.process_time() - start) / calls


def main(arguments: list[str]) -> None:
    names = [name for name in arguments if name != "--write"]
    header = ["dissimilarity", "million pairs a second", "time / product", "time / home"]
    rows = []
    with threadpool_limits(1):
        for case in cases():
            if not names or any(name in case.name for name in names):
                rows.append(measure(case))
                print("  ".join(f"{cell:>12}" for cell in rows[-1][1:]), rows[-1][0], flush=True)
    load = os.getloadavg()[0]
    text = (
        f"Balls of {N:,} candidates among {N:,} points with {P} features, {MEMBERS:.0%} of the "
        f"pairs members, one thread, processor time (load of the machine {load:.1f}). There are "
        "fewer rows of what takes long. The product is the bare one in single precision, of as "
        "many columns; the home is SciPy or scikit-learn computing all distances and comparing "
        "them:\n\n"
    )
    if "--write" in arguments:
        write_section("big-data.md", "metrics", text + table(header, rows))


if __name__ == "__main__":
    main(sys.argv[1:])
