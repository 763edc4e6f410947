"""Arguments that are not what they seem get a message that names them."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import (
    BallCover,
    NoPrototypesError,
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    find_label_issues,
    pvm_path,
)
from protocover._inspection.fitted import unwrap
from protocover._selection.parameters import check_costs, check_radii
from protocover.report import summarize

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("estimator", [PVMClassifier, PVMClassifierCV, PVMSelector, BallCover])
def test_a_number_without_a_name_is_not_taken_for_a_radius(estimator):
    with pytest.raises(TypeError, match=f"{estimator.__name__}.*takes 1 positional argument"):
        estimator(50)


@pytest.mark.parametrize("closed", ["no", None, 0, 1.0])
def test_a_ball_is_closed_or_not(closed):
    message = "closed_ball must be True or False, got"
    for fit in (
        PVMClassifier(eps=1.0, closed_ball=closed, **PAPER).fit,
        PVMClassifier(eps=1.0, closed_ball=closed, **PAPER).partial_fit,
        PVMClassifier(eps=1.0, **PAPER)
        .partial_fit(X, Y)
        .set_params(closed_ball=closed)
        .partial_fit,
        PVMSelector(eps=1.0, closed_ball=closed, **PAPER).fit,
        PVMClassifierCV(eps=[1.0], closed_ball=closed, **PAPER).fit,
        lambda X, y: pvm_path(X, y, eps=[1.0], closed_ball=closed, **PAPER),
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, Y)
    PVMClassifier(eps=1.0, closed_ball=np.True_, **PAPER).fit(X, Y)


@pytest.mark.parametrize(
    "values",
    [
        True,
        [True],
        [0.5, True],
        np.array([True]),
        "1.0",
        ["1.0"],
        [[1.0]],
        [np.nan],
        [1j],
        None,
        [],
    ],
)
def test_grids_are_lists_of_numbers(values):
    with pytest.raises(ValueError, match=r"eps must be positive numbers, got .*; suggest_eps"):
        check_radii(values)
    if values is not None:
        with pytest.raises(
            ValueError, match="prototype_costs must be numbers from 0 to 1e\\+280, or"
        ):
            check_costs(values, np.ones(3))


def test_costs_stay_small_enough_to_be_added_up():
    for fit, message in (
        (
            PVMClassifier(eps=1.0, prototype_cost=1e308, **PAPER).fit,
            "prototype_cost must be a number from 0",
        ),
        (BallCover(eps=1.0, cost=1e308).fit, "cost must be a number from 0 to 1e\\+280, or None"),
        (
            BallCover(eps=1.0, coverage=0.9, candidate_cost=[1e308] * len(X)).fit,
            "candidate_cost must hold numbers up to 1e",
        ),
        (
            lambda X, y: pvm_path(X, y, prototype_costs=1e308, **PAPER),
            "prototype_costs must be numbers",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, Y)


def test_grids_of_all_kinds_of_numbers_are_taken():
    assert check_radii([Fraction(1, 2), 2, np.float32(0.25)]).tolist() == [0.25, 0.5, 2.0]
    assert check_radii(1.5).tolist() == [1.5]
    assert check_costs(np.array([3, 0]), np.ones(3)).tolist() == [0.0, 3.0]


@pytest.mark.parametrize(
    ("radii", "numbers"),
    [("shared", "positive numbers"), ("adaptive", "positive numbers, or None for no limit")],
)
@pytest.mark.parametrize(
    "door", [pvm_path, lambda X, y, **options: PVMClassifierCV(**options).fit(X, y)]
)
def test_true_is_no_radius_and_no_number_of_radii(door, radii, numbers):
    with pytest.raises(ValueError, match=f"eps must be {numbers}, got True"):
        door(X, Y, eps=True, radii=radii)
    with pytest.raises(ValueError, match=f"eps must be {numbers}, got 0"):
        door(X, Y, eps=0, radii=radii)
    with pytest.raises(ValueError, match=r"n_eps must be a positive whole number.*got True"):
        door(X, Y, n_eps=True, radii=radii)
    with pytest.raises(ValueError, match=r"n_eps must be a positive whole number.*got 0"):
        door(X, Y, n_eps=0, radii=radii)


@pytest.mark.parametrize(
    ("weights", "got"),
    [
        (np.sin, "got <ufunc 'sin'>"),
        ("abc", "got 'abc'"),
        (["1"] * 150, r"got \['1', '1'"),
        (True, "got True"),
        ([1 + 2j] * 150, "got"),
        ([1.0, 2.0], r"got shape \(2,\)"),
        (np.ones((150, 2)), r"got shape \(150, 2\)"),
        ([np.nan] * 150, "got NaN or infinity; use 0 to leave a point out"),
        ([None] * 150, "got NaN or infinity"),
        ([np.inf] * 150, "got NaN or infinity"),
    ],
)
def test_weights_are_one_number_a_point(weights, got):
    message = f"sample_weight must hold one number for each of the 150 points, {got}"
    begun = PVMClassifier(eps=1.0, **PAPER).partial_fit(X, Y)
    for fit in (
        PVMClassifier(eps=1.0, **PAPER).fit,
        PVMSelector(eps=1.0, **PAPER).fit,
        begun.partial_fit,
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        pvm_path(X, Y, eps=[1.0], sample_weight=weights, **PAPER)


def test_one_weight_is_that_of_every_point():
    one = PVMClassifier(eps=1.0, **PAPER).fit(X, Y, 2.0)
    assert one.objective_ == PVMClassifier(eps=1.0, **PAPER).fit(X, Y, np.full(150, 2)).objective_
    grown = PVMClassifier(eps=1.0, **PAPER).partial_fit(X, Y, sample_weight=2.0)
    grown.partial_fit(X, Y, sample_weight=2.0)
    twice = PVMClassifier(eps=1.0, **PAPER).fit(np.vstack((X, X)), np.append(Y, Y), 2.0)
    assert grown.objective_ == twice.objective_


@pytest.mark.parametrize("budget", [0, {0: 0, 1: 0, 2: 0}])
def test_a_budget_of_nothing_is_named_as_the_reason(budget):
    model = PVMClassifier(eps=1.0, max_prototypes=budget, **PAPER).fit(X, Y)
    selector = PVMSelector(eps=1.0, max_prototypes=budget, **PAPER)
    for ask, so in (
        (model.predict, "nothing to predict with; raise max_prototypes or set outlier_label"),
        (
            lambda X: find_label_issues(model, X, Y, refit=False),
            "no label can be compared with any; raise max_prototypes",
        ),
        (lambda X: summarize(model, X, Y), "nothing to report; raise max_prototypes"),
        (
            lambda X: unwrap(model).require_prototypes("there is nothing to draw"),
            "nothing to draw; raise max_prototypes",
        ),
        (lambda X: selector.fit_resample(X, Y), "would be left of X; raise max_prototypes"),
    ):
        with pytest.raises(
            NoPrototypesError, match=f"max_prototypes=.* allows no prototype.*{so}"
        ):
            ask(X)
    model = PVMClassifier(eps=1.0, max_prototypes=budget, outlier_label=1, **PAPER).fit(X, Y)
    assert set(model.predict(X)) == {1}


def test_a_budget_that_leaves_a_class_is_not_the_reason():
    model = PVMClassifier(eps=1.0, max_prototypes={0: 0, 1: 0}, prototype_cost=1e6, **PAPER).fit(
        X, Y
    )
    with pytest.raises(NoPrototypesError, match="no prototype was worth its cost"):
        model.predict(X)
