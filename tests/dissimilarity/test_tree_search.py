"""Trees must name the nearest that comparing all distances names, ties and all."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protocover._balls import Groups, nearest_in_groups
from protocover._balls.nearest import find_nearest
from protocover.dissimilarity import Cosine, Euclidean, SquaredEuclidean
from protocover.dissimilarity._euclidean import tree as tree_module
from protocover.dissimilarity._euclidean.tree import NearestTrees, suits_tree_search


@pytest.fixture
def always_trees(monkeypatch):
    monkeypatch.setattr(tree_module, "_QUERIES", 1)
    monkeypatch.setattr(tree_module, "_IN_GROUP", 0)
    monkeypatch.setattr(NearestTrees, "block_rows", 7)


rng = np.random.default_rng(0)
DATA = {
    "random": (rng.normal(size=(40, 2)), rng.normal(size=(50, 2))),
    "a grid, all ties": (rng.integers(0, 5, (60, 2)), rng.integers(0, 5, (50, 2))),
    "halves of tenths": (rng.integers(0, 9, (60, 3)) * 0.05, rng.integers(0, 5, (50, 3)) * 0.1),
    "repeated rows": (np.zeros((9, 2)), np.repeat(rng.normal(size=(5, 2)), 10, axis=0)),
    "single precision": tuple(rng.normal(size=(50, 3)).astype(np.float32) for _ in range(2)),
    "very small": (rng.integers(0, 4, (40, 2)) * 1e-170, rng.integers(0, 4, (50, 2)) * 1e-170),
    "far from the origin": (rng.integers(0, 4, (40, 2)) + 1e9, rng.integers(0, 4, (50, 2)) + 1e9),
    "one prototype": (rng.normal(size=(8, 2)), rng.normal(size=(1, 2))),
}


@pytest.mark.usefixtures("always_trees")
@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()])
@pytest.mark.parametrize("name", DATA)
def test_the_nearest_are_those_of_all_distances(name, dissimilarity):
    A, B = DATA[name]
    bounds = np.array([0, len(B) // 3, len(B) // 3, len(B)])  # the second group is empty
    assert isinstance(dissimilarity.bind(A, B, groups=Groups(bounds)), NearestTrees)
    index, distance = find_nearest(dissimilarity, A, B, bounds=bounds, n_jobs=2)
    expected = nearest_in_groups(dissimilarity.pairwise(A, B), bounds)
    np.testing.assert_array_equal(index, expected[0])
    np.testing.assert_array_equal(distance, expected[1])


def test_trees_are_for_many_queries_and_large_groups_in_few_dimensions():
    A, B = np.zeros((2000, 2)), np.ones((2000, 2))
    assert suits_tree_search(A, B, np.array([0, 1000, 2000]))
    assert not suits_tree_search(A, B, np.linspace(0, 2000, 9).astype(int))
    assert not suits_tree_search(A[:10], B, np.array([0, 2000]))
    assert not suits_tree_search(np.tile(A, 4), np.tile(B, 4), np.array([0, 2000]))
    assert not suits_tree_search(A, B * 1e150, np.array([0, 2000]))


def test_trees_and_products_agree_on_many_points(monkeypatch):
    A, B = (np.random.default_rng(n).integers(0, 300, size=(n, 2)) for n in (1500, 3000))
    bounds = np.array([0, 1000, 3000])
    assert isinstance(Euclidean().bind(A, B, groups=Groups(bounds)), NearestTrees)
    by_tree = find_nearest(Euclidean(), A, B, bounds=bounds)
    monkeypatch.setattr(tree_module, "_DIMENSIONS", 0)
    by_product = find_nearest(Euclidean(), A, B, bounds=bounds)
    np.testing.assert_array_equal(by_tree[0], by_product[0])
    np.testing.assert_array_equal(by_tree[1], by_product[1])
    np.testing.assert_array_equal(by_tree[1][:, 1], cdist(A, B[1000:]).min(axis=1))
