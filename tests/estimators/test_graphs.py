"""Neighbour graphs instead of tables: the same answers as from a table with infinity in it."""

import os
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import (
    KNeighborsTransformer,
    RadiusNeighborsTransformer,
    kneighbors_graph,
    radius_neighbors_graph,
)
from sklearn.pipeline import make_pipeline

import naive
from paper import PAPER
from protocover import (
    BallCover,
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    find_label_issues,
    pvm_path,
    suggest_eps,
)
from protocover._cover import CoverSolution
from protocover._persistence import load_model, save_model
from protocover.dissimilarity import Precomputed
from protocover.report import make_report, summarize

X, Y = load_iris(return_X_y=True)
D = cdist(X, X)
NEAR = 1.6
TRAIN, TEST = np.arange(0, 150, 2), np.arange(1, 150, 2)
# Candidates of any class, and classes without prototypes; or neither.
RULES = [{"cross_class": True, "min_per_class": 0}, {"cross_class": False, "min_per_class": 1}]
pytestmark = pytest.mark.filterwarnings("ignore:no prototype of the class:UserWarning")


def cut(table, radius):
    """The graph of all pairs of a table up to a radius, zeros among them."""
    near = table <= radius
    return csr_array((table[near], near.nonzero()), shape=table.shape)


def fit(data, y=Y, *args, **parameters):
    usual = {"eps": 1.0, "radii": "shared", "metric": "precomputed", "solver": "greedy"}
    return PVMClassifier(**{**usual, **parameters}).fit(data, y, *args)


def assert_same_models(one, other):
    for name in (
        "candidate_indices_",
        "prototype_indices_",
        "prototype_labels_",
        "prototype_radii_",
        "covered_count_",
        "miscovered_count_",
        "newly_covered_count_",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    assert (one.objective_, one.lower_bound_) == (other.objective_, other.lower_bound_)


@st.composite
def labeled_graphs(draw, square=None):
    """Entries of a small graph, its shape, labels and weights, some of them zero."""
    n = draw(st.integers(2, 9))
    square = draw(st.booleans()) if square is None else square
    m = n if square else draw(st.integers(1, 8).filter(lambda m: m != n))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))
    chosen = draw(st.lists(pairs, min_size=1, max_size=n * m, unique=True))
    distance = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0])
    lengths = draw(st.lists(distance, min_size=len(chosen), max_size=len(chosen)))
    assume(max(lengths) > 0.0)
    entries = [(i, j, d) for (i, j), d in zip(chosen, lengths, strict=True)]
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weight = st.sampled_from(draw(st.sampled_from([[1.0], [0.0, 1.0, 2.0], [0.0, 0.5, 1.5]])))
    weights = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
    assume(set(y[weights > 0]) == set(y))
    kind = draw(st.sampled_from([csr_array, csc_array, coo_array, csr_matrix]))
    rows, columns, data = map(list, zip(*entries, strict=True))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    graph = kind(coo_array((np.array(data, dtype), (rows, columns)), shape=(n, m)))
    return graph, naive.graph_table(entries, (n, m), square), y, weights, square


def counted(table, y, weights, square):
    """What counts of a table: rows, and of a square one columns, of positive weight."""
    kept = np.flatnonzero(weights > 0.0)
    columns = kept if square else np.arange(table.shape[1])
    _, codes = np.unique(y[kept], return_inverse=True)
    return table[np.ix_(kept, columns)], codes, weights[kept], columns


def in_oracle(rules, codes, square):
    """What rules mean to the slow versions: columns of a table that is not square serve any."""
    served = codes if square and not rules["cross_class"] else None
    return {"served": served, "floor": rules["min_per_class"] > 0}


def refused_for_want_of_candidates(graph, y, weights, asked, codes, expected):
    """Whether some class has no candidate and must have one; then check the error of the fit."""
    without = np.setdiff1d(codes, [label for _, label, *_ in expected])
    if len(without) == 0 or not asked["min_per_class"]:
        return False
    names = re.escape(str(np.unique(y)[without].tolist()))
    with pytest.raises(ValueError, match=f"every class needs a candidate.*none for {names}"):
        fit(graph, y, weights, **asked)
    return True


