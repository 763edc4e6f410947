"""Prototypes as rows of a table, each value beside those of its class."""

from __future__ import annotations

import numpy as np
import pytest

from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier
from protocover.dissimilarity import Gower

plt = pytest.importorskip("matplotlib.pyplot")
PrototypeTableDisplay = pytest.importorskip("protocover.plotting").PrototypeTableDisplay
features = pytest.importorskip("protocover.plotting._table")

X = np.array([[0.0, 5.0], [1.0, 1.0], [2.0, 3.0], [8.0, 2.0], [9.0, 4.0], [10.0, 0.0]])
Y = np.array(["low", "low", "low", "high", "high", "high"])


def written(display):
    return [text.get_text() for text in display.ax_.texts]


def test_it_shows_values_classes_and_counts():
    model = PVMClassifier(eps=4.5, **PAPER).fit(X, Y)
    display = PrototypeTableDisplay.from_estimator(model, feature_names=["width", "height"])
    assert display.standings is None
    texts = written(display)
    assert {"width", "height", "low", "high"} <= set(texts)
    counts = [
        f"{a} ({b})"
        for a, b in zip(model.newly_covered_count_, model.miscovered_count_, strict=True)
    ]
    assert [text for text in texts if "(" in text and text[0].isdigit()] == counts
    np.testing.assert_array_equal(np.column_stack(display.values), model.prototypes_)


def test_a_number_stands_between_the_quartiles_of_its_class():
    column = np.array([0.0, 1.0, 2.0, 8.0, 9.0, 10.0])
    own = np.array([True, True, True, False, False, False])
    place, lower, upper, share = features.standing(1.0, column, own)
    assert (place, lower, upper) == (0.1, 0.05, 0.15)
    assert np.isnan(share)


def test_another_value_has_its_share_of_the_class():
    column = np.array(["red", "red", "blue", "blue"], dtype=object)
    own = np.array([True, True, True, False])
    assert features.standing("red", column, own)[3] == pytest.approx(2 / 3)


@pytest.mark.parametrize("value", [np.nan, 2.0])
def test_nothing_is_told_where_nothing_is_known(value):
    column = np.array([np.nan, np.nan, 1.0])
    own = np.array([True, True, False])
    assert np.isnan(features.standing(value, column, own)).all()


def test_separation_is_the_share_of_variance_between_classes():
    codes = np.array([0, 0, 1, 1])
    assert features.separation(np.array([1.0, 1.0, 5.0, 5.0]), codes) == pytest.approx(1.0)
    assert features.separation(np.array([1.0, 5.0, 1.0, 5.0]), codes) == pytest.approx(0.0)
    assert features.separation(np.array([3.0, 3.0, 3.0, 3.0]), codes) == 0.0
    assert features.separation(np.array(list("aabb"), dtype=object), codes) == pytest.approx(1.0)
    assert features.separation(np.array([1.0, np.nan, 5.0, 5.0]), codes) == pytest.approx(1.0)


def test_of_many_features_those_that_tell_classes_apart_are_shown():
    noise = np.random.default_rng(0).normal(size=(6, 4))
    wide = np.column_stack([noise[:, :2], X[:, 0], noise[:, 2:]])
    model = PVMClassifier(eps=6.0, **PAPER).fit(wide, Y)
    display = PrototypeTableDisplay.from_estimator(model, wide, Y, n_features=2)
    assert display.feature_names[0] == "feature 2"
    assert len(display.values) == 2
    assert any("2 of 5 features" in text for text in written(display))
    assert display.standings.shape == (len(model.prototypes_), 2, 4)
    first = PrototypeTableDisplay.from_estimator(model, n_features=2)
    assert first.feature_names == ["feature 0", "feature 1"]


def test_rows_may_be_shown_in_other_units():
    model = PVMClassifier(eps=1.5, **PAPER).fit((X - X.mean(axis=0)) / X.std(axis=0), Y)
    display = PrototypeTableDisplay.from_estimator(model, X, Y, rows=X[model.prototype_indices_])
    np.testing.assert_array_equal(np.column_stack(display.values), X[model.prototype_indices_])


def test_mixed_frames_keep_their_names_and_categories():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"size": X[:, 0], "colour": ["red", "red", "blue", "blue", "blue", "green"]}
    )
    model = PVMClassifier(eps=0.3, metric=Gower(), **PAPER).fit(frame, Y)
    display = PrototypeTableDisplay.from_estimator(model, frame, Y, max_prototypes=2)
    assert display.feature_names == ["size", "colour"]
    assert set(display.values[1]) <= {"red", "blue", "green"}
    assert np.isfinite(display.standings[:, 0, :3]).all()
    assert np.isfinite(display.standings[:, 1, 3]).all()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.0, "2"),
        (0.123456, "0.1235"),
        (24727.4, "24,727"),
        (np.nan, "missing"),
        (None, "missing"),
        (True, "True"),
        ("red", "red"),
        (1e12, "1e+12"),
    ],
)
def test_values_are_written_in_few_letters(value, text):
    assert features.show_value(value) == text


def test_what_does_not_fit_is_refused():
    model = PVMClassifier(eps=4.5, **PAPER).fit(X, Y)
    with pytest.raises(ValueError, match=r"feature_names must be 2 names, .* got 1"):
        PrototypeTableDisplay.from_estimator(model, feature_names=["width"])
    with pytest.raises(ValueError, match="X must have the 2 features of the prototypes, got 1"):
        PrototypeTableDisplay.from_estimator(model, X[:, :1], Y)
    with pytest.raises(ValueError, match="y must be the labels of X, got None"):
        PrototypeTableDisplay.from_estimator(model, X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        PrototypeTableDisplay.from_estimator(model, X, Y[:2])
    none = PVMClassifier(eps=4.5, prototype_cost=50.0, **PAPER).fit(X, Y)
    with pytest.raises(NoPrototypesError, match="nothing to draw"):
        PrototypeTableDisplay.from_estimator(none)
    D = np.abs(X[:, :1] - X[:, 0])
    table = PVMClassifier(eps=2.0, metric="precomputed", **PAPER).fit(D, Y)
    with pytest.raises(ValueError, match=r"pass rows=X\[clf.prototype_indices_\]"):
        PrototypeTableDisplay.from_estimator(table)
