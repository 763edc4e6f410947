"""Error figures on held-out samples, against scikit-learn's metrics and by hand."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_score,
    recall_score,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from protocover import PVMClassifier, PVMClassifierCV, PVMSelector, evaluate
from protocover._inspection.evaluation import percent, percentages, tally, wilson_interval

NAMES = np.array(["ape", "bee", "cat", "dog"])


@pytest.fixture(scope="module")
def data():
    """Four overlapping classes of unequal size, and a class for every sample."""
    X, y = make_blobs([90, 60, 30, 20], centers=None, cluster_std=4.0, random_state=3)
    return X[::2], NAMES[y[::2]], X[1::2], NAMES[y[1::2]]


def fixed(**params):
    return PVMClassifier(eps=2.0, radii="shared", **params)


MODELS = {
    "classifier": fixed(),
    "abstains": fixed(outlier_label="none"),
    "most frequent": fixed(outlier_label="most_frequent"),
    "pipeline": make_pipeline(StandardScaler(), PVMClassifier(eps=0.5, radii="shared")),
    "search": PVMClassifierCV(eps=[1.0, 2.0], radii="shared", cv=3),
    "grid": GridSearchCV(fixed(), {"eps": [1.0, 2.0]}, cv=3),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_all_figures_are_those_of_scikit_learn(data, name, weighted):
    X, y, X_test, y_test = data
    model = MODELS[name].fit(X, y)
    weights = np.random.default_rng(0).random(len(y_test)) if weighted else None
    found, predicted = evaluate(model, X_test, y_test, weights), model.predict(X_test)
    columns = [*NAMES, "none"] if name == "abstains" else [*NAMES]
    assert found.labels.tolist() == list(NAMES)
    assert found.predicted_labels.tolist() == columns
    every = confusion_matrix(y_test, predicted, labels=columns, sample_weight=weights)
    np.testing.assert_allclose(found.confusion, every[:4])
    terms = {"labels": NAMES, "average": None, "sample_weight": weights, "zero_division": np.nan}
    np.testing.assert_allclose(found.recall, recall_score(y_test, predicted, **terms))
    np.testing.assert_allclose(found.precision, precision_score(y_test, predicted, **terms))
    known = {"sample_weight": weights}
    assert found.accuracy == pytest.approx(accuracy_score(y_test, predicted, **known))
    balanced = balanced_accuracy_score(y_test, predicted, **known)
    assert found.balanced_accuracy == pytest.approx(balanced)
    majority = np.full(len(y_test), "ape")
    assert found.majority_label == "ape"
    assert found.baseline_accuracy == pytest.approx(accuracy_score(y_test, majority, **known))
    assert found.n_samples == len(y_test)


def test_the_baseline_is_the_largest_class_of_the_training_data_not_of_the_test():
    model = PVMClassifier(eps=1.0, radii="shared").fit([[0.0], [0.1], [0.2], [9.0]], list("bbba"))
    found = evaluate(model, [[0.0], [9.0], [9.1], [9.2]], list("baaa"))
    assert (found.majority_label, found.baseline_accuracy, found.accuracy) == ("b", 0.25, 1.0)
    assert found.beats_baseline


def test_an_interval_by_hand():
    """Wilson's, of 8 successes in 10: (8 + z²/2 ± z √(8·2/10 + z²/4)) / (10 + z²), z = 1.96."""
    z = 1.959964
    half = z * (8 * 2 / 10 + z**2 / 4) ** 0.5
    by_hand = [(8 + z**2 / 2 + sign * half) / (10 + z**2) for sign in (-1, 1)]
    assert by_hand == pytest.approx([0.4902, 0.9433], abs=1e-4)
    np.testing.assert_allclose(wilson_interval(8, 10), by_hand, rtol=1e-6)
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0
    assert np.isnan(wilson_interval(0, 0)).all()


def test_every_proportion_has_its_own_interval():
    """Of 10 samples of a, 8 are predicted as a; of 5 samples of b, 3 as b."""
    y = np.repeat(["a", "b"], [10, 5])
    predicted = np.array(["a"] * 8 + ["b"] * 2 + ["b"] * 3 + ["a"] * 2)
    terms = {"classes": np.array(["a", "b"]), "class_count": np.array([2, 1])}
    found = tally(y, predicted, **terms)
    np.testing.assert_allclose(found.recall_interval, wilson_interval([8, 3], [10, 5]))
    np.testing.assert_allclose(found.precision_interval, wilson_interval([8, 3], [10, 5]))
    np.testing.assert_allclose(found.accuracy_interval, wilson_interval(11, 15))
    # Samples of equal weight are as many as they are, whatever the weight; one of a large
    # weight makes the others count for little.
    same = tally(y, predicted, **terms, sample_weight=np.full(15, 7.0))
    np.testing.assert_allclose(same.recall_interval, found.recall_interval)
    uneven = tally(y, predicted, **terms, sample_weight=np.where(np.arange(15) == 0, 100.0, 1.0))
    low, high = uneven.recall_interval[0]
    assert high - low > np.diff(found.recall_interval[0])


