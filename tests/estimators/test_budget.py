import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from protocover import PVMClassifier, find_eps

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("wanted", [3, 8, 20, 60])
def test_the_radius_gives_about_as_many_as_wanted(wanted):
    eps = find_eps(X, Y, wanted)
    found = len(PVMClassifier(eps).fit(X, Y).prototype_indices_)
    assert abs(found - wanted) <= max(1, 0.1 * wanted)


def test_it_works_where_the_suggested_grid_is_too_short():
    digits, y = load_digits(n_class=3, return_X_y=True)
    model = PVMClassifier(find_eps(digits, y, 3)).fit(digits, y)
    assert abs(len(model.prototype_indices_) - 3) <= 1


def test_wishes_by_class_are_met_on_the_whole():
    wanted = {1: 6, 2: 6}
    model = PVMClassifier(find_eps(X, Y, wanted)).fit(X, Y)
    counts = np.bincount(model.prototype_labels_, minlength=3)
    assert abs(counts[1] - 6) + abs(counts[2] - 6) <= 2


def test_what_cannot_be_wanted_is_refused():
    with pytest.raises(ValueError, match=r"classes that are not in y: \['z'\]"):
        find_eps(X, Y, {"z": 1})
    with pytest.raises(ValueError, match="got None"):
        find_eps(X, Y, None)
    for nothing in (0, {}, {1: 0}):
        with pytest.raises(ValueError, match="ask for one prototype at least, got"):
            find_eps(X, Y, nothing)
    with pytest.raises(ValueError, match=r"prototype_costs must be one cost.*got \[1, 2\]"):
        find_eps(X, Y, 5, prototype_costs=[1, 2])
    with pytest.raises(TypeError, match="find_eps searches for eps itself"):
        find_eps(X, Y, 5, eps=1.0)
    with pytest.raises(TypeError, match="got n_eps; leave it out"):
        find_eps(X, Y, 5, n_eps=9)


def test_points_of_weight_zero_have_no_part_in_it():
    weights = np.arange(len(Y)) % 2
    kept = weights > 0
    for wanted in (2, 12):
        assert find_eps(X, Y, wanted, sample_weight=weights) == find_eps(X[kept], Y[kept], wanted)


def test_the_search_is_among_the_candidates_there_are():
    far = X[:3] + np.array([30.0, 0.0, 0.0, 0.0])
    eps = find_eps(X, Y, 2, candidates=far)
    assert eps > 20
    drawn = {"candidates": 20, "random_state": np.random.RandomState(4)}
    assert find_eps(X, Y, 8, **drawn) > 0
