"""Covers without labels, judged by enumeration on small sets."""

from __future__ import annotations

import gc
import itertools
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import radius_neighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from protocover import BallCover
from protocover._selection import covering
from protocover.solvers._registry import SOLVERS

SEEDS = range(4)
every_solver = pytest.mark.parametrize(
    "solver", ["greedy", "ratio-greedy", "local-search", "lp-rounding", "exact", "auto"]
)


def small(seed, n=9):
    """A few points in the plane, with whole weights every other time."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    weights = np.ones(n) if seed % 2 else rng.integers(1, 5, n).astype(float)
    return X, weights


def uncovered(X, weights, chosen, eps):
    """Weight of the points that are not within eps of one chosen."""
    if len(chosen) == 0:
        return float(weights.sum())
    return float(weights[~(cdist(X, X[list(chosen)]) < eps).any(axis=1)].sum())


def subsets(n, must=()):
    for size in range(n + 1):
        for chosen in itertools.combinations(range(n), size):
            if set(must) <= set(chosen):
                yield chosen


def _numbered_by_row(estimator):
    """Equally good representatives are numbered by their rows, which repetition moves."""
    why = "of equally good representatives the one of the lower row comes first"
    kinds = ("dense", "sparse")
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in kinds}


@parametrize_with_checks(
    [BallCover(), BallCover(eps=1.0, cost=2.0), BallCover(eps=0.5, metric="cosine", coverage=0.9)],
    expected_failed_checks=_numbered_by_row,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("priced", [False, True])
def test_full_coverage_is_the_plain_cover(solver, priced):
    """The same representatives, and a bound on their number or price instead of the weight."""
    for seed in range(12):
        n = 9 if seed < 8 else 60
        X, weights = small(seed, n)
        prices = np.random.default_rng(seed).integers(1, 6, n).astype(float) if priced else None
        given = {"eps": (0.5, 0.8, 1.2)[seed % 3], "candidate_cost": prices, "solver": solver}
        plain, full = (
            BallCover(coverage=share, random_state=0, **given).fit(X, sample_weight=weights)
            for share in (None, 1.0)
        )
        assert full.candidate_indices_.tolist() == plain.candidate_indices_.tolist()
        assert full.labels_.tolist() == plain.labels_.tolist()
        assert full.coverage_ == plain.coverage_ == 1.0
        assert full.gap_ <= plain.gap_ + 1e-9
        assert full.verify(X, sample_weight=weights).ok


@every_solver
@pytest.mark.parametrize("seed", SEEDS)
def test_the_fewest_that_cover_everything(solver, seed):
    X, weights = small(seed)
    model = BallCover(eps=1.0, solver=solver, random_state=0).fit(X, sample_weight=weights)
    fewest = min(len(one) for one in subsets(9) if uncovered(X, weights, one, 1.0) == 0.0)
    assert uncovered(X, weights, model.candidate_indices_, 1.0) == 0.0
    assert model.coverage_ == 1.0
    assert len(model.candidate_indices_) >= fewest
    assert model.lower_bound_ <= fewest / weights.sum() + 1e-12
    if solver == "exact":
        assert len(model.candidate_indices_) == fewest
        assert model.gap_ == 0.0


@every_solver
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("must", [(), (0, 4)], ids=["free", "two given"])
def test_the_best_so_many(solver, seed, must):
    X, weights = small(seed)
    for number in (2, 3):
        model = BallCover(
            eps=0.8, max_representatives=number, must_include=must, solver=solver, random_state=0
        ).fit(X, sample_weight=weights)
        least = min(
            uncovered(X, weights, one, 0.8) for one in subsets(9, must) if len(one) <= number
        )
        left = uncovered(X, weights, model.candidate_indices_, 0.8)
        assert len(model.candidate_indices_) <= number
        assert set(must) <= set(model.candidate_indices_.tolist())
        assert model.candidate_indices_[: len(must)].tolist() == list(must)
        assert model.coverage_ == pytest.approx(1.0 - left / weights.sum())
        assert left >= least
        # The cost of representatives only breaks ties.
        assert model.lower_bound_ < least + 1.0
        if solver == "exact":
            assert left == least
            assert model.gap_ == 0.0


@every_solver
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("priced", [False, True], ids=["fewest", "cheapest"])
def test_the_fewest_or_cheapest_that_cover_a_share(solver, seed, priced):
    X, weights = small(seed)
    prices = np.random.default_rng(seed).integers(1, 6, 9).astype(float) if priced else None
    for share in (0.5, 0.8, 1.0):
        model = BallCover(
            eps=0.8, coverage=share, candidate_cost=prices, solver=solver, random_state=0
        ).fit(X, sample_weight=weights)
        spent = len if prices is None else lambda one: float(prices[list(one)].sum())
        allowed = weights.sum() * (1.0 - share) + 1e-9
        least = min(spent(one) for one in subsets(9) if uncovered(X, weights, one, 0.8) <= allowed)
        assert uncovered(X, weights, model.candidate_indices_, 0.8) <= allowed
        assert model.coverage_ >= share - 1e-12
        assert model.objective_ == spent(model.candidate_indices_)
        assert model.lower_bound_ <= least <= model.objective_
        if solver == "exact":
            assert model.objective_ == least == model.lower_bound_


@pytest.mark.parametrize("solver", ["auto", "exact"])
@pytest.mark.parametrize("seed", range(3))
def test_prices_in_tenths_are_decided_as_in_whole_numbers(solver, seed):
    rng = np.random.default_rng(seed)
    X, prices = rng.integers(-3, 4, size=(7, 2)).astype(float), rng.choice([1, 3, 5, 10, 20], 7)
    terms = {"eps": 2.0, "coverage": 0.6, "solver": solver}
    whole = BallCover(candidate_cost=prices, **terms).fit(X)
    tenths = BallCover(candidate_cost=prices / 10, **terms).fit(X)
    assert tenths.lower_bound_ == tenths.objective_
    assert tenths.certificate_ == whole.certificate_
    assert tenths.objective_ == tenths.lower_bound_ == whole.objective_ / 10
    assert tenths.verify(X).ok


@pytest.mark.parametrize("seed", SEEDS)
def test_those_that_are_worth_their_cost(seed):
    X, weights = small(seed)
    prices = np.random.default_rng(seed).integers(0, 4, 9).astype(float)
    for price in (None, prices):
        model = BallCover(eps=0.8, cost=1.5, candidate_cost=price, solver="exact").fit(
            X, sample_weight=weights
        )
        one_costs = np.ones(9) if price is None else price
        values = [
            uncovered(X, weights, one, 0.8) + 1.5 * one_costs[list(one)].sum()
            for one in subsets(9)
        ]
        assert model.objective_ == pytest.approx(min(values))
        assert model.gap_ == 0.0


def test_each_point_has_the_nearest_representative_that_covers_it():
    X = np.array([[0.0], [0.4], [1.0], [1.3], [5.0]])
    model = BallCover(eps=0.7, max_representatives=2, must_include=[0, 2]).fit(X)
    assert model.candidate_indices_.tolist() == [0, 2]
    assert model.labels_.tolist() == [0, 0, 1, 1, -1]
    assert model.counts_.tolist() == [2, 2]
    assert model.coverage_ == 0.8
    assert model.predict([[0.69], [0.71], [1.7], [1.71]]).tolist() == [1, 1, -1, -1]
    assert model.transform([[0.5]]).tolist() == [[0.5, 0.5]]
    assert model.fit_predict(X).tolist() == model.labels_.tolist()
    assert model.get_feature_names_out().tolist() == ["ballcover0", "ballcover1"]


def test_points_of_weight_zero_need_no_cover_but_get_a_label():
    X = np.array([[9.0], [0.0], [0.1]])
    model = BallCover(eps=0.5).fit(X, sample_weight=[0.0, 1.0, 1.0])
    assert model.coverage_ == 1.0
    assert len(model.candidate_indices_) == 1
    assert model.labels_.tolist() == [-1, 0, 0]
    with pytest.raises(ValueError, match="must_include holds 0, which is no candidate"):
        BallCover(eps=0.5, must_include=[0]).fit(X, sample_weight=[0.0, 1.0, 1.0])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_weight_is_a_repetition(seed):
    X, _ = small(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    for options in ({}, {"max_representatives": 2}, {"coverage": 0.7}, {"cost": 1.5}):
        weighted = BallCover(eps=0.8, solver="exact", **options).fit(X, sample_weight=weights)
        repeated = BallCover(eps=0.8, solver="exact", **options).fit(X[rows])
        assert weighted.objective_ == pytest.approx(repeated.objective_)
        if "coverage" not in options:
            assert weighted.coverage_ == pytest.approx(repeated.coverage_)


def test_a_table_of_dissimilarities_and_a_graph_give_the_same_cover():
    X, _ = small(3, n=30)
    table = cdist(X, X)
    by_rows = BallCover(eps=0.7, coverage=0.9).fit(X)
    by_table = BallCover(eps=0.7, coverage=0.9, metric="precomputed").fit(table)
    assert by_table.candidate_indices_.tolist() == by_rows.candidate_indices_.tolist()
    assert by_table.labels_.tolist() == by_rows.labels_.tolist()
    chosen = by_table.candidate_indices_
    assert by_table.predict(table[:5][:, chosen]).tolist() == by_rows.labels_[:5].tolist()


def test_frames_clones_and_pickles():
    X, _ = small(1)
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = BallCover(eps=0.8).fit(frame)
    assert model.feature_names_in_.tolist() == ["width", "height"]
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(frame).tolist() == model.labels_.tolist()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["height", "width"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eps": None}, "eps must be a positive number or 'auto', got None"),
        ({"eps": 0.0}, r"or 'auto', got 0\.0; it is how far apart"),
        ({"eps": [1.0, 2.0]}, r"or 'auto', got \[1\.0, 2\.0\]"),
        ({"eps": float("inf")}, "or 'auto', got inf"),
        ({"max_representatives": 0}, "max_representatives must be a positive integer"),
        ({"max_representatives": -1}, "max_representatives must be a positive integer"),
        ({"max_representatives": 2.5}, "max_representatives must be a positive integer"),
        ({"coverage": 0.0}, "coverage must be a share above 0 and up to 1"),
        ({"coverage": 1.1}, "coverage must be a share"),
        ({"coverage": float("nan")}, "coverage must be a share"),
        ({"coverage": 0.5, "max_representatives": 3}, "got max_representatives and coverage"),
        ({"cost": -1.0}, "cost must be a number from 0 to"),
        ({"must_include": [9]}, "must_include holds 9, which is no candidate"),
        ({"must_include": [-1]}, "must_include holds -1"),
        ({"must_include": [1, 1]}, "must_include must not name a row twice"),
        ({"must_include": [True] * 9}, "flatnonzero"),
        ({"must_include": [[1], [2, 3]]}, "must_include must be a list of row numbers"),
        ({"must_include": {1, 2}}, "must_include must be a list of row numbers"),
        ({"must_include": 3}, "must_include must be a list of row numbers"),
        ({"must_include": [0, 1], "max_representatives": 1}, "must_include names 2 rows, more"),
        ({"candidate_cost": [1.0]}, "one price for each of the 9 candidates"),
        ({"candidate_cost": [-1.0] * 9}, "finite numbers not below 0, got -1"),
        ({"candidate_cost": [float("nan")] * 9}, "finite numbers not below 0, got nan"),
        ({"candidate_cost": ["dear"] * 9}, "candidate_cost must hold numbers"),
        ({"solver": "best"}, "solver must be one of"),
    ],
    ids=str,
)
def test_bad_wishes_are_refused_with_a_way_out(options, message):
    X, _ = small(1)
    with pytest.raises(ValueError, match=message):
        BallCover(**{"eps": 0.8, **options}).fit(X)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (-1.0, "must not be negative"),
        (float("nan"), "stores NaN or infinity"),
        (float("inf"), "stores NaN or infinity"),
    ],
)
def test_a_graph_of_no_distances_is_refused(change, message):
    X, _ = small(1)
    graph = radius_neighbors_graph(X, 1.0, mode="distance")
    graph.data[0] = change
    with pytest.raises(ValueError, match=message):
        BallCover(eps=0.8, metric="precomputed").fit(graph)


def test_a_problem_is_let_go_when_its_cover_is_chosen(monkeypatch):
    """A hundred million memberships in a circle of references would wait for the collector."""

    known = []
    ask = covering.ask_solver

    def asked(solver, problem, **options):
        known.append(weakref.ref(problem))
        return ask(solver, problem, **options)

    monkeypatch.setattr(covering, "ask_solver", asked)
    X, _ = small(1)
    gc.collect()
    gc.disable()
    try:
        BallCover(eps=0.8, solver="greedy").fit(X)
        assert [one() for one in known] == [None]
    finally:
        gc.enable()


def test_a_share_that_cannot_be_covered_is_refused_with_what_can():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    given = np.array([[0.0]])
    with pytest.raises(ValueError, match=r"coverage must not be above 0\.25, which is all"):
        BallCover(eps=0.5, coverage=0.5, candidates=given).fit(X)
    assert BallCover(eps=0.5, coverage=0.25, candidates=given).fit(X).coverage_ == 0.25


def test_nothing_may_be_worth_its_cost():
    X, _ = small(1)
    model = BallCover(eps=0.8, cost=100.0).fit(X)
    assert len(model.candidate_indices_) == 0
    assert model.labels_.tolist() == [-1] * 9
    assert model.transform(X).shape == (9, 0)
    assert model.coverage_ == 0.0


def _greedy_left(table, weights, number, eps, *, closed):
    """Weight that the greedy's first so many leave uncovered, one at a time."""
    balls = table <= eps if closed else table < eps
    left = np.ones(len(table), dtype=bool)
    for _ in range(number):
        gains = [float(weights[left & ball].sum()) for ball in balls.T]
        if max(gains) == 0.0:
            break
        left &= ~balls[:, int(np.argmax(gains))]
    return float(weights[left].sum())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("closed", [False, True])
