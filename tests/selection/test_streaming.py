"""Rows stream through: an X on disk is never held as a whole."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import build_balls
from protocover.dissimilarity import Euclidean
from protocover.dissimilarity._euclidean import product


def on_disk(path, X):
    stored = np.memmap(path, dtype=X.dtype, mode="w+", shape=X.shape)
    stored[:] = X
    stored.flush()
    return np.memmap(path, dtype=X.dtype, mode="r", shape=X.shape)


def peak_of(function):
    """What a function returns, and the most memory it held.

    The less of two runs: what threads of other tests allocate meanwhile is counted, too.
    """
    peaks = []
    for _ in range(2):
        tracemalloc.start()
        try:
            result = function()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return result, min(peaks)


@pytest.fixture
def wide_rows(tmp_path):
    """Forty megabytes of rows in single precision, in three classes."""
    rng = np.random.default_rng(0)
    y = np.arange(40_000) % 3
    X = rng.normal(size=(40_000, 256), scale=0.1).astype(np.float32)
    X[:, 0] += y
    return on_disk(tmp_path / "rows", X), y


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_fit_and_predict_hold_a_small_part_of_rows_on_disk(wide_rows, metric):
    X, y = wide_rows
    model = PVMClassifier(eps=2.3, metric=metric, candidates=60, n_jobs=1, random_state=0, **PAPER)
    _, peak = peak_of(lambda: model.fit(X, y))
    assert len(model.candidate_indices_) > 0
    assert peak < X.nbytes / 2
    labels, peak = peak_of(lambda: model.predict(X))
    assert (labels == y).mean() > 0.9
    assert peak < X.nbytes / 2


@pytest.mark.parametrize(("n_classes", "share"), [(3, 0.5), (1, 1.5)])
def test_the_automatic_radius_reads_rows_on_disk_block_by_block(wide_rows, n_classes, share):
    """With one class it holds the distances in a sample, however many rows there are."""
    X, y = wide_rows
    model = PVMClassifier(candidates=60, n_jobs=1, random_state=0, **PAPER)
    _, peak = peak_of(lambda: model.fit(X, y % n_classes))
    assert peak < share * X.nbytes
    in_memory = PVMClassifier(candidates=60, random_state=0, **PAPER).fit(
        np.array(X), y % n_classes
    )
    assert model.eps_ == in_memory.eps_


def test_all_rows_on_disk_may_be_candidates(tmp_path, monkeypatch):
    """Neither side of the product is held where both are too large."""
    monkeypatch.setattr(product, "_KEPT_BYTES", 1 << 20)
    X = np.random.default_rng(1).normal(size=(2400, 500))
    stored = on_disk(tmp_path / "rows", X)
    balls, peak = peak_of(lambda: build_balls(Euclidean(), stored, stored, eps=30.2, n_jobs=1))
    assert peak < 2 * X.nbytes  # one strip of rows and columns, in work
    np.testing.assert_array_equal(balls.toarray(), cdist(X, X) < 30.2)
    assert 0.001 < balls.nnz / 2400**2 < 0.9


def test_rows_on_disk_give_the_model_of_rows_in_memory(tmp_path):
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 4, size=(300, 3)).astype(np.float64), rng.integers(2, size=300)
    stored = on_disk(tmp_path / "rows", X)
    here, there = (
        PVMClassifier(eps=1.5, **PAPER).fit(X, y),
        PVMClassifier(eps=1.5, **PAPER).fit(stored, y),
    )
    np.testing.assert_array_equal(here.candidate_indices_, there.candidate_indices_)
    np.testing.assert_array_equal(here.predict(X), there.predict(stored))
