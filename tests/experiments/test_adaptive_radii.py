"""Radii of their own on the digits: everything is chosen in folds, and told as it is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments import adaptive_radii, adaptive_radii_page
from paper import PAPER
from protocover import PVMClassifier

RADII = np.array([0.3, 1.0])


def clouds(n, seed):
    """Two overlapping clouds."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y


@pytest.fixture(scope="module")
def folds():
    """Two folds of the same points, judged at two numbers of prototypes."""
    X, y = clouds(60, 0)
    parts = np.arange(60) < 30, np.arange(60) >= 30
    rows = [np.flatnonzero(part) for part in parts]
    return [
        adaptive_radii.judge_fold(cdist(X, X), y, a, b, radii=RADII, at_most=(3, 40))
        for a, b in (rows, rows[::-1])
    ]


def test_fold_judges_the_model_of_every_setting(folds):
    """Where the number of prototypes does not bind it is the estimator's own error."""
    X, y = clouds(60, 0)
    columns = (folds[0][name] for name in ("settings", "error", "size"))
    for setting, error, size in zip(*columns, strict=True):
        model = PVMClassifier(
            eps=setting["limit"],
            **{**PAPER, "radii": setting["machine"]},
            prototype_cost=setting["cost"],
            solver=setting["solver"],
        ).fit(X[:30], y[:30])
        assert size == [min(3, len(model.prototype_labels_)), len(model.prototype_labels_)]
        right = model.score(X[30:], y[30:]) if size[1] else 0.0
        assert error[1] == pytest.approx(1.0 - right)
    solvers = {(one["machine"], one["solver"]) for one in folds[0]["settings"]}
    assert solvers == {("shared", "greedy"), ("adaptive", "greedy"), ("adaptive", "ratio-greedy")}


def test_lowest_error_in_the_folds_is_chosen_for_each_number(folds):
    chosen = adaptive_radii.choose_settings(folds)
    assert [(one["machine"], one["at_most"]) for one in chosen] == [
        ("shared", 3),
        ("shared", 40),
        ("adaptive", 3),
        ("adaptive", 40),
    ]
    errors = np.mean([fold["error"] for fold in folds], axis=0)
    for one in chosen:
        rows = [k for k, s in enumerate(folds[0]["settings"]) if s["machine"] == one["machine"]]
        assert one["cv_error"] == pytest.approx(errors[rows, (3, 40).index(one["at_most"])].min())


def test_test_images_are_answered_by_what_was_chosen(folds):
    (X, y), (X_test, y_test) = clouds(60, 0), clouds(40, 1)
    chosen = adaptive_radii.choose_settings(folds)
    tables = cdist(X, X), y, cdist(X_test, X), y_test
    curves = adaptive_radii.trace_curves(*tables, chosen)
    assert all(size <= 3 for curve in curves.values() for size in curve["size"][:1])
    for k in range(2):
        own, shared = (
            {key: curves[m][key][k] for key in curves[m]} for m in ("adaptive", "shared")
        )
        # What only one gets wrong makes the difference.
        assert own["only"] - shared["only"] == round(40 * (own["error"] - shared["error"]))


def test_page_says_where_adaptive_radii_lose():
    own = {"at_most": [50, 500, 4000], "error": [0.1, 0.06, 0.05], "only": [10, 30, 5]}
    shared = {"at_most": [50, 500, 4000], "error": [0.2, 0.05, 0.05], "only": [90, 20, 5]}
    pvm = {"size": [5000, 500], "error": [0.04, 0.07]}
    results = {"adaptive_radii": {"adaptive": own, "shared": shared}, "PVM": pvm}
    few, many, curve = adaptive_radii_page.judge(results)
    assert "lower at 50 (-10.0), higher at 500 (+1.0)" in few
    assert "clearly fewer (McNemar's test, p < 0.05 each) at 50, clearly more at none" in few
    assert "lower at none, higher at none" in many
    assert "lower at 500 (-1.0), higher at 4000 (+0.7)" in curve
