"""Sums of squares are the same whatever SciPy's loops were compiled to do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from protocover.dissimilarity import Euclidean
from protocover.dissimilarity._euclidean import sums


def added_up(x, z):
    """One sum, product by product, each rounded before it is added."""
    total = 0.0
    for a, b in zip(x.tolist(), z.tolist(), strict=True):
        total += (a - b) * (a - b)
    return total


def fused(A, B, metric):
    """The table that multiplying and adding with one rounding gives."""
    assert metric == "sqeuclidean"
    table = np.zeros((len(A), len(B)))
    for i, x in enumerate(np.asarray(A, dtype=float).tolist()):
        for j, z in enumerate(np.asarray(B, dtype=float).tolist()):
            for a, b in zip(x, z, strict=True):
                table[i, j] = float(Fraction(table[i, j]) + Fraction(a - b) ** 2)
    return table


@pytest.fixture(params=["SciPy", "NumPy", "fused SciPy"])
def loops(request, monkeypatch):
    """Loops as they are here, NumPy's instead, and SciPy's as they are with fused products."""
    sums.scipy_rounds_twice.cache_clear()
    if request.param == "NumPy":
        monkeypatch.setattr(sums, "scipy_rounds_twice", lambda: False)
    if request.param == "fused SciPy":
        monkeypatch.setattr(sums, "cdist", fused)
    yield request.param
    monkeypatch.undo()
    sums.scipy_rounds_twice.cache_clear()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("p", [0, 1, 2, 3, 8, 17])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (3, 9), (9, 4)])
def test_all_sums_are_those_of_a_loop(shape, p, dtype, loops):
    rng = np.random.default_rng(0)
    X, Z = (rng.normal(size=(n, p)).astype(dtype) for n in shape)
    expected = np.array([[added_up(x, z) for z in Z.astype(float)] for x in X.astype(float)])
    expected = expected.reshape(shape)
    np.testing.assert_array_equal(sums.table_of_squares(X, Z), expected)
    i, j = np.divmod(np.arange(len(X) * len(Z)), len(Z))
    np.testing.assert_array_equal(sums.direct_squares(X, Z, i, j), expected.ravel())
    ends = len(X) * np.arange(len(Z) + 1)
    runs = sums.squares_in_runs(X, Z, np.tile(np.arange(len(X)), len(Z)), ends)
    np.testing.assert_array_equal(runs, expected.T.ravel())
    np.testing.assert_array_equal(Euclidean().pairwise(X, Z), np.sqrt(expected))


@pytest.mark.parametrize("loops", ["SciPy", "NumPy"], indirect=True)
def test_blocks_make_no_difference(loops, monkeypatch):
    rng = np.random.default_rng(1)
    X, Z = rng.normal(size=(300, 5)), rng.normal(size=(40, 5))
    expected = cdist(X, Z, "sqeuclidean")
    monkeypatch.setattr(sums, "_PAIR_NUMBERS", 64)
    monkeypatch.setattr(sums, "_RUN_NUMBERS", 64)
    np.testing.assert_array_equal(sums.table_of_squares(X, Z), expected)
    i, j = np.divmod(np.arange(expected.size), len(Z))
    np.testing.assert_array_equal(sums.direct_squares(X, Z, i, j), expected.ravel())


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("power", [-400, -500, -537, -560, -1060])
def test_distances_do_not_underflow(power, form, loops):
    """Squares of differences below 2**-537 are below the smallest number."""
    rng = np.random.default_rng(0)
    X, Z = (rng.integers(-3, 4, size=(n, 3)).astype(float) for n in (9, 4))
    unit = 2.0**power
    expected = Euclidean().pairwise(X, Z)
    if power == -1060:  # the smallest number is 2**-1074
        expected = np.round(expected * 2.0**14) / 2.0**14
    expected *= unit
    tiny = form(X * unit), form(Z * unit)
    np.testing.assert_array_equal(Euclidean().pairwise(*tiny), expected)
    i, j = np.divmod(np.arange(expected.size), len(Z))
    measured = sums.finished(sums.root, sums.direct_squares(*tiny, i, j), *tiny, i, j)
    np.testing.assert_array_equal(measured, expected.ravel())


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_distance_may_be_tiny_among_large_ones(form):
    X = np.array([[1.0, 3e-200], [1.0, 0.0], [-2.0, 4e-200]])
    expected = [[0.0, 3e-200, 3.0], [3e-200, 0.0, 3.0], [3.0, 3.0, 0.0]]
    np.testing.assert_array_equal(Euclidean().pairwise(form(X), form(X)), expected)


def test_fused_products_are_noticed(monkeypatch):
    """Else this test, and the promise, would rest on what is never tried."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(1, 9))
    B = rng.normal(size=(20, 9))
    assert (fused(A, B, "sqeuclidean") != cdist(A, B, "sqeuclidean")).any()
    sums.scipy_rounds_twice.cache_clear()
    monkeypatch.setattr(sums, "cdist", fused)
    assert not sums.scipy_rounds_twice()
    sums.scipy_rounds_twice.cache_clear()
