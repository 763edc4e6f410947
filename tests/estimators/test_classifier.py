import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier

import naive
from paper import PAPER
from protocover import NoPrototypesError, PVMClassifier, PVMClassifierCV
from protocover.candidates import HullCandidates, KMeansCandidates

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
QUERIES = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(60, 4))


def same_model(a, b):
    np.testing.assert_array_equal(a.candidate_indices_, b.candidate_indices_)
    np.testing.assert_array_equal(a.prototype_labels_, b.prototype_labels_)
    assert a.objective_ == b.objective_


@pytest.mark.parametrize("seed", range(10))
def test_prototypes_are_those_of_the_naive_algorithm(seed):
    """Small whole numbers, so that ties abound, and every third instance weighted."""
    rng = np.random.default_rng(seed)
    n = rng.integers(5, 40)
    data, y = rng.integers(0, 5, size=(n, 2)).astype(float), rng.integers(0, 3, size=n)
    weights = rng.integers(1, 4, size=n) / 4.0 if seed % 3 == 0 else np.ones(n)
    eps, cost, closed = rng.choice([1.0, 1.5, 2.0]), rng.choice([1 / n, 0.5, 1.0]), seed % 2 == 0
    model = PVMClassifier(
        eps=eps, prototype_cost=cost, closed_ball=closed, solver="greedy", **PAPER
    ).fit(data, y, weights)
    codes = np.unique(y, return_inverse=True)[1]
    inside = naive.members(cdist(data, data), eps, closed)
    expected, _ = naive.pvm_greedy(inside, codes, weights, cost, n_classes=len(model.classes_))
    labels = np.searchsorted(model.classes_, model.prototype_labels_)
    assert list(zip(model.candidate_indices_, labels, strict=True)) == expected
    value = naive.pvm_objective(inside, codes, weights, expected, cost)
    assert model.objective_ == pytest.approx(value, rel=1e-12)


def test_prediction_is_the_class_of_the_nearest_prototype():
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, Y)
    expected = naive.nearest_class(QUERIES, model.prototypes_, model.prototype_labels_)
    np.testing.assert_array_equal(model.predict(QUERIES), expected)


def test_below_the_smallest_distance_it_is_the_nearest_neighbor_rule():
    data, rows = np.unique(X, axis=0, return_index=True)
    eps = cdist(data, data)[np.triu_indices(len(data), 1)].min()
    model = PVMClassifier(eps=eps, **PAPER).fit(data, Y[rows])
    assert sorted(model.candidate_indices_) == list(range(len(data)))
    nearest = KNeighborsClassifier(1).fit(data, Y[rows])
    np.testing.assert_array_equal(model.predict(QUERIES), nearest.predict(QUERIES))


@pytest.mark.parametrize(
    "metric", ["euclidean", "cityblock", "cosine", "sqeuclidean", "chebyshev"]
)
def test_a_precomputed_table_gives_the_model_of_its_metric(metric):
    whole = cdist(X, X, metric)
    eps = np.quantile(whole, 0.2)
    by_metric = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(X, Y)
    by_table = PVMClassifier(eps=eps, metric="precomputed", **PAPER).fit(whole, Y)
    same_model(by_metric, by_table)
    table = cdist(QUERIES, X, metric)
    expected = by_metric.predict(QUERIES)
    np.testing.assert_array_equal(by_table.predict(table), expected)
    np.testing.assert_array_equal(
        by_table.predict(table[:, by_table.candidate_indices_]), expected
    )


def test_a_rectangular_table_has_candidates_of_its_own():
    Z = X[::7] + 0.05
    table = cdist(X, Z)
    by_table = PVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(table, Y)
    by_rows = PVMClassifier(eps=1.0, candidates=Z, **PAPER).fit(X, Y)
    same_model(by_table, by_rows)
    np.testing.assert_array_equal(by_table.prototypes_, by_table.candidate_indices_)
    np.testing.assert_array_equal(by_table.predict(cdist(QUERIES, Z)), by_rows.predict(QUERIES))


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "cityblock"])
def test_sparse_rows_give_the_model_of_dense_rows(container, metric):
    counts = np.random.default_rng(1).poisson(0.4, size=(80, 30)).astype(float)
    y = counts[:, :15].sum(axis=1) > counts[:, 15:].sum(axis=1)
    eps = np.quantile(pairwise_distances(counts, metric=metric), 0.3)
    dense = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(counts, y)
    sparse = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(container(counts), y)
    same_model(dense, sparse)
    np.testing.assert_array_equal(dense.predict(counts), sparse.predict(container(counts)))


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_data_frames_go_in_and_their_columns_are_remembered(frame):
    library = pytest.importorskip(frame)
    columns = ["a", "b", "c", "d"]
    table = library.DataFrame(dict(zip(columns, X.T, strict=True)))
    model = PVMClassifier(eps=1.0, **PAPER).fit(table, library.Series(NAMES[Y]))
    assert model.feature_names_in_.tolist() == columns
    np.testing.assert_array_equal(
        model.predict(table), NAMES[PVMClassifier(eps=1.0, **PAPER).fit(X, Y).predict(X)]
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["b", "a", "c", "d"]])


