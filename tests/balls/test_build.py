import tracemalloc

import numpy as np
import pytest

import naive
from protocover._balls import build_balls, check_dissimilarities
from protocover._exceptions import DissimilarityError
from protocover.dissimilarity import Euclidean


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
