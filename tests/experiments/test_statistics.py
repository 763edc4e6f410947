"""Tests of differences agree with their published tables and with enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from experiments.statistics import (
    corrected_resampled_t,
    mcnemar,
    rank,
    sign_test,
    signed_ranks,
)
from scipy.stats import ttest_1samp


def test_without_shared_training_points_the_correction_is_the_t_test():
    gap = np.random.default_rng(0).normal(0.3, 1.0, 20)
    assert corrected_resampled_t(gap, 1.0, 0.0) == pytest.approx(ttest_1samp(gap, 0.0).pvalue)


def test_correction_holds_its_level_where_the_plain_test_does_not():
    """Splits of one sample of a thing that makes no difference: dependent, mean zero."""
    rng = np.random.default_rng(1)
    n, n_test, n_splits, corrected, plain = 60, 20, 30, 0, 0
    for _ in range(300):
        sample = rng.normal(size=n)
        rows = [rng.permutation(n)[:n_test] for _ in range(n_splits)]
        gap = np.array([sample[some].mean() for some in rows])
        corrected += corrected_resampled_t(gap, n - n_test, n_test) < 0.05
        plain += ttest_1samp(gap, 0.0).pvalue < 0.05
    assert corrected < 0.12 * 300
    assert plain > 0.3 * 300


@pytest.mark.parametrize("gap", [[0.0, 0.0, 0.0], [0.4], [0.1, 0.1, 0.1]])
def test_no_spread_is_no_evidence(gap):
    assert corrected_resampled_t(gap, 2.0, 1.0) == 1.0


def test_mcnemar_counts_only_points_on_which_the_two_differ():
    wrong = np.array([1, 1, 1, 1, 1, 0, 0, 0, 1], dtype=bool)
    other = np.array([0, 0, 0, 0, 0, 0, 0, 0, 1], dtype=bool)
    assert mcnemar(wrong, other) == pytest.approx(2 * 0.5**5)
    assert mcnemar(wrong, other) == mcnemar(other, wrong)
    assert mcnemar(wrong, wrong) == 1.0


@pytest.mark.parametrize(("won", "lost"), [(0, 0), (3, 0), (5, 2), (4, 4)])
def test_sign_test_is_that_of_all_coins(won, lost):
    coins = [sum(toss) for toss in itertools.product((0, 1), repeat=won + lost)]
    far = [abs(2 * heads - won - lost) >= abs(won - lost) for heads in coins]
    assert sign_test(won, lost) == pytest.approx(np.mean(far))


def test_signed_ranks_are_those_of_all_signs():
    gap = np.array([0.5, -0.1, 0.9, 0.7, 0.2, 1.5])
    ranks = np.argsort(np.argsort(np.abs(gap))) + 1.0
    seen = abs((ranks * np.sign(gap)).sum())
    signs = np.array(list(itertools.product((-1, 1), repeat=len(gap))))
    assert signed_ranks(gap) == pytest.approx(np.mean(np.abs(signs @ ranks) >= seen))
    assert signed_ranks([0.0, 0.0, 1e-13]) == 1.0


def test_ranks_share_ties_and_the_best_comes_first():
    ranking = rank([[0.3, 0.1, 0.2], [0.2, 0.1, 0.1]], ["a", "b", "c"])
    assert ranking.mean_ranks == {"b": 1.25, "c": 1.75, "a": 3.0}
    assert rank(np.ones((4, 3)), ["a", "b", "c"]).p == 1.0


def test_critical_difference_is_that_of_demsars_table():
    """Demšar (2006), table 5: q = 2.343, 2.728 and 3.164 for 3, 5 and 10 methods at 0.05."""
    for k, q in ((3, 2.343), (5, 2.728), (10, 3.164)):
        errors = np.random.default_rng(k).random((14, k))
        expected = q * np.sqrt(k * (k + 1) / (6 * 14))
        got = rank(errors, [str(j) for j in range(k)]).critical_difference
        assert got == pytest.approx(expected, abs=2e-3)


def test_cliques_are_the_largest_groups_that_are_not_told_apart():
    errors = np.tile([0.1, 0.2, 0.3, 0.4], (10, 1))
    ranking = rank(errors, ["a", "b", "c", "d"])
    assert 1 < ranking.critical_difference < 2
    assert ranking.cliques == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert rank(np.ones((10, 3)), ["a", "b", "c"]).cliques == [["a", "b", "c"]]


def test_two_methods_are_no_ranking():
    with pytest.raises(ValueError, match="signed_ranks"):
        rank(np.ones((5, 2)), ["a", "b"])