def test_ties_between_classes_go_to_the_first():
    """The very same point is a prototype of both classes."""
    data = np.array([[0.0], [0.0], [5.0], [5.0], [5.0]])
    model = PVMClassifier(eps=1.0, prototype_cost=0.0, max_prototypes=4, **PAPER)
    model.fit(data, ["b", "a", "b", "b", "b"])
    assert model.predict([[0.0]])[0] in ("a", "b")
    table = np.array([[1.0, 1.0]])
    tied = PVMClassifier(eps=2.0, metric="precomputed", **PAPER).fit(
        [[0.0, 9.0], [9.0, 0.0]], ["b", "a"]
    )
    assert tied.predict(table).tolist() == ["a"]


def test_n_prototypes_keeps_the_first_of_the_greedy():
    everything = PVMClassifier(eps=0.8, solver="greedy", **PAPER).fit(X, Y)
    for k in (0, 1, 3, 1000):
        model = PVMClassifier(eps=0.8, solver="greedy", max_prototypes=k, **PAPER).fit(X, Y)
        np.testing.assert_array_equal(model.candidate_indices_, everything.candidate_indices_[:k])


@pytest.mark.parametrize("solver", ["ratio-greedy", "local-search", "exact", "auto"])
def test_no_solver_is_worse_within_a_budget_than_the_first_of_the_greedy(solver):
    for k in (0, 1, 3, 1000):
        first = PVMClassifier(eps=0.8, solver="greedy", max_prototypes=k, **PAPER).fit(X, Y)
        model = PVMClassifier(
            eps=0.8, solver=solver, max_prototypes=k, random_state=0, **PAPER
        ).fit(X, Y)
        assert len(model.candidate_indices_) <= k
        assert model.objective_ <= first.objective_
        assert model.verify(X, Y).ok
    by_class = PVMClassifier(eps=0.8, max_prototypes={1: 2, 2: 0}, **PAPER).fit(X, Y)
    assert (by_class.prototype_labels_ == 1).sum() == 2
    assert (by_class.prototype_labels_ == 2).sum() == 0


def test_points_of_weight_zero_are_as_if_they_were_not_there():
    weights = (np.arange(len(Y)) % 3 > 0).astype(float)
    weighted = PVMClassifier(eps=0.8, **PAPER).fit(X, Y, weights)
    kept = np.flatnonzero(weights)
    without = PVMClassifier(eps=0.8, **PAPER).fit(X[kept], Y[kept])
    np.testing.assert_array_equal(weighted.candidate_indices_, kept[without.candidate_indices_])
    assert weighted.objective_ == without.objective_
    table = PVMClassifier(eps=0.8, metric="precomputed", **PAPER).fit(cdist(X, X), Y, weights)
    same_model(weighted, table)


def test_unlabeled_points_may_become_prototypes():
    """Two points of a class too far apart for either's ball, and one between them."""
    data, y = np.array([[0.0], [2.0], [9.0], [9.5]]), [0, 0, 1, 1]
    model = PVMClassifier(eps=1.5, **PAPER).fit(data, y, unlabeled=[[1.0], [50.0]])
    assert model.prototype_sources_.tolist() == ["train", "unlabeled"] or (
        model.prototype_sources_.tolist() == ["unlabeled", "train"]
    )
    chosen = model.prototype_sources_.tolist().index("unlabeled")
    assert model.prototype_indices_[chosen] == -1  # not a row of X
    assert model.candidate_indices_[chosen] == 4
    np.testing.assert_array_equal(model.prototypes_[chosen], [1.0])


def test_candidates_join_in_the_order_given_and_say_where_they_come_from():
    mine = X[:5] + 0.01
    model = PVMClassifier(
        eps=0.8,
        candidates=[mine, KMeansCandidates(4), "train", HullCandidates(6)],
        random_state=0,
        **PAPER,
    ).fit(X, Y)
    bounds = {"given": (0, 5), "kmeans": (5, 17), "train": (17, 167), "hull": (167, 185)}
    for index, source, row, point in zip(
        model.candidate_indices_,
        model.prototype_sources_,
        model.prototype_indices_,
        model.prototypes_,
        strict=True,
    ):
        first, last = bounds[source]
        assert first <= index < last
        if source in ("train", "given"):
            assert row == index - first
            np.testing.assert_array_equal(point, {"train": X, "given": mine}[source][row])
        else:
            assert row == -1
    assert {"kmeans", "hull"} & set(model.prototype_sources_)


@pytest.mark.parametrize("candidates", ["train", "kmeans", "hull", ["train", "kmeans"]])
def test_same_input_and_seed_give_the_same_model_on_any_number_of_jobs(candidates):
    models = [
        PVMClassifier(candidates=candidates, random_state=3, n_jobs=n_jobs, **PAPER).fit(X, Y)
        for n_jobs in (None, 1, 2, -1)
    ]
    for model in models[1:]:
        same_model(models[0], model)
        np.testing.assert_array_equal(models[0].prototypes_, model.prototypes_)


