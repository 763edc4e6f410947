"""Whatever pairs a dissimilarity binds, searches find what comparing all of `pairwise` finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import naive
from protocover._balls import (
    Pairs,
    TablePairs,
    balls_of_radii,
    build_balls,
    build_levels,
    nearest_in_groups,
    ordered,
    ordered_members,
)
from protocover._balls import nearest as nearest_module
from protocover._balls.nearest import find_nearest
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
    _gower,
    _gower_blocks,
    _mapped,
)
from protocover.dissimilarity._euclidean import tree
from protocover.dissimilarity._euclidean.product import ProductPairs

N, M = 45, 17
RNG = np.random.default_rng(0)
GRID = RNG.integers(-2, 3, size=(N, 3)).astype(float)
PLANE = np.repeat(RNG.normal(size=(15, 2)), 3, axis=0)
ROWS = np.vstack((RNG.normal(size=(N - 5, 6)), RNG.normal(size=(5, 6)) * 1e-4))
FAR = 1e4 + RNG.normal(size=(N, 9)).astype(np.float32)
BYTES = RNG.integers(-128, 128, size=(N, 5)).astype(np.int8)
HALVES = RNG.normal(size=(N, 5)).astype(np.float16)
SPARSE = csr_array(RNG.integers(0, 3, size=(N, 8)) * (RNG.random((N, 8)) < 0.4).astype(float))
BITS = RNG.random((N, 20)) < 0.3
WORDS = ["".join(RNG.choice(list("ab"), 6)) for _ in range(N)]
IMAGES = RNG.random((N, 16))
MIXED = pd.DataFrame(
    {
        "a": RNG.normal(size=N).round(1),
        "b": RNG.choice(list("xyz"), N),
        "c": RNG.integers(3, size=N),
    }
).mask(RNG.random((N, 3)) < 0.05)

CASES = {
    "euclidean, ties": (Euclidean(), GRID),
    "euclidean, plane": (Euclidean(), PLANE),
    "euclidean, duplicates nearly": (Euclidean(), ROWS),
    "euclidean, far": (Euclidean(), FAR),
    "euclidean, bytes": (Euclidean(), BYTES),
    "euclidean, sparse": (Euclidean(), SPARSE),
    "squared, ties": (SquaredEuclidean(), GRID),
    "squared, sparse": (SquaredEuclidean(), SPARSE),
    "cosine, ties": (Cosine(), GRID),
    "cosine, half precision": (Cosine(), HALVES),
    "cosine, sparse": (Cosine(), SPARSE),
    "cityblock": (Metric("cityblock"), GRID),
    "seuclidean": (Metric("seuclidean"), ROWS),
    "mahalanobis": (Metric("mahalanobis"), ROWS),
    "correlation": (Metric("correlation"), ROWS),
    "nan_euclidean": (Metric("nan_euclidean"), GRID),
    "jaccard": (Metric("jaccard"), BITS),
    "tanimoto": (Tanimoto(), BITS),
    "tanimoto, packed": (Tanimoto(packed=True), np.packbits(BITS, axis=1)),
    "tanimoto, sparse": (Tanimoto(), csr_array(BITS)),
    "gower": (Gower(), MIXED),
    "mismatch": (MismatchDistance(k=3, m=1), WORDS),
    "spectrum": (SpectrumDistance(k=2), WORDS),
    "tangent": (TangentDistance((4, 4)), IMAGES),
    "tangent, one side": (TangentDistance((4, 4), sides="point"), IMAGES),
    "dann": (DANN(), ROWS),
    "rank": (RankDissimilarity(), GRID),
    "kernel": (KernelDistance("rbf"), ROWS),
    "function": (Function(lambda x, z: max(0.0, float(z[0] - x[0]))), GRID),
}


@pytest.fixture(params=["as usual", "in small pieces"])
def way(request, monkeypatch):
    """Small data are searched as usual, and by the ways and in the pieces of large data."""
    if request.param == "as usual":
        return
    monkeypatch.setattr(Pairs, "tile", (11, 7))
    monkeypatch.setattr(ProductPairs, "tile", (16, 24))
    monkeypatch.setattr(tree.BlockTrees, "tile", (8, 1 << 31))
    for name, value in {
        "_ROWS": 0,
        "_LARGEST_FRACTION": 64.0,
        "_IN_GROUP": 0,
        "_QUERIES": 0,
    }.items():
        monkeypatch.setattr(tree, name, value)
    for name in ("_FEW_PAIRS", "_FEW_TERMS"):
        monkeypatch.setattr(_mapped, name, 0)
    monkeypatch.setattr(_gower, "_WORTH_A_SEARCH", 0)
    for name, value in {"_SIZE": 8, "_SMALL": 8, "_LARGEST_SHARE": 1.0}.items():
        monkeypatch.setattr(_gower_blocks, name, value)
    monkeypatch.setattr(ordered, "_LEAST_COLUMNS", 3)
    monkeypatch.setattr(ordered, "STRIP_MEMBERS", 100)
    monkeypatch.setattr(nearest_module, "_TABLE_SIZE", 77)


@pytest.fixture(params=CASES)
def case(request, way):
    """A fitted dissimilarity, samples, candidates that are some of these, and their distances."""
    metric, X = CASES[request.param]
    metric = metric.fit(X, np.arange(N) % 2)
    Z = X.iloc[:M] if hasattr(X, "iloc") else X[:M]
    return metric, X, Z, metric.pairwise(X, X)


def radii_of(table):
    """Some of the distances, and numbers between them."""
    values = np.unique(table)
    values = values[values > 0.0]
    return np.unique(np.quantile(values, [0.0, 0.2, 0.5, 0.9], method="nearest")), values.mean()


@pytest.mark.parametrize("closed", [False, True])
def test_members_and_levels(case, closed):
    metric, X, Z, table = case
    radii, between = radii_of(table)
    for B, expected in ((X, table), (Z, table[:, :M])):
        for eps in (*radii, between):
            balls = build_balls(metric, X, B, eps=float(eps), closed=closed, n_jobs=2)
            assert balls.has_canonical_format
            np.testing.assert_array_equal(balls.toarray(), naive.members(expected, eps, closed))
        levels = build_levels(metric, X, B, radii=radii, closed=closed).toarray()
        first = np.searchsorted(radii, expected, side="left" if closed else "right")
        np.testing.assert_array_equal(levels, np.where(first < len(radii), first + 1, 0))


@pytest.mark.parametrize("closed", [False, True])
def test_members_in_the_order_of_their_distances(case, closed):
    metric, X, Z, table = case
    radii, between = radii_of(table)
    for B, expected in ((X, table), (Z, table[:, :M])):
        for eps in (radii[1], between, np.inf):
            found = np.full(expected.shape, np.nan)
            for members in ordered_members(
                metric, X, B, lambda some: some, eps=eps, closed=closed
            ):
                distance = members.distance
                found[members.point, members.candidate] = distance
                decided = (members.candidate[1:] == members.candidate[:-1]) & ~members.open[:-1]
                assert (distance[1:] > distance[:-1])[decided].all()
            inside = naive.members(expected, eps, closed)
            np.testing.assert_array_equal(found, np.where(inside, expected, np.nan))
        own = np.resize(radii, expected.shape[1])
        balls = balls_of_radii(metric, X, B, radii=own, closed=closed)
        np.testing.assert_array_equal(balls.toarray(), naive.members(expected, own, closed))


@pytest.mark.parametrize("with_radii", [False, True])
def test_nearest_of_groups(case, with_radii):
    metric, X, Z, table = case
    bounds = np.array([0, 6, 6, M])
    radii = np.resize([0.5, 1.0, 2.0, 7.0], M) if with_radii else None
    index, distance = find_nearest(metric, X, Z, bounds=bounds, radii=radii, n_jobs=2)
    expected, nearest = nearest_in_groups(table[:, :M], bounds, radii)
    np.testing.assert_array_equal(index, expected)
    np.testing.assert_array_equal(distance, nearest)


def test_fast_ways_are_taken(case, request):
    """Otherwise tables would be compared with themselves."""
    metric, X, _, table = case
    way, name = request.node.callspec.params["way"], request.node.callspec.params["case"]
    tables = {"cityblock", "kernel", "function", "mismatch", "spectrum", "dann", "rank"}
    if way == "in small pieces" and hasattr(metric, "bind") and "tangent" not in name:
        pairs = metric.bind(X, X, radii=radii_of(table)[0][:1])
        assert isinstance(pairs, TablePairs) is (name in tables)
