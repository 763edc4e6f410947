import numpy as np
import pytest
from scipy.optimize import linprog

from paper import PAPER
from protocover import PVMClassifier
from protocover.candidates import HullCandidates, Pool
from protocover.candidates._hull import (
    _hit_and_run,
    draw_on_chord,
    find_chord,
    lift,
    sample_hull,
    start_at_mean,
)


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


def reach(Y, point, direction):
    """How far the hull goes on from a point, by a linear program from scratch."""
    equations = np.vstack((np.hstack((Y.T, -direction[:, None])), np.append(np.ones(len(Y)), 0.0)))
    cost = np.append(np.zeros(len(Y)), -1.0)
    return linprog(cost, A_eq=equations, b_eq=np.append(point, 1.0), method="highs").x[-1]


def spanning_points(kind, rng):
    if kind == "cube":  # many points on each of few sides
        return rng.integers(0, 3, size=(60, 6)).astype(float)
    if kind == "thin":
        return rng.normal(size=(40, 5)) * [1.0, 1.0, 1.0, 1e-3, 1e3]
    return rng.normal(size=(40, 5))


@pytest.mark.parametrize("kind", ["cloud", "cube", "thin"])
def test_chords_end_where_linear_programs_say(kind):
    rng = np.random.default_rng(4)
    Y = spanning_points(kind, rng)
    lifted = lift(Y)
    place = start_at_mean(lifted)
    np.testing.assert_allclose(place.point, Y.mean(axis=0))
    for _ in range(30):
        direction = rng.normal(size=Y.shape[1])
        ahead, back = find_chord(lifted, place, direction)
        np.testing.assert_allclose(ahead.reaches[-1], reach(Y, place.point, direction), rtol=1e-6)
        np.testing.assert_allclose(back.reaches[-1], reach(Y, place.point, -direction), rtol=1e-6)
        place = draw_on_chord(lifted, place, direction, rng.uniform())
        weights = np.linalg.solve(lifted[:, place.corners], np.append(place.point, 1.0))
        assert weights.min() > -1e-9


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_walk_goes_on_from_the_edge(share):
    """Uniform numbers may be 0, and rounding may put a point on the edge."""
    rng = np.random.default_rng(5)
    Y = spanning_points("cube", rng)
    lifted, place = lift(Y), start_at_mean(lift(Y))
    for _ in range(20):
        place = draw_on_chord(lifted, place, rng.normal(size=Y.shape[1]), share)
        assert in_hull(place.point * (1 - 1e-7) + Y.mean(axis=0) * 1e-7, Y)


def test_slow_draws_are_shown_and_promise_no_time(capfd):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 6)), np.arange(60) % 2
    quiet = PVMClassifier(eps=3.0, candidates=HullCandidates(5), random_state=0, **PAPER).fit(X, y)
    assert capfd.readouterr().err == ""
    model = PVMClassifier(
        eps=3.0, candidates=HullCandidates(5), random_state=0, verbose=1, **PAPER
    ).fit(X, y)
    told = capfd.readouterr().err
    assert "processor time" not in told
    assert "draws from a hull" in told
    np.testing.assert_array_equal(model.prototypes_, quiet.prototypes_)


def test_generators_of_users_need_not_know_of_verbose():
    class Means:
        def generate(self, X, y, rng):
            return Pool.synthetic(
                np.array([X[y == k].mean(axis=0) for k in np.unique(y)]), "means"
            )

    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    model = PVMClassifier(eps=2.0, candidates=Means(), verbose=1, **PAPER).fit(X, y)
    assert model.prototypes_.ravel().tolist() == [0.5, 5.5]
