import pickle
import warnings
from contextlib import nullcontext
from typing import ClassVar

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import get_scorer, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    LeaveOneGroupOut,
    ShuffleSplit,
    cross_validate,
)
from sklearn.utils.validation import check_is_fitted

from grid_search import SCORES_WITH_WEIGHTS, fit_grid
from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, suggest_eps
from protocover.candidates import KMeansCandidates, Pool
from protocover.dissimilarity import Gower
from protocover.solvers import greedy

X, Y = load_iris(return_X_y=True)
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(Y)) / 2.0
GROUPS = np.arange(len(Y)) % 6
RADII = [0.3, 0.6, 1.0, 1.6]


def share_of_the_rarest(model, X, y):
    """A scorer that needs a prototype of every class."""
    counts = [np.sum(model.prototype_labels_ == label) for label in model.classes_]
    if min(counts) == 0:
        raise ValueError("a class has no prototype")
    return min(counts) / sum(counts)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "cityblock"},
        {"solver": "greedy"},
        {"solver": "ratio-greedy"},
        {"closed_ball": True, "outlier_label": -1},
        {"candidates": KMeansCandidates(5), "random_state": 0},
    ],
    ids=["plain", "metric", "greedy", "solver", "outliers", "kmeans"],
)
def test_scores_are_those_of_a_grid_search_fold_by_fold(options):
    costs = [0.01, 2.0]
    ours = PVMClassifierCV(radii="shared", eps=RADII, prototype_costs=costs, cv=5, **options).fit(
        X, Y
    )
    grid = {"eps": RADII, "prototype_cost": costs}
    theirs = GridSearchCV(
        PVMClassifier(radii="shared", **{"solver": "greedy"} | options), grid, cv=5
    ).fit(X, Y)
    assert_same_scores(ours, theirs)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "some zero"])
@pytest.mark.parametrize(
    "cv",
    [
        ShuffleSplit(3, random_state=0),
        [(np.random.default_rng(k).integers(0, 150, 120), np.arange(k, 150, 5)) for k in (0, 1)],
        [(np.arange(149, 20, -1), np.arange(20)), (np.arange(150), np.arange(0, 150, 7))],
    ],
    ids=["in another order", "with repetitions", "backwards and all"],
)
def test_whatever_the_order_of_the_rows_is(cv, weights):
    """Distances come in steps here, so that balls tie and the order of the rows decides."""
    stepped = np.round(X, 1)
    options = {"solver": "greedy", "closed_ball": True}
    ours = PVMClassifierCV(radii="shared", eps=RADII, cv=cv, **options).fit(stepped, Y, weights)
    theirs = GridSearchCV(PVMClassifier(radii="shared", **options), {"eps": RADII}, cv=cv)
    fit_grid(theirs, stepped, Y, weights=weights)
    for k in range(ours.n_splits_):
        np.testing.assert_array_equal(
            ours.cv_results_[f"split{k}_test_score"], theirs.cv_results_[f"split{k}_test_score"]
        )


