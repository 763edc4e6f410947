"""Neighbour graphs instead of tables: the same answers as from a table with infinity in it."""

import os
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
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import (
    kneighbors_graph,
    radius_neighbors_graph,
)

import naive
from paper import PAPER
from protocover import (
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    pvm_path,
)
from protocover._cover import CoverSolution
from protocover.dissimilarity import Precomputed

X, Y = load_iris(return_X_y=True)
D = cdist(X, X)
NEAR = 1.6
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


@settings(max_examples=60, deadline=None)
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
@settings(max_examples=50, deadline=None)
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
@settings(max_examples=60, deadline=None)
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


def test_queries_are_checked():
    model = fit(cut(D, NEAR), outlier_label=0)
    with pytest.raises(ValueError, match=r"X has 7 features.*one for each prototype"):
        model.predict(csr_array((2, 7)))
    with pytest.raises(ValueError, match="must not be negative"):
        model.predict(csr_array(([-1.0], ([0], [0])), (1, 150)))
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(csr_array((0, 150)))
    assert model.predict(csc_array(cut(D, NEAR))).tolist() == model.predict(cut(D, NEAR)).tolist()


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
