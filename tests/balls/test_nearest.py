"""Nearest candidates of groups, also with distances as multiples of radii."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import naive
from protocover._balls import nearest as nearest_module
from protocover._balls import nearest_in_groups, relative_to
from protocover._balls.nearest import find_nearest, two_in_table, two_of_groups
from protocover.dissimilarity import Euclidean

BOUNDS = np.array([0, 4, 4, 11])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_and_threads_do_not_change_the_answer(monkeypatch, n_jobs):
    A, B = (
        np.random.default_rng(3).normal(size=(50, 4)),
        np.random.default_rng(4).normal(size=(11, 4)),
    )
    whole = find_nearest(Euclidean(), A, B, bounds=BOUNDS, n_jobs=1)
    monkeypatch.setattr(nearest_module, "_TABLE_SIZE", 77)
    blocked = find_nearest(Euclidean(), A, B, bounds=BOUNDS, n_jobs=n_jobs)
    np.testing.assert_array_equal(blocked[0], whole[0])
    np.testing.assert_array_equal(blocked[1], whole[1])


def test_no_queries_give_no_answers():
    index, distance = find_nearest(Euclidean(), np.empty((0, 2)), np.zeros((11, 2)), bounds=BOUNDS)
    assert index.shape == distance.shape == (0, 3)


def test_empty_groups_are_infinitely_far():
    index, value = nearest_in_groups(np.array([[3.0, 1.0]]), np.array([0, 0, 2]))
    np.testing.assert_array_equal(index, [[-1, 1]])
    np.testing.assert_array_equal(value, [[np.inf, 1.0]])


@pytest.mark.parametrize("seed", range(8))
def test_two_of_groups_and_of_a_table_are_those_of_comparing_all(seed):
    """Ties, empty groups and a single one among them; ranked by multiples, too."""
    rng = np.random.default_rng(seed)
    n_groups, table = 1 + seed % 4, rng.integers(0, 4, size=(12, 9)).astype(float)
    bounds = np.concatenate(([0], np.sort(rng.integers(0, 10, n_groups - 1)), [9]))
    groups = np.repeat(np.arange(n_groups), np.diff(bounds))
    for radii in (None, rng.integers(1, 4, 9).astype(float)):
        score = table if radii is None else table / radii
        expected = naive.nearest_two(score, groups)
        distance = np.where(expected < 0, np.inf, table[np.arange(12), expected])
        index, nearest = nearest_in_groups(table, bounds, radii)
        ranked = nearest_in_groups(score, bounds)[1]
        found = [two_of_groups(index, nearest, ranked)]
        if radii is None:
            found.append(two_in_table(table.T, groups))
        for places, distances in found:
            np.testing.assert_array_equal(places, expected)
            np.testing.assert_array_equal(distances, distance)


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