@settings(max_examples=300, deadline=None)
@given(labeled_graphs(), st.booleans(), st.sampled_from(RULES), st.data())
def test_a_shared_radius_chooses_as_from_the_table(given_graph, closed, rules, data):
    graph, table, y, weights, square = given_graph
    eps = data.draw(st.sampled_from(sorted(set(graph.data[graph.data > 0.0].tolist()))))
    asked = {"metric": Precomputed(cutoff=eps), "closed_ball": closed, "prototype_cost": 0.25}
    asked |= {"eps": eps, **rules}
    part, codes, some, columns = counted(table, y, weights, square)
    inside = naive.members(part, eps, closed)
    n_classes, wanted = codes.max() + 1, in_oracle(rules, codes, square)
    expected, _ = naive.pvm_greedy(inside, codes, some, 0.25, n_classes, **wanted)
    if refused_for_want_of_candidates(graph, y, weights, asked, codes, expected):
        return
    model = fit(graph, y, weights, **asked)
    found = zip(
        model.candidate_indices_,
        np.searchsorted(model.classes_, model.prototype_labels_),
        strict=True,
    )
    assert sorted(found) == sorted((columns[j], label) for j, label in expected)
    value = naive.pvm_objective(inside, codes, some, expected, 0.25)
    assert model.objective_ == pytest.approx(value)
    assert model.verify(graph, y, weights).ok


@pytest.mark.filterwarnings("ignore:X looks like a k-nearest")
@pytest.mark.filterwarnings("ignore:all entries of X are 1")
@settings(max_examples=200, deadline=None)
@given(labeled_graphs(), st.booleans(), st.booleans(), st.sampled_from(RULES))
def test_adaptive_radii_are_those_of_the_table(given_graph, closed, limited, rules):
    graph, table, y, weights, square = given_graph
    part, codes, some, columns = counted(table, y, weights, square)
    eps = float(graph.data.max()) if limited else None
    metric = Precomputed(cutoff=eps)
    asked = {"radii": "adaptive", "closed_ball": closed, "prototype_cost": 0.25, "metric": metric}
    asked |= {"eps": eps, **rules}
    limit = eps if limited else np.inf
    part = np.where(np.isinf(part), np.nan, part)  # is not within infinity either
    wanted = {"closed": closed, "prototype_cost": 0.25, **in_oracle(rules, codes, square)}
    expected = naive.own_greedy(part, codes, some, limit, **wanted)
    if refused_for_want_of_candidates(graph, y, weights, asked, codes, expected):
        return
    model = fit(graph, y, weights, **asked)
    found = zip(
        model.candidate_indices_,
        np.searchsorted(model.classes_, model.prototype_labels_),
        model.prototype_radii_,
        strict=True,
    )
    assert sorted(found) == sorted((columns[j], label, radius) for j, label, radius in expected)
    assert model.verify(graph, y, weights).ok


@pytest.mark.filterwarnings("ignore:X looks like a k-nearest")
@pytest.mark.filterwarnings("ignore:all entries of X are 1")
@pytest.mark.filterwarnings("ignore:X has the shape of the graph of fit")
@settings(max_examples=300, deadline=None)
@given(
    labeled_graphs(),
    labeled_graphs(),
    st.sampled_from(["shared", "adaptive"]),
    st.booleans(),
    st.sampled_from(RULES),
)
def test_queries_are_answered_by_what_is_stored(given_graph, queries, radii, closed, rules):
    graph, _, y, _, _ = given_graph
    asked = {"eps": float(graph.data.max()), "radii": radii, "closed_ball": closed, **rules}
    try:
        model = fit(graph, y, outlier_label=9, **asked)
    except ValueError as error:
        if "every class needs a candidate" not in str(error):
            raise
        reject()
    assume(len(model.prototype_labels_))
    n_columns = graph.shape[1]
    asked = csr_array(queries[0])
    common = min(n_columns, asked.shape[1])
    rows, columns = asked.tocoo().coords
    kept = columns < common
    new = csr_array(
        (asked.tocoo().data[kept], (rows[kept], columns[kept])), shape=(asked.shape[0], n_columns)
    )
    entries = zip(rows[kept], columns[kept], asked.tocoo().data[kept], strict=True)
    table = naive.graph_table(entries, new.shape)[:, model.candidate_indices_]
    own = model.prototype_radii_ if radii == "adaptive" else None
    index = naive.graph_nearest(table, model.prototype_labels_, own)
    score = np.where(index < 0, np.inf, np.take_along_axis(table, np.maximum(index, 0), axis=1))
    if own is not None:
        score = np.where(index < 0, np.inf, score / own[np.maximum(index, 0)])
    inside = naive.members(table, model.prototype_radii_, closed)
    try:
        distances = model.transform(new)
    except ValueError as error:  # columns of candidates or of prototypes, which differ
        if "it may be either" not in str(error):
            raise
        reject()
    np.testing.assert_array_equal(distances, table)
    np.testing.assert_array_equal(
        model.coverage(new, np.zeros(len(table), int)).balls.toarray(), inside
    )
    labels = np.unique(model.prototype_labels_)
    why = model.explain(new)
    for i in range(len(table)):
        known = np.isfinite(score[i]).any()
        assert why.label[i] == (labels[score[i].argmin()] if known else 9)
        assert why.inside[i] == inside[i].any()
        assert model.predict(new)[i] == (why.label[i] if inside[i].any() else 9)
        place = index[i, score[i].argmin()]
        assert why.prototype[i] == place
        assert why.distance[i] == (table[i, place] if known else np.inf)
        assert (why.runner_up_prototype[i] < 0) == (np.isfinite(score[i]).sum() < 2)
    narrow = new[:, model.candidate_indices_]
    if narrow.shape[1] != n_columns:
        np.testing.assert_array_equal(model.predict(narrow), model.predict(new))


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("closed", [False, True])
def test_a_graph_that_reaches_far_enough_makes_the_model_of_the_table(radii, closed):
    graph = cut(D, NEAR)
    settings_ = {"radii": radii, "closed_ball": closed, "solver": "local-search"}
    assert_same_models(fit(graph, **settings_), fit(D, **settings_))


