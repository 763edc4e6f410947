"""Prototypes made ready once find what comparing all distances finds, to the last bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import naive
from protocover._balls import nearest as nearest_module
from protocover._balls import nearest_in_groups
from protocover._balls.nearest import ask_index, ask_index_for_two
from protocover._prototypes import PrototypeSet
from protocover.dissimilarity import Cosine, Euclidean, SquaredEuclidean
from protocover.dissimilarity._euclidean import index as index_module

METRICS = [Euclidean(), SquaredEuclidean(), Cosine()]


@pytest.fixture(params=["few", "product", "runs"])
def way(request, monkeypatch):
    """Few pairs are summed outright; here the product has to tell them, too."""
    if request.param != "few":
        monkeypatch.setattr(index_module, "_FEW_PRODUCTS", -np.inf)
    if request.param == "runs":
        monkeypatch.setattr(index_module, "_LONG_RUN", 0)


def cuts(n_prototypes, rng):
    """Groups, one of them empty, unless there is one prototype alone."""
    inner = np.sort(rng.integers(0, n_prototypes + 1, 3))
    return np.concatenate(([0], inner, [inner[-1], n_prototypes]))


def check(metric, A, B, bounds):
    """Compare all that can be asked with the table of all distances."""
    index = metric.nearest_index(B)
    expected, distance = nearest_in_groups(metric.pairwise(A, B), bounds)
    found = ask_index(index, A, bounds=bounds)
    np.testing.assert_array_equal(found[0], expected)
    np.testing.assert_array_equal(found[1], distance)
    np.testing.assert_array_equal(ask_index(index, A, bounds=bounds, distances=False)[0], expected)
    check_two(ask_index_for_two(index, A, bounds=bounds), metric.pairwise(A, B), bounds)


def check_two(found, table, bounds):
    """Compare the nearest and that of any other group with the table of all distances."""
    groups = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    places = naive.nearest_two(table, groups)
    queries = np.arange(len(table))
    distance = np.where(places < 0, np.inf, table[queries, places])
    np.testing.assert_array_equal(found[0], places)
    np.testing.assert_array_equal(found[1], distance)


@pytest.mark.parametrize("metric", METRICS, ids=str)
@pytest.mark.parametrize("n_prototypes", [1, 2, 11, 60, 700])
@pytest.mark.parametrize("seed", range(4))
def test_ties_go_to_the_lower_row(way, metric, n_prototypes, seed):
    """Whole numbers have many ties, equal rows and rows of zeros."""
    rng = np.random.default_rng(seed)
    A = rng.integers(-1, 2, size=(90, 3)).astype([np.float64, np.float32][seed % 2])
    B = rng.integers(-1, 2, size=(n_prototypes, 3)).astype(A.dtype)
    check(metric, A, B, cuts(n_prototypes, rng))


@pytest.mark.parametrize("scale", [1e-160, 1e-60, 1e-12, 1.0, 1e12, 1e60, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1.0, 1e4])
@pytest.mark.parametrize("n_prototypes", [9, 80])
def test_rows_of_any_size_wherever_they_lie(way, scale, offset, n_prototypes):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(60, 7)), rng.normal(size=(n_prototypes, 7))
    A[::3] = B[rng.integers(0, n_prototypes, 20)] + rng.choice([0.0, 1e-9, 1e-3], (20, 1))
    check(Euclidean(), (A + offset) * scale, (B + offset) * scale, cuts(n_prototypes, rng))


@pytest.mark.parametrize("n_prototypes", [9, 80])
@pytest.mark.parametrize("far", [1e10, 1e30, 1e140])
def test_queries_far_from_all_prototypes(way, n_prototypes, far):
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(40, 5)), rng.normal(size=(n_prototypes, 5))
    A[::4] *= far
    check(Euclidean(), A, B, cuts(n_prototypes, rng))
    B[0] *= far
    check(Euclidean(), A, B, cuts(n_prototypes, rng))


@pytest.mark.parametrize("n_prototypes", [9, 80])
def test_queries_too_far_to_square_are_refused(way, n_prototypes):
    index = Euclidean().nearest_index(np.random.default_rng(0).normal(size=(n_prototypes, 5)))
    A = np.full((3, 5), 1e200)
    with pytest.raises(ValueError, match="squared distances overflow; rescale the features"):
        ask_index(index, A, bounds=np.array([0, n_prototypes]))


@pytest.mark.parametrize("n_prototypes", [20, 200])
def test_almost_equal_distances_are_told_apart(way, n_prototypes):
    """Prototypes on a sphere about the queries, to within the last bits."""
    rng = np.random.default_rng(2)
    B = rng.normal(size=(n_prototypes, 40))
    B /= np.sqrt((B**2).sum(axis=1, keepdims=True))
    B *= 1.0 + rng.integers(-3, 4, (n_prototypes, 1)) * 2.0**-52
    A = np.concatenate((np.zeros((3, 40)), 1e-9 * rng.normal(size=(30, 40))))
    check(Euclidean(), A, B, cuts(n_prototypes, rng))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_neither_blocks_nor_threads_change_the_answer(monkeypatch, n_jobs):
    rng = np.random.default_rng(3)
    A, B = rng.normal(size=(500, 6)), rng.normal(size=(50, 6))
    index, bounds = Euclidean().nearest_index(B), np.array([0, 20, 50])
    whole = [ask(index, A, bounds=bounds) for ask in (ask_index, ask_index_for_two)]
    monkeypatch.setattr(index_module, "_MOST_ROWS", 37)
    monkeypatch.setattr(index_module, "_FEWEST_ROWS", 37)
    monkeypatch.setattr(nearest_module, "_WORTH_A_THREAD", 1)
    for ask, expected, nothing in zip(
        (ask_index, ask_index_for_two), whole, ((0, 2), (2, 0)), strict=True
    ):
        blocked = ask(index, A, bounds=bounds, n_jobs=n_jobs)
        np.testing.assert_array_equal(blocked[0], expected[0])
        np.testing.assert_array_equal(blocked[1], expected[1])
        assert [part.shape for part in ask(index, A[:0], bounds=bounds)] == [nothing] * 2


@pytest.mark.parametrize("n_groups", [1, 2, 3, 70])
@pytest.mark.parametrize("n_prototypes", [70, 600])
def test_two_of_few_or_many_groups(way, n_groups, n_prototypes):
    """Seldom with a rival, as most queries are, or always."""
    rng = np.random.default_rng(n_groups)
    bounds = np.linspace(0, n_prototypes, n_groups + 1).astype(int)
    for places in (rng.normal(size=(n_prototypes, 6)), rng.integers(0, 2, (n_prototypes, 6))):
        A = np.vstack((places[::5], places[::3] + 0.25))
        check(Euclidean(), A, places.astype(float), bounds)


def test_what_is_ready_is_not_kept_with_the_model():
    rng = np.random.default_rng(4)
    B, classes = rng.normal(size=(300, 9)), np.arange(300) % 3
    prototypes = PrototypeSet.of(B, classes, n_classes=3, dissimilarity=Euclidean())
    before = len(pickle.dumps(prototypes))
    queries = rng.normal(size=(40, 9))
    found, _ = prototypes.nearest(queries)
    np.testing.assert_array_equal(found, cdist(queries, B).argmin(axis=1))
    assert len(pickle.dumps(prototypes)) == before
    again, _ = pickle.loads(pickle.dumps(prototypes)).nearest(queries)
    np.testing.assert_array_equal(again, found)
