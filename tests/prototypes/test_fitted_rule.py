"""Class probabilities from distances: the rule, its likelihood and its optimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from protocover._prototypes.fitted_rule import (
    FittedRule,
    PenalizedLoss,
    fit_rule,
    is_stationary,
    rows_to_fit,
)


@st.composite
def problems(draw):
    """Squared distances of samples from prototypes, some of which are samples themselves."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, k, n_classes = draw(st.integers(4, 12)), draw(st.integers(1, 5)), draw(st.integers(1, 3))
    X = rng.normal(size=(n, 2))
    chosen = rng.choice(n, min(k, n), replace=False)
    y = rng.integers(n_classes, size=n)
    own = np.full(n, -1)
    own[chosen] = np.arange(len(chosen))
    squared = ((X[:, None] - X[chosen]) ** 2).sum(axis=2)
    squared[rng.random(squared.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.inf
    weight = rng.choice([0.5, 1.0, 3.0], n)
    return squared, y[chosen], y, weight, own


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 1000))
def test_loss_is_that_of_plain_loops_and_its_derivatives_are_those_of_differences(problem, seed):
    loss = PenalizedLoss(*problem)
    parameters = np.random.default_rng(seed).normal(0, 0.5, len(loss.start))
    k = len(problem[1])
    common, scale, offset = parameters[:1], parameters[1 : 1 + k], parameters[1 + k :]
    unsorted = np.concatenate(
        [common, scale[np.argsort(loss.order)], offset[np.argsort(loss.order)]]
    )
    value, gradient = loss(parameters)
    assert value == pytest.approx(naive.fitted_rule_loss(unsorted, *problem, loss.unit), rel=1e-9)
    steps = 1e-5 * np.eye(len(parameters))
    ups, downs = ([loss(parameters + sign * step) for step in steps] for sign in (1, -1))
    slopes = [(up[0] - down[0]) / 2e-5 for up, down in zip(ups, downs, strict=True)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-5)
    bends = [(up[1] - down[1]) / 2e-5 for up, down in zip(ups, downs, strict=True)]
    np.testing.assert_allclose(loss.hessian(parameters), bends, rtol=1e-5, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_fit_ends_where_the_loss_is_stationary(problem):
    rule, loss = fit_rule(*problem), PenalizedLoss(*problem)
    assert is_stationary(loss, rule)
    assert loss(loss.parameters(rule))[0] <= loss(loss.start)[0] + 1e-9
    moved = FittedRule(rule.scale * 1.01, rule.offset + 0.01, rule.unit)
    assert not is_stationary(loss, moved)


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 1000))
def test_order_of_prototypes_does_not_matter(problem, seed):
    squared, classes, y, weight, own = problem
    order = np.random.default_rng(seed).permutation(len(classes))
    place = np.append(np.argsort(order), -1)
    other = fit_rule(squared[:, order], classes[order], y, weight, place[own])
    rule = fit_rule(*problem)
    one = rule.log_proba(squared, classes, 3)
    np.testing.assert_allclose(
        np.exp(other.log_proba(squared[:, order], classes[order], 3)), np.exp(one), atol=1e-5
    )


def test_feature_weights_have_the_slopes_of_differences():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.integers(2, size=30)
    chosen = np.array([1, 4, 7, 20])
    own = np.full(30, -1)
    own[chosen] = np.arange(4)
    squared = ((X[:, None] - X[chosen]) ** 2).sum(axis=2)
    problem = squared, y[chosen], y, np.ones(30), own
    loss = PenalizedLoss(*problem, rows=(X, X[chosen]))
    parameters = rng.normal(0, 0.3, len(loss.start))
    steps = 1e-6 * np.eye(len(parameters))
    slopes = [(loss(parameters + step)[0] - loss(parameters - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(loss(parameters)[1], slopes, rtol=1e-5, atol=1e-6)
    rule = fit_rule(*problem, rows=(X, X[chosen]))
    assert is_stationary(loss, rule)
    weighted = ((X[:, None] - X[chosen]) ** 2 * rule.feature_weights).sum(axis=2)
    np.testing.assert_allclose(rule.squared(X, X[chosen]), weighted, atol=1e-12)


def test_probabilities_are_those_of_plain_loops():
    rng = np.random.default_rng(1)
    squared, classes = rng.gamma(1.0, size=(6, 4)), np.array([0, 2, 2, 0])
    rule = FittedRule(rng.gamma(2.0, size=4), rng.normal(size=4), 1.0)
    found = np.exp(rule.log_proba(squared, classes, 3))
    expected = [
        naive.fitted_rule_probabilities(row, rule.scale, rule.offset, classes, 3)
        for row in squared
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (found[:, 1] == 0.0).all()


@pytest.mark.parametrize("distance", [0.0, 1e-300, 1e150, 1e308, np.inf])
def test_extreme_distances_neither_overflow_nor_give_nan(distance):
    squared = np.array([[distance, 1.0], [distance, distance], [1.0, 2.0]])
    classes, y = np.array([0, 1]), np.array([0, 1, 0])
    with np.errstate(all="raise", under="ignore"):
        rule = fit_rule(squared, classes, y, np.ones(3), np.array([-1, -1, -1]))
        found = np.exp(rule.log_proba(squared, classes, 2))
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_two_equal_prototypes_share_a_contribution():
    """The two together contribute as much as one whose offset is lower by log 2."""
    squared = np.array([[0.3, 0.3, 2.0], [1.0, 1.0, 0.5]])
    two = FittedRule(np.array([1.0, 1.0, 2.0]), np.zeros(3), 1.0)
    one = FittedRule(np.array([1.0, 2.0]), np.array([-np.log(2.0), 0.0]), 1.0)
    np.testing.assert_allclose(
        two.log_proba(squared, np.array([0, 0, 1]), 2),
        one.log_proba(squared[:, 1:], np.array([0, 1]), 2),
    )


def test_rows_of_large_problems_are_spread_over_all_classes():
    y = np.repeat([0, 1, 2], [8000, 1000, 1000])
    rows = rows_to_fit(y, 600, weighted=False)
    assert len(rows) == 2000
    assert (np.diff(rows) > 0).all()
    np.testing.assert_allclose(np.bincount(y[rows]) / 2000, [0.8, 0.1, 0.1], atol=1e-3)
    assert len(rows_to_fit(y, 100, weighted=False)) == len(y)
