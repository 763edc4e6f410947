"""Two methods over sets: which sets, and how sure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from evidence.over_sets import gaps
from experiments.statistics import holm
from scipy.stats import wilcoxon


def test_sets_are_named_by_the_size_of_the_gap_and_ties_are_neither():
    found = gaps({"a": 1.0, "b": 5.0, "c": 2.0, "d": 0.3}, {"a": 2.0, "b": 1.0, "c": 2.0, "d": 0})
    assert found.above() == ["b", "d"]
    assert found.above(1.0) == ["b"]
    assert found.below() == ["a"]
    assert found.mean == pytest.approx((-1.0 + 4.0 + 0.3) / 4)


def test_p_is_that_of_signed_ranks():
    rng = np.random.default_rng(0)
    ours, theirs = rng.normal(0.5, 1.0, (2, 9))
    names = "abcdefghi"
    found = gaps(dict(zip(names, ours, strict=True)), dict(zip(names, theirs, strict=True)))
    assert found.p == pytest.approx(wilcoxon(ours - theirs).pvalue)


@pytest.mark.parametrize("p", list(itertools.permutations((0.01, 0.04, 0.03, 0.5))))
def test_holm_rejects_step_by_step_from_the_smallest(p):
    """A corrected p is the lowest level at which the stepwise procedure still rejects."""
    for level in (0.03, 0.039, 0.041, 0.08, 0.1, 0.49, 0.51):
        rejected, left = set(), len(p)
        for k in sorted(range(len(p)), key=lambda k: p[k]):
            if p[k] > level / left:
                break
            rejected.add(k)
            left -= 1
        assert {k for k, corrected in enumerate(holm(p)) if corrected <= level} == rejected
