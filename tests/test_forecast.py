import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from protocover import CoverMemoryWarning, PVMClassifier
from protocover import forecast as forecast_module
from protocover.dissimilarity import Euclidean
from protocover.forecast import BYTES_PER_MEMBERSHIP, foretell

X = np.random.default_rng(0).normal(size=(3000, 2))


def test_a_sample_tells_the_number_of_memberships():
    rng = np.random.default_rng(1)
    for eps in (0.1, 0.5, 2.0):
        forecast = foretell(Euclidean(), X, X, eps=eps, rng=rng)
        actual = 2 * (pdist(X) < eps).sum() + len(X)
        assert 1 / 1.5 < forecast.memberships / actual < 1.5


def test_the_radius_it_names_is_expected_to_fit():
    forecast = foretell(Euclidean(), X, X, eps=2.0, rng=np.random.default_rng(2))
    budget = 10_000_000
    eps = forecast.eps_within(budget)
    needed = (2 * (pdist(X) < eps).sum() + len(X)) * BYTES_PER_MEMBERSHIP
    assert 0.7 * budget < needed < 1.3 * budget


def test_fit_warns_before_building_what_will_not_fit(monkeypatch):
    monkeypatch.setattr(forecast_module, "available_memory", lambda: 10_000_000)
    with pytest.warns(
        CoverMemoryWarning, match=r"GB are available; eps=0\.\d+ is expected to fit"
    ):
        PVMClassifier(2.0).fit(X, X[:, 0] > 0)


def test_fit_says_nothing_where_it_fits(monkeypatch):
    for available in (10_000_000_000, None):
        monkeypatch.setattr(forecast_module, "available_memory", lambda: available)  # noqa: B023
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            PVMClassifier(0.2).fit(X, X[:, 0] > 0)