def test_a_complete_graph_is_the_table_in_everything():
    graph, weights = cut(D, np.inf), np.random.default_rng(0).integers(0, 4, size=150)
    for parameters in (
        {"eps": "auto"},
        {"radii": "adaptive", "eps": "auto"},
        {"radii": "adaptive", "eps": None},
        {"candidates": 40, "random_state": 0},
    ):
        one, other = (fit(data, Y, weights, **parameters) for data in (graph, D))
        assert one.eps_ == other.eps_
        assert_same_models(one, other)
        for method in ("predict", "decision_function", "transform"):
            np.testing.assert_array_equal(getattr(one, method)(graph), getattr(other, method)(D))
        for name, column in one.explain(graph).to_frame(all=True).items():
            np.testing.assert_array_equal(column, other.explain(D).to_frame(all=True)[name])
    np.testing.assert_array_equal(
        suggest_eps(graph, Y, metric="precomputed"), suggest_eps(D, Y, metric="precomputed")
    )


def test_reordered_columns_and_rows_choose_the_same_points():
    order = np.random.default_rng(1).permutation(150)
    graph = cut(D, NEAR)
    solver = {"solver": "exact", "prototype_cost": 0.5}
    whole = fit(graph, **solver)
    turned = fit(graph[order][:, order], Y[order], **solver)
    assert turned.objective_ == whole.objective_


def test_a_rectangular_graph_has_its_columns_for_candidates():
    table = D[:, ::3]
    assert_same_models(fit(cut(table, NEAR)), fit(table))
    assert (fit(cut(table, NEAR)).prototype_sources_ == "given").all()


def test_a_graph_without_its_diagonal_is_read_as_dbscan_does():
    bare = radius_neighbors_graph(X, NEAR, mode="distance")
    # Other rows of iris that are the same are at distance zero, and stored.
    assert not (bare.tocoo().row == bare.tocoo().col).any()
    assert_same_models(fit(bare), fit(D))
    assert fit(bare).verify(bare, Y).ok


