"""Sammon's mapping against loops, finite differences and configurations with a known answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import naive
from protocover import DissimilarityError
from protocover._maps import derivatives, sammon_map, sammon_stress


def make_case(seed=0, n_points=7, n_features=5):
    """Dissimilarities of points in space, and places of theirs on a map."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_points, n_features))
    return cdist(X, X), rng.normal(size=(n_points, 2))


def test_the_stress_is_sammons_sum():
    D, places = make_case()
    assert sammon_stress(D, places) == pytest.approx(naive.sammon_stress(D, places), rel=1e-12)


def test_derivatives_are_the_slopes_of_the_stress():
    D, places = make_case()
    gradient, curvature = derivatives(D, places)
    slope, bend = naive.finite_differences(
        lambda flat: naive.sammon_stress(D, flat.reshape(places.shape)), places.ravel()
    )
    np.testing.assert_allclose(gradient.ravel(), slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(curvature.ravel(), bend, rtol=1e-4, atol=1e-6)


def test_pairs_of_dissimilarity_zero_have_no_part_in_stress_and_slopes():
    D, places = make_case()
    D[0, 1] = D[1, 0] = 0.0
    assert sammon_stress(D, places) == pytest.approx(naive.sammon_stress(D, places))
    slope, _ = naive.finite_differences(
        lambda flat: naive.sammon_stress(D, flat.reshape(places.shape)), places.ravel()
    )
    np.testing.assert_allclose(derivatives(D, places)[0].ravel(), slope, rtol=1e-6, atol=1e-9)


@given(st.integers(0, 200), st.integers(2, 12))
def test_the_stress_never_rises_and_is_that_of_the_map(seed, n_points):
    D, start = make_case(seed, n_points)
    result = sammon_map(D, start=start)
    assert (np.diff(result.stress_path) <= 0.0).all()
    assert result.stress_path[0] == pytest.approx(naive.sammon_stress(D, start))
    assert result.stress == result.stress_path[-1]
    assert result.stress == pytest.approx(naive.sammon_stress(D, result.coordinates), abs=1e-12)


def test_it_ends_where_the_stress_is_flat():
    D, _ = make_case(n_points=15)
    result = sammon_map(D, tolerance=1e-12)
    assert result.converged
    assert np.abs(derivatives(D, result.coordinates)[0]).max() < 1e-5
    assert 0.0 < result.stress < result.stress_path[0]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("from_scaling", [True, False])
def test_a_planar_configuration_is_found_again(from_scaling, scale):
    rng = np.random.default_rng(3)
    plane = scale * rng.normal(size=(25, 2))
    D = cdist(plane, plane)
    # A start near the truth has no other minimum to fall into.
    start = None if from_scaling else plane + 0.1 * scale * rng.normal(size=plane.shape)
    result = sammon_map(D, start=start, tolerance=1e-9)
    assert result.stress < 1e-12
    np.testing.assert_allclose(cdist(result.coordinates, result.coordinates), D, atol=1e-5 * scale)


def test_it_reaches_a_lower_stress_than_the_scaling_it_starts_from():
    D, _ = make_case(n_points=40, n_features=6)
    result = sammon_map(D)
    assert result.stress < 0.7 * result.stress_path[0]
    assert result.n_iterations == len(result.stress_path) - 1


def test_duplicates_share_a_place():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10, 4))[[0, 1, 2, 3, 0, 4, 5, 6, 0, 2]]
    result = sammon_map(cdist(X, X))
    places = result.coordinates
    np.testing.assert_array_equal(places[[4, 8]], places[[0, 0]])
    np.testing.assert_array_equal(places[9], places[2])
    assert np.isfinite(places).all()
    assert len(np.unique(places, axis=0)) == 7


def test_points_that_start_in_one_place_part():
    D, _ = make_case(n_points=6)
    result = sammon_map(D, start=np.zeros((6, 2)))
    assert result.stress < 1.5 * sammon_map(D).stress
    apart = cdist(result.coordinates, result.coordinates)
    assert apart[np.triu_indices(6, k=1)].min() > 0.1


@pytest.mark.parametrize("n_points", [1, 2, 3])
def test_up_to_three_points_are_mapped_without_stress(n_points):
    D = 2.0 * (1.0 - np.eye(n_points))
    result = sammon_map(D)
    assert result.converged
    assert result.stress == pytest.approx(0.0, abs=1e-20)
    np.testing.assert_allclose(cdist(result.coordinates, result.coordinates), D, atol=1e-12)


@pytest.mark.parametrize("n_points", [4, 10, 50])
def test_points_all_equally_far_apart_do_not_fall_together(n_points):
    result = sammon_map(1.0 - np.eye(n_points))
    apart = cdist(result.coordinates, result.coordinates)[np.triu_indices(n_points, k=1)]
    assert result.stress < 0.25
    assert apart.min() > 0.02


def test_points_all_alike_lie_in_one_place():
    result = sammon_map(np.zeros((4, 4)))
    np.testing.assert_array_equal(result.coordinates, 0.0)
    assert (result.stress, result.converged) == (0.0, True)


def test_the_same_table_gives_the_same_map():
    D, _ = make_case(n_points=20)
    np.testing.assert_array_equal(sammon_map(D).coordinates, sammon_map(D).coordinates)


def test_it_says_when_it_was_stopped():
    D, _ = make_case(n_points=30)
    result = sammon_map(D, max_iterations=3)
    assert (result.n_iterations, result.converged) == (3, False)


def test_other_dimensions():
    D, _ = make_case(n_points=12, n_features=3)
    line, space = sammon_map(D, 1), sammon_map(D, 3)
    assert line.coordinates.shape == (12, 1)
    assert space.stress < 1e-12 < line.stress


@pytest.mark.parametrize(
    ("D", "message"),
    [
        ([[0, 1], [2, 0]], r"symmetric.*differ by 1.*pass \(D \+ D.T\) / 2"),
        ([[0, -1], [-1, 0]], "must be non-negative, got -1"),
        ([[1, 1], [1, 0]], "zero on the diagonal, got up to 1"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, 1, 2], [1, 0, 2]], r"square.*got shape \(2, 3\)"),
        (np.empty((0, 0)), r"at least one point, got shape \(0, 0\)"),
    ],
)
def test_what_is_no_table_of_dissimilarities_is_refused(D, message):
    with pytest.raises(ValueError, match=message):
        sammon_map(D)


def test_the_values_of_a_table_are_refused_as_a_dissimilarity_is():
    with pytest.raises(DissimilarityError):
        sammon_map([[0, 1], [2, 0]])


def test_bad_parameters_are_refused():
    D = [[0.0, 1.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="n_components must be a positive integer, got 0"):
        sammon_map(D, 0)
    with pytest.raises(ValueError, match=r"start must be finite .*\(2, 2\), got shape \(3, 2\)"):
        sammon_map(D, start=np.zeros((3, 2)))