def test_the_proposed_radius_is_the_smallest_at_which_so_many_cover_so_much(seed, closed):
    X, weights = small(seed, n=25)
    table = cdist(X, X)
    for number, coverage in ((4, None), (None, 0.8), (None, None)):
        settings = {"max_representatives": number, "coverage": coverage, "closed_ball": closed}
        eps = BallCover(**settings).fit(X, sample_weight=weights).eps_
        many = number or int(np.ceil(np.sqrt(weights.sum())))
        room = (1.0 - (coverage or 0.95)) * weights.sum() * (1 + 1e-9)
        assert _greedy_left(table, weights, many, eps, closed=closed) <= room
        below = np.unique(table[(table > 0.0) & (table < eps * (1 - 1e-12))])
        if len(below):
            assert _greedy_left(table, weights, many, below[-1], closed=closed) > room


def test_a_proposed_radius_needs_no_seed_and_no_rows():
    X = np.random.default_rng(0).normal(size=(2100, 2))
    settings = {"max_representatives": 30, "solver": "greedy"}
    radii = {BallCover(**settings, random_state=seed).fit(X).eps_ for seed in (None, 0)}
    assert len(radii) == 1
    points, _ = small(3, n=30)
    table = BallCover(max_representatives=5, metric="precomputed").fit(cdist(points, points))
    assert table.eps_ == pytest.approx(BallCover(max_representatives=5).fit(points).eps_)
    assert BallCover().fit(np.zeros((5, 2))).coverage_ == 1.0
    assert BallCover().fit([[1.0]]).labels_.tolist() == [0]


