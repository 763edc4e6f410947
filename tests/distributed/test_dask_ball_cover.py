"""Covers on a cluster, of samples and of pair lists, against the greedy of one machine."""

from __future__ import annotations

import pickle
from functools import partial

import dask.array as da
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone

from protocover import BallCover, pairs_to_graph
from protocover.dissimilarity import Precomputed
from protocover.distributed import DaskBallCover, _pairs

pytest.importorskip("pyarrow")
N = 150
RNG = np.random.default_rng(0)
X = RNG.integers(0, 8, (N, 2)).astype(float)
WEIGHTS, PRICES = RNG.choice([0.0, 0.3, 1.0, 2.0], N), RNG.integers(1, 6, N) / 10
KEPT = np.flatnonzero(WEIGHTS)[[3, 9, 40]].tolist()
D = cdist(X, X)
ROWS, COLUMNS = np.nonzero(np.triu(D <= 3.0, 1))
PAIRS = {"i": ROWS, "j": COLUMNS, "distance": D[ROWS, COLUMNS]}
ATTRIBUTES = ["candidate_indices_", "representative_indices_", "representative_sources_"]
ATTRIBUTES += ["representatives_", "labels_", "counts_", "coverage_", "objective_", "eps_"]
WISHES = [
    {},
    {"max_representatives": 4, "closed_ball": True},
    {"coverage": 0.8},
    {"coverage": 1.0},
    {"cost": 2.0},
    {"must_include": KEPT, "coverage": 0.9},
    {"candidate_cost": PRICES, "must_include": KEPT[:1]},
    {"candidate_cost": PRICES, "max_representatives": 3},
    {"candidate_cost": PRICES, "coverage": 0.9},
]


@pytest.fixture
def dask_cover(client):
    return partial(DaskBallCover, client=client)


def cut(values, step):
    return da.from_array(values, chunks=(step, *values.shape[1:]))


def assert_same_cover(model, expected):
    local = model.to_local()
    assert type(local) is BallCover
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(local, name), getattr(expected, name), err_msg=name)
    if model.certificate_ != "none":
        assert model.lower_bound_ == expected.lower_bound_


