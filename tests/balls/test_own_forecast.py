"""The memory that per-prototype radii are expected to take is about what they take."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest

from protocover import CoverMemoryWarning, PVMClassifier
from protocover._balls import forecast as adaptive_forecast
from protocover._balls import ordered_members
from protocover._balls.forecast import measure_own
from protocover._selection.adaptive_radii import CandidateBalls, Rules, join_balls
from protocover.dissimilarity import Euclidean


def mixture(n):
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=n)
    return 1.2 * rng.normal(size=(4, 6))[y] + rng.normal(size=(n, 6)), y


def rules_for(y, eps):
    return Rules(y, np.ones(len(y)), int(y.max()) + 1, 1.0, eps, False, y)


def forecast(X, y, eps):
    def keep(candidates):
        rules = rules_for(y, eps).among(candidates)

        def count(members):
            balls = CandidateBalls.of(members, rules)
            return len(balls.radius), len(balls.point)

        return count

    rng = np.random.default_rng(1)
    return measure_own(Euclidean(), X, X, keep, eps=eps, closed=False, rng=rng, n_jobs=1)


@pytest.mark.parametrize("eps", [1.5, 3.0, np.inf])
def test_memberships_and_what_is_kept_of_them_are_those_then_found(eps):
    X, y = mixture(1500)
    rules, found = rules_for(y, eps), []

    def take(members):
        found.append(len(members.point))
        return CandidateBalls.of(members, rules)

    balls = list(ordered_members(Euclidean(), X, X, take, eps=eps))
    told = forecast(X, y, eps)
    assert 1 / 1.5 < told.memberships / sum(found) < 1.5
    assert 1 / 1.5 < told.kept / sum(len(some.point) for some in balls) < 1.5
    assert len(list(join_balls(balls, rules, prototype_cost=1.0))) == 4


@pytest.mark.parametrize("eps", [2.5, np.inf])
def test_memory_told_beforehand_is_about_that_then_used(eps):
    X, y = mixture(4000)
    told = forecast(X, y, eps)
    limit = None if np.isinf(eps) else eps
    tracemalloc.start()
    PVMClassifier(eps=limit, radii="adaptive", prototype_cost=1.0, n_jobs=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 1 / 1.5 < told.n_bytes / peak < 1.5


def test_fit_warns_before_it_runs_out_of_memory(monkeypatch):
    X, y = mixture(1500)
    monkeypatch.setattr(adaptive_forecast, "available_memory", lambda: 1_000_000)
    with pytest.warns(
        CoverMemoryWarning,
        match=r"per-prototype radii without a limit are expected to keep \S+ memberships and to "
        r"need \S+ GB, but 0\.0 GB are available; a smaller eps, fewer candidates or a higher",
    ):
        PVMClassifier(eps=None, radii="adaptive").fit(X, y)
    with pytest.warns(CoverMemoryWarning, match=r"radii up to 2\.5 are expected"):
        PVMClassifier(eps=2.5, radii="adaptive").fit(X, y)


@pytest.mark.filterwarnings("error")
def test_fit_says_nothing_where_it_fits(monkeypatch):
    """All pairs together would not, but most of them are not kept."""
    X, y = mixture(1500)
    for available in (None, 20_000_000):
        monkeypatch.setattr(adaptive_forecast, "available_memory", lambda free=available: free)
        PVMClassifier(eps=0.5, radii="adaptive").fit(X, y)


def test_verbose_says_what_was_found_and_promises_no_time(capsys):
    X, y = mixture(1500)
    PVMClassifier(eps=2.5, radii="adaptive", verbose=1).fit(X, y)
    said = capsys.readouterr().err
    assert re.search(
        r"per-prototype radii up to 2\.5: 1500 points x 1500 candidates, \d+ balls that may be "
        r"chosen, with \d+ memberships\n",
        said,
    )
    assert not re.search(r"\d s\b", said)
    PVMClassifier(eps=2.5, radii="adaptive").fit(X, y)
    assert capsys.readouterr().err == ""
