"""The discriminant adaptive metric against full matrices, and where it helps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_wine

import naive
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity._dann import DANN
from protocover.solvers import greedy


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def by_full_matrices(dann, X, y, A, B, n_neighbors):
    """The table of `dann` from one full matrix a candidate, in standardised features."""
    scale = X.std(axis=0)
    X, A, B = X / scale, A / scale, B / scale
    table = np.empty((len(A), len(B)))
    for j, z in enumerate(B):
        metric = naive.dann_metric(
            X,
            y,
            z,
            n_neighbors=n_neighbors,
            epsilon=dann.epsilon,
            shrinkage=dann.shrinkage,
            n_iterations=dann.n_iterations,
        )
        table[:, j] = [np.sqrt((x - z) @ metric @ (x - z)) for x in A]
    return table


@pytest.mark.parametrize(
    "setting",
    [
        {},
        {"n_neighbors": 10},
        {"n_neighbors": 5, "epsilon": 0.1},
        {"n_iterations": 3, "shrinkage": 0.5},
        {"shrinkage": 1.0, "epsilon": 0.0},
    ],
    ids=str,
)
def test_agrees_with_full_matrices(wine, setting):
    """Few directions and one factor for the rest are the full matrix, exactly."""
    X, y = wine
    dann = DANN(**setting).fit(X, y)
    expected = by_full_matrices(dann, X, y, X[:20], X[::20], setting.get("n_neighbors", 50))
    np.testing.assert_allclose(dann.pairwise(X[:20], X[::20]), expected, rtol=1e-7, atol=1e-9)


def test_many_features_live_in_the_span_of_the_training_points():
    """With p > n the distances are those of the rotated training points."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 40)), np.arange(12) % 2
    dann = DANN(n_neighbors=4).fit(X, y)
    assert dann.rotation_.shape == (40, 11)
    Z = ((X - X.mean(axis=0)) / X.std(axis=0)) @ dann.rotation_
    metric = naive.dann_metric(
        Z, y, Z[3], n_neighbors=4, epsilon=1.0, shrinkage=dann.shrinkage, n_iterations=1
    )
    expected = [np.sqrt((z - Z[3]) @ metric @ (z - Z[3])) for z in Z]
    np.testing.assert_allclose(dann.pairwise(X, X[[3]])[:, 0], expected, rtol=1e-7, atol=1e-9)


def test_constant_features_do_not_count(wine):
    """A constant feature changes nothing, whatever new points hold there."""
    X, y = wine
    wider = np.insert(X, 3, 7.0, axis=1)
    new = np.insert(X[:9], 3, -1e6, axis=1)
    np.testing.assert_allclose(
        DANN().fit(wider, y).pairwise(new, wider[50:60]),
        DANN().fit(X, y).pairwise(X[:9], X[50:60]),
    )


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [0, 1, 1]),
        ([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]),
        ([[0.0], [1.0], [2.0]], [0, 0, 0]),
        ([[0.0, 0.0]], [0]),
    ],
    ids=["all points coincide", "classes without spread", "one class", "one point"],
)
def test_degenerate_data_give_finite_distances(X, y):
    """Nothing divides by zero, and a candidate is at no distance from itself."""
    table = DANN().fit(X, y).pairwise(X, X)
    assert np.isfinite(table).all()
    assert (np.diagonal(table) == 0.0).all()


