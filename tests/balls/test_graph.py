"""Neighbour graphs: how sparse tables are read, and what is found in their entries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import bsr_array, coo_array, coo_matrix, csc_array, csr_array, dia_array

import naive
from protocover._balls import build_balls, build_levels, ordered_members
from protocover._balls.graph import (
    check_graph,
    dense_part,
    filled,
    names_itself,
    nearest_in_graph,
    pick_entries,
    same_graphs,
    with_own_distances,
)
from protocover._exceptions import DissimilarityError
from protocover.dissimilarity._precomputed import NeighborGraph

DISTANCES = [0.0, 0.5, 1.0, 1.5, 2.0]


@st.composite
def graphs(draw, max_rows=9, max_columns=9, square=False):
    """Entries of small graphs, in any order, and their shape."""
    n = draw(st.integers(1, max_rows))
    m = n if square else draw(st.integers(1, max_columns))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1))
    chosen = draw(st.lists(pairs, max_size=n * m, unique=True))
    lengths = draw(
        st.lists(st.sampled_from(DISTANCES), min_size=len(chosen), max_size=len(chosen))
    )
    entries = [(i, j, d) for (i, j), d in zip(chosen, lengths, strict=True)]
    return entries, (n, m)


def as_graph(entries, shape, kind=coo_array, dtype=np.float64):
    """A sparse table with entries in the order given, where its format has one."""
    rows, columns, data = (list(part) for part in zip(*entries, strict=True))
    pairs = coo_array((np.array(data, dtype), (rows, columns)), shape=shape)
    return kind(pairs)


def empty_safe(entries, shape, **how):
    return as_graph(entries, shape, **how) if entries else csr_array(shape)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(["csr", "csc", "coo", "lil", "dok"]))
def test_every_format_is_the_same_graph(given_graph, kind):
    entries, shape = given_graph
    X = empty_safe(entries, shape).asformat(kind)
    graph = check_graph(X)
    assert graph.nnz == len(entries)
    assert graph.has_canonical_format
    assert graph.data.dtype == np.float64
    np.testing.assert_array_equal(filled(graph), naive.graph_table(entries, shape))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.float32, np.longdouble])
def test_numbers_of_other_types_are_read_in_double_precision(dtype):
    X = csr_array(([3, 0, 7], ([0, 1, 1], [1, 0, 1])), shape=(2, 2), dtype=dtype)
    np.testing.assert_array_equal(filled(check_graph(X)), [[np.inf, 3.0], [0.0, 7.0]])


def test_the_table_that_was_given_stays_as_it_is():
    X = csr_array(([2.0, 1.0, 3.0], [1, 0, 2], [0, 2, 2, 3]), shape=(3, 3))
    before = [part.copy() for part in (X.data, X.indices, X.indptr)]
    graph = with_own_distances(check_graph(X))
    graph.data += 1.0
    for part, was in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, was)


@pytest.mark.parametrize(
    "X",
    [
        coo_array(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)),
        coo_matrix(([1.0, 1.0], ([0, 0], [1, 1])), shape=(2, 2)),
        csr_array(([1.0, 1.0], [1, 1], [0, 2, 2]), shape=(2, 2)),
        csr_array(([1.0, 2.0, 1.0], [1, 0, 1], [0, 3, 3]), shape=(2, 2)),
        csc_array(([1.0, 1.0], [1, 1], [0, 2, 2]), shape=(2, 2)),
    ],
    ids=["list of pairs", "matrix", "rows", "unsorted rows", "columns"],
)
def test_a_pair_that_is_stored_twice_is_refused(X):
    with pytest.raises(DissimilarityError, match=r"a pair once.*drop what is double"):
        check_graph(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (csr_array([[np.nan]]), "stores NaN or infinity.* has none"),
        (csr_array([[np.inf]]), "stores NaN or infinity.* has none"),
        (csr_array([[1.0, -0.5]]), "must not be negative, got -0.5"),
        (csr_array([[True]]), "numbers, got bool.*mode='distance'"),
        (csr_array([[1.0 + 1.0j]]), "numbers, got complex128"),
        (bsr_array(np.eye(4)), "formats csr, .* got bsr, which is filled up with zeros"),
        (dia_array(np.eye(4)), "formats csr, .* got dia, which is filled up with zeros"),
        (coo_array(np.ones(3)), "two dimensions, got 1"),
    ],
)
def test_what_is_no_graph_is_refused(X, message):
    with pytest.raises(DissimilarityError, match=message):
        check_graph(X)


@settings(max_examples=60, deadline=None)
@given(graphs(square=True))
def test_points_are_their_own_neighbors(given_graph):
    entries, shape = given_graph
    graph = check_graph(empty_safe(entries, shape))
    complete = with_own_distances(graph)
    assert complete.has_canonical_format
    np.testing.assert_array_equal(filled(complete), naive.graph_table(entries, shape, True))
    assert with_own_distances(complete) is complete
    assert names_itself(graph) is any(i == j for i, j, _ in entries)


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_columns_keep_their_zeros_in_any_order(given_graph, data):
    entries, shape = given_graph
    graph = check_graph(empty_safe(entries, shape))
    columns = np.array(data.draw(st.lists(st.integers(0, shape[1] - 1), min_size=1, max_size=12)))
    rows = np.array(data.draw(st.lists(st.integers(0, shape[0] - 1), min_size=1, max_size=12)))
    D = naive.graph_table(entries, shape)
    picked = pick_entries(graph, columns)
    assert picked.has_sorted_indices
    np.testing.assert_array_equal(filled(picked), D[:, columns])
    np.testing.assert_array_equal(dense_part(graph, rows, columns), D[np.ix_(rows, columns)])
    same = np.array_equal(D[:, columns], D)
    assert (len(columns) == shape[1] and same_graphs(picked, graph)) is same


@settings(max_examples=80, deadline=None)
@given(graphs(), st.data())
def test_the_nearest_of_each_group(given_graph, data):
    entries, shape = given_graph
    graph = check_graph(empty_safe(entries, shape))
    cuts = data.draw(st.lists(st.integers(0, shape[1]), max_size=3))
    bounds = np.array([0, *sorted(cuts), shape[1]])
    radius = st.sampled_from([0.5, 1.0, 4.0])
    radii = np.array(data.draw(st.lists(radius, min_size=shape[1], max_size=shape[1])))
    D = naive.graph_table(entries, shape)
    for given_radii in (None, radii):
        index, distance = nearest_in_graph(graph, bounds, given_radii)
        for g in range(len(bounds) - 1):
            labels = np.full(shape[1], -1)
            labels[bounds[g] : bounds[g + 1]] = 1
            expected = naive.graph_nearest(D, labels, given_radii)[:, -1]
            if bounds[g] == bounds[g + 1]:
                expected = np.full(shape[0], -1)
            np.testing.assert_array_equal(index[:, g], expected)
            known = expected >= 0
            np.testing.assert_array_equal(
                distance[known, g], D[np.flatnonzero(known), expected[known]]
            )
            assert np.isinf(distance[~known, g]).all()


@settings(max_examples=60, deadline=None)
@given(graphs(), st.booleans(), st.data())
def test_balls_and_levels_are_those_of_the_table(given_graph, closed, data):
    entries, shape = given_graph
    graph = check_graph(empty_safe(entries, shape))
    columns = np.array(data.draw(st.permutations(range(shape[1]))))
    columns = columns[: data.draw(st.integers(1, shape[1]))]
    radii = np.array(sorted(set(data.draw(st.lists(st.sampled_from(DISTANCES[1:]), min_size=1)))))
    D = naive.graph_table(entries, shape)[:, columns]
    expected = sum(naive.members(D, eps, closed).astype(int) for eps in radii)
    found = build_levels(NeighborGraph(), graph, columns, radii=radii, closed=closed)
    assert found.has_sorted_indices
    levels = found.toarray().astype(int)
    np.testing.assert_array_equal(np.where(levels > 0, len(radii) + 1 - levels, 0), expected)
    balls = build_balls(NeighborGraph(), graph, columns, eps=radii[-1], closed=closed)
    np.testing.assert_array_equal(balls.toarray(), naive.members(D, radii[-1], closed))


@settings(max_examples=60, deadline=None)
@given(graphs(), st.booleans(), st.sampled_from([1.0, 2.0, np.inf]))
def test_members_come_nearest_first(given_graph, closed, eps):
    entries, shape = given_graph
    graph = check_graph(empty_safe(entries, shape))
    D = naive.graph_table(entries, shape)
    found = {}
    for block in ordered_members(
        NeighborGraph(), graph, np.arange(shape[1]), lambda some: some, eps=eps, closed=closed
    ):
        for j, i, distance in zip(block.candidate, block.point, block.distance, strict=True):
            found.setdefault(int(j), []).append((float(distance), int(i)))
    for j in range(shape[1]):
        inside = np.flatnonzero(naive.members(D[:, j], eps, closed) & np.isfinite(D[:, j]))
        assert sorted(found.get(j, [])) == sorted((D[i, j], i) for i in inside)
        lengths = [distance for distance, _ in found.get(j, [])]
        assert lengths == sorted(lengths)


def test_many_blocks_of_rows_are_one_table(monkeypatch):
    from protocover._balls import graph as module

    rng = np.random.default_rng(0)
    D = rng.integers(0, 5, size=(70, 50)) / 2.0
    stored = rng.random(D.shape) < 0.3
    X = check_graph(csr_array((D[stored], stored.nonzero()), shape=D.shape))
    monkeypatch.setattr(module, "_BLOCK_ENTRIES", 100)
    expected = naive.members(np.where(stored, D, np.inf), 1.5)
    for n_jobs in (1, 2):
        balls = build_balls(NeighborGraph(), X, np.arange(50), eps=1.5, n_jobs=n_jobs)
        np.testing.assert_array_equal(balls.toarray(), expected)
