"""Sparse rows get the answers of the same rows written out, to the last bit."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from protocover import PVMClassifier, suggest_eps
from protocover._balls import build_balls
from protocover.dissimilarity import Cosine, Euclidean, SquaredEuclidean
from protocover.dissimilarity._euclidean import sums
from protocover.dissimilarity._euclidean.distance import directions, in_order
from protocover.dissimilarity._euclidean.sums import direct_squares

ALL = pytest.mark.parametrize(
    "dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()], ids=repr
)


def words(seed, n=40, p=300):
    """Rows with a few entries each, some rows with none, some rows twice."""
    rng = np.random.default_rng(seed)
    table = np.where(rng.random((n, p)) < 0.03, rng.normal(size=(n, p)), 0.0)
    table[::9] = 0.0
    table[1::9] = table[2]
    return table


def shuffled(table, seed=0):
    """The same rows with entries in any order, split into four at each place, zeros between."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(table)
    zero_rows, zero_columns = (rng.integers(size, size=50) for size in table.shape)
    parts = rng.normal(size=(3, len(rows))) * 10.0 ** rng.integers(-9, 9, size=(3, len(rows)))
    values = np.concatenate((table[rows, columns], *parts, np.zeros(50)))
    rows = np.concatenate((np.tile(rows, 4), zero_rows))
    columns = np.concatenate((np.tile(columns, 4), zero_columns))
    order = rng.permutation(len(rows))
    order = order[np.argsort(rows[order], kind="stable")]
    starts = np.searchsorted(rows[order], np.arange(len(table) + 1))
    return csr_array((values[order], columns[order], starts), shape=table.shape)


FORMS = {
    "rows": csr_array(words(0)),
    "a matrix": csr_matrix(words(1)),
    "columns": csc_array(words(2)),
    "coordinates": coo_array(words(3)),
    "unsorted, repeated, with zeros": shuffled(words(4)),
    "single precision": csr_array(words(5).astype(np.float32)),
    "repeated in single precision": shuffled(words(6)).astype(np.float32),
    "whole numbers": csr_array(np.rint(3 * words(7)).astype(np.int64)),
    "small whole numbers": csr_array(np.rint(3 * words(8)).astype(np.int8)),
    "counts": csr_array(np.rint(9 * abs(words(9))).astype(np.uint8)),
    "tenths": csr_array(np.rint(10 * words(10)) / 10),
    "nothing": csr_array((6, 5)),
    "one column": csr_array(words(11)[:, :1]),
}


@ALL
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("closed", [False, True])
def test_balls_are_those_of_dense_rows(name, dissimilarity, closed):
    X = FORMS[name]
    dense = X.toarray()
    Z, dense_Z = X.tocsr()[::3], dense[::3]
    distances = np.unique(dissimilarity.pairwise(dense, dense_Z))
    for eps in distances[distances > 0][:: max(1, len(distances) // 6)]:
        for sparse_pair, dense_pair in (((X, X), (dense, dense)), ((X, Z), (dense, dense_Z))):
            balls = build_balls(dissimilarity, *sparse_pair, eps=eps, closed=closed)
            expected = build_balls(dissimilarity, *dense_pair, eps=eps, closed=closed)
            np.testing.assert_array_equal(balls.toarray(), expected.toarray())


@ALL
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("dense_for_sparse", [1, 10**6])
def test_distances_are_those_of_dense_rows(name, dense_for_sparse, dissimilarity, monkeypatch):
    """Whether rows are written out or features are added one by one, in blocks of rows."""
    monkeypatch.setattr(sums, "_DENSE_FOR_SPARSE", dense_for_sparse)
    monkeypatch.setattr(sums, "_TABLE_NUMBERS", 100)
    monkeypatch.setattr(sums, "_WRITTEN_OUT", 3000)
    X = FORMS[name].tocsr()
    dense = X.toarray()
    expected = dissimilarity.pairwise(dense, dense[::3])
    np.testing.assert_array_equal(dissimilarity.pairwise(X, X[::3]), expected)
    np.testing.assert_array_equal(dissimilarity.pairwise(X[::3], X), expected.T)
    np.testing.assert_array_equal(dissimilarity.pairwise(X, dense[::3]), expected)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_transform_agrees_with_the_balls_far_from_the_origin(radii):
    """The formula |x|^2 + |z|^2 - 2 x.z would lose every digit of these distances."""
    X = 1e6 + 1e-3 * np.random.default_rng(0).normal(size=(40, 20))
    y = np.arange(40) % 2
    model = PVMClassifier(eps=0.005, radii=radii, solver="greedy").fit(csr_array(X), y)
    written_out = PVMClassifier(eps=0.005, radii=radii, solver="greedy").fit(X, y)
    np.testing.assert_array_equal(model.candidate_indices_, written_out.candidate_indices_)
    distances = model.transform(csr_array(X))
    np.testing.assert_array_equal(distances, written_out.transform(X))
    relative = distances / model.prototype_radii_
    np.testing.assert_array_equal(relative.argmin(axis=1), model.explain(csr_array(X)).prototype)
    np.testing.assert_array_equal(suggest_eps(csr_array(X), y), suggest_eps(X, y))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("embed", [in_order, directions])
def test_rows_and_their_direct_sums_are_those_of_dense_rows(name, embed):
    X = FORMS[name]
    sparse, dense = embed(X), embed(X.toarray())
    np.testing.assert_array_equal(sparse.toarray(), dense)
    i, j = np.random.default_rng(0).integers(X.shape[0], size=(2, 200))
    np.testing.assert_array_equal(
        direct_squares(sparse, sparse, i, j), direct_squares(dense, dense, i, j)
    )


@pytest.mark.parametrize("form", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_directions_do_not_depend_on_the_length(form):
    """Powers of two, so that not a bit may differ; no square of theirs is a number."""
    rows = np.random.default_rng(1).normal(size=(5, 7))
    expected = directions(form(rows))
    for power in (-1000, -60, 60, 1000):
        found = directions(form(rows * 2.0**power))
        difference = found - expected
        assert abs(difference).max() == 0.0
    assert Cosine().pairwise(form(rows * 2.0**-60), form(rows))[0, 0] < 1e-15
