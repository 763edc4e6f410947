"""Metrics that are Euclidean distances of mapped rows answer as if all were computed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from protocover import PVMClassifier
from protocover._balls import build_balls, build_levels, nearest_in_groups
from protocover._balls.nearest import find_nearest
from protocover._exceptions import DissimilarityError
from protocover.dissimilarity import Metric
from protocover.dissimilarity import _mapped as mapped
from protocover.dissimilarity._euclidean import sums
from protocover.dissimilarity._euclidean.product import bracket
from protocover.dissimilarity._euclidean.sums import direct_squares


@pytest.fixture(autouse=True, scope="module")
def however_few():
    """Map however few the pairs are, so that small tests go the way of large data."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mapped, "_FEW_PAIRS", 0)
        patch.setattr(mapped, "_FEW_TERMS", 0)
        yield


def _inverse(rng, p, kind):
    """An inverse covariance: ordinary, of features that nearly repeat others, or rank one."""
    spread = {"ordinary": 1.0, "ill-conditioned": 1e-6, "singular": 0.0}[kind]
    factor = rng.normal(size=(p, 1)) + spread * rng.normal(size=(p, p))
    return factor @ factor.T


def _metric(rng, name, p, kind="ordinary"):
    if name == "seuclidean":
        return Metric(name, {"V": 10.0 ** rng.uniform(-6, 6, size=p)})
    if name == "mahalanobis":
        units = 10.0 ** rng.uniform(-4, 4, size=p)
        return Metric(name, {"VI": _inverse(rng, p, kind) * np.outer(units, units)})
    if name == "weighted":
        return Metric("minkowski", {"p": 2, "w": rng.choice([0.0, 1e-9, 1.0, 50.0], size=p)})
    return Metric(name)


NAMES = ["seuclidean", "mahalanobis", "weighted", "correlation", "minkowski", "nan_euclidean"]
KINDS = st.sampled_from(["ordinary", "ill-conditioned", "singular"])
TABLES = st.sampled_from(["noise", "offset", "grid", "constant column", "single precision"])
SCALES = st.sampled_from([1e-30, 1e-3, 1.0, 1e30])


