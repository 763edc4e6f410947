"""Classifiers with decision="fitted": predictions, explanations, rechecks and files."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from protocover import PVMClassifier, PVMClassifierCV, load_model, save_model
from protocover._estimators.search_results import choose_decision

X, y = load_wine(return_X_y=True)
X = scale(X)
LABELS = np.array(["a", "b", "c"])[y]
NOT_SUPPORTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a sample of weight 2 is left out of its own prediction, one of two copies is not"
    ),
    "check_sample_weight_equivalence_on_sparse_data": (
        "a sample of weight 2 is left out of its own prediction, one of two copies is not"
    ),
}


@parametrize_with_checks(
    [PVMClassifier(decision="fitted")], expected_failed_checks=lambda _: NOT_SUPPORTED
)
@pytest.mark.filterwarnings("ignore:no prototype of the classes", "ignore:more than a quarter")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("feature_weights", [None, "learned"])
def test_predictions_agree_with_the_probabilities(feature_weights):
    model = PVMClassifier(decision="fitted", feature_weights=feature_weights).fit(X, LABELS)
    nearest = PVMClassifier().fit(X, LABELS)
    np.testing.assert_array_equal(model.candidate_indices_, nearest.candidate_indices_)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X))
    np.testing.assert_array_equal(model.decision_function(X).argmax(axis=1), proba.argmax(axis=1))
    assert roc_auc_score(LABELS, proba, multi_class="ovr") > 0.99
    assert model.verify(X, LABELS).ok


def test_two_classes_have_one_score():
    two = y < 2
    model = PVMClassifier(decision="fitted").fit(X[two], y[two])
    proba = model.predict_proba(X[two])
    score = model.decision_function(X[two])
    np.testing.assert_allclose(score, np.log(proba[:, 1]) - np.log(proba[:, 0]), atol=1e-6)


def test_a_matrix_of_distances_gives_the_same_probabilities():
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    model = PVMClassifier(decision="fitted", metric="precomputed").fit(distances, y)
    other = PVMClassifier(decision="fitted").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(distances), other.predict_proba(X), atol=1e-6)


def test_outliers_keep_their_label_and_have_probabilities_of_the_rule():
    plain = PVMClassifier(decision="fitted", eps=2.0).fit(X, y)
    model = PVMClassifier(decision="fitted", eps=2.0, outlier_label=-1).fit(X, y)
    covered = PVMClassifier(eps=2.0, outlier_label=-1).fit(X, y).predict(X) >= 0
    assert 0 < covered.sum() < len(X)
    np.testing.assert_array_equal(model.predict(X)[~covered], -1)
    np.testing.assert_array_equal(model.predict(X)[covered], plain.predict(X)[covered])
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_a_class_without_prototypes_has_probability_zero():
    model = PVMClassifier(decision="fitted", max_prototypes={1: 0}, min_per_class=0).fit(X, y)
    assert (model.predict_proba(X)[:, 1] == 0.0).all()
    assert (model.predict_log_proba(X)[:, 1] == -np.inf).all()
    assert np.isfinite(model.decision_function(X)).all()


def test_contributions_add_up_to_the_probabilities():
    model = PVMClassifier(decision="fitted", prototype_cost=2.0).fit(X, LABELS)
    why, proba = model.explain(X), np.sort(model.predict_proba(X), axis=1)
    parts = why.contributions
    np.testing.assert_array_equal(why.label, model.predict(X))
    np.testing.assert_allclose(parts.probability, proba[:, -1])
    np.testing.assert_allclose(parts.runner_up_probability, proba[:, -2])
    few = np.bincount(np.searchsorted(model.classes_, model.prototype_labels_)) <= 3
    rows = few[np.searchsorted(model.classes_, why.label)]
    np.testing.assert_allclose(parts.contribution[rows].sum(axis=1), proba[rows, -1])
    assert (np.diff(parts.contribution, axis=1) <= 0.0).all()
    named = parts.prototype[:, 0]
    np.testing.assert_array_equal(model.prototype_labels_[named], why.label)
    frame = why.to_frame()
    assert list(frame.columns)[-1] == "probability"
    assert {"prototype_1", "contribution_3"} <= set(why.to_frame(all=True).columns)
    assert PVMClassifier().fit(X, y).explain(X).contributions is None


def test_changed_rules_are_noticed():
    model = PVMClassifier(decision="fitted").fit(X, y)
    model.decision_rule_.offset[0] += 0.5
    assert "does not maximize" in model.verify(X, y).faults[0]
    model.decision_rule_ = None
    assert "decision_rule_ is None" in model.verify(X, y).faults[0]


@pytest.mark.parametrize("feature_weights", [None, "learned"])
def test_files_keep_the_rule(tmp_path, feature_weights):
    model = PVMClassifier(decision="fitted", feature_weights=feature_weights).fit(X, y)
    save_model(model, tmp_path / "model.protocover")
    again = load_model(tmp_path / "model.protocover")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.verify(X, y).ok


def test_a_search_may_choose_the_decision():
    nearest = PVMClassifierCV(cv=3, random_state=0).fit(X, y)
    search = PVMClassifierCV(cv=3, decision="auto", random_state=0).fit(X, y)
    assert search.best_params_["eps"] == nearest.best_params_["eps"]
    chosen = search.best_params_
    single = PVMClassifier(solver="greedy", **chosen)
    assert search.best_score_ == pytest.approx(cross_val_score(single, X, y, cv=3).mean())
    assert hasattr(search, "predict_proba") == (chosen["decision"] == "fitted")
    fitted = PVMClassifierCV(cv=3, decision="fitted", random_state=0).fit(X, y)
    assert fitted.best_params_ == nearest.best_params_
    single = PVMClassifier(solver="greedy", decision="fitted", **fitted.best_params_)
    assert fitted.best_score_ == pytest.approx(cross_val_score(single, X, y, cv=3).mean())
    assert fitted.best_estimator_.decision == "fitted"
    scored = PVMClassifierCV(cv=3, decision="fitted", scoring="neg_log_loss").fit(X, y)
    assert np.isfinite(scored.best_score_)


@pytest.mark.parametrize(
    ("fitted", "weighted", "nearest", "expected"),
    [
        ([0.8, 0.9, 0.7], [0.8, 0.9, 0.7], [0.8, 0.9, 0.7], 0),  # a tie
        ([0.8, 0.9, 0.7], [0.9, 0.9, 0.7], [0.7, 0.9, 0.7], 0),  # better by one standard error
        ([0.8, 0.9, 0.7], [0.9, 0.95, 0.8], [0.7, 0.9, 0.7], 1),
        ([0.8, 0.9, 0.7], [0.9, 0.95, 0.8], [0.95, 0.99, 0.9], 2),
        ([np.nan, 0.9, 0.7], [0.7, 0.6, 0.8], [0.1, 0.2, 0.1], 1),
    ],
)
def test_the_fitted_rule_is_kept_unless_another_is_better_by_more_than_an_error(
    fitted, weighted, nearest, expected
):
    choices = [
        ({"k": k}, np.array(scores)) for k, scores in enumerate((fitted, weighted, nearest))
    ]
    assert choose_decision(choices)[0] == {"k": expected}


def test_probabilities_need_the_fitted_rule():
    model = PVMClassifier().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as raised:
        model.predict_proba  # noqa: B018
    assert "decision='fitted'" in str(raised.value.__cause__)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"decision": "soft"}, "decision must be 'nearest' or 'fitted', got 'soft'"),
        ({"feature_weights": "learned"}, "needs decision='fitted', got decision='nearest'"),
        (
            {"decision": "fitted", "feature_weights": "learned", "metric": "cityblock"},
            "needs metric='euclidean', got metric='cityblock'",
        ),
        ({"decision": "fitted", "feature_weights": 1}, "must be None or 'learned', got 1"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        PVMClassifier(**parameters).fit(X, y)


def test_other_ways_out_of_the_rule_are_refused():
    data, target = load_iris(return_X_y=True)
    model = PVMClassifier(decision="fitted", radii="shared")
    with pytest.raises(AttributeError) as raised:
        model.partial_fit(data, target)
    assert "partial_fit needs decision='nearest'" in str(raised.value.__cause__)
    with pytest.raises(ValueError, match="to_knn\\(\\) needs decision='nearest'"):
        model.fit(data, target).to_knn()