def test_a_class_without_samples_has_no_recall(data):
    X, y, X_test, y_test = data
    some = y_test != "dog"
    found = evaluate(fixed().fit(X, y), X_test[some], y_test[some])
    assert found.support[3] == 0
    assert np.isnan(found.recall[3])
    assert np.isnan(found.recall_interval[3]).all()
    assert found.balanced_accuracy == pytest.approx(found.recall[:3].mean())
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["classes"][3]["recall"] is None
    assert "dog" in str(found)


def test_a_label_that_the_model_does_not_know_is_never_right(data):
    X, y, X_test, y_test = data
    known = y != "dog"
    found = evaluate(fixed().fit(X[known], y[known]), X_test, y_test)
    assert found.labels.tolist() == list(NAMES)
    assert found.recall[3] == 0.0
    assert np.isnan(found.precision[3])


def test_frames_and_dict_hold_the_figures(data):
    X, y, X_test, y_test = data
    found = evaluate(
        fixed(outlier_label="none").fit(X, y), pd.DataFrame(X_test), pd.Series(y_test)
    )
    matrix, table, told = found.confusion_frame(), found.to_frame(), found.to_dict()
    assert matrix.loc["bee", "none"] == found.confusion[1, 4]
    assert matrix.to_numpy().tolist() == found.confusion.tolist() == told["confusion"]
    assert table.index.tolist() == list(NAMES)
    low, high = found.recall_interval[2]
    assert table.loc["cat", ["recall_low", "recall_high"]].tolist() == [low, high]
    assert told["classes"][2]["recall_interval"] == [low, high]
    assert told["baseline_accuracy"] == found.baseline_accuracy
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_what_cannot_be_evaluated_is_refused(data):
    X, y, X_test, y_test = data
    model = fixed().fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold classes of the model, 'ape', 'bee'.*got 1"):
        evaluate(model, X_test, np.ones(len(y_test), int))
    with pytest.raises(ValueError, match="y must hold a label for every sample, got nan in row 1"):
        evaluate(model, X_test[:2], np.array(["ape", np.nan], dtype=object))
    with pytest.raises(ValueError, match="got <NA> in row 0"):
        evaluate(model, X_test[:2], pd.Series([None, "ape"], dtype="string"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        evaluate(model, X_test, y_test[1:])
    with pytest.raises(ValueError, match="X must hold at least one sample"):
        evaluate(model, X_test[:0], y_test[:0])
    with pytest.raises(ValueError, match="sample_weight must not be negative"):
        evaluate(model, X_test, y_test, -np.ones(len(y_test)))
    with pytest.raises(ValueError, match="sample_weight must be positive for some point"):
        evaluate(model, X_test, y_test, np.zeros(len(y_test)))
    with pytest.raises(TypeError, match="got KNeighborsClassifier"):
        evaluate(KNeighborsClassifier().fit(X, y), X_test, y_test)
    with pytest.raises(TypeError, match="PVMSelector has none"):
        evaluate(PVMSelector(eps=2.0).fit(X, y), X_test, y_test)


@pytest.mark.parametrize("n_classes", [2, 12, 13, 40])
@pytest.mark.parametrize("length", [1, 40])
def test_the_text_is_at_most_80_wide_and_has_a_matrix_for_up_to_12_classes(n_classes, length):
    labels = np.array([f"{k:02d}{'x' * length}" for k in range(n_classes)])
    rng = np.random.default_rng(0)
    y, predicted = rng.integers(0, n_classes, (2, 5000))
    found = tally(
        labels[y], labels[predicted], classes=labels, class_count=np.ones(n_classes, int)
    )
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith(f"accuracy   {percent(found.accuracy)} of 5,000 samples")
    assert f"baseline   {percent(found.baseline_accuracy)} " in text
    assert ("predicted\ntrue " in text) == (n_classes <= 12)
    assert ("most frequent errors" in text) == (n_classes > 12)
    assert ("30 of 40 classes" in text) == (n_classes == 40)
    for cell in found.confusion[0]:
        assert n_classes > 12 or f" {cell:,}" in text


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        ([1, 1, 1], ["33.4 %", "33.3 %", "33.3 %"]),
        ([1933, 67], ["96.7 %", "3.3 %"]),
        ([1, 0], ["100.0 %", "0.0 %"]),
        ([99_999, 1], ["> 99.9 %", "< 0.1 %"]),
        ([0, 0], ["-", "-"]),
    ],
)
def test_percentages_add_up(parts, shown):
    assert percentages(parts) == shown