def test_the_graph_of_fit_as_queries_without_its_diagonal_is_warned_of():
    bare = radius_neighbors_graph(X, NEAR, mode="distance")
    model = fit(bare, outlier_label="most_frequent")
    with pytest.warns(UserWarning, match=r"nothing on its diagonal.*X\.setdiag\(0\)"):
        model.coverage(bare, Y)
    bare.setdiag(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        coverage = model.coverage(bare, Y)
    np.testing.assert_array_equal(coverage.totals().own, model.covered_count_)


def test_a_radius_beyond_the_largest_entry_is_refused_with_the_ways_out():
    graph = cut(D, NEAR)
    largest = graph.data.max()
    fit(graph, eps=largest)
    message = (
        r"eps must not be above the largest entry of X, 1\.59.*, got 1\.8.*"
        r"radius_neighbors_graph\(points, 1\.98, mode='distance'\).*Precomputed\(cutoff=1\.8\)"
    )
    for ask in (
        lambda: fit(graph, eps=1.8),
        lambda: fit(graph, eps=1.8, radii="adaptive"),
        lambda: pvm_path(graph, Y, eps=[1.0, 1.8], metric="precomputed", **PAPER),
        lambda: PVMClassifierCV(eps=[1.0, 1.8], metric="precomputed", **PAPER).fit(graph, Y),
        lambda: PVMSelector(eps=1.8, metric="precomputed", **PAPER).fit(graph, Y),
    ):
        with pytest.raises(ValueError, match=message):
            ask()


def test_the_radius_a_graph_was_cut_at_can_be_told():
    """Two tight groups: no entry is near the radius, within which nothing is missing."""
    points = np.array([[0.0], [0.25], [9.0], [9.5]])
    graph = radius_neighbors_graph(points, 3.0, mode="distance")
    model = fit(graph, [0, 0, 1, 1], eps=2.0, metric=Precomputed(cutoff=3.0))
    plain = PVMClassifier(eps=2.0, solver="greedy", radii="shared").fit(points, [0, 0, 1, 1])
    assert_same_models(model, plain)
    with pytest.raises(ValueError, match="eps must not be above cutoff, 3, got 4"):
        fit(graph, [0, 0, 1, 1], eps=4.0, metric=Precomputed(cutoff=3.0))
    for reach in (0.0, -1.0, np.nan, np.inf, "far"):
        with pytest.raises(ValueError, match="cutoff must be a positive number"):
            fit(graph, [0, 0, 1, 1], metric=Precomputed(cutoff=reach))


def test_a_graph_of_nearest_neighbors_that_lacks_some_is_warned_of():
    graph = kneighbors_graph(X, 30, mode="distance", include_self=True)
    complete = graph.max(axis=1).toarray().min()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_models(fit(graph, eps=complete), fit(D, eps=complete))
        fit(graph, eps=1.0, metric=Precomputed(cutoff=1.0))
    with pytest.warns(UserWarning, match=r"graph \(k=30\).*of \d+ of 150 samples"):
        fit(graph, eps=1.0)
    with pytest.warns(UserWarning, match="the radii are not limited"):
        fit(graph, eps=None, radii="adaptive")

    more = kneighbors_graph(X, 80, mode="distance", include_self=True)
    with pytest.warns(UserWarning, match=r"graph \(k=80\)"):
        assert fit(more, eps="auto", radii="adaptive").eps_ > more.max(axis=1).toarray().min()


def test_radii_are_proposed_within_the_reach_that_was_told():
    metric = Precomputed(cutoff=0.8)
    grid = suggest_eps(cut(D, NEAR), Y, metric=metric)
    np.testing.assert_array_equal(grid, suggest_eps(cut(D, 0.8), Y, metric="precomputed"))
    assert pvm_path(cut(D, NEAR), Y, metric=metric, radii="adaptive").eps[-1] <= 0.8
    with pytest.raises(ValueError, match=r"eps must not be above cutoff, 0\.8, got 1\.09"):
        fit(cut(D, NEAR), eps="auto", metric=metric)


def test_a_graph_of_ones_is_warned_of():
    bare = radius_neighbors_graph(X, NEAR)
    with pytest.warns(UserWarning, match=r"entries of X are 1.*mode='distance'"):
        fit(bare)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(bare, closed_ball=True, metric=Precomputed(cutoff=1.0))


def test_open_and_closed_balls_differ_at_the_radius():
    graph = csr_array(([0.0, 2.0, 2.0, 0.0], ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(2, 2))
    assert fit(graph, [0, 0], eps=2.0).covered_count_.tolist() == [1, 1]
    assert fit(graph, [0, 0], eps=2.0, closed_ball=True).covered_count_.tolist() == [2]


def test_a_stored_zero_is_a_distance_and_a_missing_pair_is_not():
    apart = csr_array(([0.0, 0.0, 5.0], ([0, 1, 1], [0, 1, 0])), shape=(2, 2))
    together = csr_array(([0.0] * 4 + [5.0], ([0, 0, 1, 1, 2], [0, 1, 0, 1, 0])), shape=(3, 2))
    assert fit(apart, [0, 0]).covered_count_.tolist() == [1, 1]
    assert fit(together, [0, 0, 0]).covered_count_.tolist() == [2]


def test_auto_takes_the_distances_that_are_there_or_says_which_are_missing():
    expected = fit(D, eps="auto").eps_
    assert fit(cut(D, NEAR), eps="auto").eps_ == expected
    with pytest.raises(
        ValueError, match=r"eps='auto' needs 50% of .* another class.* as a number"
    ):
        fit(cut(D, 0.5), eps="auto")
    limit = fit(D, eps="auto", radii="adaptive").eps_
    assert fit(cut(D, limit), eps="auto", radii="adaptive").eps_ == limit
    assert (
        fit(cut(D, NEAR), eps="auto", radii="adaptive").eps_ == np.inf
    )  # all that the graph holds
    with pytest.raises(ValueError, match="eps='auto' needs 25% of all distances"):
        fit(cut(D, 0.5), np.zeros(150), eps="auto")
    alone = fit(D, np.zeros(150), eps="auto").eps_
    assert fit(cut(D, NEAR), np.zeros(150), eps="auto").eps_ == alone


def test_proposed_radii_are_within_the_graph():
    graph = cut(D, NEAR)
    grid = suggest_eps(graph, Y, metric="precomputed")
    assert grid[0] == D[D > 0].min()
    assert grid[-1] <= graph.data.max()
    assert np.isin(grid, graph.data).all()
    assert len(grid) > 15
    path = pvm_path(graph, Y, metric="precomputed", radii="adaptive")
    assert np.isin(path.eps, graph.data).all()


@pytest.mark.parametrize("wish", [{}, {"max_representatives": 4}, {"coverage": 0.9}])
def test_representatives_without_labels_are_chosen_from_a_graph(wish):
    bare = radius_neighbors_graph(X, NEAR, mode="distance")
    other = BallCover(eps=1.0, metric="precomputed", **wish).fit(D)
    for graph in (cut(D, NEAR), bare):
        one = BallCover(eps=1.0, metric="precomputed", **wish).fit(graph)
        for name in ("candidate_indices_", "labels_", "counts_", "objective_", "coverage_"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.predict(cut(D, NEAR)), other.predict(D))
    with pytest.raises(ValueError, match="eps must not be above the largest entry of X"):
        BallCover(eps=2.0, metric="precomputed", **wish).fit(bare)
    assert one.predict(csr_array((2, 150))).tolist() == [-1, -1]


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_a_path_has_the_model_of_every_setting(radii):
    graph, weights = cut(D, NEAR), np.random.default_rng(0).integers(0, 3, size=150)
    settings_ = {"metric": "precomputed", "radii": radii, "solver": "greedy"}
    path = pvm_path(
        graph, Y, eps=[0.5, 1.0], prototype_costs=[0.1, 2.0], sample_weight=weights, **settings_
    )
    for i, eps in enumerate(path.eps):
        for j, cost in enumerate(path.prototype_costs):
            one = PVMClassifier(eps=eps, prototype_cost=cost, **settings_).fit(graph, Y, weights)
            assert_same_models(path.model(i, j), one)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_folds_of_a_search_are_slices_of_the_graph(radii, n_jobs):
    graph, grid = cut(D, NEAR), [0.5, 1.0]
    settings_ = {"metric": "precomputed", "radii": radii, "outlier_label": "most_frequent"}
    settings_["solver"] = "greedy"
    costs = {"prototype_costs": [0.1]}
    own = PVMClassifierCV(eps=grid, cv=4, n_jobs=n_jobs, **costs, **settings_).fit(graph, Y)
    theirs = GridSearchCV(PVMClassifier(prototype_cost=0.1, **settings_), {"eps": grid}, cv=4)
    theirs.fit(graph, Y)
    for fold in range(4):
        name = f"split{fold}_test_score"
        np.testing.assert_array_equal(own.cv_results_[name], theirs.cv_results_[name])
    assert own.verify(graph, Y).ok


def test_a_search_says_which_fold_has_queries_without_an_entry():
    with pytest.raises(ValueError, match="stores no dissimilarity from any prototype"):
        PVMClassifierCV(eps=[0.2], metric="precomputed", error_score="raise", **PAPER).fit(
            cut(D, 0.3), Y
        )


def test_a_search_needs_a_square_graph():
    with pytest.raises(ValueError, match="needs a square one"):
        PVMClassifierCV(metric="precomputed", **PAPER).fit(cut(D[:, :40], NEAR), Y)


def test_the_selector_returns_rows_of_the_graph():
    graph = cut(D, NEAR)
    selector = PVMSelector(eps=1.0, metric="precomputed", solver="greedy")
    few, labels = selector.fit_resample(graph, Y)
    assert selector.sample_indices_.tolist() == fit(D).candidate_indices_.tolist()
    assert few.shape == (len(labels), 150)
    assert few.nnz == graph[selector.sample_indices_].nnz
    with pytest.raises(ValueError, match="needs a square table"):
        selector.fit(graph[:, :40], Y)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (csr_array((150, 150)), "store dissimilarities to learn from.*without an entry"),
        (csr_array((0, 5)), "0 sample"),
        (-cut(D, NEAR), "must not be negative"),
        (csr_array(([np.nan], ([0], [1])), shape=(150, 150)), "stores NaN or infinity"),
        (csr_array(D > 1.0), "numbers, got bool.*mode='distance'"),
        (cut(D, NEAR)[:100], "inconsistent numbers of samples"),
        (cut(D, NEAR).tobsr(), "got bsr"),
        (coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(150, 150)), "a pair once"),
        (cut(D, 0.0), "eps must not be above the largest entry of X, 0, got 1"),
    ],
)
def test_bad_graphs_are_refused(data, message):
    with pytest.raises(ValueError, match=message):
        fit(data)
    with pytest.raises(ValueError, match=message):
        pvm_path(data, Y, eps=[1.0], metric="precomputed", **PAPER)


