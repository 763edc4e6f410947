import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from protocover import PVMClassifier, PVMSelector

X, Y = load_iris(return_X_y=True)


def test_it_returns_the_prototypes_of_the_classifier():
    selector = PVMSelector(0.8, n_prototypes=6)
    X_few, y_few = selector.fit_resample(X, Y)
    model = PVMClassifier(0.8, n_prototypes=6).fit(X, Y)
    np.testing.assert_array_equal(selector.sample_indices_, model.prototype_indices_)
    np.testing.assert_array_equal(X_few, model.prototypes_)
    np.testing.assert_array_equal(y_few, model.prototype_labels_)


def test_nearest_neighbour_on_what_is_left_is_the_machine():
    queries = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(60, 4))
    nearest = KNeighborsClassifier(1).fit(*PVMSelector(0.8).fit_resample(X, Y))
    np.testing.assert_array_equal(
        nearest.predict(queries), PVMClassifier(0.8).fit(X, Y).predict(queries)
    )


def test_frames_stay_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"), index=np.arange(len(X)) + 1000)
    labels = pd.Series(Y, index=frame.index, name="kind")
    selector = PVMSelector(0.8)
    X_few, y_few = selector.fit_resample(frame, labels)
    assert X_few.columns.tolist() == list("abcd")
    assert X_few.index.tolist() == (selector.sample_indices_ + 1000).tolist()
    assert y_few.name == "kind"
    assert y_few.index.equals(X_few.index)


def test_it_stands_in_imbalanced_learn_s_pipelines():
    pipeline_module = pytest.importorskip("imblearn.pipeline")
    pipeline = pipeline_module.make_pipeline(PVMSelector(0.8), KNeighborsClassifier(1))
    pipeline.fit(X, Y)
    expected = PVMClassifier(0.8).fit(X, Y).predict(X)
    np.testing.assert_array_equal(pipeline.predict(X), expected)
    assert clone(pipeline).fit(X, Y).score(X, Y) > 0.9


def test_weights_are_taken_into_account():
    weights = np.where(Y == 0, 0.0, 1.0)
    with pytest.raises(ValueError, match="got none for"):
        PVMSelector(0.8).fit_resample(X, Y, weights)
    weights = (np.arange(len(Y)) % 2).astype(float)
    selector = PVMSelector(0.8).fit(X, Y, weights)
    assert (selector.sample_indices_ % 2 == 1).all()
