import numpy as np
import pytest
from scipy.optimize import linprog

from protocover.candidates.hull import _hit_and_run, sample_hull


def in_hull(point, X):
    result = linprog(
        np.zeros(len(X)),
        A_eq=np.vstack((X.T, np.ones(len(X)))),
        b_eq=np.append(point, 1.0),
        method="highs",
    )
    return result.status == 0


def corner_heavy_square(rng):
    """A square whose points crowd in one corner: convex weights alone would lean there."""
    return np.vstack(([[0, 0], [1, 0], [0, 1], [1, 1]], rng.uniform(0, 0.1, size=(60, 2))))


def test_draws_in_the_plane_are_uniform_and_not_where_the_points_crowd():
    rng = np.random.default_rng(0)
    drawn = sample_hull(corner_heavy_square(rng), 4000, rng)
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.02)
    np.testing.assert_allclose(drawn.var(axis=0), 1 / 12, atol=0.005)


def test_draws_from_a_simplex_are_uniform():
    """The mean squared distance of a uniform point of a simplex from a corner is known."""
    rng = np.random.default_rng(1)
    p = 7
    drawn = sample_hull(np.vstack((np.zeros(p), np.eye(p))), 4000, rng)
    # Each coordinate is Beta(1, p): mean 1/(p+1), second moment 2/((p+1)(p+2)).
    np.testing.assert_allclose(drawn.mean(axis=0), 1 / (p + 1), atol=0.01)
    np.testing.assert_allclose((drawn**2).mean(axis=0), 2 / ((p + 1) * (p + 2)), atol=0.005)


def test_the_walk_agrees_with_the_triangulation_where_both_work():
    rng = np.random.default_rng(2)
    drawn = _hit_and_run(corner_heavy_square(rng) - 0.5, 100, rng) + 0.5
    np.testing.assert_allclose(drawn.mean(axis=0), 0.5, atol=0.1)
    np.testing.assert_allclose(drawn.var(axis=0), 1 / 12, atol=0.03)


@pytest.mark.parametrize(("n", "p"), [(1, 3), (2, 3), (4, 2), (30, 1), (12, 6)])
def test_every_draw_lies_in_the_hull(n, p):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, p))
    drawn = sample_hull(X, 5, rng)
    assert drawn.shape == (5, p)
    assert all(in_hull(point * (1 - 1e-9) + X.mean(axis=0) * 1e-9, X) for point in drawn)


def test_copies_of_one_point_give_that_point():
    drawn = sample_hull(np.full((4, 3), 2.5), 2, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, np.full((2, 3), 2.5))