def test_a_query_without_an_entry_is_an_outlier():
    model = fit(cut(D, NEAR), outlier_label=-1)
    queries = csr_array(([0.25, 3.0], ([0, 2], [model.candidate_indices_[0]] * 2)), (3, 150))
    label = model.prototype_labels_[0]
    assert model.predict(queries).tolist() == [label, -1, -1]
    why = model.explain(queries)
    assert why.label.tolist() == [label, -1, label]
    assert why.prototype.tolist() == [0, -1, 0]
    assert why.row.tolist() == [model.prototype_indices_[0], -1, model.prototype_indices_[0]]
    assert why.distance.tolist() == [0.25, np.inf, 3.0]
    assert why.margin.tolist() == [np.inf, 0.0, np.inf]
    assert np.isnan(why.radius).tolist() == [False, True, False]
    assert why.relative_distance.tolist() == [0.25, np.inf, 3.0]
    assert why.runner_up_label.tolist() == [label, -1, label]
    assert why.runner_up_prototype.tolist() == [-1, -1, -1]
    score = np.full((3, 3), -np.inf)
    score[[0, 2], label] = [-0.25, -3.0]
    np.testing.assert_array_equal(model.decision_function(queries), score)
    assert model.coverage(queries, [0, 1, 2]).balls.nnz == 1


