import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier, pvm_path
from protocover._selection.path import PostponedBounds
from protocover.candidates import KMeansCandidates
from protocover.dissimilarity import DANN, RankDissimilarity

X, Y = load_iris(return_X_y=True)
RADII = [0.3, 0.6, 1.0, 2.0]
COSTS = [0.01, 0.5, 1.0, 4.0]


def assert_same(selection, model):
    np.testing.assert_array_equal(selection.candidates, model.candidate_indices_)
    np.testing.assert_array_equal(selection.newly_covered, model.newly_covered_count_)
    np.testing.assert_array_equal(selection.covered, model.covered_count_)
    np.testing.assert_array_equal(selection.miscovered, model.miscovered_count_)
    assert selection.objective == model.objective_


def test_prototypes_that_are_all_columns_of_a_table_stand_as_in_the_model():
    table = cdist([[0.0], [10.0], [20.0], [30.0]], [[0.0], [10.0], [20.0], [30.0]])
    path = pvm_path(table, [1, 0, 1, 0], eps=[1.0], metric="precomputed", **PAPER)
    assert path.candidate_indices[0][0].tolist() == [0, 1, 2, 3]
    assert path.prototype_labels[0][0].tolist() == [1, 0, 1, 0]
    assert_same(path.selections[0][0], path.model(0))