def assert_same_scores(ours, theirs):
    """Fold by fold, and with the ranks that follow from them."""
    for k in range(ours.n_splits_):
        np.testing.assert_array_equal(
            ours.cv_results_[f"split{k}_test_score"], theirs.cv_results_[f"split{k}_test_score"]
        )
    for name in ("mean_test_score", "std_test_score", "rank_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name])
    assert set(theirs.cv_results_) <= set(ours.cv_results_)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy", "neg_log_loss"])
def test_weights_count_in_scoring_as_in_a_grid_search(scoring):
    """The last scorer wants probabilities, which there are none of: all fails in both."""
    ours = PVMClassifierCV(radii="shared", eps=RADII, cv=5, scoring=scoring)
    theirs = GridSearchCV(
        PVMClassifier(radii="shared", solver="greedy"), {"eps": RADII}, cv=5, scoring=scoring
    )
    if scoring == "neg_log_loss":
        with pytest.raises(ValueError, match=r"no setting could be scored.*predict_proba"):
            ours.fit(X, Y, WEIGHTS)
        return
    plain = PVMClassifierCV(radii="shared", eps=RADII, cv=5, scoring=scoring).fit(X, Y)
    assert_same_scores(ours.fit(X, Y, WEIGHTS), fit_grid(theirs, X, Y, weights=WEIGHTS))
    assert (ours.cv_results_["mean_test_score"] != plain.cv_results_["mean_test_score"]).any()


def test_a_scorer_that_takes_no_weights_is_told_of_as_in_a_grid_search():
    def share_right(model, X, y):
        return (model.predict(X) == y).mean()

    ours = PVMClassifierCV(radii="shared", eps=RADII, cv=5, scoring=share_right)
    theirs = GridSearchCV(
        PVMClassifier(radii="shared", solver="greedy"), {"eps": RADII}, cv=5, scoring=share_right
    )
    with pytest.warns(UserWarning, match="takes no sample_weight, so weights count in fitting"):
        ours.fit(X, Y, WEIGHTS)
    told = pytest.warns(UserWarning, match="does not support sample_weight")
    with told if SCORES_WITH_WEIGHTS else nullcontext():
        theirs.fit(X, Y, sample_weight=WEIGHTS)
    assert_same_scores(ours, theirs)


@pytest.mark.parametrize("asked", [True, False])
def test_with_routing_weights_count_in_scoring_where_the_scorer_asks(asked):
    with config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=asked)
        ours = PVMClassifierCV(radii="shared", eps=RADII, cv=5, scoring=scorer).fit(X, Y, WEIGHTS)
        model = PVMClassifier(radii="shared", solver="greedy").set_fit_request(sample_weight=True)
        theirs = GridSearchCV(model, {"eps": RADII}, cv=5, scoring=scorer)
        assert_same_scores(ours, theirs.fit(X, Y, sample_weight=WEIGHTS))
        if asked:
            default = PVMClassifierCV(radii="shared", eps=RADII, cv=5).fit(X, Y, WEIGHTS)
            assert_same_scores(default, theirs)


@pytest.mark.parametrize("grid", [{"n_eps": 4}, {"eps": RADII}])
def test_a_point_of_weight_zero_is_as_if_it_were_not_there(grid):
    """In the grid, in the training parts and in the scores; the folds are given."""
    kept = np.flatnonzero(WEIGHTS > 0)
    place = np.cumsum(WEIGHTS > 0) - 1
    splits = list(ShuffleSplit(4, random_state=0).split(X))
    fewer = [tuple(place[part[WEIGHTS[part] > 0]] for part in split) for split in splits]
    for metric, points in (("euclidean", X), ("precomputed", cdist(X, X))):
        rest = points[np.ix_(kept, kept)] if metric == "precomputed" else points[kept]
        with_zeros = PVMClassifierCV(radii="shared", **grid, cv=splits, metric=metric).fit(
            points, Y, WEIGHTS
        )
        without = PVMClassifierCV(radii="shared", **grid, cv=fewer, metric=metric)
        without.fit(rest, Y[kept], WEIGHTS[kept])
        assert_same_scores(with_zeros, without)
        np.testing.assert_array_equal(
            with_zeros.cv_results_["param_eps"], without.cv_results_["param_eps"]
        )
        np.testing.assert_array_equal(
            with_zeros.candidate_indices_, kept[without.prototype_indices_]
        )


@pytest.mark.parametrize("routing", [False, True])
def test_groups_are_kept_together(routing):
    with config_context(enable_metadata_routing=routing):
        ours = PVMClassifierCV(radii="shared", eps=RADII, cv=GroupKFold(3)).fit(
            X, Y, groups=GROUPS
        )
        theirs = GridSearchCV(
            PVMClassifier(radii="shared", solver="greedy"), {"eps": RADII}, cv=GroupKFold(3)
        )
        assert_same_scores(ours, theirs.fit(X, Y, groups=GROUPS))
    given = PVMClassifierCV(
        radii="shared", eps=RADII, cv=list(GroupKFold(3).split(X, Y, GROUPS))
    ).fit(X, Y)
    assert_same_scores(ours, given)
    with pytest.raises(ValueError, match="groups"):
        PVMClassifierCV(radii="shared", eps=RADII, cv=GroupKFold(3)).fit(X, Y)


