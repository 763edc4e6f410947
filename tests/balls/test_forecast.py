import re
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from protocover import CoverMemoryWarning, PVMClassifier
from protocover._balls import build_balls
from protocover._balls import forecast as forecast_module
from protocover._balls.forecast import BYTES_PER_MEMBERSHIP, estimate_memberships
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
        PVMClassifier(eps=2.0, radii="shared").fit(X, X[:, 0] > 0)


def test_fit_says_nothing_where_it_fits(monkeypatch):
    for available in (10_000_000_000, None):
        monkeypatch.setattr(forecast_module, "available_memory", lambda: available)  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            PVMClassifier(eps=0.2, radii="shared").fit(X, X[:, 0] > 0)


def test_memory_estimated_from_a_sample_is_about_that_then_used():
    rng = np.random.default_rng(5)
    y = rng.integers(5, size=8000)
    points = rng.normal(size=(5, 8))[y] + rng.normal(size=(8000, 8))
    estimate = estimate_memberships(Euclidean(), points, points, eps=3.0, rng=rng)
    tracemalloc.start()
    PVMClassifier(eps=3.0, radii="shared", n_jobs=1).fit(points, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert estimate.memberships > 2_000_000
    assert 1 / 1.5 < estimate.n_bytes / peak < 1.5


def test_verbose_says_what_was_found_and_promises_no_time(capsys):
    model = PVMClassifier(eps=0.5, radii="shared", verbose=1).fit(X, X[:, 0] > 0)
    n_members = build_balls(Euclidean(), X, X, eps=0.5).nnz
    said = capsys.readouterr().err
    assert (
        f"balls of radius 0.5: 3000 points x 3000 candidates, {n_members} memberships "
        f"({n_members / 3000:.3g} per ball)\n"
    ) in said
    assert not re.search(r"\d s\b", said)
    model.set_params(verbose=0).fit(X, X[:, 0] > 0)
    assert capsys.readouterr().err == ""