def test_a_graph_that_ends_before_the_proposed_radius_is_refused_with_the_way_out():
    X, _ = small(3, n=30)
    graph = radius_neighbors_graph(X, 0.3, mode="distance")
    with pytest.raises(ValueError, match="a neighbour graph, ends before; make it with a larger"):
        BallCover(max_representatives=1, metric="precomputed").fit(graph)
    whole = radius_neighbors_graph(X, 9.0, mode="distance")
    by_graph = BallCover(max_representatives=4, metric="precomputed").fit(whole)
    assert by_graph.eps_ == pytest.approx(BallCover(max_representatives=4).fit(X).eps_)


@pytest.mark.parametrize("price", [1e20, 1e300, 1.7e308])
def test_a_price_beyond_all_weights_is_never_paid(price):
    X, weights = small(0)
    dear = np.where(np.arange(9) < 3, price, 1.0)
    for cost in (1.0, 10.0):
        model = BallCover(eps=0.8, cost=cost, candidate_cost=dear).fit(X, sample_weight=weights)
        cheap = BallCover(eps=0.8, cost=cost, candidates=X[3:]).fit(X, sample_weight=weights)
        assert (model.candidate_indices_ >= 3).all()
        assert model.objective_ == cheap.objective_
        assert model.verify(X, weights).ok
