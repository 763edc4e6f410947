"""What a search proposes, skips and leaves out: its grid, budgets, rare classes and samples."""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, GroupKFold, PredefinedSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import naive
from grid_search import fit_grid
from protocover import PVMClassifier, PVMClassifierCV, suggest_eps

X, Y = load_iris(return_X_y=True)
D = cdist(X, X)
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(Y)) / 2.0
GRIDS = {"shared": [0.3, 0.6, 1.0, 1.6], "adaptive": [0.6, 1.2, 2.0]}
COSTS = [0.01, 2.0, 12.0]

pytestmark = pytest.mark.filterwarnings("ignore:.*of the samples became:UserWarning")


def uneven():
    """50, 17 and 8 samples, of which folds have different shares, with some wrong labels."""
    rows = np.concatenate([np.arange(50), np.arange(50, 67), np.arange(100, 108)])
    y = Y[rows]
    y[[3, 20, 41, 55, 70]] = [1, 2, 1, 2, 1]
    return X[rows], y


def assert_same_scores(ours, theirs):
    for k in range(ours.n_splits_):
        name = f"split{k}_test_score"
        np.testing.assert_array_equal(ours.cv_results_[name], theirs.cv_results_[name])


def assert_grid_search(radii, weights=None, scoring=None, data=(X, Y), cv=3, **options):
    """The scores of all folds are those of scikit-learn's grid search."""
    ours = PVMClassifierCV(
        eps=GRIDS[radii], prototype_costs=COSTS, radii=radii, cv=cv, scoring=scoring, **options
    )
    grid = {"eps": GRIDS[radii], "prototype_cost": COSTS}
    if scoring is None and options.get("class_weight") == "balanced":
        scoring = "balanced_accuracy"
    plain = PVMClassifier(radii=radii, **options)
    theirs = GridSearchCV(plain, grid, cv=cv, refit=False, scoring=scoring)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes that only the floor gives a prototype
        assert_same_scores(ours.fit(*data, weights), fit_grid(theirs, *data, weights=weights))
    return ours


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("solver", ["greedy", "ratio-greedy"])
@pytest.mark.parametrize("min_per_class", [0, 1])
@pytest.mark.parametrize("budget", [3, 6, {0: 1, 1: 3}])
def test_settings_are_scored_as_the_budgeted_models_they_would_be(
    radii, solver, min_per_class, budget
):
    search = assert_grid_search(
        radii, solver=solver, min_per_class=min_per_class, max_prototypes=budget
    )
    counts = np.bincount(search.prototype_labels_, minlength=3)
    if isinstance(budget, dict):
        assert (counts[[0, 1]] <= [1, 3]).all()
    else:
        assert counts.sum() <= budget
        assert search.cv_results_["mean_n_prototypes"].max() <= budget
    assert not min_per_class or counts.all()


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("n_prototypes", [5, 20, {0: 2, 1: 4}])
def test_a_budget_below_what_every_setting_needs_is_no_error(radii, n_prototypes):
    points, y = load_breast_cancer(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    search = PVMClassifierCV(radii=radii, max_prototypes=n_prototypes, cv=3).fit(points, y)
    most = sum(n_prototypes.values()) if isinstance(n_prototypes, dict) else n_prototypes
    assert 2 <= len(search.prototype_indices_) <= most
    assert search.best_score_ > 0.85


def test_budgets_and_weights_may_name_a_class_that_a_fold_lacks():
    splits = [(np.arange(100), np.arange(50, 100)), (np.arange(0, 150, 2), np.arange(150))]
    for options in ({"max_prototypes": {2: 1}}, {"class_weight": {2: 2.0}}):
        search = PVMClassifierCV(radii="adaptive", eps=[1.0], cv=splits, **options).fit(X, Y)
        assert np.isfinite(search.best_score_)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_candidates_may_serve_other_classes_and_classes_be_left_out_if_asked(radii):
    found = {}
    for cross_class, floor in product((False, True), (0, 1)):
        terms = {"cross_class": cross_class, "min_per_class": floor}
        search = assert_grid_search(radii, data=uneven(), solver="greedy", **terms)
        chosen = search.best_estimator_
        assert (chosen.cross_class, chosen.min_per_class) == (cross_class, floor)
        found[cross_class, floor] = search.cv_results_["mean_n_prototypes"]
    for cross_class in (False, True):
        assert (found[cross_class, 0] < found[cross_class, 1]).any()
    assert (found[False, 0] != found[True, 0]).any()


@pytest.mark.parametrize("rule", ["1se", "few"])
def test_a_rare_class_is_not_given_up_for_fewer_prototypes(rule):
    """Eight samples among 240: a high cost loses them and no more than 3 % of the score."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [240, 8])
    points = rng.normal(size=(248, 2)) + 3.0 * y[:, None]
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    options = {"radii": "adaptive", "eps": [2.0], "prototype_costs": [1.0, 30.0], "cv": cv}
    search = PVMClassifierCV(rule=rule, min_per_class=0, **options).fit(points, y)
    lost = search.cv_results_["mean_n_classes_lost"]
    assert lost.tolist() == [0.0, 1.0]
    assert set(search.prototype_labels_) == {0, 1}
    # A class that only the floor gives a prototype counts as lost.
    floored = PVMClassifierCV(rule=rule, **options).fit(points, y)
    np.testing.assert_array_equal(floored.cv_results_["mean_n_classes_lost"], lost)
    assert floored.prototype_cost_ == 1.0


def test_mean_scores_that_tie_go_to_fewer_prototypes():
    """Scores of unequal folds, whose means differ in the last bits only."""
    found = []
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(len(X))[:90]
        cv = StratifiedKFold(5, shuffle=True, random_state=seed)
        search = PVMClassifierCV(radii="shared", cv=cv, rule="best").fit(X[rows], Y[rows])
        results = search.cv_results_
        considered = results["mean_n_classes_lost"] == results["mean_n_classes_lost"].min()
        mean, sizes = results["mean_test_score"][considered], results["mean_n_prototypes"]
        ties = np.isclose(mean, mean.max(), rtol=1e-13, atol=0.0)
        found.append(sizes[search.best_index_] - sizes[considered][ties].min())
    assert found == [0.0] * 4


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_the_grid_is_made_of_distances_to_the_nearest_sample_of_another_class(weights, metric):
    given = np.ones(len(Y)) if weights is None else weights
    kept = np.flatnonzero(given)
    table, labels = D[np.ix_(kept, kept)], Y[kept]
    points = X if metric == "euclidean" else D
    options = {"metric": metric, "cv": 3}

    def quantiles(steps):
        return [naive.rival_quantile(table, labels, given[kept], step) for step in steps]

    limits = PVMClassifierCV(radii="adaptive", **options).fit(points, Y, weights)
    tried = np.unique(limits.cv_results_["param_eps"])
    np.testing.assert_allclose(tried, quantiles([0.25, 0.5, 0.75, 0.9, 1.0]))
    shared = PVMClassifierCV(radii="shared", **options).fit(points, Y, weights)
    wide = suggest_eps(table, labels, 9, metric="precomputed")[1:]
    tried = np.unique(shared.cv_results_["param_eps"])
    np.testing.assert_allclose(
        tried, np.unique(np.append(quantiles(np.linspace(0.0, 1.0, 12) ** 2), wide)), rtol=1e-12
    )
    one = PVMClassifierCV(radii="shared", n_eps=1, **options).fit(points, Y, weights)
    np.testing.assert_allclose(one.eps_, quantiles([0.5]))


def test_one_class_has_the_grid_of_all_distances_or_no_limit():
    shared = PVMClassifierCV(radii="shared", cv=3).fit(X[:50], Y[:50])
    tried = np.unique(shared.cv_results_["param_eps"])
    np.testing.assert_array_equal(tried, suggest_eps(X[:50], Y[:50]))
    own = PVMClassifierCV(radii="adaptive", cv=3).fit(X[:50], Y[:50])
    assert set(own.cv_results_["param_eps"]) == {np.inf}


SAMPLED = {"max_search_samples": 60, "cv": 4, "random_state": 3}


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_search_on_a_sample_is_that_search_and_the_final_fit_is_on_everything(radii, weights):
    search = PVMClassifierCV(radii=radii, **SAMPLED).fit(X, Y, weights)
    rows = search.search_rows_
    assert len(np.unique(rows)) == len(rows) == 60
    assert (np.diff(rows) > 0).all()
    assert weights is None or weights[rows].all()
    place = np.full(len(Y), -1)
    place[rows] = np.arange(60)
    splits = [
        tuple(place[np.intersect1d(part, rows)] for part in split)
        for split in StratifiedKFold(4).split(X, Y)
    ]
    alone = PVMClassifierCV(radii=radii, cv=splits, random_state=3)
    alone.fit(X[rows], Y[rows], None if weights is None else weights[rows])
    np.testing.assert_array_equal(search.cv_results_["param_eps"], alone.cv_results_["param_eps"])
    assert_same_scores(search, alone)
    assert alone.search_rows_ is None
    plain = PVMClassifier(
        eps=search.eps_, prototype_cost=search.prototype_cost_, radii=radii, random_state=3
    ).fit(X, Y, weights)
    np.testing.assert_array_equal(search.prototype_indices_, plain.prototype_indices_)


def test_the_sample_is_stratified_and_keeps_rare_classes():
    points = np.random.default_rng(0).normal(size=(3000, 2))
    y = np.repeat([0, 1, 2, 3], [2500, 465, 25, 10])
    search = PVMClassifierCV(radii="adaptive", eps=[0.5], cv=3, max_search_samples=300).fit(
        points, y
    )
    counts = np.bincount(y[search.search_rows_])
    assert counts.sum() == 300
    assert counts[2:].tolist() == [20, 10]
    assert 5.0 < counts[0] / counts[1] < 5.8


def test_the_sample_depends_on_random_state_alone():
    def rows(random_state):
        options = {**SAMPLED, "random_state": random_state}
        return PVMClassifierCV(radii="adaptive", eps=[1.0], **options).fit(X, Y).search_rows_

    np.testing.assert_array_equal(rows(None), rows(None))
    np.testing.assert_array_equal(rows(5), rows(5))
    assert (rows(5) != rows(6)).any()
    state = np.random.RandomState(0)
    np.testing.assert_array_equal(rows(state), rows(np.random.RandomState(0)))


@pytest.mark.parametrize("table", [D, csr_array(D)], ids=["table", "graph"])
def test_tables_and_graphs_are_sampled_on_both_sides(table):
    by_rows = PVMClassifierCV(radii="adaptive", eps=[0.6, 1.2], **SAMPLED).fit(X, Y)
    by_table = PVMClassifierCV(radii="adaptive", eps=[0.6, 1.2], metric="precomputed", **SAMPLED)
    by_table.fit(table, Y)
    np.testing.assert_array_equal(by_table.search_rows_, by_rows.search_rows_)
    assert_same_scores(by_table, by_rows)


def test_groups_given_splits_and_metadata_are_those_of_all_samples():
    groups = np.arange(len(Y)) % 6
    options = {"radii": "adaptive", "eps": [0.6, 1.2], **SAMPLED}
    grouped = PVMClassifierCV(**options | {"cv": GroupKFold(3)}).fit(X, Y, groups=groups)
    splits = list(GroupKFold(3).split(X, Y, groups))
    given = PVMClassifierCV(**options | {"cv": splits}).fit(X, Y)
    assert_same_scores(grouped, given)
    test_fold = np.empty(len(Y), dtype=int)
    for k, (_, test) in enumerate(splits):
        test_fold[test] = k
    predefined = PVMClassifierCV(**options | {"cv": PredefinedSplit(test_fold)}).fit(X, Y)
    assert_same_scores(grouped, predefined)
    outside = np.setdiff1d(np.arange(len(Y)), grouped.search_rows_)
    with pytest.raises(ValueError, match="max_search_samples=60 leaves no split with samples"):
        PVMClassifierCV(**options | {"cv": [(np.arange(150), outside)]}).fit(X, Y)


def test_a_sample_is_reported_when_verbose_and_none_is_drawn_of_few(capsys):
    PVMClassifierCV(radii="adaptive", eps=[1.0], verbose=1, **SAMPLED).fit(X, Y)
    assert "searching on a stratified sample of 60 of 150 samples" in capsys.readouterr().err
    for most in (150, None):
        options = {**SAMPLED, "max_search_samples": most}
        search = PVMClassifierCV(radii="adaptive", eps=[1.0], verbose=1, **options).fit(X, Y)
        assert search.search_rows_ is None
        assert "sample of" not in capsys.readouterr().err