def test_without_an_outlier_label_a_query_without_an_entry_is_refused():
    model = fit(cut(D, NEAR))
    queries = csr_array(([0.25], ([0], [model.candidate_indices_[0]])), (3, 150))
    message = (
        r"no dissimilarity from any prototype for 2 of 3 queries, the first.* row 1; set outl"
    )
    for ask in (model.predict, model.explain):
        with pytest.raises(ValueError, match=message):
            ask(queries)
    assert model.predict(queries[:1]) == model.prototype_labels_[0]
    assert np.isinf(model.decision_function(queries)[1]).all()
    assert np.isinf(model.transform(queries)[1]).all()


def test_scores_of_two_classes_and_of_one_without_prototypes():
    y = (Y > 0).astype(int)
    model = fit(cut(D, NEAR), y)
    columns = [model.candidate_indices_[model.prototype_labels_ == label][0] for label in (0, 1)]
    entries = ([0.5, 0.25, 0.5, 0.25], ([0, 1, 2, 2], [*columns, *columns]))
    scores = model.decision_function(csr_array(entries, (4, 150)))
    assert scores.tolist() == [-np.inf, np.inf, 0.25, 0.0]
    for budget, sign in (({0: 0}, 1.0), ({1: 0}, -1.0)):
        alone = fit(cut(D, NEAR), y, max_prototypes=budget)
        column = alone.candidate_indices_[0]
        queries = csr_array(([0.5], ([0], [column])), (2, 150))
        assert alone.decision_function(queries).tolist() == [sign, 0.0]
    three = fit(cut(D, NEAR), max_prototypes={0: 0})
    by_class = [three.candidate_indices_[three.prototype_labels_ == label][0] for label in (1, 2)]
    entries = ([0.5, 0.25, 0.5], ([0, 0, 1], [*by_class, by_class[0]]))
    np.testing.assert_array_equal(
        three.decision_function(csr_array(entries, (3, 150))),
        [[-1.5, -0.5, -0.25], [-np.inf, -0.5, -np.inf], [-np.inf] * 3],
    )


def test_full_tables_and_graphs_ask_the_same_model():
    one, other = fit(cut(D, NEAR)), fit(D)
    np.testing.assert_array_equal(one.predict(D), other.predict(D))
    np.testing.assert_array_equal(other.predict(cut(D, NEAR)), one.predict(cut(D, NEAR)))


def test_queries_are_checked():
    model = fit(cut(D, NEAR), outlier_label=0)
    with pytest.raises(ValueError, match=r"X has 7 features.*one for each prototype"):
        model.predict(csr_array((2, 7)))
    with pytest.raises(ValueError, match="must not be negative"):
        model.predict(csr_array(([-1.0], ([0], [0])), (1, 150)))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(csr_array((0, 150)))
    assert model.predict(csc_array(cut(D, NEAR))).tolist() == model.predict(cut(D, NEAR)).tolist()


def test_a_graph_may_have_the_prototypes_columns_alone():
    model = fit(cut(D, NEAR), outlier_label=9)
    queries = cut(cdist(X + 0.3, X), NEAR)
    narrow = queries[:, model.candidate_indices_]
    for method in ("predict", "decision_function", "transform"):
        np.testing.assert_array_equal(
            getattr(model, method)(narrow), getattr(model, method)(queries)
        )
    np.testing.assert_array_equal(
        model.coverage(narrow, Y).balls.toarray(), model.coverage(queries, Y).balls.toarray()
    )


def test_a_graph_with_all_candidates_chosen_is_read_alike_in_both_ways():
    eps = D[D > 0].min()
    rows = np.unique(X, axis=0, return_index=True)[1]
    table, y = D[np.ix_(rows, rows)], Y[rows]
    one, other = fit(cut(table, NEAR), y, eps=eps), fit(table, y, eps=eps)
    assert one.candidate_indices_.tolist() == list(range(len(rows)))
    assert_same_models(one, other)
    np.testing.assert_array_equal(one.predict(cut(table, NEAR)), y)


def take_the_first_column(problem, *, rng=None, max_prototypes=None, **options):
    """A solver of one's own may choose a candidate for several classes."""
    return CoverSolution.of(problem, [0] if problem.cover.shape[0] == 2 else [0, 1])


