import warnings
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from paper import PAPER
from protocover import PVMClassifier, find_cost, find_eps, pvm_path

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("wanted", [3, 8, 20, 60])
def test_the_radius_gives_about_as_many_as_wanted(wanted):
    eps = find_eps(X, Y, wanted, **PAPER)
    found = len(PVMClassifier(eps=eps, **PAPER).fit(X, Y).prototype_indices_)
    assert abs(found - wanted) <= max(1, 0.1 * wanted)


def test_it_works_where_the_suggested_grid_is_too_short():
    digits, y = load_digits(n_class=3, return_X_y=True)
    model = PVMClassifier(eps=find_eps(digits, y, 3, **PAPER), **PAPER).fit(digits, y)
    assert abs(len(model.prototype_indices_) - 3) <= 1


def test_wishes_by_class_are_met_on_the_whole():
    wanted = {1: 6, 2: 6}
    model = PVMClassifier(eps=find_eps(X, Y, wanted, **PAPER), **PAPER).fit(X, Y)
    counts = np.bincount(model.prototype_labels_, minlength=3)
    assert abs(counts[1] - 6) + abs(counts[2] - 6) <= 2


def test_what_cannot_be_wanted_is_refused():
    with pytest.raises(ValueError, match=r"classes that are not in y: \['z'\]"):
        find_eps(X, Y, {"z": 1}, **PAPER)
    with pytest.raises(ValueError, match="got None"):
        find_eps(X, Y, None, **PAPER)
    for nothing in (0, {}, {1: 0}):
        with pytest.raises(ValueError, match="ask for one prototype at least, got"):
            find_eps(X, Y, nothing, **PAPER)
    with pytest.raises(ValueError, match=r"prototype_costs must be one cost.*got \[1, 2\]"):
        find_eps(X, Y, 5, prototype_costs=[1, 2], **PAPER)
    with pytest.raises(TypeError, match="find_eps searches for eps itself"):
        find_eps(X, Y, 5, eps=1.0, **PAPER)
    with pytest.raises(TypeError, match="got n_eps; leave it out"):
        find_eps(X, Y, 5, n_eps=9, **PAPER)


def test_points_of_weight_zero_have_no_part_in_it():
    weights = np.arange(len(Y)) % 2
    kept = weights > 0
    for wanted in (2, 12):
        assert find_eps(X, Y, wanted, sample_weight=weights, **PAPER) == find_eps(
            X[kept], Y[kept], wanted, **PAPER
        )


def test_the_search_is_among_the_candidates_there_are():
    far = X[:3] + np.array([30.0, 0.0, 0.0, 0.0])
    eps = find_eps(X, Y, 2, candidates=far, **PAPER)
    assert eps > 20
    drawn = {"candidates": 20, "random_state": np.random.RandomState(4)}
    assert find_eps(X, Y, 8, **drawn, **PAPER) > 0


def counts_of(cost, eps="auto", weights=None, **options):
    model = PVMClassifier(
        eps=eps, prototype_cost=cost, **{"radii": "own", "solver": "greedy", **options}
    )
    return np.bincount(model.fit(X, Y, weights).prototype_labels_, minlength=3)


@cache
def numbers_there_are(eps, least):
    """All numbers of prototypes that any cost gives, one by one."""
    limit, options = [None] if eps is None else eps, {"radii": "own", "min_per_class": least}
    (whole,) = pvm_path(X, Y, eps=limit, prototype_costs=0.0, **options).selections[0]
    costs = {0.0, *whole.score.tolist()}
    return {counts_of(cost, eps, min_per_class=least).sum() for cost in costs} - {0}


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize("least", [0, 1])
@pytest.mark.parametrize("wanted", [1, 3, 4, 8, 20, 60, 500])
@pytest.mark.parametrize("eps", [0.3, 1.0, None, "auto"])
def test_the_cost_gives_the_nearest_number_there_is(wanted, eps, least):
    cost = find_cost(X, Y, wanted, eps=eps, min_per_class=least)
    found = counts_of(cost, eps, min_per_class=least).sum()
    there = numbers_there_are(eps, least)
    assert abs(found - wanted) == min(abs(n - wanted) for n in there)
    assert found == max(n for n in there if abs(n - wanted) == abs(found - wanted))


