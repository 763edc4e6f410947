"""The nearest prototype where distances count in multiples of radii."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from protocover._balls import relative_to
from protocover._balls.nearest import find_nearest
from protocover.dissimilarity import Cosine, Euclidean, Metric, SquaredEuclidean


def obvious(table, radii, group):
    """Compare all multiples of a group of columns."""
    return group.start + relative_to(radii[group], table[:, group]).argmin(axis=1)


@pytest.mark.parametrize(
    "kind", [Euclidean, SquaredEuclidean, Cosine, lambda: Metric("cityblock")]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(2))
def test_it_is_the_smallest_multiple(kind, dtype, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(200, 7)).round(1).astype(dtype)
    B = rng.normal(size=(60, 7)).round(1).astype(dtype)
    radii = rng.choice([0.1, 0.5, 1.0, 2.0, 7.0], 60)
    bounds = np.array([0, 13, 13, 60])
    dissimilarity = kind().fit(A)
    index, distance = find_nearest(dissimilarity, A, B, bounds=bounds, radii=radii)
    table = dissimilarity.pairwise(A, B)
    assert (index[:, 1] == -1).all()
    assert np.isinf(distance[:, 1]).all()
    np.testing.assert_array_equal(index[:, 0], obvious(table, radii, slice(0, 13)))
    np.testing.assert_array_equal(index[:, 2], obvious(table, radii, slice(13, 60)))
    np.testing.assert_array_equal(distance[:, 0], table[np.arange(200), index[:, 0]])


def test_ties_go_to_the_lower_index():
    A, B = np.zeros((1, 1)), np.array([[2.0], [1.0], [-1.0], [4.0]])
    index, _ = find_nearest(
        Euclidean(), A, B, bounds=np.array([0, 4]), radii=np.array([2.0, 1.0, 1.0, 4.0])
    )
    assert index.tolist() == [[0]]


def test_a_tiny_radius_beside_a_large_one():
    A, B = np.array([[0.0], [1.0]]), np.array([[0.0], [5.0]])
    index, _ = find_nearest(
        Euclidean(), A, B, bounds=np.array([0, 2]), radii=np.array([5e-324, 3.0])
    )
    assert index[:, 0].tolist() == [0, 1]


@settings(max_examples=300, deadline=None)
@given(
    st.floats(0.0, 1e300),
    st.floats(0.0, 1e300),
)
def test_multiples_tell_inside_from_outside_to_the_last_bit(distance, radius):
    multiple = relative_to(radius, np.array([distance]))[0]
    assert np.isfinite(multiple)
    assert (multiple < 1.0) == (distance < radius) or (radius == distance == 0.0)
    assert (multiple > 1.0) == (distance > radius)


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_neighbouring_numbers_are_told_apart(step):
    radius = 0.1
    distance = np.nextafter(radius, step * 10.0) if step else radius
    multiple = relative_to(radius, np.array([distance]))[0]
    assert np.sign(multiple - 1.0) == step


def test_distances_of_queries_agree_with_cdist():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(30, 3)), rng.normal(size=(9, 3))
    index, distance = find_nearest(
        Euclidean(), A, B, bounds=np.array([0, 9]), radii=np.full(9, 0.7)
    )
    table = cdist(A, B)
    np.testing.assert_array_equal(index[:, 0], table.argmin(axis=1))
    np.testing.assert_array_equal(distance[:, 0], table.min(axis=1))
