"""What a prototype costs unless told: whole weights are repetitions, and no point is saved on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, PVMSelector, pvm_path
from protocover.solvers._registry import SOLVERS


@st.composite
def weighted_points(draw, weight):
    """Points on a small lattice, where distances and gains tie, every class with some weight."""
    n = draw(st.integers(2, 12))
    coordinate = st.integers(0, 4).map(float)
    X = np.array(draw(st.lists(st.tuples(coordinate, coordinate), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
    _, first = np.unique(y, return_index=True)
    weights[first] = np.maximum(weights[first], 1.0)
    return X, y, weights


@pytest.mark.parametrize("solver", ["greedy", "exact"])
@settings(max_examples=40, deadline=None)
@given(case=weighted_points(st.integers(0, 4)), eps=st.sampled_from([1.0, 1.5, 2.0]))
def test_a_whole_weight_is_a_repetition(solver, case, eps):
    """The greedy's bound alone may differ: dual ascent goes by how many balls hold a point."""
    X, y, weights = case
    weighted = PVMClassifier(eps=eps, solver=solver, random_state=0, **PAPER).fit(X, y, weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = PVMClassifier(eps=eps, solver=solver, random_state=0, **PAPER).fit(X[rows], y[rows])
    assert weighted.prototype_cost_ == repeated.prototype_cost_ == 1 / weights.sum()
    assert weighted.objective_ == repeated.objective_
    if solver == "exact":
        assert weighted.lower_bound_ == repeated.lower_bound_ == weighted.objective_
    else:
        best = PVMClassifier(eps=eps, solver="exact", **PAPER).fit(X, y, weights).objective_
        assert max(weighted.lower_bound_, repeated.lower_bound_) <= best
    np.testing.assert_array_equal(weighted.prototype_labels_, repeated.prototype_labels_)
    np.testing.assert_array_equal(weighted.prototypes_, repeated.prototypes_)


@settings(max_examples=40, deadline=None)
@given(
    case=weighted_points(st.sampled_from([0.0, 0.25, 0.375, 1.0, 2.5])),
    power=st.integers(-30, -3),
    eps=st.sampled_from([1.0, 1.5, 2.0]),
)
def test_fractional_weights_may_be_scaled(case, power, eps):
    X, y, weights = case
    weights[0] = 1.5
    one = PVMClassifier(eps=eps, **PAPER).fit(X, y, weights)
    other = PVMClassifier(eps=eps, **PAPER).fit(X, y, weights * 2.0**power)
    np.testing.assert_array_equal(one.candidate_indices_, other.candidate_indices_)
    assert other.prototype_cost_ == one.prototype_cost_ * 2.0**power
    assert other.objective_ == pytest.approx(one.objective_ * 2.0**power, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(weighted_points(st.sampled_from([0.0, 0.3, 1.0, 7.0, 100.0])))
def test_no_point_is_left_out_to_save_a_prototype(case):
    """At a radius below all distances every point of positive weight can be covered alone."""
    X, y, weights = case
    X, rows = np.unique(X, axis=0, return_index=True)
    y, weights = y[rows], np.maximum(weights[rows], 0.3)
    if len(X) == 1:
        return
    model = PVMClassifier(eps=0.5, **PAPER).fit(X, y, weights)
    assert sorted(model.candidate_indices_) == list(range(len(X)))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("largest", [1e-250, 1e280])
@pytest.mark.filterwarnings("error")
def test_weights_of_any_size_that_is_taken_are_solved(largest, solver):
    X, y = np.arange(8.0)[:, None] ** 1.5, np.arange(8) // 2 % 2
    weights = largest * np.array([1.0, 0.3, 1e-9, 1.0, 1e-20, 0.7, 1.0, 0.1])
    for cost in ("auto", largest / 8, 1.0):
        model = PVMClassifier(eps=4.0, solver=solver, prototype_cost=cost, random_state=0, **PAPER)
        assert model.fit(X, y, weights).verify(X, y, weights).ok


@pytest.mark.parametrize(
    ("weights", "cost"),
    [
        (None, 1 / 4),
        ([1, 1, 1, 1], 1 / 4),
        ([2, 3, 0, 5], 1 / 10),
        ([0.5, 1.0, 1.0, 1.5], 0.25 / 4),
        ([0.5, 0.0, 0.0, 0.5], 0.25),
        ([2.0**900] * 4, 2.0**898),
    ],
)
def test_every_door_takes_the_same_cost(weights, cost):
    X, y = np.arange(4.0)[:, None], [0, 0, 1, 1]
    assert PVMClassifier(eps=1.0, **PAPER).fit(X, y, weights).prototype_cost_ == cost
    assert PVMClassifier(eps=1.0, **PAPER).partial_fit(X, y, None, weights).prototype_cost_ == cost
    assert PVMSelector(eps=1.0, **PAPER).fit(X, y, weights).classifier_.prototype_cost_ == cost
    assert pvm_path(X, y, eps=[1.0], sample_weight=weights, **PAPER).prototype_costs.tolist() == [
        cost
    ]
    folds = [(np.array([0, 3]), np.array([0, 1, 2, 3]))]
    search = PVMClassifierCV(eps=[1.0], cv=folds, outlier_label=0, **PAPER).fit(X, y, weights)
    assert search.prototype_cost_ == cost
