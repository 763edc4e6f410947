"""Members nearest first, told by bounds, against all distances sorted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from protocover._balls import balls_of_radii, ordered, ordered_members
from protocover.dissimilarity import Cosine, Euclidean, Metric, Precomputed, SquaredEuclidean

METRICS = {
    "euclidean": Euclidean(),
    "squared": SquaredEuclidean(),
    "cosine": Cosine(),
    "generic": Metric("cityblock"),
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)


def points(n=120, p=30, seed=0):
    """Points some of which are duplicates, others far nearer to one another than to the rest."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    X[::7] = X[rng.integers(n, size=len(X[::7]))]
    X[1::9] = X[0] + 1e-4 * rng.normal(size=X[1::9].shape)
    return X


def together(metric, X, Z, **asked):
    """All members, the distances in their order, and whether the next is in doubt."""
    parts = list(ordered_members(metric.fit(X), X, Z, lambda members: members, **asked))
    candidate = np.concatenate([part.candidate for part in parts])
    point = np.concatenate([part.point for part in parts])
    undecided = np.concatenate([part.open for part in parts])
    distance = np.concatenate([part.distances(np.arange(len(part.point))) for part in parts])
    return candidate, point, distance, undecided


def test_single_precision_leaves_little_in_doubt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)).astype(np.float32)
    *_, undecided = together(Euclidean(), X, X, eps=np.inf)
    assert 0 < undecided.mean() < 0.15


def test_members_in_doubt_are_put_in_order_where_asked():
    X = points()
    for members in ordered_members(Euclidean(), X, X, lambda members: members, eps=np.inf):
        settled = members.settled(np.arange(len(members.group_end)))
        distance = settled.distances(np.arange(len(settled.point)))
        same = settled.candidate[1:] == settled.candidate[:-1]
        assert (np.diff(distance)[same] >= 0.0).all()
        np.testing.assert_array_equal(settled.open[:-1], same & (distance[1:] == distance[:-1]))


@every_metric
def test_half_of_the_pairs_tells_all_members(metric, monkeypatch):
    X = points()
    monkeypatch.setattr(ordered, "_LEAST_COLUMNS", 1)
    monkeypatch.setattr(ordered, "STRIP_MEMBERS", 1000)
    found = {}
    for held in (0, 1 << 30):
        monkeypatch.setattr(ordered, "_MOST_BYTES", held)
        candidate, point, distance, _ = together(metric, X, X, eps=np.inf, n_jobs=2)
        order = np.lexsort((point, candidate))
        found[held] = candidate[order], point[order], distance[order]
    for one, other in zip(*found.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_each_pair_of_a_symmetric_dissimilarity_is_computed_about_once(monkeypatch):
    counted = []

    class Counted(Metric):
        def pairwise(self, A, B):
            counted.append(len(A) * len(B))
            return super().pairwise(A, B)

    X = points(600)
    monkeypatch.setattr(ordered, "_LEAST_COLUMNS", 50)
    monkeypatch.setattr(ordered, "STRIP_MEMBERS", 1)
    list(ordered_members(Counted("cityblock").fit(X), X, X, id, eps=np.inf))
    sample = 3 * 8 * 600
    assert sum(counted) - sample == 50 * 600 * sum(k + 1 for k in range(12)) // 12
    counted.clear()
    list(ordered_members(Counted("cityblock").fit(X), X, X.copy(), id, eps=np.inf))
    assert sum(counted) - sample == 600 * 600


@pytest.mark.parametrize("closed", [False, True])
def test_balls_of_given_radii_end_among_points_almost_equally_far(closed):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    X *= (1.0 + 1e-9 * rng.random((80, 1))) / np.linalg.norm(X, axis=1, keepdims=True)
    Z = np.zeros((20, 5))
    D = Euclidean().pairwise(X, Z)
    radii = np.sort(D[:, 0])[::4]
    found = balls_of_radii(Euclidean(), X, Z, radii=radii, closed=closed)
    np.testing.assert_array_equal(found.toarray(), naive.members(D, radii, closed))


@settings(max_examples=50)
@given(st.integers(1, 12), st.integers(1, 5), st.booleans(), st.integers(0, 2**32 - 1))
def test_balls_of_given_radii_are_right_where_ties_abound(n, m, closed, seed):
    rng = np.random.default_rng(seed)
    X, Z = rng.integers(0, 3, (n, 2)).astype(float), rng.integers(0, 3, (m, 2)).astype(float)
    D = Euclidean().pairwise(X, Z)
    radii = rng.choice([0.0, 1.0, np.sqrt(2.0), 1.5, 3.0], size=m)
    for metric, A, B in ((Euclidean(), X, Z), (Precomputed().fit(D), D, np.arange(m))):
        found = balls_of_radii(metric, A, B, radii=radii, closed=closed)
        np.testing.assert_array_equal(found.toarray(), naive.members(D, radii, closed))