def _table(rng, n, p, form):
    """Rows of one of the forms, the first of which come twice."""
    X = rng.normal(size=(n, p))
    if form == "offset":
        X += 1e4
    elif form == "grid":
        X = rng.integers(0, 3, size=(n, p)).astype(float)
        X[:, 0] += np.arange(n)  # no row is constant
    elif form == "constant column":
        X[:, -1] = 7.0
    elif form == "single precision":
        X = X.astype(np.float32)
    X[n // 2] = X[0]
    return X


def _case(seed, name, p, form, scale, kind):
    rng = np.random.default_rng(seed)
    p = max(p, 3)
    X = _table(rng, 14, p, form) * np.float32(scale)
    Z = X[:9] if seed % 2 else _table(rng, 9, p, form) * np.float32(scale)
    metric = _metric(rng, name, p, kind)
    if seed % 3 == 0 and name in ("seuclidean", "mahalanobis"):
        metric = Metric(name)  # learns its parameters
    return metric.fit(X), X, Z


def _table_of(metric, X, Z):
    """The table that decides, or None where the metric refuses these rows."""
    try:
        return metric.pairwise(X, Z)
    except DissimilarityError:
        return None


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.integers(1, 40), TABLES, SCALES, KINDS)
def test_what_the_metric_computes_lies_within_the_bracket(seed, name, p, form, scale, kind):
    metric, X, Z = _case(seed, name, p, form, scale, kind)
    table, found = _table_of(metric, X, Z), metric._mapped(X, Z)
    if table is None or found is None:
        return
    quick, left, right = found
    squares = 2.0 * table if name == "correlation" else table**2
    for eps in (None, 1e-9 * scale):
        near = bracket(left, right, eps=eps)
        lower = near.lower(slice(0, len(X)), slice(0, len(Z))).astype(float)
        upper = lower + 2.0 * (near.x_slack[:, None] + near.z_slack)
        assert (lower <= squares * near.scale**2).all()
        assert (squares * near.scale**2 <= upper).all()
    i, j = (part.ravel() for part in np.indices(table.shape))
    np.testing.assert_array_equal(quick._finish(direct_squares(left, right, i, j)), table.ravel())


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.integers(1, 40), TABLES, SCALES, KINDS)
def test_balls_are_those_of_the_table_at_every_distance_that_occurs(
    seed, name, p, form, scale, kind
):
    metric, X, Z = _case(seed, name, p, form, scale, kind)
    table = _table_of(metric, X, Z)
    if table is None:
        return
    radii = np.unique(table)[:: max(1, table.size // 12)]
    radii = radii[radii > 0.0]
    for eps in radii:
        for closed in (False, True):
            balls = build_balls(metric, X, Z, eps=float(eps), closed=closed)
            expected = table <= eps if closed else table < eps
            np.testing.assert_array_equal(balls.toarray(), expected)
    if len(radii):
        levels = build_levels(metric, X, Z, radii=radii, closed=True).toarray()
        first = np.searchsorted(radii, table, side="left")
        np.testing.assert_array_equal(levels, np.where(first < len(radii), first + 1, 0))


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(NAMES), st.integers(1, 40), TABLES, SCALES, KINDS)
def test_the_nearest_is_that_of_the_table(seed, name, p, form, scale, kind):
    metric, X, Z = _case(seed, name, p, form, scale, kind)
    table = _table_of(metric, X, Z)
    if table is None:
        return
    bounds = np.array([0, 4, 4, 9])
    own = np.random.default_rng(seed).uniform(0.5, 2.0, size=9) * max(table.max(), 1e-300)
    for radii in (None, own):
        index, distance = find_nearest(metric, X, Z, bounds=bounds, radii=radii)
        expected, nearest = nearest_in_groups(table, bounds, radii)
        np.testing.assert_array_equal(index, expected)
        np.testing.assert_array_equal(distance, nearest)


@pytest.mark.parametrize("name", NAMES)
def test_ordinary_data_are_mapped(name):
    """Otherwise all of the above would compare the table with itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20)) * 3.0 + 1.0
    for learned in (Metric(_metric(rng, name, 20).name), _metric(rng, name, 20)):
        found = learned.fit(X)._mapped(X, X)
        assert found is not None
        _, left, right = found
        assert right is left
        near = bracket(left, right)
        assert near.x_slack.max() < 2.0**-15, "so wide a bracket leaves all to the metric"


@pytest.mark.parametrize("waste", [1, 1 << 15])
@pytest.mark.parametrize("shape", [(1, 30), (30, 1), (17, 23), (23, 17), (2, 2)])
def test_pairs_get_their_own_distances_however_they_are_grouped(shape, waste, monkeypatch):
    monkeypatch.setattr(sums, "_TERMS_AT_ONCE", waste)
    rng = np.random.default_rng(1)
    X, Z = (rng.normal(size=(n, 5)) for n in shape)
    metric = Metric("seuclidean").fit(np.vstack((X, Z)))
    _, left, right = metric._mapped(X, Z)
    i, j = rng.integers(shape[0], size=60), rng.integers(shape[1], size=60)
    np.testing.assert_array_equal(left.distances(right, i, j), metric.pairwise(X, Z)[i, j])
    assert len(left.distances(right, i[:0], j[:0])) == 0


def _not_to_be_mapped():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 4))
    constant = X.copy()
    constant[3] = 0.25
    indefinite = {"VI": np.diag([1.0, 1.0, 1.0, -1.0])}
    return {
        "indefinite": (Metric("mahalanobis", indefinite), X),
        "no variance": (Metric("seuclidean", {"V": [1.0, 1.0, 0.0, 1.0]}), X),
        "negative variance": (Metric("seuclidean", {"V": [1.0, 1.0, -1.0, 1.0]}), X),
        "negative weight": (Metric("minkowski", {"p": 2, "w": [1.0, 1.0, -1.0, 1.0]}), X),
        "huge": (Metric("seuclidean", {"V": np.full(4, 1e300)}), X * 1e150),
        "tiny": (Metric("seuclidean", {"V": np.ones(4)}), X * 1e-200),
        "constant row": (Metric("correlation"), constant),
        "weighted correlation": (Metric("correlation", {"w": [1.0, 2.0, 3.0, 4.0]}), X),
        "another p": (Metric("minkowski", {"p": 3}), X),
        "another gap": (Metric("nan_euclidean", {"missing_values": -1.0}), X),
        "gaps": (Metric("nan_euclidean"), np.where(rng.random(X.shape) < 0.1, np.nan, X)),
        "cityblock": (Metric("cityblock"), X),
        "sparse": (Metric("cityblock"), csr_array(X)),
    }


REFUSED = {
    "indefinite": "'mahalanobis' gave NaN or infinity",
    "no variance": "'seuclidean' gave NaN or infinity",
    "negative variance": "'seuclidean' gave NaN or infinity",
    "negative weight": "weights should be all non-negative",
    "constant row": "'correlation' gave NaN or infinity",
}


@pytest.mark.parametrize("case", sorted(_not_to_be_mapped()))
def test_where_the_map_is_of_no_use_the_metric_itself_answers(case):
    metric, X = _not_to_be_mapped()[case]
    metric.fit(X)
    with np.errstate(all="ignore"):
        assert metric._mapped(X, X) is None
        if case in REFUSED:
            with pytest.raises(ValueError, match=REFUSED[case]):
                build_balls(metric, X, X, eps=1.0)
            return
    table = metric.pairwise(X, X)
    eps = float(np.median(table))
    balls = build_balls(metric, X, X, eps=eps, closed=True)
    np.testing.assert_array_equal(balls.toarray(), table <= eps)


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_the_same_with_and_without_the_map(name, monkeypatch):
    rng = np.random.default_rng(3)
    X = np.vstack((rng.normal(size=(60, 5)), rng.integers(0, 3, size=(60, 5)) + np.eye(5)[0]))
    X[:, 1] += np.linspace(0.0, 1.0, 120)
    y = rng.integers(0, 3, 120)
    metric = _metric(rng, name, 5)
    for radii in ("shared", "adaptive"):
        quick = PVMClassifier(eps="auto", metric=metric, radii=radii).fit(X, y)
        with monkeypatch.context() as patch:
            patch.setattr(Metric, "_mapped", lambda *_: None)
            slow = PVMClassifier(eps="auto", metric=metric, radii=radii).fit(X, y)
            expected = slow.decision_function(X)
        assert quick.eps_ == slow.eps_
        np.testing.assert_array_equal(quick.candidate_indices_, slow.candidate_indices_)
        np.testing.assert_array_equal(quick.decision_function(X), expected)


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis", "minkowski"])
def test_many_candidates_in_the_plane_have_the_same_balls(name):
    """Trees, which know nothing of the error of a map, are left to plain Euclidean distance."""
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(5000, 2)) @ [[1.0, 0.9], [0.0, 0.1]]
    metric = _metric(rng, name, 2).fit(Z)
    X = np.vstack((Z[:40], rng.normal(size=(20, 2))))
    table = metric.pairwise(X, Z)
    eps = float(np.sort(table, axis=None)[table.size // 500])
    for closed in (False, True):
        balls = build_balls(metric, X, Z, eps=eps, closed=closed)
        np.testing.assert_array_equal(balls.toarray(), table <= eps if closed else table < eps)
    index, distance = find_nearest(metric, X, Z, bounds=np.array([0, 5000]))
    np.testing.assert_array_equal(index[:, 0], table.argmin(axis=1))
    np.testing.assert_array_equal(distance[:, 0], table.min(axis=1))
