"""Lists of near pairs from any source, as neighbour graphs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import naive
from protocover import BallCover, DissimilarityError, pairs_to_graph

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
PAIRS = {"i": [0, 0, 3], "j": [1, 2, 4], "distance": [0.1, 0.25, 0.5]}


def as_table(graph):
    """The graph with infinity where no pair is listed."""
    table = np.full(graph.shape, np.inf)
    table[graph.nonzero()] = graph.data
    return table


@settings(max_examples=50, deadline=None)
@given(st.data(), st.booleans(), st.booleans())
def test_the_graph_holds_the_listed_pairs_and_no_others(data, directed, similarity):
    n = data.draw(st.integers(2, 6))
    key = (lambda p: p[:2]) if directed else (lambda p: frozenset(p[:2]))
    pair = st.tuples(
        st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0.125, 0.5, 0.875])
    )
    pairs = data.draw(st.lists(pair, min_size=1, unique_by=key))
    columns = dict(zip(("i", "j", "distance"), map(list, zip(*pairs, strict=True)), strict=True))
    graph = pairs_to_graph(columns, n_samples=n, directed=directed, similarity=similarity)
    expected = naive.pair_table(pairs, n, directed, similarity)
    np.testing.assert_array_equal(as_table(graph), expected)


@pytest.mark.parametrize("source", ["file", "folder", "arrow", "pandas", "polars", "dask"])
def test_every_source_gives_the_same_graph(tmp_path, source):
    frame = pd.DataFrame(PAIRS)
    if source == "file":
        frame.to_parquet(given := tmp_path / "pairs.parquet")
    elif source == "folder":
        given = tmp_path
        frame[:2].to_parquet(tmp_path / "a.parquet")
        frame[2:].to_parquet(tmp_path / "b.parquet")
    elif source == "dask":
        given = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
    elif source == "polars":
        given = pytest.importorskip("polars").DataFrame(PAIRS)
    else:
        given = frame if source == "pandas" else pa.table(PAIRS)
    graph = pairs_to_graph(given, n_samples=5)
    np.testing.assert_array_equal(as_table(graph), as_table(pairs_to_graph(PAIRS, n_samples=5)))


@pytest.mark.parametrize(
    "names",
    [list("vwxyz"), [10, 20, 30, 40, 50], pd.date_range("2020", periods=5).to_list()],
    ids=["text", "numbers", "dates"],
)
def test_identifiers_of_any_type_are_kept(names):
    named = {**PAIRS, "i": [names[k] for k in PAIRS["i"]], "j": [names[k] for k in PAIRS["j"]]}
    expected = as_table(pairs_to_graph(PAIRS, n_samples=5))
    graph, ids = pairs_to_graph(pd.DataFrame(named), return_ids=True)
    assert pd.Index(ids).tolist() == names
    np.testing.assert_array_equal(as_table(graph), expected)
    backwards, ids = pairs_to_graph(named, ids=names[::-1], return_ids=True)
    assert pd.Index(ids).tolist() == names[::-1]
    np.testing.assert_array_equal(as_table(backwards)[::-1, ::-1], expected)


def changed(row, **values):
    table = {name: list(column) for name, column in PAIRS.items()}
    for name, value in values.items():
        table[name][row] = value
    return table


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (changed(1, distance=-1.0), {}, r"row 1 .* distance = -1.0, .* finite non-negative"),
        (changed(2, distance=np.nan), {}, "row 2 of the pairs has distance = nan"),
        (changed(2, distance=np.inf), {}, "row 2 of the pairs has distance = inf"),
        (changed(1, distance=None), {}, "row 1 of the pairs has no distance"),
        (changed(1, j=None), {}, "row 1 of the pairs has no j"),
        (changed(2, j=5), {}, "row 2 of the pairs has j = 5, .* from 0 to 4"),
        (changed(1, i=-1), {}, "row 1 of the pairs has i = -1"),
        (changed(1, distance=1.1), {"similarity": True}, "row 1 .* a number up to 1"),
        (changed(2, i=1, j=0), {}, r"row 2 .* lists \(1, 0\) again.*directed=True"),
        (changed(2, i=0, j=1), {"directed": True}, r"row 2 .* \(0, 1\) again; list .* once$"),
        (changed(1, i=7), {"n_samples": None, "ids": list(range(5))}, "i = 7, .* in ids"),
        (PAIRS, {"n_samples": None}, "n_samples must be a positive integer.*return_ids=True"),
        (PAIRS, {"ids": [1, 1], "n_samples": None}, "every sample once"),
        (PAIRS, {"columns": ("a", "b", "d")}, "must have the columns.*columns="),
    ],
)
def test_an_error_names_the_first_row_that_cannot_be_used(pairs, options, message):
    with pytest.raises(ValueError, match=message):
        pairs_to_graph(pairs, **{"n_samples": 5, **options})


def test_faulty_rows_are_errors_about_dissimilarities_and_text_is_no_row_number():
    with pytest.raises(DissimilarityError):
        pairs_to_graph(changed(1, distance=-1.0), n_samples=5)
    with pytest.raises(TypeError, match=r"row numbers.*pass ids="):
        pairs_to_graph({**PAIRS, "i": list("abc")}, n_samples=5)
    with pytest.raises(TypeError, match="pairs must be a path"):
        pairs_to_graph([1, 2, 3], n_samples=5)


def test_a_cover_of_the_graph_is_the_cover_of_the_samples():
    X = np.random.default_rng(0).integers(0, 6, (60, 2)).astype(float)
    D = cdist(X, X)
    i, j = np.nonzero(np.triu(D <= 3.0, 1))
    graph = pairs_to_graph({"i": i, "j": j, "distance": D[i, j]}, n_samples=60)
    options = {"eps": 1.5, "solver": "greedy"}
    cover = BallCover(metric="precomputed", **options).fit(graph)
    expected = BallCover(**options).fit(X)
    assert cover.candidate_indices_.tolist() == naive.greedy_cover(D, 1.5)
    np.testing.assert_array_equal(cover.candidate_indices_, expected.candidate_indices_)
    np.testing.assert_array_equal(cover.labels_, expected.labels_)
    with pytest.raises(ValueError, match="eps must not be above"):
        BallCover(eps=4.0, metric="precomputed").fit(graph)