@pytest.mark.parametrize("solver", ["greedy", "ratio-greedy"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("closed", [False, True])
def test_every_point_of_the_path_is_a_separate_fit(solver, weighted, closed):
    """On distances with one decimal, so that radii are ties."""
    weights = np.random.default_rng(0).integers(1, 5, size=len(Y)) / 8 if weighted else None
    D = cdist(X, X).round(1)
    options = {"metric": "precomputed", "solver": solver, "closed_ball": closed, **PAPER}
    path = pvm_path(D, Y, eps=RADII, prototype_costs=COSTS, sample_weight=weights, **options)
    for i, eps in enumerate(RADII):
        for j, cost in enumerate(COSTS):
            model = PVMClassifier(eps=eps, prototype_cost=cost, **options).fit(D, Y, weights)
            assert_same(path.selections[i][j], model)
            assert path.n_prototypes[i, j] == len(model.candidate_indices_)
            assert path.objective[i, j] == model.objective_
            assert path.lower_bound[i, j] <= model.objective_


def test_it_becomes_a_tidy_frame():
    pytest.importorskip("pandas")
    path = pvm_path(X, Y, eps=RADII, prototype_costs=COSTS, **PAPER)
    frame = path.to_frame()
    assert len(frame) == len(RADII) * len(COSTS)
    row = frame[(frame.eps == 1.0) & (frame.prototype_cost == 4.0)].iloc[0]
    assert row.n_prototypes == path.n_prototypes[2, 3]
    assert [row[f"n_prototypes_{c}"] for c in range(3)] == path.n_prototypes_by_class[
        2, 3
    ].tolist()


def fitted(model):
    """All that a fit has set, the solution taken apart and the dissimilarity by its answers."""
    found = {name: value for name, value in vars(model).items() if name.endswith("_")}
    del found["dissimilarity_"]
    solution = found.pop("solution_")
    found |= {f"solution_.{name}": value for name, value in vars(solution).items()}
    if issparse(found["prototypes_"]):
        found["prototypes_"] = found["prototypes_"].toarray()
    for k, part in enumerate(found.pop("solution_.solutions")):
        found |= {f"solution {k}: {name}": value for name, value in vars(part).items()}
    return found


def assert_same_model(one, other, queries):
    found, expected = fitted(one), fitted(other)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert type(found[name]) is type(value), name
        np.testing.assert_equal(found[name], value, err_msg=name)
    assert one.get_params().keys() == other.get_params().keys()
    if len(other.prototype_labels_):
        np.testing.assert_array_equal(one.predict(queries), other.predict(queries))
        np.testing.assert_array_equal(
            one.decision_function(queries), other.decision_function(queries)
        )


def uphill(a, b):
    return max(0.0, float((b - a).max()))


WEIGHTS = np.random.default_rng(3).choice([0.0, 1.0, 2.0, 0.375], size=len(Y))
DEFAULTS = {"cross_class": False, "min_per_class": 1}
WORDS = [f"{'ab' * int(2 * row[2])}{'c' * int(row[0])}" for row in X[::5]]
MODELS = {
    "plain": (X, {}),
    "weights": (X, {"sample_weight": WEIGHTS}),
    "whole weights": (X, {"sample_weight": np.ceil(WEIGHTS)}),
    "kmeans": (X, {"candidates": "kmeans", "random_state": 3, "sample_weight": WEIGHTS}),
    "drawn": (X, {"candidates": 0.5, "random_state": 3, "sample_weight": WEIGHTS}),
    "several": (X, {"candidates": ["train", KMeansCandidates(3)], "random_state": 3}),
    "unlabeled": (X, {"unlabeled": X[::7] + 0.05, "sample_weight": WEIGHTS}),
    "closed": (X.round(), {"closed_ball": True}),
    "metric": (X, {"metric": "minkowski", "metric_params": {"p": 3}}),
    "metric object": (X, {"metric": RankDissimilarity(), "eps": [5.0, 20.0, 60.0]}),
    "metric that learns": (X, {"metric": DANN(), "sample_weight": WEIGHTS}),
    "function": (X, {"metric": uphill, "sample_weight": WEIGHTS}),
    "table": (cdist(X, X), {"metric": "precomputed", "sample_weight": WEIGHTS}),
    "wide table": (cdist(X, X[::3]), {"metric": "precomputed", "sample_weight": WEIGHTS}),
    "drawn columns": (
        cdist(X, X),
        {"metric": "precomputed", "candidates": 40, "random_state": 1, "sample_weight": WEIGHTS},
    ),
    "sparse": (csr_array(X), {"sample_weight": WEIGHTS}),
    "single precision": (X.astype(np.float32), {}),
    "exact": (X, {"solver": "exact", "sample_weight": WEIGHTS}),
    "ratio greedy": (X, {"solver": "ratio-greedy"}),
    "local search": (X, {"solver": "local-search", "random_state": 5}),
    "lp rounding": (X, {"solver": "lp-rounding", "random_state": 5}),
    "without a bound": (X, {"solver_options": {"bound": False}}),
    "the defaults": (X, DEFAULTS),
    "the defaults with drawn candidates": (
        X,
        {"candidates": 0.5, "random_state": 3, "sample_weight": WEIGHTS, **DEFAULTS},
    ),
    "the defaults with further points": (X, {"unlabeled": X[::7] + 0.05, **DEFAULTS}),
    "the defaults, exact": (X, {"solver": "exact", **DEFAULTS}),
    "the defaults at a high cost": (X, {"prototype_costs": [20.0, 60.0, 500.0], **DEFAULTS}),
}
OF_FIT = ("sample_weight", "unlabeled")


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_path_is_that_of_its_own_fit(name):
    points, options = MODELS[name]
    options = {"eps": [0.3, 1.0, 2.0], "prototype_costs": [0.01, 1.0, 4.0], **PAPER, **options}
    path = pvm_path(points, Y, **options)
    given = {key: value for key, value in options.items() if key in OF_FIT}
    params = {
        key: value
        for key, value in options.items()
        if key not in (*OF_FIT, "eps", "prototype_costs")
    }
    for k, eps in enumerate(path.eps):
        for j, cost in enumerate(path.prototype_costs):
            model = PVMClassifier(
                eps=eps, prototype_cost=cost, **{"solver": "greedy", **params}
            ).fit(points, Y, **given)
            assert_same_model(path.model(k, j), model, points[::4])
            for attribute in ("indices", "labels", "sources"):
                np.testing.assert_array_equal(
                    getattr(path, f"prototype_{attribute}")[k][j],
                    getattr(model, f"prototype_{attribute}_"),
                )
            assert_same(path.selections[k][j], model)
            assert path.lower_bound[k, j] == model.lower_bound_


@pytest.mark.parametrize("kind", ["frame", "words"])
def test_models_of_the_path_know_their_features(kind):
    pd = pytest.importorskip("pandas")
    points, metric = (pd.DataFrame(X[::5], columns=list("abcd")), "euclidean")
    if kind == "words":
        points, metric = WORDS, lambda a, b: abs(len(a) - len(b)) + float(a[:1] != b[:1])
    model = PVMClassifier(
        eps=1.0, metric=metric, prototype_cost=0.1, solver="greedy", **PAPER
    ).fit(points, Y[::5])
    path = pvm_path(points, Y[::5], eps=[1.0], metric=metric, prototype_costs=[0.1], **PAPER)
    assert_same_model(path.model(0), model, points)


def test_prototypes_are_told_by_their_rows_where_some_have_no_weight():
    weights = np.ones(len(Y))
    weights[:50:2] = 0.0
    path = pvm_path(X, Y, eps=[1.0], sample_weight=weights, **PAPER)
    model = PVMClassifier(eps=1.0, solver="greedy", **PAPER).fit(X, Y, weights)
    rows = model.candidate_indices_
    assert weights[rows].all()
    np.testing.assert_array_equal(X[rows], model.prototypes_)
    for selection in (path.selections[0][0], model.solution_):
        np.testing.assert_array_equal(selection.candidates, rows)
        for label, solution in enumerate(selection.solutions):
            np.testing.assert_array_equal(
                solution.selected, rows[model.prototype_labels_ == label]
            )
    np.testing.assert_array_equal(path.candidate_indices[0][0], rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"eps": [0.0, 1.0]}, "eps must be positive numbers"),
        ({"eps": []}, "eps must be positive numbers"),
        ({"eps": [np.nan]}, "eps must be positive numbers"),
        ({"prototype_costs": [-1.0]}, "prototype_costs must be numbers from 0 to"),
        ({"prototype_costs": []}, "prototype_costs must be numbers from 0 to"),
        ({"solver": "magic"}, "solver must be one of"),
    ],
)
def test_bad_grids_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        pvm_path(X, Y, **{"eps": RADII, **arguments})


def test_bounds_are_found_when_they_are_asked_for_a_radius_at_a_time(monkeypatch):
    asked, find = [], PostponedBounds.selections
    monkeypatch.setattr(
        PostponedBounds, "selections", lambda self, k: asked.append(k) or find(self, k)
    )
    path = pvm_path(X, Y, eps=RADII, prototype_costs=COSTS, **PAPER)
    assert path.n_prototypes[-1, -1] > 0
    assert path.objective.all()
    assert not asked
    assert path.model(-1, 2).lower_bound_ > 0.0
    assert path.model(3, 1).gap_ < 1.0
    assert asked == [3]
    kept = pickle.loads(pickle.dumps(path))
    np.testing.assert_array_equal(kept.lower_bound, path.lower_bound)
    assert sorted(asked) == [0, 0, 1, 1, 2, 2, 3]
