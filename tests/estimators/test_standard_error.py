"""The rule of one standard error, told alike by the choice, its plot and its report."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protocover import PVMClassifierCV
from protocover._estimators.search_results import (
    choose,
    lowest_accepted,
    standard_errors,
    trace_path,
)
from protocover.report import summarize

X, Y = load_iris(return_X_y=True)

SCORES = np.array([[0.935, 0.955], [0.95, 0.97], [0.945, 0.965], [0.95, 0.97]])
SIZES = np.array([2.0, 30.0, 10.0, 20.0])


def test_the_rules_choose_as_described():
    """Means 0.945, 0.96, 0.955, 0.96; the best's standard error is 0.01."""
    assert choose(SCORES, SIZES, rule="best") == 3
    assert choose(SCORES, SIZES, rule="1se") == 2


def test_settings_that_lose_more_classes_than_others_are_skipped():
    """The first two, of which one is the best, lose a class in one of the folds."""
    lost = np.array([0.5, 0.5, 0.0, 0.0])
    assert choose(SCORES, SIZES, rule="1se", n_classes_lost=lost) == 2
    assert choose(SCORES, SIZES, rule="best", n_classes_lost=lost) == 3
    # Without the third nothing is within one standard error of the fourth.
    assert choose(SCORES, SIZES, rule="1se", n_classes_lost=np.array([0.5, 0.5, 0.5, 0.0])) == 3
    # If all lose some, those that lose the fewest are left.
    assert choose(SCORES, SIZES, rule="best", n_classes_lost=lost[::-1] + 1.0) == 1
    assert choose(SCORES, SIZES, rule="1se", n_classes_lost=np.ones(4)) == 2


@pytest.mark.parametrize("rule", ["best", "1se"])
def test_ties_of_mean_scores_go_to_fewer_prototypes_whatever_the_rounding(rule):
    """The same fractions in another order have other sums in floating point."""
    fractions = np.array([17 / 19, 17 / 18, 1.0, 16 / 17, 8 / 9])
    orders = [np.roll(np.arange(5), k) for k in range(5)]
    scores = np.array([fractions[order] for order in orders])
    means = scores.mean(axis=1)
    assert len(set(means.tolist())) > 1
    for fewest in range(5):
        counts = np.where(np.arange(5) == fewest, 9.0, 10.0)
        assert choose(scores, counts, rule=rule) == fewest


def test_the_lowest_score_accepted_is_that_of_the_settings_allowed():
    assert lowest_accepted(SCORES, SIZES, rule="best") == pytest.approx(0.96)
    assert lowest_accepted(SCORES, SIZES, rule="1se") == pytest.approx(0.95)
    lost = np.array([0.0, 1.0, 1.0, 1.0])
    lowest = lowest_accepted(SCORES, SIZES, rule="1se", n_classes_lost=lost)
    assert lowest == pytest.approx(0.935)
    np.testing.assert_allclose(standard_errors(SCORES), 0.01)
    np.testing.assert_array_equal(standard_errors(SCORES[:, :1]), 0.0)


def test_settings_without_a_score_are_not_chosen():
    scores = SCORES.copy()
    scores[1:] = np.nan
    assert choose(scores, SIZES, rule="best") == 0
    assert choose(scores, SIZES, rule="best", n_classes_lost=np.array([1.0, 0, 0, 0])) == 0
    with pytest.raises(ValueError, match="no setting could be scored"):
        choose(np.full((2, 2), np.nan), SIZES[:2], rule="best")


@pytest.mark.parametrize("rule", ["1se", "best", "few"])
def test_choice_plot_and_report_draw_one_line(rule):
    """It may be set by a setting of the other cost."""
    plotting = pytest.importorskip("protocover.plotting")
    points, labels = X[::3], Y[::3]
    search = PVMClassifierCV(
        radii="shared",
        eps=[0.3, 0.9, 1.5, 2.1],
        cv=5,
        prototype_costs=[0.01, 2.0],
        max_prototypes=4,
        rule=rule,
    ).fit(points, labels)
    display = plotting.PathDisplay.from_estimator(search)
    report = summarize(search, points, labels).path
    (line,) = {line.get_ydata()[0] for line in display.ax_.lines if line.get_linestyle() == ":"}
    path = trace_path(search)
    assert line == display.limit == report.limit == 1.0 - path.lowest
    assert path.score[path.chosen] >= path.lowest
    # By hand, from the table alone.
    results = search.cv_results_
    folds = np.array([results[f"split{k}_test_score"] for k in range(5)])
    assert results["mean_n_prototypes"].max() <= 4
    lost = results["mean_n_classes_lost"]
    allowed = np.flatnonzero(lost == lost.min())
    top = max(allowed, key=lambda k: (folds[:, k].mean(), -results["mean_n_prototypes"][k]))
    error = 0.0 if rule == "best" else folds[:, top].std(ddof=1) / np.sqrt(5)
    error = max(error, 0.01) if rule == "few" else error
    assert line == pytest.approx(1.0 - folds[:, top].mean() + error)
    accepted = [k for k in allowed if 1.0 - folds[:, k].mean() <= line + 1e-12]
    assert search.best_index_ == min(
        accepted, key=lambda k: (results["mean_n_prototypes"][k], -folds[:, k].mean())
    )


def test_a_setting_without_a_score_does_not_move_the_line():
    plotting = pytest.importorskip("protocover.plotting")
    search = PVMClassifierCV(radii="shared", eps=[0.3, 0.9, 1.5], cv=3).fit(X, Y)
    before = plotting.PathDisplay.from_estimator(search)
    worst = search.cv_results_["mean_test_score"].argmin()
    for name in ("split0_test_score", "mean_test_score"):
        search.cv_results_[name][worst] = np.nan
    after = plotting.PathDisplay.from_estimator(search)
    assert np.isnan(after.loss).sum() == 1
    assert after.limit == before.limit


def test_few_gives_up_one_case_in_a_hundred_where_nothing_is_ever_wrong():
    scores = np.array([[1.0] * 5, [0.99, 1.0, 0.99, 1.0, 0.98], [0.98] * 5])
    sizes = np.array([100.0, 20.0, 5.0])
    assert choose(scores, sizes, rule="1se") == 0
    assert choose(scores, sizes, rule="few") == 1
