"""`to_knn` gives scikit-learn's nearest neighbour with our answers, ties and all."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier
from protocover.dissimilarity import KernelDistance

X, Y = load_iris(return_X_y=True)
QUERIES = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(300, 4))
OF_NUMBERS = {
    "euclidean": None,
    "l2": None,
    "sqeuclidean": None,
    "cityblock": None,
    "manhattan": None,
    "chebyshev": None,
    "minkowski": {"p": 3},
    "minkowski, weighted": {"p": 1.5, "w": np.array([1.0, 2.0, 0.5, 1.0])},
    "minkowski, no metric": {"p": 0.5},
    "seuclidean": None,
    "mahalanobis": None,
    "canberra": None,
    "braycurtis": None,
    "cosine": None,
    "correlation": None,
    "nan_euclidean": None,
}


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_the_answers_are_ours(name):
    model = PVMClassifier(metric=name.partition(",")[0], metric_params=OF_NUMBERS[name], **PAPER)
    model.fit(X, Y)
    knn = model.to_knn()
    assert knn.n_neighbors == 1
    np.testing.assert_array_equal(knn.predict(QUERIES), model.predict(QUERIES))


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cityblock", "chebyshev"])
@pytest.mark.parametrize("seed", range(3))
def test_ties_go_to_the_class_that_comes_first(metric, seed):
    """Whole numbers, weighted so that the classes do not take turns in their order."""
    rng = np.random.default_rng(seed)
    rows = np.unique(rng.integers(0, 8, size=(40, 2)), axis=0).astype(float)
    y, weights = rng.choice(list("zabq"), size=len(rows)), rng.integers(1, 99, size=len(rows))
    model = PVMClassifier(eps=1.0, metric=metric, **PAPER).fit(rows, y, sample_weight=weights)
    queries = rng.integers(0, 16, size=(400, 2)) / 2.0
    assert ties(model, queries) > 50
    np.testing.assert_array_equal(model.to_knn().predict(queries), model.predict(queries))


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "cityblock"])
def test_sparse_rows(metric):
    rng = np.random.default_rng(4)
    rows = rng.random((90, 12)) * (rng.random((90, 12)) < 0.4)
    model = PVMClassifier(metric=metric, **PAPER).fit(csr_array(rows), rng.integers(0, 3, size=90))
    queries = csr_array(rng.random((200, 12)) * (rng.random((200, 12)) < 0.4))
    np.testing.assert_array_equal(model.to_knn().predict(queries), model.predict(queries))


def test_distances_are_measured_one_by_one_far_from_the_origin():
    """A matrix product would find hardly any of these neighbours."""
    far = X + 1e8
    model = PVMClassifier(**PAPER).fit(far, Y)
    np.testing.assert_array_equal(model.to_knn().predict(far), model.predict(far))


def test_one_class_and_one_prototype():
    model = PVMClassifier(eps=100.0, **PAPER).fit(X, np.full(150, "only"))
    assert model.to_knn().predict(QUERIES[:3]).tolist() == ["only"] * 3


def refusal(model, *data):
    with pytest.raises(ValueError, match="to_knn") as error:
        model.fit(*data).to_knn()
    return str(error.value)


def test_radii_of_their_own_are_refused():
    assert refusal(PVMClassifier(radii="adaptive"), X, Y) == (
        "to_knn() needs prototypes of one radius, got radii='adaptive', where distances count in "
        "multiples of each one's radius; fit with radii='shared', or keep the model with "
        "protocover.save_model"
    )


def test_outlier_labels_are_refused():
    assert refusal(PVMClassifier(outlier_label="most_frequent", **PAPER), X, Y) == (
        "to_knn() needs outlier_label=None, got 'most_frequent': a nearest neighbour has no "
        "answer for queries in no ball; fit without outlier_label, or keep the model with "
        "protocover.save_model"
    )


@pytest.mark.parametrize(
    ("metric", "got"),
    [
        (KernelDistance("rbf"), "KernelDistance"),
        ("jensenshannon", "jensenshannon"),
        (lambda a, b: abs(a - b).sum(), "Function"),
        ("precomputed", "Precomputed"),
    ],
)
def test_dissimilarities_that_neighbors_lack_are_refused(metric, got):
    data = abs(X[:, None] - X).sum(axis=2) if metric == "precomputed" else X
    assert refusal(PVMClassifier(metric=metric, **PAPER), data, Y) == (
        "to_knn() needs a metric of scikit-learn's neighbours, such as 'euclidean', 'cityblock' "
        f"or 'cosine', got '{got}'; protocover.save_model keeps any model"
    )


@pytest.mark.parametrize(
    ("metric", "params"),
    [("cityblock", {"w": np.ones(4)}), ("minkowski", {"p": np.inf, "w": np.ones(4)})],
)
def test_weights_that_neighbors_lack_are_refused(metric, params):
    assert refusal(PVMClassifier(metric=metric, metric_params=params, **PAPER), X, Y) == (
        f"to_knn() has no place for w among metric_params of '{metric}'; put the weights into "
        "the columns of X instead, or keep the model with protocover.save_model"
    )


def test_nothing_to_be_near_to():
    model = PVMClassifier(eps=1.0, max_prototypes=0, outlier_label=0, **PAPER).fit(X, Y)
    with pytest.raises(NoPrototypesError, match="there is no neighbour to be the nearest"):
        model.to_knn()


def ties(model, queries):
    """Count the queries that are as near to prototypes of several classes."""
    distances = model.transform(queries)
    nearest = distances == distances.min(axis=1, keepdims=True)
    classes = model.prototype_labels_[:, None] == model.classes_
    return int(((nearest @ classes).sum(axis=1) > 1).sum())