def test_stretches_space_across_the_boundary():
    """A step across the boundary is longer than one along it, and not far from it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 2))
    dann = DANN().fit(X, X[:, 0] > 0)
    across, along = dann.pairwise([[0.1, 0.0], [0.0, 0.1]], [[0.0, 0.0]])[:, 0]
    assert across > 2 * along
    across, along = dann.pairwise([[0.9, 0.0], [0.8, 0.1]], [[0.8, 0.0]])[:, 0]
    assert across < 1.5 * along


def test_prototypes_need_no_training_points(wine):
    """Cut down to some prototypes it measures new points the same."""
    X, y = wine
    dann = DANN().fit(X[::2], y[::2])
    prototypes = X[[0, 100, 50]]
    cut = dann.for_prototypes(prototypes)
    np.testing.assert_array_equal(
        cut.pairwise(X[1::2], prototypes), dann.pairwise(X[1::2], prototypes)
    )
    assert cut._neighborhood is None
    with pytest.raises(ValueError, match="cut down to 3 prototypes; B must be these, got 1"):
        cut.pairwise(X, prototypes[:1])


def factor_problem(seed, n=100, p=500, n_factors=5):
    """Ten of p features tell two classes apart; five common factors shake all of them."""
    rng = np.random.default_rng(seed)
    loadings = rng.normal(size=(n_factors, p))

    def draw(size):
        y = np.arange(size) % 2
        X = rng.normal(size=(size, p)) + rng.normal(size=(size, n_factors)) @ loadings
        X[:, :10] += np.where(y, 1.0, -1.0)[:, None]
        return X, y

    return *draw(n), *draw(200)


def errors(dissimilarity, X, y, X_test, y_test):
    """Test errors of the nearest neighbour and of the prototypes at a tenth of the pairs."""
    fitted = clone(dissimilarity).fit(X, y)
    if hasattr(fitted, "for_prototypes"):
        fitted = fitted.for_prototypes(X)
    table, new = fitted.pairwise(X, X), fitted.pairwise(X_test, X)
    balls = csr_array(table < np.quantile(table, 0.1))
    problems = formulate(balls, y, np.ones(len(y)), n_classes=2, prototype_cost=1 / len(y))
    chosen = select(problems, greedy)
    nearest = chosen.classes[new[:, chosen.candidates].argmin(axis=1)]
    return (y[new.argmin(axis=1)] != y_test).mean(), (nearest != y_test).mean()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 1}, "n_neighbors must be a whole number from 2 on, got 1"),
        ({"n_iterations": 0}, "n_iterations must be a whole number from 1 on, got 0"),
        ({"epsilon": -1}, "epsilon must be a finite number, 0 or more, got -1"),
        ({"shrinkage": 0.0}, "shrinkage must be above 0 and at most 1, got 0.0"),
    ],
)
def test_refuses_parameters_that_make_no_sense(wine, parameters, message):
    """Errors name the parameter, the rule and what it got."""
    with pytest.raises(ValueError, match=message):
        DANN(**parameters).fit(*wine)


def test_refuses_input_it_cannot_use(wine):
    """Sparse rows, missing classes and other features are refused with the way out."""
    X, y = wine
    with pytest.raises(ValueError, match="y must be given"):
        DANN().fit(X)
    with pytest.raises(ValueError, match=r"pass X.toarray\(\)"):
        DANN().fit(csr_array(X), y)
    with pytest.raises(ValueError, match="must have the 13 features that DANN was fitted with"):
        DANN().fit(X, y).pairwise(X[:, :5], X)


def test_neighbors_at_one_distance_count_alike():
    """Corners of a simplex are equally far from one another, whatever their last bits say."""
    X, y = np.eye(8) / 3.0 + 0.1, np.arange(8) % 2
    table = DANN(n_neighbors=7).fit(X, y).pairwise(X, X)
    same, other = table[0, 2], table[0, 1]
    for i in range(8):
        for j in range(8):
            expected = 0.0 if i == j else same if (i - j) % 2 == 0 else other
            assert table[i, j] == pytest.approx(expected, rel=1e-6)


def test_distances_do_not_depend_on_the_tile(wine):
    X, y = wine
    dann = DANN().fit(X, y)
    table = dann.pairwise(X, X[:12])
    for rows in (slice(0, 1), slice(3, 5), slice(50, 117)):
        np.testing.assert_array_equal(dann.pairwise(X[rows], X[:12]), table[rows])
