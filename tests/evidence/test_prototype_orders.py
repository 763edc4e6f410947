"""The methods that the evidence compares with do what their papers say."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("imblearn", reason="imbalanced-learn, of the group experiments, is missing")

from evidence.baselines.hardness import instance_hardness
from evidence.baselines.kernels import gaussian_kernel
from evidence.baselines.mmd_critic import order_by_discrepancy
from evidence.baselines.protodash import best_weights, order_by_gradient
from sklearn.neighbors import KNeighborsClassifier


@pytest.fixture(params=range(6))
def kernel(request):
    rng = np.random.default_rng(request.param)
    X = rng.normal(size=(12, 2)) * rng.uniform(0.5, 3.0)
    return gaussian_kernel(cdist(X, X))


def discrepancy(kernel, chosen):
    """The squared maximum mean discrepancy of some points from all, by its definition."""
    n, among, across = len(kernel), kernel[np.ix_(chosen, chosen)], kernel[:, chosen]
    return kernel.sum() / n**2 - 2.0 * across.sum() / (n * len(chosen)) + among.mean()


def weights_by_enumeration(kernel, mean):
    """Try every set of points whose weights are not zero; the best with none negative."""
    n = len(mean)
    best, highest = np.zeros(n), 0.0
    for some in map(list, chain.from_iterable(combinations(range(n), k) for k in range(1, n + 1))):
        weights = np.zeros(n)
        weights[some] = np.linalg.solve(kernel[np.ix_(some, some)], mean[some])
        value = weights @ mean - 0.5 * weights @ kernel @ weights
        if weights.min() >= 0.0 and value > highest:
            best, highest = weights, value
    return best


def test_a_gaussian_kernel_is_as_wide_as_the_median_distance():
    distances = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    np.testing.assert_allclose(gaussian_kernel(distances), np.exp(-(distances**2) / 8.0))


def test_a_gaussian_kernel_of_equal_points_is_one():
    np.testing.assert_array_equal(gaussian_kernel(np.zeros((3, 3))), np.ones((3, 3)))


def test_mmd_critic_lowers_the_discrepancy_most_at_each_step(kernel):
    chosen = []
    for expected in order_by_discrepancy(kernel, 7):
        rest = [row for row in range(len(kernel)) if row not in chosen]
        values = [discrepancy(kernel, [*chosen, row]) for row in rest]
        assert discrepancy(kernel, [*chosen, expected]) == pytest.approx(min(values), abs=1e-12)
        chosen.append(expected)


def test_protodash_takes_the_steepest_point_and_weighs_all_anew(kernel):
    mean, chosen, gradient = kernel.mean(axis=1), [], kernel.mean(axis=1)
    for expected in order_by_gradient(kernel, 6):
        rest = [row for row in range(len(kernel)) if row not in chosen]
        assert gradient[expected] == pytest.approx(gradient[rest].max(), abs=1e-7)
        chosen.append(expected)
        weights = weights_by_enumeration(kernel[np.ix_(chosen, chosen)], mean[chosen])
        gradient = mean - kernel[:, chosen] @ weights


def test_weights_are_the_best_of_those_that_are_not_negative(kernel):
    """Chosen at random, some points would best have a negative weight."""
    rows = np.random.default_rng(3).permutation(len(kernel))[:6]
    small, mean = kernel[np.ix_(rows, rows)], kernel.mean(axis=1)[rows]
    np.testing.assert_allclose(
        best_weights(small, mean), weights_by_enumeration(small, mean), atol=1e-6
    )


@pytest.mark.parametrize("order", [order_by_discrepancy, order_by_gradient])
def test_no_point_is_chosen_twice_even_where_all_coincide(order):
    assert sorted(order(np.ones((5, 5)), 9)) == [0, 1, 2, 3, 4]


def test_points_among_another_class_are_the_hardest():
    rng = np.random.default_rng(0)
    X = np.vstack((rng.normal(-4.0, 1.0, (40, 2)), rng.normal(4.0, 1.0, (40, 2))))
    y = np.repeat(["a", "b"], 40)
    y[:3] = "b"
    hardness = instance_hardness(X, y, seed=0)
    assert hardness[:3].min() > hardness[3:].max()
    answers = KNeighborsClassifier(1).fit(X[3:], y[3:]).predict(X[:3])
    assert set(answers) == {"a"}
