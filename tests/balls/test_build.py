import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist

import naive
from protocover._balls import build_balls, check_dissimilarities
from protocover._exceptions import DissimilarityError
from protocover.dissimilarity import Cosine, Euclidean, Function, SquaredEuclidean
from protocover.dissimilarity._euclidean.product import ProductPairs


def grid(p, side, step):
    """All points of a regular grid: nearly every distance is tied with many others."""
    return np.stack(np.meshgrid(*[np.arange(side) * step] * p), axis=-1).reshape(-1, p)


def tied_data():
    rng = np.random.default_rng(0)
    words = rng.integers(0, 3, size=(40, 20)) / 10
    return {
        "grid of whole numbers": grid(2, 12, 1.0),
        "grid of tenths": grid(3, 5, 0.1),
        "repeated rows": np.repeat(rng.normal(size=(15, 6)), 8, axis=0),
        "few distinct words": words,
        "far from the origin": grid(2, 10, 1.0) + 1e7,
        "very small": grid(2, 10, 1e-30),
        "very large": grid(2, 10, 1e30),
        "squares below normal numbers": grid(2, 6, 1e-158),
        "squares near nothing": grid(2, 6, 1e-162),
        "squares that vanish": grid(2, 4, 1e-310),
        "squares near overflow": grid(2, 6, 1e152),
        "two scales": np.vstack((grid(2, 7, 1e-4), grid(2, 7, 1.0) + 1e3)),
        "all the same": np.full((9, 4), 0.3),
    }


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", tied_data())
def test_membership_is_decided_as_direct_distances_decide_it(name, closed):
    """Every distance that occurs is tried as the radius, so every pair is once a tie."""
    X = tied_data()[name]
    D = naive.euclidean(X, X)
    radii = np.unique(D[D > 0])
    for eps in radii[:: max(1, len(radii) // 25)] if len(radii) else [1.0]:
        balls = build_balls(Euclidean(), X, X, eps=eps, closed=closed)
        np.testing.assert_array_equal(balls.toarray(), naive.members(D, eps, closed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()])
def test_fast_members_agree_with_the_whole_table(dissimilarity, dtype):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(70, 9)).astype(dtype), rng.normal(size=(50, 9)).astype(dtype)
    Z[3] = X[5]
    D = dissimilarity.pairwise(X, Z)
    for eps in np.quantile(D[D > 0], [0.0, 0.01, 0.3, 1.0], method="lower"):
        balls = build_balls(dissimilarity, X, Z, eps=eps)
        np.testing.assert_array_equal(balls.toarray(), eps > D)


@pytest.mark.parametrize("container", [csr_array, csr_matrix])
@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()])
def test_sparse_rows_have_the_members_of_dense_rows(dissimilarity, container):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, size=(60, 12)) * (rng.random((60, 12)) < 0.3).astype(float)
    eps = np.quantile(dissimilarity.pairwise(X, X), 0.3, method="lower")
    dense = build_balls(dissimilarity, X, X, eps=eps, closed=True)
    S = container(X)
    sparse = build_balls(dissimilarity, S, S, eps=eps, closed=True)
    np.testing.assert_array_equal(sparse.toarray(), dense.toarray())


def test_result_is_independent_of_tiles_and_threads(monkeypatch):
    X = np.random.default_rng(3).integers(0, 6, size=(150, 3)).astype(float)
    whole = build_balls(Euclidean(), X, X, eps=2.0, n_jobs=1)
    monkeypatch.setattr(ProductPairs, "tile", (32, 32))
    for n_jobs in (1, 2, 3):
        tiled = build_balls(Euclidean(), X, X, eps=2.0, n_jobs=n_jobs)
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(tiled, part), getattr(whole, part))


def test_tiles_may_be_longer_than_wide_without_losing_pairs(monkeypatch):
    X = np.random.default_rng(4).normal(size=(100, 2))
    D = cdist(X, X)
    monkeypatch.setattr(ProductPairs, "tile", (24, 56))
    np.testing.assert_array_equal(build_balls(Euclidean(), X, X, eps=1.0).toarray(), D < 1.0)


def test_asymmetric_dissimilarities_keep_their_direction():
    X = np.array([[0.0], [1.0], [3.0]])
    uphill = Function(lambda x, z: max(0.0, float(z[0] - x[0])))
    expected = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1]], dtype=bool)
    np.testing.assert_array_equal(build_balls(uphill, X, X, eps=0.5).toarray(), expected)


def test_memory_follows_memberships_and_not_pairs():
    """12,000 points have 144 million pairs; even one byte for each would be 144 MB."""
    X = np.random.default_rng(6).uniform(size=(12_000, 3))
    tracemalloc.start()
    balls = build_balls(Euclidean(), X, X, eps=0.05, n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert balls.nnz > 5 * len(X)
    assert peak < 60e6


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([["a", "b"]], "must give numbers"),
        ([[1.0, np.nan]], "NaN or infinity"),
        ([[1.0, np.inf]], "NaN or infinity"),
        ([[1.0, -0.5]], "must not be negative, got -0.5"),
        ([[1.0]], r"shape \(1, 2\), got shape \(1, 1\)"),
    ],
)
def test_tables_that_are_not_dissimilarities_are_refused(table, message):
    with pytest.raises(DissimilarityError, match=message):
        check_dissimilarities(table, (1, 2), "the metric")


def test_rounding_just_below_zero_is_no_negative_dissimilarity():
    table = check_dissimilarities([[1.0, -1e-17]], (1, 2), "the metric")
    assert table.shape == (1, 2)


def test_values_too_large_to_square_are_refused():
    X = np.array([[0.0], [1e200]])
    with pytest.raises(ValueError, match="rescale the features"):
        build_balls(Euclidean(), X, X, eps=1.0)