def test_a_search_inside_a_cross_validation_gets_its_groups_and_weights():
    seen = []

    class Spying(PVMClassifierCV):
        def fit(self, X, y, sample_weight=None, *, groups=None, unlabeled=None, **params):
            seen.append((groups, sample_weight))
            return super().fit(X, y, sample_weight, groups=groups, unlabeled=unlabeled, **params)

    outer = LeaveOneGroupOut()
    with config_context(enable_metadata_routing=True):
        search = Spying(radii="shared", eps=[0.6, 1.0], cv=GroupKFold(2)).set_fit_request(
            sample_weight=True
        )
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        given = {"groups": GROUPS, "sample_weight": WEIGHTS}
        found = cross_validate(search, X, Y, cv=outer, scoring=scorer, params=given)
    assert len(found["test_score"]) == 6
    for (train, test), (groups, weights), score in zip(
        outer.split(X, Y, GROUPS), seen, found["test_score"], strict=True
    ):
        np.testing.assert_array_equal(groups, GROUPS[train])
        np.testing.assert_array_equal(weights, WEIGHTS[train])
        again = PVMClassifierCV(radii="shared", eps=[0.6, 1.0], cv=GroupKFold(2))
        again.fit(X[train], Y[train], WEIGHTS[train], groups=GROUPS[train])
        assert again.score(X[test], Y[test], WEIGHTS[test]) == score


def test_other_metadata_reaches_the_scorer_with_routing_only():
    def scaled(y, answers, factor):
        return factor.mean() * (answers == y).mean()

    factor = np.arange(len(Y), dtype=float)
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        PVMClassifierCV(radii="shared", eps=RADII, cv=3).fit(X, Y, factor=factor)
    with config_context(enable_metadata_routing=True):
        with pytest.raises(TypeError, match="factor"):
            PVMClassifierCV(radii="shared", eps=RADII, cv=3).fit(X, Y, factor=factor)
        scorer = make_scorer(scaled).set_score_request(factor=True)
        ours = PVMClassifierCV(radii="shared", eps=RADII, cv=3, scoring=scorer).fit(
            X, Y, factor=factor
        )
        theirs = GridSearchCV(
            PVMClassifier(radii="shared", solver="greedy"), {"eps": RADII}, cv=3, scoring=scorer
        )
        assert_same_scores(ours, theirs.fit(X, Y, factor=factor))


def test_a_square_table_is_split_on_both_sides():
    by_rows = PVMClassifierCV(radii="shared", eps=RADII, cv=5).fit(X, Y)
    by_table = PVMClassifierCV(radii="shared", eps=RADII, cv=5, metric="precomputed").fit(
        cdist(X, X), Y
    )
    np.testing.assert_array_equal(
        by_rows.cv_results_["mean_test_score"], by_table.cv_results_["mean_test_score"]
    )
    with pytest.raises(ValueError, match="needs a square one"):
        PVMClassifierCV(radii="shared", eps=RADII, cv=5, metric="precomputed").fit(
            cdist(X, X[:99]), Y
        )


class Spy:
    """A generator of candidates that remembers all points it was shown."""

    seen: ClassVar[list[set]] = []

    def generate(self, X, y, rng):
        Spy.seen.append({tuple(row) for row in X})
        return Pool.synthetic(X + 1e-3, "spy")


def test_no_point_held_out_is_a_candidate_or_shapes_one():
    points = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    splits = list(ShuffleSplit(4, test_size=0.3, random_state=0).split(points))
    Spy.seen = []
    PVMClassifierCV(radii="shared", eps=[0.5, 1.0], cv=splits, candidates=Spy()).fit(points, y)
    *folds, refit = Spy.seen
    assert len(folds) == 4
    assert len(refit) == 60
    for seen, (train, test) in zip(folds, splits, strict=True):
        assert seen == {tuple(row) for row in points[train]}
        assert not seen & {tuple(row) for row in points[test]}


def test_the_metric_is_fitted_inside_each_fold():
    seen = []

    class Fitted:
        symmetric = True

        def fit(self, X, y=None):
            seen.append(len(X))
            return self

        def pairwise(self, A, B):
            return cdist(A, B)

    PVMClassifierCV(radii="shared", eps=RADII, cv=5, metric=Fitted()).fit(X, Y)
    assert seen == [150] + [120] * 5 + [150] or seen == [120] * 5 + [150]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_jobs_do_not_change_the_result(n_jobs):
    plain = PVMClassifierCV(radii="shared", eps=RADII, cv=4).fit(X, Y)
    other = PVMClassifierCV(radii="shared", eps=RADII, cv=4, n_jobs=n_jobs).fit(X, Y)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert plain.eps_ == other.eps_


