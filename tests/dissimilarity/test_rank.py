"""The rank dissimilarity against counting, with ties, new points and any base."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import naive
from protocover.dissimilarity import Euclidean
from protocover.dissimilarity._rank import RankDissimilarity

grid_points = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12
).map(lambda rows: np.array(rows, dtype=float))


@settings(max_examples=50)
@given(grid_points, grid_points, grid_points)
def test_counts_training_points_as_close(X, A, B):
    """Points on a small grid, where ties abound, are counted as the definition says."""
    rank = RankDissimilarity("sqeuclidean").fit(X)
    expected = naive.ranks(cdist(X, B, "sqeuclidean"), cdist(A, B, "sqeuclidean"))
    np.testing.assert_array_equal(rank.pairwise(A, B), expected)


def test_prototypes_need_no_training_points():
    """Cut down to some prototypes it ranks new points the same and holds no training point."""
    rng = np.random.default_rng(1)
    X, A = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    rank = RankDissimilarity().fit(X)
    cut = rank.for_prototypes(X[[7, 3, 30]])
    np.testing.assert_array_equal(cut.pairwise(A, X[[7, 3, 30]]), rank.pairwise(A, X[[7, 3, 30]]))
    held = [value for value in vars(cut).values() if np.shape(value) == X.shape]
    assert held == []
    with pytest.raises(ValueError, match="cut down to 3 prototypes; B must be these, got 2"):
        cut.pairwise(A, X[:2])


def test_base_may_be_an_object_or_a_function():
    """Names, objects and callables stand for the same base, and objects are not touched."""
    X = np.random.default_rng(2).normal(size=(15, 2))
    base = Euclidean()
    expected = RankDissimilarity("euclidean").fit(X).pairwise(X, X)
    np.testing.assert_array_equal(RankDissimilarity(base).fit(X).pairwise(X, X), expected)
    function = RankDissimilarity(lambda x, z: np.sqrt(((x - z) ** 2).sum())).fit(X)
    np.testing.assert_array_equal(function.pairwise(X, X), expected)
    assert vars(base) == {}
    assert not function.requires_array
    assert not function.thread_safe
    assert RankDissimilarity().thread_safe


def test_base_may_be_a_precomputed_table():
    """Ranks come from the columns of the table, and prototypes are told by their numbers."""
    X = np.random.default_rng(3).normal(size=(30, 2))
    D = cdist(X, X)
    rank = RankDissimilarity("precomputed").fit(D)
    assert rank.pairwise
    np.testing.assert_array_equal(rank.table(D), naive.ranks(D, D))
    cut = rank.for_prototypes(np.array([9, 2, 20]))
    np.testing.assert_array_equal(cut.pairwise(D, [2, 20, 9]), naive.ranks(D, D)[:, [2, 20, 9]])


def test_base_may_learn_from_candidates(monkeypatch):
    """A base that must be cut down to prototypes itself is."""

    class Shifted(Euclidean):
        offset = 5.0

        def for_prototypes(self, B):
            cut = Shifted()
            cut.offset = -5.0
            return cut

        def pairwise(self, A, B):
            return super().pairwise(A, B) + self.offset + 10.0

    X = np.arange(5.0)[:, None]
    cut = RankDissimilarity(Shifted()).fit(X).for_prototypes(X[:2])
    # Its sorted columns are 10 above what the cut base returns, so nothing is as close.
    assert (cut.pairwise(X, X[:2]) == 0.0).all()