@pytest.mark.usefixtures("several_blocks")
@pytest.mark.parametrize("selection", ["whole", "rounds"])
@pytest.mark.parametrize("k", range(len(WISHES)))
def test_the_cover_is_that_of_one_machine(dask_cover, monkeypatch, tmp_path, k, selection):
    monkeypatch.setattr(_pairs, "_ENTRIES", 3000)
    wish = {"eps": 1.5, **WISHES[k]}
    model = dask_cover(selection=selection, **wish)
    if selection == "rounds" and {"coverage", "candidate_cost"} <= wish.keys():
        with pytest.raises(ValueError, match="not available in rounds; pass selection='whole'"):
            model.fit(cut(X, 50))
        return
    weights = WEIGHTS if k % 2 else None
    model.fit(cut(X, 40), sample_weight=None if weights is None else cut(weights, 60))
    expected = BallCover(solver="greedy", **wish).fit(X, sample_weight=weights)
    assert_same_cover(model, expected)
    assert isinstance(model.labels_, da.Array)
    np.testing.assert_array_equal(model.predict(cut(X + 0.3, 50)), expected.predict(X + 0.3))
    wish["metric"] = "precomputed"
    folder = tmp_path if k % 2 else None
    of_pairs = dask_cover(selection=selection, cache_dir=folder, **wish)
    of_pairs.fit_pairs(PAIRS, n_samples=N)
    graph = pairs_to_graph(PAIRS, n_samples=N)
    assert_same_cover(of_pairs, BallCover(solver="greedy", **wish).fit(graph))


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.booleans())
def test_chunks_make_no_difference(dask_cover, seed, step, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    points = rng.integers(0, 5, (n, 2)).astype(float)
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    model = dask_cover(eps=1.2, selection="rounds")
    model.fit(cut(points, step), sample_weight=None if weights is None else cut(weights, step))
    assert_same_cover(
        model, BallCover(eps=1.2, solver="greedy").fit(points, sample_weight=weights)
    )


@pytest.mark.parametrize("options", [{}, {"coverage": 0.7}, {"metric": "cityblock"}], ids=str)
def test_the_radius_and_the_metric_are_those_of_one_machine(dask_cover, options):
    points = np.random.default_rng(1).normal(size=(2100 if not options else 300, 3))
    expected = BallCover(solver="greedy", **options).fit(points)
    assert_same_cover(dask_cover(**options).fit(cut(points, 600)), expected)


def test_rows_may_be_sparse_and_candidates_given(dask_cover):
    sparse = dask_cover(eps=1.5).fit(cut(X, 50).map_blocks(csr_array))
    expected = BallCover(eps=1.5, solver="greedy").fit(csr_array(X))
    np.testing.assert_array_equal(sparse.candidate_indices_, expected.candidate_indices_)
    np.testing.assert_array_equal(sparse.labels_.compute(), expected.labels_)
    options = {"eps": 1.5, "candidates": X[:70] + 0.5}
    expected = BallCover(solver="greedy", **options).fit(X)
    assert_same_cover(dask_cover(**options).fit(cut(X, 50)), expected)


def test_a_cover_can_be_copied_pickled_and_verified(client, dask_cover):
    model = dask_cover(eps=1.5).fit(cut(X, 50))
    assert clone(model).client is client
    assert pickle.loads(pickle.dumps(model)).client is None
    assert model.to_local().verify(X).ok


@pytest.mark.parametrize("source", ["dask", "file"])
def test_pair_lists_keep_their_identifiers(dask_cover, tmp_path, source):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    names = np.array([f"s{k:03}" for k in range(N)])
    frame = pd.DataFrame(
        {"a": names[ROWS], "b": names[COLUMNS], "similarity": 1.0 - D[ROWS, COLUMNS] / 4}
    )
    pairs = dd.from_pandas(frame, npartitions=3)
    if source == "file":
        pairs = tmp_path / "pairs.parquet"
        frame.to_parquet(pairs, row_group_size=100)
    given = {"columns": ("a", "b", "similarity"), "similarity": True}
    model = dask_cover(eps=0.375, metric="precomputed").fit_pairs(pairs, **given)
    graph, ids = pairs_to_graph(frame, return_ids=True, **given)
    expected = BallCover(eps=0.375, metric="precomputed", solver="greedy").fit(graph)
    assert_same_cover(model, expected)
    assert model.ids_.tolist() == ids.tolist()


@pytest.mark.parametrize(
    ("row", "values", "message"),
    [
        (140, {"distance": -1.0}, "row 140 of the pairs has distance = -1.0"),
        (130, {"j": N}, "row 130 of the pairs has j = 150, .* from 0 to 149"),
        (150, {"i": COLUMNS[20], "j": ROWS[20]}, r"row 150 of the pairs lists .* again"),
        (60, {"i": ROWS[58], "j": COLUMNS[58]}, r"row 60 of the pairs lists .* again"),
    ],
)
def test_the_first_faulty_row_is_named_whatever_the_parts(
    dask_cover, monkeypatch, row, values, message
):
    monkeypatch.setattr(_pairs, "_ENTRIES", 2500)  # parts of 125 rows
    pairs = {name: column.copy() for name, column in PAIRS.items()}
    for name, value in values.items():
        pairs[name][[row, 200]] = value
    model = dask_cover(eps=1.5, metric="precomputed")
    with pytest.raises(ValueError, match=message):
        model.fit_pairs(pairs, n_samples=N)


def test_arrays_that_dask_keeps_apart_from_tasks_are_passed_on(dask_cover):
    """Dask treats arguments above 100 kB differently."""
    n, pairs = 15_000, {"i": [0, 0], "j": [1, 2], "distance": [0.5, 1.0]}
    wish = {"eps": 0.75, "metric": "precomputed", "must_include": np.arange(14_000, n)}
    model = dask_cover(selection="rounds", **wish).fit_pairs(pairs, n_samples=n)
    graph = pairs_to_graph(pairs, n_samples=n)
    assert_same_cover(model, BallCover(solver="greedy", **wish).fit(graph))


def test_the_radius_may_not_exceed_what_the_pairs_contain(dask_cover):
    with pytest.raises(ValueError, match=r"eps must not be above 3,.*lower eps"):
        dask_cover(eps=3.5, metric="precomputed").fit_pairs(PAIRS, n_samples=N)
    known = dask_cover(eps=3.1, metric=Precomputed(cutoff=3.15)).fit_pairs(PAIRS, n_samples=N)
    assert known.eps_ == 3.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selection": "classes"}, "selection must be 'auto', 'whole' or 'rounds'"),
        ({"coverage": 0.5, "cost": 1.0}, "only one of"),
        ({"eps": -1.0}, "eps must be a positive number"),
        ({"must_include": [N]}, "must_include holds 150"),
        ({"metric": "precomputed"}, "DaskBallCover.fit_pairs on a pair list"),
        ({"coverage": 0.9, "candidates": X[:1]}, "coverage must not be above"),
    ],
)
def test_parameters_are_checked(dask_cover, options, message):
    with pytest.raises(ValueError, match=message):
        dask_cover(**{"eps": 1.5, **options}).fit(cut(X, 50))
    with pytest.raises(ValueError, match="fit_pairs needs metric='precomputed'"):
        dask_cover(eps=1.5).fit_pairs(PAIRS, n_samples=N)
