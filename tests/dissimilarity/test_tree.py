"""Trees must find the members that the scan finds, ties and repeated rows included."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import naive
from protocover._balls import build_balls, build_levels
from protocover.dissimilarity import Euclidean
from protocover.dissimilarity._euclidean import tree as tree_module
from protocover.dissimilarity._euclidean.product import ProductPairs
from protocover.dissimilarity._euclidean.tree import Blocks, BlockTrees, suits_tree


@pytest.fixture
def always_trees(monkeypatch):
    monkeypatch.setattr(tree_module, "_ROWS", 0)
    monkeypatch.setattr(tree_module, "_LARGEST_FRACTION", 64.0)
    monkeypatch.setattr(BlockTrees, "tile", (37, 1 << 31))


def grid(p, side, step):
    return np.stack(np.meshgrid(*[np.arange(side) * step] * p), axis=-1).reshape(-1, p)


DATA = {
    "whole numbers": grid(2, 10, 1.0),
    "tenths": grid(3, 5, 0.1),
    "a line": grid(1, 60, 1 / 3),
    "repeated rows": np.repeat(np.random.default_rng(0).normal(size=(12, 2)), 6, axis=0),
    "far from the origin": grid(2, 8, 1.0) + 1e9,
    "single precision": np.random.default_rng(1).normal(size=(90, 3)).astype(np.float32),
    "one far away": np.vstack((grid(2, 9, 1.0), [[1e12, -1e12]])),
    "columns of very different scale": grid(3, 5, 1.0) * [1.0, 1e-9, 1e9],
    "a column that is constant": grid(3, 5, 0.1) * [1.0, 0.0, 1.0],
    "integers": grid(2, 9, 1).astype(np.int16),
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
        Euclidean().bind(X, X, radii=radii[:1]),
        ProductPairs if name == "very small" else BlockTrees,
    )
    for eps in radii[:: max(1, len(radii) // 8)]:
        balls = build_balls(Euclidean(), X, X, eps=eps, closed=closed, n_jobs=2)
        np.testing.assert_array_equal(balls.toarray(), naive.members(D, eps, closed))


@pytest.mark.usefixtures("always_trees")
@pytest.mark.parametrize("closed", [False, True])
def test_levels_of_radii_that_hardly_differ(closed):
    """Between such radii the trees' distances cannot tell; at zero there is nothing to tell."""
    X = np.repeat(grid(2, 8, 0.1), 2, axis=0)
    around = [0.1, 0.1 * np.sqrt(2.0), 0.2]
    radii = np.unique([0.0, *around, *np.nextafter(around, 0.0), *np.nextafter(around, 1.0)])
    assert isinstance(Euclidean().bind(X, X, radii=radii), BlockTrees)
    expected = np.searchsorted(radii, cdist(X, X), side="left" if closed else "right") + 1
    levels = build_levels(Euclidean(), X, X, radii=radii, closed=closed).toarray()
    np.testing.assert_array_equal(levels, np.where(expected > len(radii), 0, expected))


def test_only_blocks_nearby_are_looked_at():
    """A row of ten far clusters has ten blocks, each with itself alone in reach."""
    X = (np.arange(10) * 100.0)[:, None] + np.linspace(0.0, 1.0, 30)
    blocks = Blocks.of(X.reshape(-1, 1), size=30)
    for k in range(10):
        np.testing.assert_array_equal(blocks.near(blocks, k, 98.9), [k])
        assert len(blocks.near(blocks, k, 99.0)) == len({max(k - 1, 0), k, min(k + 1, 9)})


def test_trees_are_for_many_candidates_in_few_dimensions_and_small_balls():
    rng = np.random.default_rng(3)
    many, few = rng.normal(size=(9000, 2)), rng.normal(size=(500, 2))
    assert suits_tree(many, many, np.array([0.01]))
    assert not suits_tree(many, few, np.array([0.01]))
    assert not suits_tree(many, many, np.array([1.0]))
    assert not suits_tree(np.tile(many, 2), np.tile(many, 2), np.array([0.01]))


def test_the_tree_and_the_scan_agree_on_many_points(monkeypatch):
    X = np.random.default_rng(4).integers(0, 700, size=(9000, 2)).astype(float)
    by_tree = build_balls(Euclidean(), X, X, eps=5.0)
    monkeypatch.setattr(tree_module, "_DIMENSIONS", 0)
    by_scan = build_balls(Euclidean(), X, X, eps=5.0)
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(by_tree, part), getattr(by_scan, part))
