import re
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from protocover import CoverMemoryWarning, PVMClassifier
from protocover.balls import build_balls
from protocover.balls import forecast as forecast_module
from protocover.balls.forecast import BYTES_PER_MEMBERSHIP, estimate_memberships, measure_sample
from protocover.dissimilarity import Euclidean

X = np.random.default_rng(0).normal(size=(3000, 2))


def test_a_sample_tells_the_number_of_memberships():
    rng = np.random.default_rng(1)
    for eps in (0.1, 0.5, 2.0):
        forecast = estimate_memberships(Euclidean(), X, X, eps=eps, rng=rng)
        actual = 2 * (pdist(X) < eps).sum() + len(X)
        assert 1 / 1.5 < forecast.memberships / actual < 1.5


def test_the_radius_it_names_is_expected_to_fit():
    forecast = estimate_memberships(Euclidean(), X, X, eps=2.0, rng=np.random.default_rng(2))
    budget = 10_000_000
    eps = forecast.eps_within(budget)
    needed = (2 * (pdist(X) < eps).sum() + len(X)) * BYTES_PER_MEMBERSHIP
    assert 0.7 * budget < needed < 1.3 * budget


def test_fit_warns_before_building_what_will_not_fit(monkeypatch):
    monkeypatch.setattr(forecast_module, "available_memory", lambda: 10_000_000)
    with pytest.warns(
        CoverMemoryWarning, match=r"GB are available; eps=0\.\d+ is expected to fit"
    ):
        PVMClassifier(eps=2.0).fit(X, X[:, 0] > 0)


def test_fit_says_nothing_where_it_fits(monkeypatch):
    for available in (10_000_000_000, None):
        monkeypatch.setattr(forecast_module, "available_memory", lambda: available)  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            PVMClassifier(eps=0.2).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize("eps", [0.05, 0.5, 2.0])
def test_memberships_estimated_from_a_sample_are_those_then_found(eps):
    actual = 2 * (pdist(X) < eps).sum() + len(X)
    for Z in (X, X[::2].copy()):
        estimate = measure_sample(Euclidean(), X, Z, eps=eps, rng=np.random.default_rng(3))
        expected = actual if Z is X else build_balls(Euclidean(), X, Z, eps=eps).nnz
        assert 1 / 1.5 < estimate.memberships / expected < 1.5


def test_balls_that_hold_their_own_point_alone_are_estimated():
    """No sampled pair but that of a point with itself is within the radius."""
    estimate = measure_sample(Euclidean(), X, X, eps=1e-9, rng=np.random.default_rng(4))
    assert estimate.memberships == len(X)


def test_memory_estimated_from_a_sample_is_about_that_then_used():
    """benchmarks/bench_large.py compares the time too, which no test should rest on."""
    rng = np.random.default_rng(5)
    y = rng.integers(5, size=8000)
    points = rng.normal(size=(5, 8))[y] + rng.normal(size=(8000, 8))
    estimate = measure_sample(Euclidean(), points, points, eps=3.0, rng=rng, n_jobs=1)
    tracemalloc.start()
    PVMClassifier(eps=3.0, n_jobs=1).fit(points, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert estimate.memberships > 2_000_000
    assert 1 / 1.5 < estimate.n_bytes / peak < 1.5
    assert 0.0 < estimate.seconds < np.inf


def test_what_trees_take_is_estimated_from_balls_that_they_find():
    """Scaled up from a sample of pairs the time would be that of looking at all of them."""
    rng = np.random.default_rng(6)
    points = rng.normal(size=(30000, 2))
    y = points[:, 0] + rng.normal(size=30000) > 0
    assert Euclidean().goes_by_rows(points, points, eps=0.05)
    estimate = measure_sample(Euclidean(), points, points, eps=0.05, rng=rng, n_jobs=1)
    tracemalloc.start()
    PVMClassifier(eps=0.05, solver="greedy", n_jobs=1).fit(points, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    actual = build_balls(Euclidean(), points, points, eps=0.05).nnz
    assert 1 / 1.2 < estimate.memberships / actual < 1.2
    assert 1 / 1.5 < estimate.n_bytes / peak < 1.5
    assert 0.0 < estimate.seconds < np.inf
    other = points[:9000].copy()
    rectangular = measure_sample(Euclidean(), points, other, eps=0.05, rng=rng)
    found = build_balls(Euclidean(), points, other, eps=0.05).nnz
    assert 1 / 1.2 < rectangular.memberships / found < 1.2


def test_fit_says_beforehand_what_it_will_take(capsys):
    PVMClassifier(eps=0.5, verbose=1).fit(X, X[:, 0] > 0)
    said = capsys.readouterr().err
    assert re.search(
        r"balls of radius 0\.5: 3000 points x 3000 candidates, about \S+ memberships "
        r"\(\S+ per ball\), \S+ MB and \S+ s of processor time on \d+ threads",
        said,
    )
    PVMClassifier(eps=0.5).fit(X, X[:, 0] > 0)
    assert capsys.readouterr().err == ""