@pytest.mark.parametrize("solver", ["auto", "greedy", "ratio-greedy"])
def test_the_final_model_is_a_fit_on_everything_with_the_chosen_setting(solver):
    model = PVMClassifierCV(radii="shared", eps=RADII, cv=5, solver=solver, random_state=0).fit(
        X, Y
    )
    setting = {"prototype_cost": model.prototype_cost_, "solver": solver, "random_state": 0}
    again = PVMClassifier(radii="shared", eps=model.eps_, **setting).fit(X, Y)
    assert model.best_estimator_.solver == solver
    np.testing.assert_array_equal(
        model.best_estimator_.candidate_indices_, again.candidate_indices_
    )
    np.testing.assert_array_equal(model.predict(X), again.predict(X))
    assert model.explain(X[:3]).label.tolist() == again.predict(X[:3]).tolist()


def test_settings_that_leave_no_prototypes_are_not_chosen():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PVMClassifierCV(
            radii="shared", eps=[1.0], prototype_costs=[0.01, 1e6], cv=3, min_per_class=0
        ).fit(X, Y)
    assert model.prototype_cost_ == 0.01
    with pytest.raises(
        ValueError, match=r"of 3 scores 3 failed with no prototypes.*change eps or"
    ):
        model.set_params(prototype_costs=[1e6]).fit(X, Y)


def test_a_setting_that_cannot_be_scored_is_nan_as_in_a_grid_search():
    y = Y > 1
    grid = {"eps": [0.3, 0.6, 1.6], "prototype_cost": [0.01, 12.0]}
    theirs = GridSearchCV(
        PVMClassifier(radii="shared", solver="greedy", min_per_class=0),
        grid,
        cv=4,
        scoring=share_of_the_rarest,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X, y)
    ours = PVMClassifierCV(
        radii="shared",
        eps=grid["eps"],
        prototype_costs=[0.01, 12.0],
        cv=4,
        scoring=share_of_the_rarest,
        min_per_class=0,
    )
    with pytest.warns(FitFailedWarning, match=r"of 24 scores could not .* set to nan: .*Error: "):
        ours.fit(X, y)
    assert_same_scores(ours, theirs)
    assert np.isnan(ours.cv_results_["mean_test_score"]).any()
    assert np.isfinite(ours.best_score_)
    assert ours.set_params(rule="best").fit(X, y).best_score_ == theirs.best_score_


def fails_at_large_radii(model, X, y):
    if model.eps > 0.8:
        raise ArithmeticError(f"cannot do with {model.eps}\nmore about it")
    return model.score(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_a_scorer_raises_is_told(n_jobs):
    model = PVMClassifierCV(
        radii="shared", eps=RADII, cv=3, scoring=fails_at_large_radii, n_jobs=n_jobs
    )
    with pytest.warns(FitFailedWarning) as caught:
        model.fit(X, Y)
    (said,) = [str(w.message) for w in caught if w.category is FitFailedWarning]
    assert said.startswith("6 of 12 scores could not be computed and are set to nan: ")
    assert "3 failed with ArithmeticError: cannot do with 1.0; 3 failed with" in said
    assert caught[0].filename == __file__
    assert np.isnan(model.cv_results_["mean_test_score"]).tolist() == [False, False, True, True]
    assert model.cv_results_["rank_test_score"].tolist()[2:] == [3, 3]
    assert model.eps_ < 0.8
    with pytest.warns(FitFailedWarning, match="are set to 0.0"):
        model.set_params(error_score=0.0).fit(X, Y)
    assert model.cv_results_["mean_test_score"].tolist()[2:] == [0.0, 0.0]
    with pytest.raises(ArithmeticError, match=r"cannot do with 1\.0"):
        model.set_params(error_score="raise").fit(X, Y)
    with pytest.raises(ValueError, match=r"of 6 scores 3 failed with Arith.*error_score='raise'"):
        model.set_params(error_score=np.nan, eps=[1.0, 1.6]).fit(X, Y)


def test_the_search_has_all_that_its_best_classifier_has():
    search = PVMClassifierCV(radii="shared", eps=RADII, cv=3)
    names = [
        name
        for name in vars(PVMClassifier(radii="shared", eps=1.0).fit(X, Y))
        if name.endswith("_")
    ]
    assert not any(hasattr(search, name) for name in names)
    with pytest.raises(NotFittedError):
        check_is_fitted(search)
    with pytest.raises(NotFittedError):
        search.transform(X)
    search.fit(X, Y)
    for name in names:
        np.testing.assert_equal(getattr(search, name), getattr(search.best_estimator_, name))
    np.testing.assert_array_equal(search.transform(X), search.best_estimator_.transform(X))
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.prototypes_, search.prototypes_)
    methods = {name for name in dir(PVMClassifier) if not name.startswith("_")} - {"partial_fit"}
    methods -= {"predict_proba", "predict_log_proba"}  # only with decision="fitted"
    assert methods - {"set_partial_fit_request"} <= set(dir(search))


