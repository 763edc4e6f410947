"""Classical scaling against principal axes and configurations with a known answer."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protocover._maps import classical_scaling


def test_euclidean_distances_give_the_principal_components():
    X = np.random.default_rng(0).normal(size=(12, 4)) * [4.0, 2.0, 1.0, 0.5]
    U, sizes, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    expected = U[:, :2] * sizes[:2]
    expected *= np.sign(expected[np.abs(expected).argmax(axis=0), [0, 1]])
    np.testing.assert_allclose(classical_scaling(cdist(X, X)), expected, atol=1e-10)


def test_a_planar_configuration_is_found_again():
    plane = np.random.default_rng(1).uniform(size=(9, 2))
    D = cdist(plane, plane)
    places = classical_scaling(D)
    np.testing.assert_allclose(cdist(places, places), D, atol=1e-7)
    np.testing.assert_allclose(places.mean(axis=0), 0.0, atol=1e-12)


def test_axes_without_positive_eigenvalue_are_zero():
    on_a_line = np.array([[0.0], [1.0], [5.0]])
    places = classical_scaling(cdist(on_a_line, on_a_line), 4)
    assert places.shape == (3, 4)
    np.testing.assert_allclose(np.abs(places[:, 0]), np.abs(on_a_line[:, 0] - 2.0))
    np.testing.assert_allclose(places[:, 1:], 0.0, atol=1e-7)
    # Violates the triangle inequality, so that one eigenvalue is negative.
    bent = [[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]
    assert np.isfinite(classical_scaling(bent)).all()


@pytest.mark.parametrize("n_points", [1, 2])
def test_tiny_tables(n_points):
    D = 3.0 * (1.0 - np.eye(n_points))
    places = classical_scaling(D)
    assert places.shape == (n_points, 2)
    np.testing.assert_allclose(cdist(places, places), D, atol=1e-12)
