import sys
from dataclasses import fields

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import relative_to

X, Y = load_iris(return_X_y=True)
QUERIES = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(40, 4))


@pytest.mark.parametrize("closed", [False, True])
def test_it_names_the_nearest_prototype_and_that_of_the_runner_up(closed):
    model = PVMClassifier(eps=0.9, closed_ball=closed, **PAPER).fit(X, Y)
    why = model.explain(QUERIES)
    D = cdist(QUERIES, model.prototypes_)
    for i in range(len(why)):
        nearest = D[i].argmin()
        assert why.prototype[i] == nearest
        assert why.label[i] == model.prototype_labels_[nearest]
        assert why.distance[i] == D[i, nearest]
        assert why.inside[i] == (D[i, nearest] <= 0.9 if closed else D[i, nearest] < 0.9)
        others = np.where(model.prototype_labels_ == why.label[i], np.inf, D[i])
        assert why.runner_up_prototype[i] == others.argmin()
        assert why.runner_up_label[i] == model.prototype_labels_[others.argmin()]
        assert why.runner_up_distance[i] == others.min()
        assert why.margin[i] == others.min() - D[i].min() >= 0
    np.testing.assert_array_equal(why.label, model.predict(QUERIES))
    assert 0 < why.inside.sum() < len(why)


def test_a_training_point_on_the_sphere_is_judged_as_in_fit():
    """At distance eps exactly it is in no open ball, neither in fit nor in explain."""
    data = np.array([[0.0], [0.1], [0.2], [0.30000000000000004]])
    model = PVMClassifier(eps=0.1, candidates=data[:1], prototype_cost=0.0, **PAPER).fit(
        data, [0] * 4
    )
    assert model.newly_covered_count_.tolist() == [1]
    assert model.explain(data).inside.tolist() == [True, False, False, False]


def test_it_becomes_a_data_frame():
    pytest.importorskip("pandas")
    why = PVMClassifier(eps=1.0, **PAPER).fit(X, Y).explain(QUERIES[:3])
    frame, every = why.to_frame(index=["p", "q", "r"]), why.to_frame(all=True)
    assert frame.index.tolist() == ["p", "q", "r"]
    main = ["label", "prototype", "row", "distance", "runner_up_label", "margin"]
    assert frame.columns.tolist() == main
    names = [field.name for field in fields(why)]
    assert every.columns.tolist() == names[: names.index("contributions")]
    for name in every:
        np.testing.assert_array_equal(every[name], getattr(why, name))


def test_it_names_the_row_of_the_deciding_prototype_in_the_training_data():
    """As it was given: points of weight zero are counted, other candidates are not there."""
    weights = np.arange(len(X)) % 3 > 0
    model = PVMClassifier(eps=0.9, **PAPER).fit(X, Y, weights)
    why = model.explain(QUERIES)
    np.testing.assert_array_equal(X[why.row], model.prototypes_[why.prototype])
    means = np.array([X[label == Y].mean(axis=0) for label in range(3)])
    mixed = PVMClassifier(eps=0.9, candidates=["train", means], solver="greedy", **PAPER).fit(X, Y)
    why = mixed.explain(np.vstack([X, means]))
    sources = mixed.prototype_sources_[why.prototype]
    assert set(sources) == {"train", "given"}
    np.testing.assert_array_equal(why.row >= 0, sources == "train")
    real = sources == "train"
    np.testing.assert_array_equal(X[why.row[real]], mixed.prototypes_[why.prototype[real]])


def test_without_pandas_it_says_what_to_install(monkeypatch):
    why = PVMClassifier(eps=1.0, **PAPER).fit(X, Y).explain(QUERIES)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        why.to_frame()


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock", "precomputed"])
@pytest.mark.parametrize("n_classes", [1, 2, 5])
def test_ties_go_to_the_class_first_in_order(radii, metric, n_classes):
    """Whole numbers have many; nothing else decides but what the distances are ranked by."""
    rng = np.random.default_rng(n_classes)
    data, queries = rng.integers(-1, 3, (60, 2)).astype(float), rng.integers(-1, 3, (500, 2))
    y = np.array(list("edcba"))[(data @ (1, 3)).astype(int) % n_classes]
    if metric == "precomputed":
        data, queries = cdist(data, data), cdist(queries, data)
    eps = 0.05 if metric == "cosine" else 0.7
    model = PVMClassifier(eps=eps, metric=metric, radii=radii, prototype_cost=0.0).fit(data, y)
    assert len(model.prototypes_) > n_classes
    D, labels = model.transform(queries), model.prototype_labels_
    ranks = D if radii == "shared" else relative_to(model.prototype_radii_, D)
    places = naive.nearest_two(ranks, labels)
    why = model.explain(queries)
    np.testing.assert_array_equal([why.prototype, why.runner_up_prototype], places)
    every = np.arange(len(D))
    np.testing.assert_array_equal(why.label, labels[places[0]])
    np.testing.assert_array_equal(why.distance, D[every, places[0]])
    if n_classes == 1:
        np.testing.assert_array_equal(why.runner_up_label, why.label)
        assert np.isnan(why.runner_up_radius).all()
        assert np.isposinf([why.runner_up_distance, why.runner_up_relative_distance]).all()
    else:
        np.testing.assert_array_equal(why.runner_up_label, labels[places[1]])
        np.testing.assert_array_equal(why.runner_up_distance, D[every, places[1]])
        np.testing.assert_array_equal(why.runner_up_radius, model.prototype_radii_[places[1]])
        np.testing.assert_array_equal(
            why.margin, ranks[every, places[1]] - ranks[every, places[0]]
        )
