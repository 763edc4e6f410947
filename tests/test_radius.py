import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from protocover import PVMClassifier, suggest_eps
from protocover import grid as grid_module

X, Y = load_iris(return_X_y=True)


def test_the_grid_starts_at_the_smallest_distance_and_rises():
    grid = suggest_eps(X, Y, n=20)
    assert grid[0] == pdist(X)[pdist(X) > 0].min()
    assert (np.diff(grid) > 0).all()
    assert len(grid) <= 20


def test_at_its_start_the_machine_is_the_nearest_neighbour_rule():
    X_distinct, rows = np.unique(X, axis=0, return_index=True)
    y = Y[rows]
    model = PVMClassifier(suggest_eps(X_distinct, y)[0]).fit(X_distinct, y)
    assert len(model.prototype_indices_) == len(y)
    queries = np.random.default_rng(0).uniform(X.min(axis=0), X.max(axis=0), size=(50, 4))
    nearest = KNeighborsClassifier(1).fit(X_distinct, y)
    np.testing.assert_array_equal(model.predict(queries), nearest.predict(queries))


def test_the_grid_steps_through_quantiles_up_to_the_given_one():
    distances = pdist(X)
    grid = suggest_eps(X, Y, n=5, max_quantile=0.4)
    expected = np.quantile(distances[distances > 0], [0, 0.1, 0.2, 0.3, 0.4], method="lower")
    np.testing.assert_array_equal(grid, expected)


def test_by_default_it_ends_where_balls_would_join_classes():
    """Three classes of equal size: a third of the pairs agree, half of all is the limit."""
    distances = pdist(X)
    top = np.quantile(distances[distances > 0], 0.5, method="lower")
    assert suggest_eps(X, Y)[-1] == top
    ten = np.repeat(np.arange(10), 15)
    top = np.quantile(distances[distances > 0], 0.15, method="lower")
    assert suggest_eps(X, ten)[-1] == top


def test_a_table_of_dissimilarities_gives_the_same_grid():
    table = cdist(X, X)
    off_diagonal = suggest_eps(table, Y, metric="precomputed", n=6)
    np.testing.assert_allclose(off_diagonal, suggest_eps(X, Y, n=6), rtol=0.01)


def test_of_many_points_a_sample_is_used_but_the_smallest_distance_is_found(monkeypatch):
    monkeypatch.setattr(grid_module, "_SAMPLE_SIZE", 40)
    distances = pdist(X)
    grid = suggest_eps(X, Y, random_state=0)
    assert grid[0] == distances[distances > 0].min()
    assert np.abs((distances < grid[-1]).mean() - 0.5) < 0.15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a positive integer, got 0"),
        ({"max_quantile": 0.0}, "max_quantile must be above 0"),
        ({"metric": "nonsense"}, "metric must be one of"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        suggest_eps(X, Y, **arguments)


def test_points_all_alike_have_no_grid():
    with pytest.raises(ValueError, match="at least two points at a positive dissimilarity"):
        suggest_eps(np.ones((5, 2)))


def test_auto_is_the_median_distance_to_the_nearest_rival():
    D = cdist(X, X)
    rival = np.array([D[i, Y[i] != Y].min() for i in range(len(Y))])
    expected = np.sort(rival)[(len(rival) - 1) // 2]
    assert PVMClassifier().fit(X, Y).eps_ == expected
    assert PVMClassifier(metric="precomputed").fit(D, Y).eps_ == expected


def test_an_explicit_radius_wins():
    assert PVMClassifier(eps=0.5).fit(X, Y).eps_ == 0.5


def test_auto_counts_a_point_of_weight_three_three_times():
    weights = np.random.default_rng(0).integers(0, 4, size=len(Y))
    weighted = PVMClassifier().fit(X, Y, weights)
    repeated = PVMClassifier().fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
    assert weighted.eps_ == repeated.eps_


def test_auto_works_with_a_function_that_is_not_symmetric():
    model = PVMClassifier(metric=lambda a, b: max(0.0, float((b - a).max()))).fit(X[::5], Y[::5])
    assert model.eps_ > 0


def test_auto_has_an_answer_where_there_is_no_rival():
    one_class = PVMClassifier().fit(X, np.zeros(len(X)))
    assert 1 <= len(one_class.prototype_indices_) < 20
    alike = PVMClassifier().fit(np.ones((6, 2)), [0, 0, 0, 1, 1, 1])
    assert alike.eps_ == 1.0
