"""Confidences are what they are called, and the page tells what was measured."""

from __future__ import annotations

import numpy as np
import pytest
from evidence.abstention.measure import (
    CALIBRATIONS,
    Split,
    ask_nearest,
    calibrate,
    explain,
    look_inside,
)
from evidence.abstention.page import _clear_on, _compare_pairs, _risk_at
from scipy.spatial.distance import cdist

from paper import PAPER
from protocover import PVMClassifier


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 2)) + 2.0 * np.array([[0, 0], [1, 0], [1, 1]])[y]
    return Split(X[:90], y[:90], X[90:], y[90:])


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_confidences_come_from_what_explain_tells(split, radii):
    model = PVMClassifier(radii=radii).fit(split.X, split.y)
    found, why = explain(model, split.X_test), model.explain(split.X_test)
    for answers in found.values():
        np.testing.assert_array_equal(answers.label, model.predict(split.X_test))
    key = sorted(range(30), key=lambda i: (why.inside[i], why.margin[i]), reverse=True)
    lexical = np.argsort(-found["inside, then margin"].confidence, kind="stable")
    np.testing.assert_array_equal(lexical, key)
    scores = np.sort(model.decision_function(split.X_test), axis=1)
    np.testing.assert_allclose(found["margin"].confidence, scores[:, -1] - scores[:, -2])
    d, e = why.relative_distance, why.runner_up_relative_distance
    np.testing.assert_allclose(found["ratio"].confidence, 1 - d / e)


def test_nearest_neighbor_is_as_sure_as_the_nearest_of_another_class_is_far(split):
    found, table = ask_nearest(split), cdist(split.X_test, split.X)
    for i in range(len(split.y_test)):
        order = np.argsort(table[i])
        label = split.y[order[0]]
        rival = next(table[i, j] for j in order if split.y[j] != label)
        assert found["1-NN, ratio"].label[i] == label
        assert found["1-NN, ratio"].confidence[i] == pytest.approx(1 - table[i, order[0]] / rival)
        assert found["1-NN, margin"].confidence[i] == pytest.approx(rival - table[i, order[0]])


def test_calibrated_probabilities_are_probabilities(split):
    found = calibrate(split, n_trees=5)
    models = ("shared radius", "own radii", "1-NN", "forest")
    assert set(found) == {f"{model}, {method}" for model in models for method in CALIBRATIONS}
    for p in found.values():
        assert p.shape == (30, 3)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_inside_is_compared_with_as_many_of_the_largest_margin(split):
    model = PVMClassifier(**PAPER).fit(split.X, split.y)
    why, found = model.explain(split.X_test), look_inside(model, split)
    wrong = why.label != split.y_test
    n = int(why.inside.sum())
    assert 0 < n < len(wrong)
    assert found["coverage"] == pytest.approx(n / len(wrong))
    assert found["wrong_inside"] == pytest.approx(wrong[why.inside].mean())
    assert found["wrong_by_margin"] == pytest.approx(wrong[np.argsort(-why.margin)[:n]].mean())


def test_a_clear_difference_needs_splits_that_agree():
    def of(first, second):
        ranked = {"a": {"aurc": first}, "b": {"aurc": second}}
        return {"name": "it", "n_train": 2, "n_test": 1, "ranked": ranked}

    agree, apart = [0.1, 0.11, 0.12, 0.1], [0.3, 0.32, 0.31, 0.3]
    assert _clear_on([of(agree, apart)], "a", "b") == (["it"], [])
    assert _clear_on([of(apart, agree)], "a", "b") == ([], ["it"])
    assert _clear_on([of([0.1, 0.5, 0.2, 0.3], [0.3, 0.1, 0.3, 0.2])], "a", "b") == ([], [])


def test_pairs_are_told_by_the_sets_on_which_the_first_is_lower():
    values = {"a": {"x": 0.1, "y": 0.2, "z": 0.3}, "b": {"x": 0.2, "y": 0.3, "z": 0.1}}
    told = _compare_pairs("Brier score", values, [("a", "b")])
    assert told.startswith("- Brier score of a: lower than that of b on 2 of 3 sets, higher on 1 ")


def test_risk_is_looked_up_at_its_coverage():
    risk = (np.arange(1, 51) / 100).tolist()
    sets = [{"ranked": {"a": {"risk": risk}}}] * 2
    assert _risk_at(sets, "a", (0.5, 0.8, 1.0)) == ["25.0", "40.0", "50.0"]


def test_quick_run_writes_a_page_and_its_picture(quick_page, tmp_path):
    text, results = quick_page("abstention")
    one = results["sets"][0]
    got = one["ranked"]["shared radius, margin"]
    mean = f"{100 * np.mean(got['aurc']):.2f} ({100 * np.mean(got['error']):.1f})"
    assert f"| {one['name']} | {mean} |" in text
    assert "(abstention.png)" in text
    assert (tmp_path / "evidence" / "quick" / "abstention.png").exists()