def test_outlier_label_answers_for_queries_in_no_ball():
    """As scikit-learn's radius neighbours, over the prototypes and the same radius."""
    model = PVMClassifier(eps=0.6, outlier_label=-1, **PAPER).fit(X, Y)
    answer = model.predict(QUERIES)
    radius = RadiusNeighborsClassifier(0.6, outlier_label=-1)
    radius.fit(model.prototypes_, model.prototype_labels_)
    np.testing.assert_array_equal(answer == -1, radius.predict(QUERIES) == -1)
    inside = answer != -1
    plain = PVMClassifier(eps=0.6, **PAPER).fit(X, Y).predict(QUERIES)
    np.testing.assert_array_equal(answer[inside], plain[inside])
    assert 0 < inside.sum() < len(QUERIES)


def test_outlier_label_may_be_a_longer_word_or_the_most_frequent_class():
    model = PVMClassifier(eps=0.3, outlier_label="none of these at all", **PAPER).fit(X, NAMES[Y])
    assert model.predict([[90.0] * 4]).tolist() == ["none of these at all"]
    y = np.repeat([0, 1], [100, 50])
    frequent = PVMClassifier(eps=0.3, outlier_label="most_frequent", **PAPER).fit(X, y)
    assert frequent.predict([[90.0] * 4]).tolist() == [0]


def test_no_prototype_worth_its_cost_is_said_when_asked_to_predict():
    model = PVMClassifier(eps=0.5, prototype_cost=1e6, **PAPER).fit(X, Y)
    assert len(model.candidate_indices_) == 0
    assert model.objective_ == len(Y)
    for method in (model.predict, model.decision_function, model.explain):
        with pytest.raises(
            NoPrototypesError, match="lower prototype_cost, change eps or set outlier"
        ):
            method(X)
    silent = PVMClassifier(eps=0.5, prototype_cost=1e6, outlier_label=-1, **PAPER).fit(X, Y)
    assert (silent.predict(X) == -1).all()


def test_it_clones_pickles_and_keeps_its_parameters_as_given():
    given = {"eps": 0.7, "candidates": ["train", KMeansCandidates(3)], "max_prototypes": {0: 2}}
    model = PVMClassifier(**given).fit(X, Y)
    assert model.get_params()["candidates"] is given["candidates"]
    assert clone(model).get_params()["eps"] == 0.7
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(QUERIES), model.predict(QUERIES))


def test_progress_is_shown_only_when_asked_for(capsys):
    PVMClassifier(eps=1.0, **PAPER).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    PVMClassifier(eps=1.0, verbose=1, **PAPER).fit(X, Y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "balls" in shown.err
    assert "classes" in shown.err


@pytest.mark.parametrize(
    "model", [PVMClassifier(eps=2.0, **PAPER), PVMClassifierCV(eps=[2.0], cv=2, **PAPER)]
)
def test_a_fit_to_points_without_features_forgets_those_of_the_last_fit(model):
    def size(point):
        return len(point) if isinstance(point, str) else point[0]

    words, y = ["a", "bb", "cccccc", "ddddddd"], [0, 0, 1, 1]
    model = clone(model).set_params(metric=lambda a, b: float(abs(size(a) - size(b))))
    model.fit(np.array([[size(word), 0.0] for word in words]), y)
    assert model.n_features_in_ == 2
    model.fit(words, y)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(getattr(model, "best_estimator_", model), "n_features_in_")
    assert model.predict(["eeeeee"]).tolist() == [1]


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("power", [-500, -560, -700])
@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_power_of_two_in_all_values_changes_nothing(form, power, radii):
    """The squares of these distances underflow."""
    rng = np.random.default_rng(0)
    points, unit = rng.integers(-3, 4, size=(30, 3)).astype(float), 2.0**power
    y = (points[:, 0] > 0).astype(int)
    plain = PVMClassifier(eps=2.0, radii=radii).fit(points, y)
    tiny = PVMClassifier(eps=2.0 * unit, radii=radii).fit(form(points * unit), y)
    np.testing.assert_array_equal(tiny.candidate_indices_, plain.candidate_indices_)
    np.testing.assert_array_equal(tiny.prototype_radii_, plain.prototype_radii_ * unit)
    np.testing.assert_array_equal(tiny.predict(form(points * unit)), plain.predict(points))
    assert tiny.objective_ == plain.objective_
    assert tiny.verify(form(points * unit), y).ok


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
def test_a_radius_may_be_as_large_as_any_number(metric, radii):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 3))
    y = points[:, 0] > 0
    for form in (np.asarray, csr_array):
        largest, large = (
            PVMClassifier(eps=eps, radii=radii, metric=metric, min_per_class=0).fit(
                form(points), y
            )
            for eps in (1.7e308, 1e9)
        )
        np.testing.assert_array_equal(largest.candidate_indices_, large.candidate_indices_)
        assert largest.objective_ == large.objective_