def test_a_graph_that_may_be_of_candidates_or_of_prototypes_is_refused():
    graph = csr_array(([0.0] * 4 + [2.0, 0.0], ([0, 1, 2, 3, 4, 4], [0] * 5 + [1])), (5, 3))
    model = fit(graph, ["a", "a", "b", "b", "b"], solver=take_the_first_column)
    chosen = model.candidate_indices_
    assert sorted(chosen) == [0, 0, 1]
    whole = csr_array(([0.5, 0.25, 0.0, 1.0], ([0, 1, 1, 1], [0, 0, 1, 2])), (2, 3))
    assert model.predict(whole).tolist() == ["a", "b"]
    for method in ("predict", "decision_function", "transform"):
        with pytest.raises(ValueError, match=r"candidates and .* prototypes.*either"):
            getattr(model, method)(whole[:, chosen])
    # What is stored as zero differs from what is missing, so that this is not such a table.
    other = csr_array(([0.5, 0.5, 0.0], ([0, 0, 0], [0, 2, 1])), (1, 3))[:, np.argsort(chosen)]
    assert model.transform(csr_array(other)).shape == (1, 3)


def test_balls_of_their_adaptive_radii_hold_what_those_of_the_table_hold():
    """With classes that take turns in the order of selection."""
    one, other = (fit(data, radii="adaptive", eps=1.5) for data in (cut(D, NEAR), D))
    assert (np.diff(one.prototype_labels_) < 0).any()
    assert len(set(one.prototype_radii_)) > 2
    np.testing.assert_array_equal(
        one.coverage(cut(D, NEAR), Y).balls.toarray(), other.coverage(D, Y).balls.toarray()
    )


