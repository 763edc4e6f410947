from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

from protocover import PVMClassifier, PVMClassifierCV
from protocover.candidates import KMeansCandidates, Pool

X, Y = load_iris(return_X_y=True)
RADII = [0.3, 0.6, 1.0, 1.6]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "cityblock"},
        {"solver": "ratio-greedy"},
        {"closed_ball": True, "outlier_label": -1},
        {"candidates": KMeansCandidates(5), "random_state": 0},
    ],
    ids=["plain", "metric", "solver", "outliers", "kmeans"],
)
def test_scores_are_those_of_a_grid_search_fold_by_fold(options):
    costs = [0.01, 2.0]
    ours = PVMClassifierCV(RADII, prototype_costs=costs, cv=5, **options).fit(X, Y)
    grid = {"eps": RADII, "prototype_cost": costs}
    theirs = GridSearchCV(PVMClassifier(**options), grid, cv=5).fit(X, Y)
    for k in range(5):
        np.testing.assert_array_equal(
            ours.cv_results_[f"split{k}_test_score"], theirs.cv_results_[f"split{k}_test_score"]
        )
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"]
    )


def test_a_square_table_is_split_on_both_sides():
    by_rows = PVMClassifierCV(RADII, cv=5).fit(X, Y)
    by_table = PVMClassifierCV(RADII, cv=5, metric="precomputed").fit(cdist(X, X), Y)
    np.testing.assert_array_equal(
        by_rows.cv_results_["mean_test_score"], by_table.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="needs a square one"):
        PVMClassifierCV(RADII, cv=5, metric="precomputed").fit(cdist(X, X[:99]), Y)


class Spy:
    """A generator of candidates that remembers all points it was shown."""

    seen: ClassVar[list[set]] = []

    def generate(self, X, y, rng):
        Spy.seen.append({tuple(row) for row in X})
        return Pool.made_up(X + 1e-3, "spy")


def test_no_point_held_out_is_a_candidate_or_shapes_one():
    points = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=0).split(points))
    Spy.seen = []
    PVMClassifierCV([0.5, 1.0], cv=splits, candidates=Spy()).fit(points, y)
    *folds, refit = Spy.seen
    assert len(folds) == 4
    assert len(refit) == 60
    for seen, (train, test) in zip(folds, splits, strict=True):
        assert seen == {tuple(row) for row in points[train]}
        assert not seen & {tuple(row) for row in points[test]}


def test_a_leak_would_be_noticed():
    """Labels are noise: whoever had seen the points held out would do far better."""
    rng = np.random.default_rng(1)
    points, y = rng.normal(size=(300, 2)), rng.integers(0, 2, size=300)
    model = PVMClassifierCV([1e-6, 1e-3, 1e-1], cv=10).fit(points, y)
    assert model.cv_results_["mean_test_score"].max() < 0.65
    assert model.score(points, y) > 0.65


def test_the_metric_is_fitted_inside_each_fold():
    seen = []

    class Fitted:
        symmetric = True

        def fit(self, X, y=None):
            seen.append(len(X))
            return self

        def cross(self, A, B):
            return cdist(A, B)

    PVMClassifierCV(RADII, cv=5, metric=Fitted()).fit(X, Y)
    assert seen == [150] + [120] * 5 + [150] or seen == [120] * 5 + [150]


def test_any_splitter_and_any_scorer_will_do():
    groups = np.arange(len(Y)) % 6
    splits = list(GroupKFold(3).split(X, Y, groups))
    model = PVMClassifierCV(RADII, cv=splits, scoring="f1_macro").fit(X, Y)
    assert model.n_splits_ == 3
    binary = PVMClassifierCV(RADII, cv=4, scoring="roc_auc").fit(X, Y > 1)
    assert 0.9 < binary.best_score_ <= 1.0


def test_several_metrics_and_solvers_are_compared():
    model = PVMClassifierCV(
        3, cv=3, metric=["euclidean", "cosine"], solver=["greedy", "ratio-greedy"]
    ).fit(X, Y)
    assert set(model.cv_results_["param_metric"]) == {"euclidean", "cosine"}
    assert set(model.cv_results_["param_solver"]) == {"greedy", "ratio-greedy"}
    assert len(model.cv_results_["params"]) == 12
    assert model.best_estimator_.metric == model.best_params_["metric"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_and_memory_do_not_change_the_result(n_jobs, tmp_path):
    plain = PVMClassifierCV(RADII, cv=4).fit(X, Y)
    for _ in range(2):
        other = PVMClassifierCV(RADII, cv=4, n_jobs=n_jobs, memory=str(tmp_path)).fit(X, Y)
        np.testing.assert_array_equal(
            plain.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
        )
        assert plain.eps_ == other.eps_


def test_an_interrupted_fit_goes_on_where_it_stopped(tmp_path, monkeypatch):
    from protocover.estimators import folds

    calls = []
    original = folds.solve_path

    def counted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(folds, "solve_path", counted)
    model = PVMClassifierCV(RADII, cv=5, memory=str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert not hasattr(model, "cv_results_")
    model.fit(X, Y)
    assert len(calls) == 3 + 3


def test_the_final_model_is_a_fit_on_everything_with_the_chosen_setting():
    model = PVMClassifierCV(RADII, cv=5).fit(X, Y)
    again = PVMClassifier(model.eps_, prototype_cost=model.prototype_cost_).fit(X, Y)
    np.testing.assert_array_equal(
        model.best_estimator_.prototype_indices_, again.prototype_indices_
    )
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert model.explain(X[:3]).label.tolist() == again.predict(X[:3]).tolist()


def test_max_prototypes_binds_the_choice_and_the_final_model():
    model = PVMClassifierCV(10, cv=5, rule="best", max_prototypes=6, random_state=0).fit(X, Y)
    assert model.cv_results_["mean_n_prototypes"][model.best_index_] <= 6
    assert len(model.best_estimator_.prototype_indices_) <= 6
    with pytest.raises(ValueError, match="no setting has at most 0 prototypes"):
        PVMClassifierCV(RADII, cv=5, max_prototypes=0).fit(X, Y)


def test_settings_that_could_not_be_scored_are_not_chosen():
    model = PVMClassifierCV([0.5], prototype_costs=[0.01, 1e6], cv=3).fit(X, Y)
    assert model.prototype_cost_ == 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "2se"}, "rule must be one of '1se', 'best', got '2se'"),
        ({"eps": [-1.0]}, "eps must be positive numbers"),
        ({"cv": 1}, "n_splits|cv"),
        ({"scoring": "magic"}, "magic"),
        ({"prototype_costs": [-1]}, "prototype_costs must be numbers not below 0"),
    ],
)
def test_bad_settings_are_named(options, message):
    model = PVMClassifierCV(**{"eps": RADII, "cv": 3, **options})
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


@parametrize_with_checks([PVMClassifierCV(eps=4, cv=3)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_a_frame_is_asked_of_by_the_names_of_its_columns(recwarn):
    """The names reach the chosen classifier: no warning, and other names are refused."""
    frame = pytest.importorskip("pandas").DataFrame(
        X, columns=[f"f{j}" for j in range(X.shape[1])]
    )
    model = PVMClassifierCV(3, cv=3, random_state=0).fit(frame, Y)
    model.predict(frame), model.explain(frame), model.coverage(frame, Y)
    assert not [w for w in recwarn if "feature names" in str(w.message)]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"f0": "other"}))