def test_of_two_numbers_as_near_the_higher_is_taken_which_can_be_cut():
    there = np.unique([counts_of(cost, 0.5).sum() for cost in np.arange(0.0, 20.0, 0.5)])
    few, many = next(pair for pair in pairwise(there) if np.diff(pair) == 2)
    assert counts_of(find_cost(X, Y, int(few + 1), eps=0.5), 0.5).sum() == many


@pytest.mark.parametrize("solver", ["ratio-greedy", "exact"])
def test_the_cost_gives_about_as_many_with_other_solvers(solver):
    options = {"solver": solver, "random_state": 0}
    for wanted in (3, 5, 9):
        found = counts_of(find_cost(X, Y, wanted, **options), **options).sum()
        assert abs(found - wanted) <= 1


def test_the_cost_of_a_shared_radius_is_found_too():
    cost = find_cost(X, Y, 9, eps=0.5, **PAPER)
    assert counts_of(cost, 0.5, **PAPER).sum() == 10  # the next lower number is 6


@pytest.mark.parametrize("radii", ["shared", "own"])
def test_no_class_needs_more_than_its_cost_where_one_of_each_is_wanted(radii):
    cost = find_cost(X, Y, 3, eps=1.5, radii=radii)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert counts_of(cost, 1.5, radii=radii).tolist() == [1, 1, 1]


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize("radii", ["shared", "own"])
def test_a_prototype_that_every_class_must_have_stays_at_any_cost(radii):
    """Its ball holds one sample of the class and nine of the other."""
    points, y = np.append(np.zeros(9), [0.1, 5.0, 5.1, 9.0])[:, None], [0] * 9 + [1, 0, 0, 0]
    cost = find_cost(points, y, 2, eps=0.5, radii=radii)
    model = PVMClassifier(eps=0.5, radii=radii, prototype_cost=cost, solver="greedy")
    assert model.fit(points, y).prototype_labels_.tolist() == [0, 1]


def test_costs_follow_weights_and_leave_out_points_of_none():
    weights = np.arange(len(Y)) % 3 / 4
    kept = weights > 0
    for solver in ("greedy", "ratio-greedy"):
        cost = find_cost(X, Y, 6, sample_weight=weights, solver=solver)
        assert cost == find_cost(X[kept], Y[kept], 6, sample_weight=weights[kept], solver=solver)
        assert abs(counts_of(cost, weights=weights, solver=solver).sum() - 6) <= 1


def test_costs_for_wishes_by_class_miss_little_on_the_whole():
    wanted = np.array([5, 8])
    found = counts_of(find_cost(X, Y, {1: 5, 2: 8}, eps=0.6), 0.6)[1:]
    costs = np.arange(0.0, 50.0, 0.5)
    assert abs(found - wanted).sum() == min(
        abs(counts_of(cost, 0.6)[1:] - wanted).sum() for cost in costs
    )


def test_what_find_cost_cannot_do_is_refused():
    for nothing in (0, {}, {1: 0}, None):
        with pytest.raises(ValueError, match="ask for one prototype at least, got"):
            find_cost(X, Y, nothing)
    for name in ("prototype_cost", "prototype_costs"):
        with pytest.raises(TypeError, match=f"find_cost searches for the cost itself, got {name}"):
            find_cost(X, Y, 5, **{name: 1.0})
    with pytest.raises(TypeError, match="find_cost takes one eps, got n_eps; leave it out"):
        find_cost(X, Y, 5, n_eps=9)
    with pytest.raises(
        ValueError, match=r"eps must be a positive number or 'auto', got \[1.0, 2.0\]"
    ):
        find_cost(X, Y, 5, eps=[1.0, 2.0])
    with pytest.raises(ValueError, match="None, for no limit to the radii, needs radii='own'"):
        find_cost(X, Y, 5, eps=None, radii="shared")
    with pytest.raises(ValueError, match="no cost gives any prototypes: every ball holds"):
        find_cost(np.zeros((4, 1)), [0, 1, 0, 1], 2, min_per_class=0)
    for solver in ("greedy", "ratio-greedy"):
        with pytest.raises(TypeError, match="solver_options holds 'speed'"):
            find_cost(X, Y, 5, solver=solver, solver_options={"speed": 1})
