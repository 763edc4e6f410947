"""Measures of doubt and confidence agree with slow versions that say what they mean."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from evidence.trust_measures import (
    N_BINS,
    aurc,
    bin_confidence,
    brier,
    calibration_error,
    excess_aurc,
    precision_at,
    risk_curve,
)

# Few values, so that there are ties of every kind.
CASES = [
    (rng.integers(3, size=6) / 2.0, np.r_[True, False, rng.random(4) < 0.5])
    for rng in map(np.random.default_rng, range(8))
]


def orders(score):
    """All orders of falling score."""
    for order in itertools.permutations(range(len(score))):
        if all(score[i] >= score[j] for i, j in itertools.pairwise(order)):
            yield list(order)


@pytest.mark.parametrize(("score", "truth"), CASES)
def test_precision_is_the_mean_over_all_orders_of_ties(score, truth):
    shares = [truth[order][: truth.sum()].mean() for order in orders(score)]
    assert precision_at(score, truth) == pytest.approx(np.mean(shares))


@pytest.mark.parametrize(("confidence", "wrong"), CASES)
def test_risk_is_the_mean_over_all_orders_of_ties(confidence, wrong):
    curves = [[wrong[order][: k + 1].mean() for k in range(6)] for order in orders(confidence)]
    assert risk_curve(confidence, wrong) == pytest.approx(np.mean(curves, axis=0))
    assert aurc(confidence, wrong) == pytest.approx(np.mean(curves))


@pytest.mark.parametrize(("confidence", "wrong"), CASES)
def test_excess_is_above_the_best_of_all_orders(confidence, wrong):
    everyone = itertools.permutations(range(6))
    areas = [np.mean([wrong[list(order)][: k + 1].mean() for k in range(6)]) for order in everyone]
    assert excess_aurc(confidence, wrong) == pytest.approx(aurc(confidence, wrong) - min(areas))


def test_calibration_error_is_that_of_bins_one_by_one():
    rng = np.random.default_rng(0)
    confidence = np.r_[rng.random(200), 0.0, 1.0, np.arange(N_BINS + 1) / N_BINS]
    right = rng.random(len(confidence)) < 0.5
    expected = 0.0
    for k in range(N_BINS):
        low, high = k / N_BINS, (k + 1) / N_BINS
        inside = (confidence > low) & (confidence <= high) | (k == 0) & (confidence == 0.0)
        gap = abs(confidence[inside].mean() - right[inside].mean())
        expected += inside.mean() * gap
    assert calibration_error(bin_confidence(confidence, right)) == pytest.approx(expected)


def test_bins_of_several_tests_add_up_to_those_of_all():
    rng = np.random.default_rng(1)
    confidence, right = rng.random(100), rng.random(100) < 0.5
    parts = [bin_confidence(confidence[some], right[some]) for some in (slice(40), slice(40, 100))]
    assert sum(parts) == pytest.approx(bin_confidence(confidence, right))


def test_brier_is_the_squared_distance_class_by_class():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
    assert brier(p, np.array([0, 1])) == pytest.approx(
        ((0.3**2 + 0.2**2 + 0.1**2) + (0.1**2 + 0.7**2 + 0.6**2)) / 2
    )