def test_solver_options_reach_the_solver_in_folds_and_refit():
    seen = []

    def solver(problem, *, rng=None, max_prototypes=None, word=None):
        seen.append(word)
        return greedy(problem, rng=rng, max_prototypes=max_prototypes)

    PVMClassifierCV(
        radii="shared", eps=[1.0], cv=2, solver=solver, solver_options={"word": "so"}
    ).fit(X, Y)
    assert seen == ["so"] * 9
    plain = PVMClassifierCV(radii="shared", eps=RADII, cv=3, solver="greedy").fit(X, Y)
    without = clone(plain).set_params(solver_options={"bound": False}).fit(X, Y)
    assert_same_scores(plain, without)
    assert without.certificate_ == "none" != plain.certificate_


def test_the_default_scores_by_the_greedy_and_fits_by_auto():
    default = PVMClassifierCV(
        radii="shared", eps=RADII, prototype_costs=[0.01, 1.0], cv=3, random_state=0
    )
    assert default.solver == "auto"
    # An option that the greedy does not have is for the final fit.
    default.set_params(solver_options={"verbose": 0, "time_limit": 60}).fit(X, Y)
    scored = PVMClassifierCV(
        radii="shared", eps=RADII, prototype_costs=[0.01, 1.0], cv=3, solver="greedy"
    ).fit(X, Y)
    assert_same_scores(default, scored)
    assert default.best_index_ == scored.best_index_
    assert default.best_params_ == scored.best_params_
    assert default.best_estimator_.solver == "auto"
    assert default.best_estimator_.solver_options == {"verbose": 0, "time_limit": 60}


@pytest.mark.parametrize("metric", ["euclidean", "cosine", Gower()])
def test_unlabeled_points_are_candidates_in_every_fold(metric):
    train, rest = np.arange(0, 150, 2), np.arange(1, 150, 3)  # of unequal length
    options = {"metric": metric, "closed_ball": True, "solver": "greedy"}
    radii = suggest_eps(X[train], Y[train], 4, metric=metric)
    ours = PVMClassifierCV(radii="shared", eps=radii, cv=3, **options).fit(
        X[train], Y[train], unlabeled=X[rest]
    )
    theirs = GridSearchCV(PVMClassifier(radii="shared", **options), {"eps": radii}, cv=3)
    assert_same_scores(ours, theirs.fit(X[train], Y[train], unlabeled=X[rest]))
    again = PVMClassifier(
        radii="shared", eps=ours.eps_, prototype_cost=ours.prototype_cost_, **options
    )
    again.fit(X[train], Y[train], unlabeled=X[rest])
    np.testing.assert_array_equal(ours.candidate_indices_, again.candidate_indices_)
    without = PVMClassifierCV(radii="shared", eps=radii, cv=3, **options).fit(X[train], Y[train])
    assert (ours.cv_results_["mean_test_score"] != without.cv_results_["mean_test_score"]).any()
    with pytest.raises(ValueError, match="unlabeled=None"):
        PVMClassifierCV(radii="shared", eps=RADII, cv=3, metric="precomputed").fit(
            cdist(X, X), Y, unlabeled=X
        )


