"""Rows of half precision and of bytes are taken as they are stored, and answer as doubles do."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from paper import PAPER
from protocover import BallCover, PVMClassifier, load_model, save_model
from protocover._balls import build_balls
from protocover.dissimilarity import Cosine, Euclidean, SquaredEuclidean

TYPES = [np.float16, np.int8]
METRICS = [Euclidean(), SquaredEuclidean(), Cosine()]


def _rows(dtype, n=80, p=12):
    """Rows that reach the ends of the range of bytes, with one of zeros and some that repeat."""
    X = np.random.default_rng(0).normal(scale=70.0, size=(n, p)).clip(-128, 127)
    X[3] = 0.0
    X[n // 2] = X[0]
    return X.astype(dtype)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_a_model_is_that_of_the_same_numbers_and_keeps_the_type(metric, dtype, radii, tmp_path):
    X, y = _rows(dtype), np.arange(80) % 3
    narrow = PVMClassifier(eps="auto", metric=metric, radii=radii).fit(X, y)
    wide = PVMClassifier(eps="auto", metric=metric, radii=radii).fit(X.astype(float), y)
    assert narrow.eps_ == wide.eps_
    np.testing.assert_array_equal(narrow.candidate_indices_, wide.candidate_indices_)
    np.testing.assert_array_equal(
        narrow.decision_function(X), wide.decision_function(X.astype(float))
    )
    np.testing.assert_array_equal(narrow.predict(X.astype(np.float32)), wide.predict(X))
    assert narrow.prototypes_.dtype == dtype
    save_model(narrow, tmp_path / "model.pvm")
    loaded = load_model(tmp_path / "model.pvm")
    assert loaded.prototypes_.dtype == dtype
    np.testing.assert_array_equal(loaded.decision_function(X), narrow.decision_function(X))


@pytest.mark.parametrize("candidates", ["kmeans", "hull", 20])
def test_made_candidates_are_not_cut_to_the_type(candidates):
    X, y = _rows(np.int8, p=2), np.arange(80) % 3
    narrow = PVMClassifier(eps=20.0, candidates=candidates, random_state=0, **PAPER).fit(X, y)
    wide = PVMClassifier(eps=20.0, candidates=candidates, random_state=0, **PAPER).fit(
        X.astype(float), y
    )
    np.testing.assert_array_equal(narrow.prototypes_, wide.prototypes_)


def test_candidates_given_as_bytes_and_points_as_doubles_go_together():
    X, y = _rows(np.int8), np.arange(80) % 3
    for points, given in ((X, X.astype(float)), (X.astype(float), X)):
        model = PVMClassifier(eps=60.0, candidates=given[:40], **PAPER).fit(points, y)
        same = PVMClassifier(eps=60.0, candidates=X[:40].astype(float), **PAPER).fit(
            X.astype(float), y
        )
        np.testing.assert_array_equal(model.candidate_indices_, same.candidate_indices_)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_no_copy_in_double_precision_is_held(metric):
    X = np.random.default_rng(0).integers(-100, 100, size=(20_000, 256), dtype=np.int8)
    tracemalloc.start()
    build_balls(metric, X, X[:50], eps=1e-3, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * X.size, "a copy in double precision takes eight bytes a number"


@pytest.mark.parametrize("p", [2, 12])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_few_representatives_of_narrow_directions_answer_as_doubles_do(dtype, p):
    X = _rows(dtype, p=p)
    narrow = BallCover(eps=0.7, metric="cosine", max_representatives=5).fit(X)
    wide = BallCover(eps=0.7, metric="cosine", max_representatives=5).fit(X.astype(np.float64))
    np.testing.assert_array_equal(narrow.labels_, wide.labels_)
    np.testing.assert_array_equal(narrow.predict(X), wide.labels_)
    assert narrow.verify(X).ok
