"""Paths and searches of prototypes with radii of their own, against fits one by one."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.model_selection import (
    GridSearchCV,
    ShuffleSplit,
)

from grid_search import fit_grid
from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, pvm_path
from protocover._estimators.search_results import trace_path
from protocover.candidates import KMeansCandidates
from protocover.dissimilarity import DANN
from protocover.report import summarize

X, Y = load_iris(return_X_y=True)
D = cdist(X, X).round(1)  # so that limits and radii are ties
WEIGHTS = np.random.default_rng(0).integers(0, 4, size=len(Y)) / 8.0
ROUGH = np.random.default_rng(1).uniform(0.1, 1.0, size=len(Y))
LIMITS = [0.3, 1.0, 2.0, np.inf]
COSTS = [0.01, 1.0, 4.0]


def assert_same_model(ours, theirs, queries):
    """All that is said of the prototypes and by them."""
    for name in (
        "candidate_indices_",
        "prototype_indices_",
        "prototype_labels_",
        "prototype_radii_",
        "covered_count_",
        "miscovered_count_",
        "newly_covered_count_",
    ):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), name)
    for name in ("eps_", "prototype_cost_", "objective_", "lower_bound_", "certificate_"):
        assert getattr(ours, name) == getattr(theirs, name), name
    if len(theirs.candidate_indices_):
        np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))


PATHS = {
    "plain": (X, {}),
    "ties": (D, {"metric": "precomputed"}),
    "closed": (D, {"metric": "precomputed", "closed_ball": True}),
    "weights": (D, {"metric": "precomputed", "sample_weight": WEIGHTS}),
    "whole weights": (X, {"sample_weight": np.ceil(8 * WEIGHTS)}),
    "drawn": (X, {"candidates": 0.5, "random_state": 3, "sample_weight": WEIGHTS}),
    "several": (X, {"candidates": ["train", KMeansCandidates(3)], "random_state": 3}),
    "unlabeled": (X, {"unlabeled": X[::7] + 0.05, "sample_weight": WEIGHTS}),
    "metric that learns": (X, {"metric": DANN(), "sample_weight": WEIGHTS}),
    "wide table": (cdist(X, X[::3]), {"metric": "precomputed", "sample_weight": WEIGHTS}),
    "candidates for any class": (
        D,
        {
            "metric": "precomputed",
            "sample_weight": WEIGHTS,
            "cross_class": True,
            "min_per_class": 0,
        },
    ),
    "ratio greedy": (D, {"metric": "precomputed", "solver": "ratio-greedy"}),
    "exact": (D, {"metric": "precomputed", "solver": "exact", "random_state": 0}),
    "local search": (D, {"metric": "precomputed", "solver": "local-search", "random_state": 5}),
    "lp rounding": (D, {"metric": "precomputed", "solver": "lp-rounding", "random_state": 5}),
}


@pytest.mark.parametrize("name", PATHS)
def test_every_point_of_the_path_is_a_separate_fit(name):
    points, options = PATHS[name]
    options = {"radii": "adaptive", "solver": "greedy", **options}
    path = pvm_path(points, Y, eps=LIMITS, prototype_costs=COSTS, **options)
    given = {key: options.pop(key) for key in ("sample_weight", "unlabeled") if key in options}
    for i, eps in enumerate(LIMITS):
        for j, cost in enumerate(COSTS):
            model = PVMClassifier(eps=eps, prototype_cost=cost, **options).fit(points, Y, **given)
            assert_same_model(path.model(i, j), model, points[::4])
            np.testing.assert_array_equal(path.selections[i][j].radii, model.prototype_radii_)
            assert path.n_prototypes[i, j] == len(model.candidate_indices_)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 3))
def test_the_greedy_takes_one_ball_of_a_candidate_and_stops_earlier_at_a_higher_cost(
    seed, closed, n_classes
):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 5, (20, 2)).astype(float)
    y, weights = rng.integers(0, n_classes, 20), rng.integers(1, 5, 20) / 4
    costs = [0.0, 0.25, 1.0, 2.0]
    path = pvm_path(
        points,
        y,
        eps=[1.5, None],
        prototype_costs=costs,
        radii="adaptive",
        closed_ball=closed,
        sample_weight=weights,
        min_per_class=0,
    )
    for i, eps in enumerate([1.5, None]):
        whole = path.selections[i][0]
        pairs = np.column_stack((whole.candidates, whole.classes))
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        for j, cost in enumerate(costs):
            model = PVMClassifier(
                eps=eps,
                radii="adaptive",
                prototype_cost=cost,
                closed_ball=closed,
                solver="greedy",
                min_per_class=0,
            )
            assert_same_model(path.model(i, j), model.fit(points, y, weights), points)
            n = path.n_prototypes[i, j]
            for solution, part in zip(
                whole.solutions, path.selections[i][j].solutions, strict=True
            ):
                np.testing.assert_array_equal(
                    solution.selected[: len(part.selected)], part.selected
                )
            assert n == (whole.score > cost).sum()


def test_the_grid_of_costs_follows_the_weights():
    def costs(weights):
        return pvm_path(X, Y, radii="adaptive", eps=1.0, sample_weight=weights).prototype_costs

    plain = costs(None)
    np.testing.assert_array_equal(costs(np.ones(len(Y))), plain)
    np.testing.assert_allclose(costs(np.full(len(Y), 0.25))[[1, -1]], [0.25, 0.25 * 150 / 24])
    assert len(costs(np.where(np.arange(len(Y)) % 3, 0.25, 0.0))) == 8
    repeated = np.repeat(np.arange(len(Y)), 2)
    again = pvm_path(X[repeated], Y[repeated], radii="adaptive", eps=1.0).prototype_costs
    np.testing.assert_array_equal(costs(np.full(len(Y), 2)), again)


SEARCHES = {
    "plain": (X, {}),
    "metric": (X, {"metric": "cityblock"}),
    "ratio greedy": (X, {"solver": "ratio-greedy"}),
    "closed": (D, {"metric": "precomputed", "closed_ball": True, "outlier_label": -1}),
    "table": (D, {"metric": "precomputed"}),
    "kmeans": (X, {"candidates": KMeansCandidates(5), "random_state": 0}),
    "drawn": (X, {"candidates": 0.5, "random_state": 0}),
    "metric that learns": (X, {"metric": DANN()}),
}
SPLITS = {
    "folds": 5,
    "in another order": ShuffleSplit(3, random_state=0),
    "with repetitions": [
        (np.random.default_rng(k).integers(0, 150, 120), np.arange(k, 150, 5)) for k in range(2)
    ],
}


def assert_same_search(points, *, cv=5, weights=None, groups=None, limits=LIMITS, **options):
    """The scores of all folds are those of a grid search, and the choice is a plain fit."""
    options = {"solver": "greedy"} | options
    ours = PVMClassifierCV(eps=limits, radii="adaptive", prototype_costs=COSTS, cv=cv, **options)
    ours.fit(points, Y, weights, groups=groups)
    plain = PVMClassifier(radii="adaptive", **options)
    theirs = GridSearchCV(plain, {"eps": limits, "prototype_cost": COSTS}, cv=cv, refit=False)
    extra = {} if groups is None else {"groups": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no prototypes are left
        fit_grid(theirs, points, Y, weights=weights, **extra)
    for k in range(ours.n_splits_):
        np.testing.assert_array_equal(
            ours.cv_results_[f"split{k}_test_score"], theirs.cv_results_[f"split{k}_test_score"]
        )
    assert ours.cv_results_["param_eps"].dtype.kind == "f"
    assert [dict(params) for params in theirs.cv_results_["params"]] == [
        {name: params[name] for name in ("eps", "prototype_cost")}
        for params in ours.cv_results_["params"]
    ]
    chosen = {name: ours.best_params_[name] for name in ("eps", "prototype_cost")}
    assert_same_model(ours, plain.set_params(**chosen).fit(points, Y, weights), points[::3])
    return ours


@pytest.mark.parametrize("name", SEARCHES)
def test_scores_are_those_of_a_grid_search_fold_by_fold(name):
    points, options = SEARCHES[name]
    assert_same_search(points, **options)


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("weights", [None, WEIGHTS, ROUGH], ids=["plain", "some zero", "rough"])
def test_whatever_the_splits_and_weights_are(name, weights):
    assert_same_search(D, metric="precomputed", cv=SPLITS[name], weights=weights)


def test_one_pass_over_the_distances_serves_all_folds_limits_and_costs():
    class Counted:
        """Euclidean distance that counts how many values it is asked for."""

        n_values = 0
        stateless = symmetric = True

        def fit(self, X, y=None):
            return self

        def pairwise(self, A, B):
            Counted.n_values += len(A) * len(B)
            return cdist(A, B)

    metric = Counted()
    PVMClassifierCV(eps=LIMITS, radii="adaptive", prototype_costs=COSTS, cv=5, metric=metric).fit(
        X, Y
    )
    # The folds' pass and that of the final fit; queries are compared with prototypes alone.
    n_passes = 2 * len(X) ** 2
    assert n_passes <= Counted.n_values < n_passes + 5 * len(LIMITS) * len(COSTS) * 30 * len(X)


def test_the_path_of_a_search_goes_along_the_costs():
    plotting = pytest.importorskip("protocover.plotting")
    search = PVMClassifierCV(radii="adaptive", cv=3).fit(X, Y)
    path = trace_path(search)
    assert path.parameter == "prototype_cost"
    np.testing.assert_array_equal(
        path.values, np.unique(search.cv_results_["param_prototype_cost"])
    )
    assert path.values[path.chosen] == search.prototype_cost_
    assert (path.n_prototypes[1:] <= path.n_prototypes[:-1]).all()
    display = plotting.PathDisplay.from_estimator(search)
    assert not any("1-NN" in text.get_text() for text in display.ax_.get_legend().get_texts())
    summary = summarize(search, X, Y)
    assert summary.path.parameter == "cost"
    assert "chosen from 6 with the maximum radius" in str(summary)
    shared = PVMClassifierCV(n_eps=4, cv=3, **PAPER).fit(X, Y)
    assert trace_path(shared).parameter == "eps"
    assert summarize(shared, X, Y).path.parameter == "radius"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": [0.0, 1.0]}, "eps must be positive numbers, or None for no limit, got"),
        ({"eps": [np.nan]}, "eps must be positive numbers, or None for no limit, got"),
        ({"eps": ["wide"]}, "eps must be positive numbers, or None for no limit, got"),
        ({"eps": []}, "eps must be positive numbers, or None for no limit, got"),
        ({"n_eps": 0}, "n_eps must be a positive whole number"),
        ({"radii": "many"}, "radii must be 'shared', one radius for all, or 'adaptive'"),
        ({"eps": [None], "radii": "shared"}, r"eps must be positive numbers, got \[None\]"),
        ({"eps": [np.inf], "radii": "shared"}, "eps must be positive numbers, got"),
        ({"prototype_costs": [-1.0]}, "prototype_costs must be numbers from 0 to"),
    ],
)
def test_bad_grids_are_named(arguments, message):
    arguments = {"radii": "adaptive", **arguments}
    with pytest.raises(ValueError, match=message):
        pvm_path(X, Y, **arguments)
    with pytest.raises(ValueError, match=message):
        PVMClassifierCV(**arguments).fit(X, Y)
