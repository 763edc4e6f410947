"""Values of `decision_function`: finite, and the largest is the answer of `predict`."""

import warnings

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier, find_label_issues
from protocover._exceptions import NoPrototypesError
from protocover.dissimilarity import DANN, RankDissimilarity

X, Y = load_iris(return_X_y=True)


def answers(model, queries):
    """The classes that the decision values stand for."""
    values = model.decision_function(queries)
    assert np.isfinite(values).all()
    chosen = (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
    return model.classes_[chosen]


@pytest.mark.parametrize("seed", range(5))
def test_the_largest_value_is_the_answer_also_in_ties(seed):
    """On a small grid of whole numbers most queries are as near to two prototypes."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    points, y = rng.integers(5, size=(40, 2)).astype(float), rng.integers(n_classes, size=40)
    y[:n_classes] = range(n_classes)
    queries = rng.integers(-1, 7, size=(80, 2)) / 2.0
    budget = {int(k): int(rng.integers(3)) for k in range(n_classes)}
    for metric in ("euclidean", "cityblock"):
        model = PVMClassifier(eps=1.1, metric=metric, max_prototypes=budget, **PAPER).fit(
            points, y
        )
        if len(model.prototype_labels_):
            np.testing.assert_array_equal(answers(model, queries), model.predict(queries))


def test_a_class_without_prototypes_counts_as_a_radius_beyond_the_farthest():
    data, y = np.array([[0.0], [10.0], [20.0]]), ["a", "b", "c"]
    model = PVMClassifier(eps=1.5, max_prototypes={"b": 0}, **PAPER).fit(data, y)
    values = model.decision_function([[4.0], [19.0]])
    np.testing.assert_array_equal(values, [[-4.0, -17.5, -16.0], [-19.0, -20.5, -1.0]])
    two = PVMClassifier(eps=1.5, max_prototypes={"a": 0}, **PAPER).fit(data[:2], y[:2])
    assert two.decision_function([[4.0], [1e9]]).tolist() == [1.5, 1.5]
    other = PVMClassifier(eps=1.5, max_prototypes={"b": 0}, **PAPER).fit(data[:2], y[:2])
    assert other.decision_function([[4.0], [1e9]]).tolist() == [-1.5, -1.5]


@pytest.mark.parametrize("far", [1e20, 1e307])
def test_the_missing_class_stays_last_however_large_the_distances(far):
    table = np.array([[far, far], [0.0, far], [far, 0.0]])
    model = PVMClassifier(eps=1.0, metric="precomputed", max_prototypes={0: 0}, **PAPER)
    model.fit(table, [0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answers(model, [[far, far], [1.7e308, 1.0]]).tolist() == [1, 2]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("classes", [(0, 1), (0, 1, 2)])
@pytest.mark.parametrize("missing", [False, True])
def test_values_can_be_calibrated(method, classes, missing):
    """Also where a class has no prototypes, as one too expensive for its few points."""
    rows = np.isin(Y, classes)
    budget = {1: 0} if missing else None
    model = CalibratedClassifierCV(
        PVMClassifier(eps=1.0, max_prototypes=budget, **PAPER), method=method, cv=3
    )
    model.fit(X[rows], Y[rows])
    shares = model.predict_proba(X[rows])
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    if not missing:
        assert model.score(X[rows], Y[rows]) > 0.9


METRICS = {
    "euclidean": "euclidean",
    "cosine": "cosine",
    "cityblock": "cityblock",
    "rank": RankDissimilarity(),
    "DANN": DANN(),
}


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_without_prototypes_every_method_answers_if_there_is_an_outlier_label(name, n_classes):
    model = PVMClassifier(
        eps=0.5, metric=METRICS[name], max_prototypes=0, outlier_label=-1, **PAPER
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X[n_classes > Y], Y[n_classes > Y])
        assert model.predict(X[:4]).tolist() == [-1] * 4
        values, why = model.decision_function(X[:4]), model.explain(X[:4])
        assert values.shape == ((4,) if n_classes == 2 else (4, n_classes))
        assert not values.any()
        assert model.transform(X[:4]).shape == (4, 0)
        assert not model.coverage(X, Y).covered.any()
    assert why.label.tolist() == why.runner_up_label.tolist() == [-1] * 4
    assert why.prototype.tolist() == why.runner_up_prototype.tolist() == [-1] * 4
    assert np.isinf(why.distance).all()
    assert np.isinf(why.runner_up_distance).all()
    assert not why.inside.any()
    assert not why.margin.any()
    with pytest.raises(
        NoPrototypesError, match=r"max_prototypes=0 allows .*; raise max_prototypes"
    ):
        find_label_issues(model, X[n_classes > Y], Y[n_classes > Y], refit=False)


def test_the_label_of_an_explanation_is_that_of_the_nearest_prototype():
    model = PVMClassifier(eps=1.0, outlier_label=-1, **PAPER).fit(X, Y)
    far = [[50.0, 0.0, 0.0, 0.0]]
    assert model.predict(far).tolist() == [-1]
    why = model.explain(far)
    assert why.label.tolist() == model.prototype_labels_[why.prototype].tolist()
    assert not why.inside.any()
