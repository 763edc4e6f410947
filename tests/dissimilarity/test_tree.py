"""The tree must find the members that the scan finds, ties and repeated rows included."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import naive
from protocover.balls import build_balls, build_levels
from protocover.dissimilarity import Euclidean, SquaredEuclidean
from protocover.dissimilarity.euclidean import tree as tree_module
from protocover.dissimilarity.euclidean.scan import StripScan
from protocover.dissimilarity.euclidean.tree import TreeScan, suits_tree


@pytest.fixture
def always_trees(monkeypatch):
    monkeypatch.setattr(tree_module, "_CANDIDATES", 1)
    monkeypatch.setattr(tree_module, "_LARGEST_SHARE", 1.0)
    monkeypatch.setattr(TreeScan, "tile", (37, 1 << 31))


def grid(p, side, step):
    return np.stack(np.meshgrid(*[np.arange(side) * step] * p), axis=-1).reshape(-1, p)


DATA = {
    "whole numbers": grid(2, 10, 1.0),
    "tenths": grid(3, 5, 0.1),
    "a line": grid(1, 60, 1 / 3),
    "repeated rows": np.repeat(np.random.default_rng(0).normal(size=(12, 2)), 6, axis=0),
    "far from the origin": grid(2, 8, 1.0) + 1e9,
    "single precision": np.random.default_rng(1).normal(size=(90, 3)).astype(np.float32),
    "very small": grid(2, 7, 1e-150),
}


@pytest.mark.usefixtures("always_trees")
@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("name", DATA)
def test_members_are_those_of_direct_distances(name, closed):
    X = DATA[name]
    D = cdist(X, X)
    radii = np.unique(D[D > 0])
    assert isinstance(
        Euclidean().level_test(X, X, radii=radii[:1], closed=closed),
        StripScan if name == "very small" else TreeScan,
    )
    for eps in radii[:: max(1, len(radii) // 8)]:
        balls = build_balls(Euclidean(), X, X, eps=eps, closed=closed, n_jobs=2)
        np.testing.assert_array_equal(balls.toarray(), naive.members(D, eps, closed))


@pytest.mark.usefixtures("always_trees")
@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean()])
def test_levels_and_other_candidates(dissimilarity):
    rng = np.random.default_rng(2)
    X, Z = (rng.integers(0, 5, size=(n, 2)).astype(float) for n in (80, 30))
    D = dissimilarity.cross(X, Z)
    radii = np.array([1.0, 2.0, 5.0])
    levels = build_levels(dissimilarity, X, Z, radii=radii)
    expected = np.searchsorted(radii, D, side="right") + 1
    np.testing.assert_array_equal(levels.toarray(), np.where(D < 5.0, expected, 0))
    assert levels.has_sorted_indices


def test_trees_are_for_many_candidates_in_few_dimensions_and_small_balls():
    rng = np.random.default_rng(3)
    many, few = rng.normal(size=(9000, 2)), rng.normal(size=(500, 2))
    assert suits_tree(many, many, 0.01)
    assert not suits_tree(many, few, 0.01)
    assert not suits_tree(many, many, 1.0)
    assert not suits_tree(np.tile(many, 2), np.tile(many, 2), 0.01)


def test_the_tree_and_the_scan_agree_on_many_points(monkeypatch):
    X = np.random.default_rng(4).integers(0, 700, size=(9000, 2)).astype(float)
    by_tree = build_balls(Euclidean(), X, X, eps=5.0)
    monkeypatch.setattr(tree_module, "_DIMENSIONS", 0)
    by_scan = build_balls(Euclidean(), X, X, eps=5.0)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(by_tree, part), getattr(by_scan, part))