def test_a_search_over_a_graph_without_its_diagonal_has_nothing_to_warn_of():
    """Of two folds one has the shape of the other, and here nothing on its diagonal."""
    points = np.array([0.0, 2, 5, 20, 22, 25, 40, 42, 45, 60, 62, 65])[:, None]
    bare, y = radius_neighbors_graph(points, 6.0, mode="distance"), [0, 0, 0, 1, 1, 1] * 2
    folds = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    search = PVMClassifierCV(eps=[4.0], metric="precomputed", cv=folds, outlier_label=9, **PAPER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert search.fit(bare, y).best_score_ == 0.0


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_a_model_from_a_file_answers_graphs(tmp_path, radii):
    for metric in ("precomputed", Precomputed(cutoff=2.0)):
        model = fit(cut(D, NEAR), radii=radii, metric=metric, outlier_label=9)
        save_model(model, tmp_path / "model.pvm")
        for copy in (load_model(tmp_path / "model.pvm"), pickle.loads(pickle.dumps(model))):
            queries = cut(cdist(X + 0.3, X), NEAR)
            np.testing.assert_array_equal(copy.predict(queries), model.predict(queries))
            assert copy.verify(cut(D, NEAR), Y).ok
            assert copy.get_params()["metric"].__class__ is model.metric.__class__


def test_pipelines_with_transformers_of_scikit_learn():
    # Nothing as far as the radius to the last bit, of which libraries may think differently.
    points = np.random.default_rng(0).normal(X, 0.01)
    pipe = make_pipeline(
        RadiusNeighborsTransformer(radius=NEAR),
        PVMClassifier(eps=1.0, metric="precomputed", outlier_label="most_frequent", **PAPER),
    )
    rows = PVMClassifier(eps=1.0, outlier_label="most_frequent", **PAPER)
    pipe.fit(points[TRAIN], Y[TRAIN])
    plain = clone(rows).fit(points[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(pipe.predict(points), plain.predict(points))
    np.testing.assert_array_equal(
        cross_val_score(pipe, points, Y, cv=4), cross_val_score(rows, points, Y, cv=4)
    )
    whole = make_pipeline(
        KNeighborsTransformer(n_neighbors=74),
        PVMClassifier(eps=1.0, metric="precomputed", **PAPER),
    )
    plain = PVMClassifier(eps=1.0, **PAPER).fit(points[TRAIN], Y[TRAIN])
    whole.fit(points[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(whole.predict(points), plain.predict(points))


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_suspects_and_a_report_from_a_graph(radii, tmp_path):
    y = Y.copy()
    y[[10, 80]] = [1, 2]
    graph = cut(D, 3.0)
    model = fit(graph, y, radii=radii)
    found = find_label_issues(model, graph, y)
    assert set(found.row[:2]) == {10, 80}
    assert 10 in find_label_issues(fit(D, y, radii=radii), D, y).row
    held_out = cut(D, 3.0)[TEST], y[TEST]
    asked = summarize(model, graph, y, held_out=held_out)
    expected = summarize(fit(D, y, radii=radii), D, y, held_out=(D[TEST], y[TEST]))
    assert asked.quality.error == expected.quality.error
    page = make_report(model, graph, y, tmp_path / "report.html", held_out=held_out)
    assert page.read_text().startswith("<!")


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_other_points_than_those_of_the_training_are_suspected_alike(radii):
    """As many as these, so that their tables look like those of the training."""
    points = np.random.default_rng(0).normal(X, 0.01)
    new = points[np.random.default_rng(1).permutation(150)] + 0.3
    rows = PVMClassifier(eps=1.0, radii=radii, solver="greedy").fit(points, Y)
    model = fit(cdist(points, points), radii=radii)
    table = cdist(new, points)
    expected = find_label_issues(rows, new, Y, refit=False)
    assert len(expected.row)
    for queries in (table, cut(table, np.inf)):
        found = find_label_issues(model, queries, Y, refit=False)
        np.testing.assert_array_equal(found.row, expected.row)
        np.testing.assert_allclose(found.score, expected.score)


def test_the_progress_counts_queries_that_nothing_is_known_of_as_wrong():
    pytest.importorskip("matplotlib")
    from protocover.plotting._curves import running_error

    for radii in ("shared", "adaptive"):
        model = fit(cut(D, NEAR), radii=radii)
        table = model.transform(cut(D, NEAR))
        wrong = []
        for k in range(1, len(model.prototype_labels_) + 1):
            some = table[:, :k] / model.prototype_radii_[:k]
            right = (model.prototype_labels_[some.argmin(axis=1)] == Y) & (
                some.min(axis=1) < np.inf
            )
            wrong.append(1.0 - right.mean())
        np.testing.assert_allclose(running_error(model, cut(D, NEAR), Y), wrong)
        nowhere = running_error(model, csr_array((2, 150)), model.prototype_labels_[:2])
        assert (nowhere == 1.0).all()


def test_dask_refuses_a_graph_in_words():
    pytest.importorskip("distributed")
    from protocover.distributed import DaskPVMClassifier

    with pytest.raises(ValueError, match=r"not supported on Dask.*use PVMClassifier on the table"):
        DaskPVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(cut(D, NEAR), Y)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_the_answer_does_not_depend_on_threads(radii):
    graph = cut(D, NEAR)
    assert_same_models(fit(graph, radii=radii, n_jobs=2), fit(graph, radii=radii, n_jobs=1))


def test_further_candidates_are_refused():
    with pytest.raises(ValueError, match="leave candidates='train'"):
        fit(cut(D, NEAR), candidates="kmeans")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'"):
        PVMClassifier(metric="precomputed", **PAPER).partial_fit(cut(D, NEAR), Y)


LONG_LINE = """
import resource, sys
import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import StratifiedKFold
from protocover import PVMClassifier, PVMClassifierCV, pvm_path, suggest_eps

def long_line(n, width):
    rows = np.repeat(np.arange(n), 2 * width + 1)
    columns = rows + np.tile(np.arange(-width, width + 1), n)
    there = (columns >= 0) & (columns < n)
    rows, columns = rows[there], columns[there]
    graph = csr_array((np.abs(rows - columns) * 1.0, (rows, columns)), shape=(n, n))
    return graph, np.arange(n) // 100 % 2

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
graph, y = long_line(200_000, 3)
asked = {
    "metric": "precomputed", "radii": sys.argv[1], "closed_ball": True, "solver": "greedy"
}
"""
FIT_LONG_LINE = """
model = PVMClassifier(eps=3.0, outlier_label=9, **asked).fit(graph, y)
assert (model.miscovered_count_ == 0).all()
assert (model.predict(graph) == y).all()
assert model.coverage(graph, y).covered.all()
"""
ASK_LONG_LINE = """
assert model.explain(graph).inside.all()
assert model.decision_function(graph).shape == y.shape
assert model.verify(graph, y).ok
pvm_path(graph, y, eps=[1.0, 3.0], prototype_costs=[0.5], n_jobs=1, **asked)
folds = StratifiedKFold(2, shuffle=True, random_state=0)
search = PVMClassifierCV(eps=[3.0], prototype_costs=[0.5], outlier_label=9, cv=folds, **asked)
assert search.fit(graph, y).best_score_ > 0.5
assert suggest_eps(graph, y, metric="precomputed").tolist() == [1.0, 2.0, 3.0]
"""


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize(
    "more", ["", pytest.param(ASK_LONG_LINE, marks=pytest.mark.slow)], ids=["fit", "all"]
)
def test_memory_goes_with_the_entries(radii, more):
    """A table of 200,000 points would take 320 GB, one of the prototypes' columns over 40."""
    pytest.importorskip("resource", reason="limits to memory are Unix's")
    program = LONG_LINE + FIT_LONG_LINE + more
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, radii],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
