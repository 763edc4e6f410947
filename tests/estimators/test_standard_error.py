"""The rule of one standard error, told alike by the choice, its plot and its report."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protocover import PVMClassifierCV
from protocover.estimators.search.standard_error import (
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
    assert choose(SCORES, SIZES, rule="best", max_prototypes=15) == 2
    assert choose(SCORES, SIZES, rule="1se", max_prototypes=5) == 0


def test_the_lowest_score_accepted_is_that_of_the_settings_allowed():
    assert lowest_accepted(SCORES, SIZES, rule="best") == pytest.approx(0.96)
    assert lowest_accepted(SCORES, SIZES, rule="1se") == pytest.approx(0.95)
    assert lowest_accepted(SCORES, SIZES, rule="1se", max_prototypes=5) == pytest.approx(0.935)
    np.testing.assert_allclose(standard_errors(SCORES), 0.01)
    np.testing.assert_array_equal(standard_errors(SCORES[:, :1]), 0.0)


def test_settings_without_a_score_are_not_chosen():
    scores = SCORES.copy()
    scores[1:] = np.nan
    assert choose(scores, SIZES, rule="best") == 0
    with pytest.raises(ValueError, match="no setting has at most 1 prototypes, the fewest are 2;"):
        choose(scores, SIZES, rule="best", max_prototypes=1)
    with pytest.raises(ValueError, match="no setting could be scored"):
        choose(np.full((2, 2), np.nan), SIZES[:2], rule="best")


@pytest.mark.parametrize("rule", ["1se", "best", "few"])
def test_choice_plot_and_report_draw_one_line(rule):
    """The setting that scores best by far is not allowed, and one of the other cost sets it."""
    plotting = pytest.importorskip("protocover.plotting")
    points, labels = X[::3], Y[::3]
    search = PVMClassifierCV(
        eps=[0.3, 0.9, 1.5, 2.1], cv=5, prototype_costs=[0.01, 2.0], n_prototypes=4, rule=rule
    ).fit(points, labels)
    display = plotting.PathDisplay.from_estimator(search)
    report = summarize(search, points, labels).path
    line = display.ax_.lines[-3].get_ydata()[0]
    path = trace_path(search)
    assert line == display.limit == report.limit == 1.0 - path.lowest
    assert path.score[path.chosen] >= path.lowest
    # By hand, from the table alone.
    results = search.cv_results_
    folds = np.array([results[f"split{k}_test_score"] for k in range(5)])
    allowed = np.flatnonzero(results["mean_n_prototypes"] <= 4)
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
    search = PVMClassifierCV(eps=[0.3, 0.9, 1.5], cv=3).fit(X, Y)
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
