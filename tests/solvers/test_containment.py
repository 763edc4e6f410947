"""Contained sets are found, all of them and no others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array

from protocover.solvers import _reductions as reductions
from protocover.solvers._reductions import contained_pairs


def slow_pairs(inside):
    """Subset pairs by comparing every two columns."""
    columns = range(inside.shape[1])
    return {
        (a, b)
        for a in columns
        for b in columns
        if a != b and inside[:, a].any() and not (inside[:, a] & ~inside[:, b]).any()
    }


@pytest.mark.parametrize("n_elements", [1, 7, 64, 65, 150])
@pytest.mark.parametrize("density", [0.02, 0.3, 0.95])
def test_all_contained_pairs_are_found(n_elements, density, monkeypatch):
    """Also in blocks of few pairs and few bits to a set."""
    rng = np.random.default_rng(n_elements)
    inside = rng.random((n_elements, 40)) < density
    for pairs, words in ((1 << 21, 16), (50, 1)):
        monkeypatch.setattr(reductions, "_PAIRS_AT_ONCE", pairs)
        monkeypatch.setattr(reductions, "_WORDS", words)
        small, large = contained_pairs(csc_array(inside), lambda a, b: np.ones(len(a), bool))
        assert set(zip(small.tolist(), large.tolist(), strict=True)) == slow_pairs(inside)


def test_pairs_that_are_not_wanted_are_not_returned():
    inside = np.array([[1, 1, 1], [0, 1, 1]], dtype=bool)
    small, large = contained_pairs(csc_array(inside), lambda a, b: a < b)
    assert sorted(zip(small.tolist(), large.tolist(), strict=True)) == [(0, 1), (0, 2), (1, 2)]