def test_times_share_the_pass_of_a_fold_among_its_settings(monkeypatch):
    """With a clock that goes on by a second when it is read."""
    from itertools import count

    from protocover._estimators import search_folds

    clock = count()
    monkeypatch.setattr(search_folds, "perf_counter", lambda: float(next(clock)))
    model = PVMClassifierCV(eps=RADII, cv=3, prototype_costs=[0.01, 1.0], solver="greedy", **PAPER)
    results = model.fit(X, Y).cv_results_
    # A second for the levels of all three folds, and one for a fold's path, by eight settings.
    np.testing.assert_allclose(results["mean_fit_time"], (1.0 + 1.0 / 3) / 8)
    np.testing.assert_allclose(results["std_fit_time"], 0.0, atol=1e-12)
    np.testing.assert_allclose(results["mean_score_time"], 1.0)
    np.testing.assert_allclose(results["std_score_time"], 0.0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_random_state_object_is_the_same_in_every_fold(n_jobs):
    options = {"candidates": 0.5, "cv": 3}
    ours = PVMClassifierCV(
        radii="shared", eps=RADII, random_state=np.random.RandomState(7), n_jobs=n_jobs, **options
    ).fit(X, Y)
    assert_same_scores(
        ours, PVMClassifierCV(radii="shared", eps=RADII, random_state=7, **options).fit(X, Y)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "2se"}, "rule must be one of '1se', 'best', 'few', got '2se'"),
        ({"eps": [-1.0]}, "eps must be positive numbers"),
        ({"eps": True}, "eps must be positive numbers, got True"),
        ({"eps": np.True_}, "eps must be positive numbers, got np.True_"),
        ({"eps": 0}, "eps must be positive numbers, got 0"),
        ({"eps": None, "n_eps": 0}, "n_eps must be a positive whole number.*got 0; radii"),
        ({"eps": None, "n_eps": 2.0}, "n_eps must be a positive whole number.*got 2.0"),
        ({"eps": None, "n_eps": True}, "n_eps must be a positive whole number.*got True"),
        ({"eps": "auto"}, "eps must be positive numbers, got 'auto'"),
        ({"max_prototypes": 2.5}, "max_prototypes must be a whole number not below 0.*got 2.5"),
        ({"max_prototypes": -1}, "max_prototypes must be a whole number not below 0.*got -1"),
        ({"max_prototypes": True}, "max_prototypes must be a whole number .*got True"),
        ({"max_prototypes": {7: 2}}, r"max_prototypes names classes that are not in y: \[7\]"),
        ({"max_prototypes": 2}, "max_prototypes must be at least the number of classes, 3, got 2"),
        ({"max_search_samples": 1}, "max_search_samples must be an integer of at least 2.*got 1"),
        ({"max_search_samples": 9.0}, "max_search_samples must be an integer .*None.*got 9.0"),
        ({"max_search_samples": 5}, "max_search_samples must allow two samples per class.*got 5"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
        ({"cv": 1}, "cv must be a number of folds from 2 up, a splitter or pairs.*got 1"),
        ({"cv": True}, "cv must be a number of folds.*got True"),
        ({"cv": "many"}, "cv.*many"),
        ({"cv": []}, "cv must give at least one split, got none"),
        ({"error_score": "rise"}, "error_score must be a number or 'raise', got 'rise'"),
        ({"scoring": "magic"}, "magic"),
        ({"solver": "magic"}, "solver must be one of .*got 'magic'"),
        ({"candidates": "magic"}, "candidates must be .*got 'magic'"),
        ({"prototype_costs": [-1]}, "prototype_costs must be numbers from 0 to"),
    ],
)
def test_bad_settings_are_named(options, message):
    model = PVMClassifierCV(radii="shared", **{"eps": RADII, "cv": 3, **options})
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "classes_")


def test_a_frame_is_asked_of_by_the_names_of_its_columns(recwarn):
    """The names reach the chosen classifier: no warning, and other names are refused."""
    frame = pytest.importorskip("pandas").DataFrame(
        X, columns=[f"f{j}" for j in range(X.shape[1])]
    )
    model = PVMClassifierCV(radii="shared", n_eps=3, cv=3, random_state=0).fit(frame, Y)
    model.predict(frame), model.explain(frame), model.coverage(frame, Y)
    assert not [w for w in recwarn if "feature names" in str(w.message)]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame.rename(columns={"f0": "other"}))


@pytest.mark.parametrize(
    "metric",
    ["euclidean", "precomputed", Gower(), lambda a, b: np.abs(a - b).max()],
    ids=["rows", "table", "gower", "function"],
)
def test_points_are_validated_once(metric, monkeypatch):
    """Neither the folds nor the final fit look at all of them again; queries are others."""
    from protocover.data import _points as points

    some = np.arange(0, 150, 3)
    given = cdist(X[some], X[some]) if metric == "precomputed" else X[some]
    validated = []
    original = points.validate_data

    def counted(estimator, X, **rules):
        validated.append((type(estimator).__name__, len(X)))
        return original(estimator, X, **rules)

    monkeypatch.setattr(points, "validate_data", counted)
    search = PVMClassifierCV(radii="shared", eps=[0.5, 1.0], cv=3, metric=metric).fit(
        given, Y[some]
    )
    of_all = [name for name, size in validated if size == len(some)]
    assert of_all == ["PVMClassifierCV"]
    assert search.best_estimator_.n_features_in_ == search.n_features_in_ == given.shape[1]
    np.testing.assert_array_equal(search.predict(given), search.best_estimator_.predict(given))
