"""The choice of a radius for the digits: one rule, and how much of what it gives is luck."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments.digits_table import Digits

from experiments import digits_choice, digits_choice_page
from paper import PAPER
from protocover import PVMClassifier
from protocover._estimators.search_results import choose


@pytest.fixture
def rng():
    """Always the same random numbers."""
    return np.random.default_rng(0)


@pytest.fixture
def digits(rng):
    """Two overlapping clouds as digits 0 and 1."""

    def draw(n):
        y = rng.integers(2, size=n)
        return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y

    (X, y), (X_test, y_test) = draw(90), draw(50)
    return Digits(X, y, X_test, y_test, cdist(X, X), cdist(X_test, X))


@pytest.fixture
def loaded(digits, monkeypatch):
    """The same whatever is asked for."""
    monkeypatch.setattr(digits_choice, "load_digits", lambda *args: digits)
    return digits


@pytest.mark.parametrize("rule", ["best", "1se"])
def test_one_choice_of_folds_is_judged_as_the_package_does(rng, rule):
    """With a single seed the rules are those of PVMClassifierCV."""
    n_errors = 0.0 if rule == "best" else 1.0
    for _ in range(50):
        # Sixteenths, whose means and differences from 1 are exact.
        errors = rng.integers(8, size=(1, 6, 4)) / 16
        sizes = np.sort(rng.integers(5, 100, size=6))[::-1]
        expected = choose(1.0 - errors[0], sizes.astype(float), rule=rule)
        got = digits_choice.choose_radius(errors, sizes, n_errors=n_errors)
        assert errors[0, got].mean() == pytest.approx(errors[0, expected].mean())
        assert sizes[got] == sizes[expected]


def test_errors_are_averaged_over_choices_of_folds():
    """Each seed alone would choose another radius than both together."""
    errors = np.array([[[0.1], [0.2], [0.15]], [[0.3], [0.1], [0.15]]]).repeat(3, axis=2)
    sizes = [30, 20, 10]
    assert digits_choice.choose_radius(errors[:1], sizes, n_errors=0.0) == 0
    assert digits_choice.choose_radius(errors[1:], sizes, n_errors=0.0) == 1
    # 0.2, 0.15 and 0.15 on average: of the two equals the one with fewer prototypes.
    assert digits_choice.choose_radius(errors, sizes, n_errors=0.0) == 2
    assert digits_choice.choose_radius(errors[:1], sizes, n_errors=0.0, at_most=20) == 2


def test_further_choices_of_folds_do_not_shrink_the_standard_error(rng):
    errors = rng.random((1, 4, 5))
    once = digits_choice.standard_error(errors)
    np.testing.assert_allclose(once, errors[0].std(axis=1, ddof=1) / np.sqrt(5))
    np.testing.assert_allclose(digits_choice.standard_error(errors.repeat(9, axis=0)), once)


def test_path_tells_which_test_images_each_model_gets_wrong(loaded, tmp_path):
    got = digits_choice.run_path(90, tmp_path, "tangent")
    for eps, size, wrong in zip(got["eps"], got["size"], got["wrong"], strict=True):
        model = PVMClassifier(eps=eps, metric="precomputed", solver="greedy", **PAPER)
        model.fit(loaded.table, loaded.labels)
        answers = model.predict(loaded.test_table)
        assert size == len(model.prototype_labels_)
        np.testing.assert_array_equal(wrong, np.flatnonzero(answers != loaded.test_labels))
    nearest = loaded.labels[loaded.test_table.argmin(axis=1)]
    assert len(got["wrong_of_nearest"]) == np.sum(nearest != loaded.test_labels) > 0


def test_folds_are_judged_on_what_they_do_not_train_on(loaded, tmp_path):
    """At a radius below all distances a fold's error is that of the nearest of the rest."""
    eps = [1e-9, 0.7]
    got = digits_choice.run_folds(90, tmp_path, "tangent", eps=eps, n_folds=3, seed=4)
    folds = digits_choice.make_folds(loaded.images, loaded.labels, seed=4, n_folds=3)
    for k, (train, held) in enumerate(folds):
        nearest = train[loaded.table[np.ix_(held, train)].argmin(axis=1)]
        wrong = np.mean(loaded.labels[nearest] != loaded.labels[held])
        assert got["error"][0, k] == pytest.approx(wrong)


def test_another_order_keeps_the_radius_and_answers_for_the_same_images(loaded, tmp_path):
    """Where no radius leaves a choice, the order makes no difference."""
    eps = [1e-9]
    got = digits_choice.run_order(90, tmp_path, "tangent", eps=eps, seed=3)
    nearest = loaded.labels[loaded.test_table.argmin(axis=1)]
    assert got["size"][0] == 90
    assert got["wrong"] == [np.sum(nearest != loaded.test_labels)]


def test_page_tells_luck_from_what_holds(tmp_path):
    """Of 100 test images 1-NN gets 10 wrong, the chosen model the last 4 of these."""
    path = {
        "eps": [1.0, 2.0, 3.0],
        "size": [90, 50, 20],
        "by_digit": [[9] * 10, [5] * 9 + [6], [2] * 10],
        "wrong": [list(range(10)), list(range(6, 10)), list(range(30))],
        "wrong_of_nearest": list(range(10)),
        "n_test": 100,
    }
    got = {
        "path": path,
        "cv_error": [0.05, 0.02, 0.2],
        "cv_spread": [0.01] * 3,
        "chosen": {"lowest": 1, "1se": 1, "limited": 2},
        "by_seed": {"lowest": [1, 1, 2], "1se": [1, 1, 1], "limited": [2, 2, 2]},
        "by_order": [{"eps": [2.0, 3.0], "size": [51, 20], "wrong": [w, 30]} for w in (3, 8)],
    }
    distances = dict.fromkeys(("euclidean", "tangent", "paper-like"), got)
    results = {"n": 90, "n_folds": 10, "limit": 3372, "distances": distances}
    text = digits_choice_page.write(results, tmp_path)
    assert "| lowest error (headline) | 50 | 2.00 | 4 | 4.00 | 0, 6, p = 0.031 |" in text
    assert "| 12.67 (4.00 to 30.00) | 50 (4 wrong) x 2, 20 (30 wrong) x 1 |" in text
    assert "| 51 to 51 | 3 to 8 | 5.50 | 50, 4 |" in text
    assert "up to the percentile 0.25 where 50 prototypes are left" in text
    assert "with none of the distances; the least p of the 3" in text
    assert "| tangent, paper-like | 10.00 | 4.00 | 50 | 6.00 |" in text
    assert "aim" not in text
    assert (tmp_path / "digits_choice.png").exists()
    assert "4.00 % with 50 prototypes, 1-NN 10.00 %" in digits_choice_page.summarize(results)
