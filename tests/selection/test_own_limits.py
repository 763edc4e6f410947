"""Balls of several limits and parts from one pass, and what is not looked at for them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protocover._balls import OrderedMembers
from protocover._selection.adaptive_radii import find_adaptive_balls
from protocover._selection.training import TrainingSubset, prepare_training
from protocover.dissimilarity._euclidean.product import ProductPairs


def prepared(points, y, weights, metric="precomputed"):
    return prepare_training(
        cdist(points, points) if metric == "precomputed" else points,
        y,
        weights,
        metric=metric,
        metric_params=None,
        candidates="train",
        rng=np.random.default_rng(0),
        cross_class=False,
    )


def limited(training, part, limits, *, closed):
    (found,) = find_adaptive_balls(
        training,
        [part],
        limits=np.array(limits),
        closed=closed,
        least_cost=0.1,
        n_jobs=1,
        verbose=0,
    )
    return found


def assert_same_problems(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.problem.parts.toarray(), b.problem.parts.toarray())
        for name in ("wrong", "prize", "first"):
            np.testing.assert_array_equal(getattr(a.problem, name), getattr(b.problem, name))
        for name in ("candidate", "radius", "covered", "miscovered"):
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


def almost_tied(seed, n=60):
    """Points in many dimensions, of which several are as far from each other but for a hair."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, (n, 24)) + rng.choice([0.0, 1e-8, 1e-6], (n, 24))
    return points, rng.integers(0, 3, n), rng.uniform(0.1, 1.0, n)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_an_order_that_is_open_is_settled_in_every_part(seed, weighted, closed):
    points, y, weights = almost_tied(seed)
    weights = weights if weighted else np.ones(len(y))
    rng = np.random.default_rng(seed)
    whole = prepared(points, y, None, "euclidean")
    folds = [np.flatnonzero(rng.random(len(y)) < share) for share in (0.9, 0.9, 0.3)]
    limits = [1.0, 3.0, 3.5, np.inf]
    found = find_adaptive_balls(
        whole,
        [TrainingSubset.of_rows(whole, rows, weights[rows]) for rows in folds],
        limits=np.array(limits),
        closed=closed,
        least_cost=0.1,
        n_jobs=1,
        verbose=0,
    )
    for rows, together in zip(folds, found, strict=True):
        alone = prepared(points[rows], y[rows], weights[rows])
        for k, limit in enumerate(limits):
            expected = limited(alone, TrainingSubset.whole(alone), [limit], closed=closed)
            assert_same_problems(together.problems(k), expected.problems(0))


def count_calls(monkeypatch, owner, name):
    """Return a list that grows with every call of a method."""
    calls, original = [], getattr(owner, name)
    monkeypatch.setattr(
        owner, name, lambda *args, **kwargs: calls.append(1) or original(*args, **kwargs)
    )
    return calls


def test_a_pair_is_measured_once_and_only_if_that_decides_something(monkeypatch):
    points, y = np.random.default_rng(0).normal(size=(300, 40)), np.arange(300) % 3
    measured = []
    original = ProductPairs.exact

    def counted(self, at, to):
        measured.extend(zip(at.tolist(), to.tolist(), strict=True))
        return original(self, at, to)

    monkeypatch.setattr(ProductPairs, "exact", counted)
    settled = count_calls(monkeypatch, OrderedMembers, "settled")
    blocks = count_calls(monkeypatch, OrderedMembers, "remembering")
    whole = prepared(points, y, None, "euclidean")
    parts = [TrainingSubset.of_rows(whole, np.flatnonzero(y != k), np.ones(200)) for k in range(3)]
    limits = np.array([7.0, 8.0, 9.0, np.inf])
    find_adaptive_balls(
        whole, parts, limits=limits, closed=False, least_cost=0.1, n_jobs=1, verbose=0
    )
    assert len(settled) == len(blocks)  # nothing was left to settle in a part
    assert 0 < len(set(measured)) < 0.3 * 300**2
    assert len(measured) < 1.2 * len(set(measured))
