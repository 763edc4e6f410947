"""Which labelled points lie in which prototype's ball, against counting them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import DANN, RankDissimilarity


@pytest.fixture
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def test_balls_hold_the_points_within_eps_of_each_prototype(iris):
    """Columns follow the order of selection, not the classes."""
    X, y = iris
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    assert np.array_equal(held.balls.toarray(), cdist(X, model.prototypes_) < 0.8)
    for k, z in enumerate(model.prototypes_):
        assert np.array_equal(held.members(k), np.flatnonzero(cdist(X, [z])[:, 0] < 0.8))


def test_counts_are_those_of_the_fit(iris):
    """Summed over points, what fit said of each prototype."""
    X, y = iris
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    assert held.covered.sum() == model.newly_covered_count_.sum()
    assert held.other_count.sum() == model.miscovered_count_.sum()
    of_class = y[:, None] == model.prototype_labels_
    balls = held.balls.toarray()
    assert (balls & of_class).sum(axis=0).tolist() == model.covered_count_.tolist()
    assert (balls & ~of_class).sum(axis=0).tolist() == model.miscovered_count_.tolist()
    uncovered = len(y) - held.covered.sum()
    cost = model.prototype_cost_ * len(model.prototypes_)
    assert model.objective_ == pytest.approx(uncovered + held.other_count.sum() + cost)


def test_own_and_other_counts_by_point(iris):
    X, y = iris
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    for i in (0, 70, 106, 149):
        inside = model.prototype_labels_[cdist(X[[i]], model.prototypes_)[0] < 0.8]
        assert held.own_count[i] == np.sum(inside == y[i])
        assert held.other_count[i] == np.sum(inside != y[i])


def test_classes_and_confusion_by_counting(iris):
    X, y = iris
    model = PVMClassifier(eps=1.2, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    table, confusion = held.by_class(), held.confusion()
    inside = cdist(X, model.prototypes_) < 1.2
    for r, label in enumerate(model.classes_):
        own = model.prototype_labels_ == label
        mine = y == label
        assert table["class"][r] == label
        assert table["points"][r] == mine.sum()
        assert table["prototypes"][r] == own.sum()
        assert table["covered"][r] == inside[np.ix_(mine, own)].any(axis=1).sum()
        assert table["wrongly_covered"][r] == inside[np.ix_(mine, ~own)].any(axis=1).sum()
        for c, other in enumerate(model.classes_):
            theirs = model.prototype_labels_ == other
            assert confusion[r, c] == inside[np.ix_(mine, theirs)].any(axis=1).sum()


@pytest.mark.parametrize("closed", [False, True])
def test_a_point_at_eps_exactly_follows_the_balls(closed):
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]
    model = PVMClassifier(eps=1.0, closed_ball=closed, **PAPER).fit(X, y)
    held = model.coverage(X[:2], y[:2])
    assert held.balls.sum() == (2 if not closed else np.sum(cdist(X[:2], model.prototypes_) <= 1))


@pytest.mark.parametrize("metric", [DANN(), RankDissimilarity()], ids=["DANN", "rank"])
def test_a_metric_cut_down_to_the_prototypes_gives_the_counts_of_its_fit(iris, metric):
    X, y = iris
    model = PVMClassifier(eps=5.0, metric=metric, **PAPER).fit(X, y)
    assert model.coverage(X, y).covered.sum() == model.newly_covered_count_.sum()


def test_without_prototypes_nothing_is_covered():
    X, y = np.array([[0.0], [1.0], [5.0]]), [0, 0, 1]
    model = PVMClassifier(eps=0.5, prototype_cost=10.0, outlier_label=-1, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    assert held.balls.shape == (3, 0)
    assert not held.covered.any()
    assert held.confusion().sum() == 0


def test_totals_are_counts_of_the_balls():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.choice(list("abc"), 60)
    model = PVMClassifier(eps=0.7, **PAPER).fit(X, y)
    held = model.coverage(X, y)
    totals = held.totals()
    assert totals.n_points == 60
    assert totals.n_covered == held.covered.sum()
    for name, counts in held.by_class().items():
        np.testing.assert_array_equal(totals.by_class[name], counts)
    np.testing.assert_array_equal(totals.confusion, held.confusion())
    same = y[:, None] == model.prototype_labels_
    balls = held.balls.toarray()
    np.testing.assert_array_equal(totals.own, (balls & same).sum(axis=0))
    np.testing.assert_array_equal(totals.others, (balls & ~same).sum(axis=0))
    np.testing.assert_array_equal(totals.others, model.miscovered_count_)
