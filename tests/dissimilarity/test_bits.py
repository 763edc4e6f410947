"""Tanimoto distance is a quotient of whole numbers, in whatever form bits are stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._balls import build_balls, build_levels
from protocover.dissimilarity import Metric, RankDissimilarity, Tanimoto
from protocover.dissimilarity import _mapped as mapped
from protocover.dissimilarity._bits import BitPairs


def _bits(seed, n, p, share):
    bits = np.random.default_rng(seed).random((n, p)) < share
    bits[n // 2] = bits[0]
    bits[-1] = False
    return bits


def _forms(bits):
    """The same rows in every form, each with the metric that takes it."""
    return {
        "booleans": (Tanimoto(), bits),
        "numbers": (Tanimoto(), bits.astype(float)),
        "bytes of one bit": (Tanimoto(), bits.astype(np.uint8)),
        "packed": (Tanimoto(packed=True), np.packbits(bits, axis=1)),
        "sparse": (Tanimoto(), csr_array(bits)),
        "sparse numbers": (Tanimoto(), coo_array(bits.astype(np.int8))),
        "frame": (Tanimoto(), pd.DataFrame(bits)),
    }


FORMS = sorted(_forms(np.ones((2, 2), dtype=bool)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("p", [1, 7, 8, 64, 100])
def test_every_form_gives_what_counting_gives(form, p):
    bits = _bits(p, 12, p, 0.4)
    metric, X = _forms(bits)[form]
    expected = naive.tanimoto(bits, bits)
    np.testing.assert_array_equal(metric.fit(X).pairwise(X, X), expected)
    np.testing.assert_array_equal(cdist(bits, bits, "jaccard"), expected)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1, 3, 16, 100, 700]),
    st.sampled_from([0.02, 0.3, 0.9]),
    st.sampled_from([form for form in FORMS if form not in ("frame", "sparse numbers")]),
)
def test_balls_are_those_of_the_table_at_every_distance_that_occurs(seed, p, share, form):
    bits = _bits(seed, 16, p, share)
    metric, X = _forms(bits)[form]
    Z = X if seed % 2 else X[:9]
    table = metric.pairwise(X, Z)
    radii = np.unique(np.append(table, [0.5, np.nextafter(1.0, 0.0), 1.5]))
    for eps in radii[:: max(1, len(radii) // 8)]:
        for closed in (False, True):
            balls = build_balls(metric, X, Z, eps=float(eps), closed=closed)
            np.testing.assert_array_equal(balls.toarray(), naive.members(table, eps, closed))
    levels = build_levels(metric, X, Z, radii=radii[:20], closed=True).toarray()
    first = np.searchsorted(radii[:20], table)
    np.testing.assert_array_equal(levels, np.where(first < len(radii[:20]), first + 1, 0))


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("p", [5, 2048, 30_000])
def test_nothing_in_the_product_is_rounded(p, eps):
    """Common bits are told from the sum in single precision as they are."""
    metric, X = Tanimoto(), _bits(3, 10, p, 0.7)
    scan = metric.bind(X, X, radii=np.array([eps]))
    assert isinstance(scan, BitPairs)
    excess = scan._excess(slice(0, 10), slice(0, 10))
    assert excess.dtype == np.float32
    common = X.astype(np.int64) @ X.T.astype(np.int64)
    ones = np.add.outer(X.sum(axis=1), X.sum(axis=1))
    np.testing.assert_array_equal(excess.astype(np.float64) + scan._least * ones, common)
    assert scan._least <= (1.0 - eps) / (2.0 - eps)


def test_jaccard_is_found_in_the_same_way(monkeypatch):
    monkeypatch.setattr(mapped, "_FEW_PAIRS", 0)
    bits = _bits(5, 40, 25, 0.3)
    metric = Metric("jaccard").fit(bits)
    assert isinstance(metric._mapped(bits, bits)[0], Tanimoto)
    assert Metric("jaccard", {"w": np.ones(25)}).fit(bits)._mapped(bits, bits) is None
    table = metric.pairwise(bits, bits)
    for eps in np.unique(table)[::9]:
        balls = build_balls(metric, bits, bits, eps=float(eps), closed=True)
        np.testing.assert_array_equal(balls.toarray(), table <= eps)


@pytest.mark.parametrize("form", FORMS)
def test_a_classifier_takes_every_form_and_keeps_it(form):
    bits = _bits(6, 60, 40, 0.3)
    metric, X = _forms(bits)[form]
    y = np.arange(60) % 3
    model = PVMClassifier(eps=0.6, metric=metric, **PAPER).fit(X, y)
    expected = PVMClassifier(eps=0.6, metric="jaccard", **PAPER).fit(bits, y)
    np.testing.assert_array_equal(model.candidate_indices_, expected.candidate_indices_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(bits))
    assert (
        PVMClassifier(eps="auto", metric=RankDissimilarity(metric), **PAPER).fit(X, y).score(X, y)
        > 0.3
    )
    if form == "packed":
        assert model.prototypes_.dtype == np.uint8
        assert model.prototypes_.shape[1] == 5


@pytest.mark.parametrize(
    ("metric", "X", "message"),
    [
        (Tanimoto(), [[0, 1], [2, 1]], r"takes bits, booleans or 0 and 1, got .*2.*packed=True"),
        (Tanimoto(), [[0.0, np.nan]], r"takes bits, booleans or 0 and 1, got .*nan"),
        (Tanimoto(), csr_array([[0.0, 0.5]]), r"takes bits, booleans or 0 and 1, got .*0\.5"),
        (Tanimoto(), [["a", "b"]], r"takes bits, booleans or 0 and 1, got .*'a'"),
        (Tanimoto(), [1, 0], r"a bit vector a row, got shape \(2,\)"),
        (Tanimoto(packed=True), [[1, 2]], r"of type uint8, got int64; pass packed=False"),
        (Tanimoto(packed=True), csr_array([[1]]), "takes dense bytes, got a sparse table"),
        (Tanimoto(packed="yes"), [[1, 0]], "packed must be True or False, got 'yes'"),
    ],
)
def test_what_is_no_bits_is_refused(metric, X, message):
    with pytest.raises(ValueError, match=message):
        metric.fit(X)


def test_rows_of_different_length_are_refused():
    with pytest.raises(ValueError, match="the same number of bits, got 3 and 2"):
        Tanimoto().pairwise(np.ones((1, 3), bool), np.ones((1, 2), bool))
