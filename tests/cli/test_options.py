"""The options of the command mirror the parameters of the estimators, and are told at once."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from protocover import PVMClassifier, PVMClassifierCV, load_model
from protocover._cli import main
from protocover._cli.commands import _build_parser
from protocover._cli.options import PARAMETERS, SOLVER_NAMES
from protocover.solvers._registry import SOLVERS


def options_of(command):
    """The names of a command's options."""
    (commands,) = (action for action in _build_parser()._actions if action.choices)
    return {
        word for action in commands.choices[command]._actions for word in action.option_strings
    }


@pytest.mark.parametrize("estimator", [PVMClassifier, PVMClassifierCV])
def test_every_parameter_of_the_estimators_has_its_option_or_is_known_to_have_none(estimator):
    parameters = {*signature(estimator).parameters, *signature(estimator.fit).parameters}
    assert parameters - {"self", "X", "y"} <= set(PARAMETERS)


def test_no_option_mirrors_a_parameter_that_there_is_not():
    known = set()
    for estimator in (PVMClassifier, PVMClassifierCV):
        known |= {*signature(estimator).parameters, *signature(estimator.fit).parameters}
    assert set(PARAMETERS) <= known
    assert {option for option in PARAMETERS.values() if option} <= options_of("fit")


@pytest.mark.parametrize(
    "name", ["radii", "max_search_samples", "cross_class", "min_per_class", "closed_ball"]
)
def test_options_have_the_defaults_of_the_parameters(name):
    options = _build_parser().parse_args(["fit", "t.csv"])
    assert getattr(options, name) == signature(PVMClassifierCV).parameters[name].default


def test_the_page_lists_every_option_that_mirrors_a_parameter():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    mirrored = {option for option in PARAMETERS.values() if option}
    assert {o for o in mirrored if not re.search(rf"`[^`]*{o}(?![\w-])", page)} == set()


def test_names_that_options_take_are_those_of_the_library():
    assert sorted(SOLVER_NAMES) == sorted(SOLVERS)


def fit(table, words):
    table.to_csv("t.csv", index=False)
    return main(
        ["fit", "t.csv", "--target", "kind", "-o", "out", "--test-size", "0", *words.split()]
    )


def fitted(table, words):
    assert fit(table, words) == 0
    return load_model("out/model.protocover")


def test_parameters_of_a_metric_reach_it(flowers):
    model = fitted(flowers, "--metric minkowski --metric-param p=3 --no-scale --eps 12")
    assert model.metric_params == {"p": 3}
    X, y = flowers[["length", "width"]].to_numpy(), flowers["kind"]
    same = PVMClassifier(eps=12.0, metric="minkowski", metric_params={"p": 3}).fit(X, y)
    assert len(same.prototype_indices_) > 2
    np.testing.assert_array_equal(model.prototype_indices_, same.prototype_indices_)


def test_parameters_of_our_own_metrics_reach_their_constructors(flowers):
    model = fitted(flowers, "--metric dann --metric-param n_iterations=2 --no-scale --eps auto")
    assert model.metric.n_iterations == 2


def test_options_of_the_solver_reach_it(flowers):
    words = "--eps 1 --no-scale --solver exact --solver-option max_nodes=7 --time-limit 9"
    model = fitted(flowers, words)
    assert model.solver_options == {"max_nodes": 7, "time_limit": 9.0}


@pytest.mark.parametrize("numbered", [False, True])
def test_budgets_by_class_reach_their_classes(flowers, numbered):
    if numbered:
        flowers["kind"] = (flowers["kind"] == "rose").astype(int)
    lily, rose = np.unique(flowers["kind"])
    model = fitted(flowers, f"--eps 20 --no-scale --max-prototypes {lily}=2,{rose}=0")
    assert model.max_prototypes == {lily: 2, rose: 0}
    assert model.prototype_labels_.tolist() == [lily, lily]


@pytest.mark.parametrize(
    "words", ["--eps 1", "--eps 1,2 --cv 3", "--eps 1,2 --cv 3 --solver exact"]
)
def test_a_column_of_weights_counts_and_measures_no_distance(flowers, words):
    flowers["times"] = np.arange(len(flowers)) % 4
    model = fitted(flowers, f"--no-scale --weights times {words}")
    X, y = flowers[["length", "width"]], flowers["kind"]
    classifier = getattr(model, "best_estimator_", model)
    assert list(classifier.feature_names_in_) == ["length", "width"]
    solver = "exact" if "exact" in words else "auto"
    same = PVMClassifier(
        eps=classifier.eps_,
        prototype_cost=classifier.prototype_cost_,
        solver=solver,
        random_state=0,
    )
    same.fit(X, y, sample_weight=flowers["times"])
    np.testing.assert_array_equal(classifier.prototype_indices_, same.prototype_indices_)
    assert classifier.objective_ == same.objective_


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--metric-param p=3", "--metric-param p requires --metric NAME"),
        (
            "--metric minkowski --metric-param q=3",
            "q=3 is not a parameter of metric minkow",
        ),
        ("--metric cosine --metric-param p=3", "takes no --metric-param"),
        ("--metric dann --metric-param p=3", "--metric-param p: metric dann has the parameters"),
        ("--metric gower --metric-param kinds=3", "kinds: metric gower has the parameters wei"),
        ("--solver exact --solver-option cats=9 --eps 1", "its options are gap, max_nodes"),
        ("--solver-option time_limit=1 --time-limit 1 --eps 1", "give one of them"),
        ("--max-prototypes tulip=1 --eps 1", "the classes are 'lily', 'rose'"),
    ],
)
def test_what_is_passed_on_is_checked_before_the_fit(flowers, words, message, capsys):
    assert fit(flowers, words) == 2
    assert message in capsys.readouterr().err


def test_weights_have_the_decimal_mark_of_the_file(flowers, capsys):
    flowers.assign(times=[1.675, 0.5] * 15).to_csv("t.csv", sep=";", decimal=",", index=False)
    words = ["--target", "kind", "--eps", "1", "--weights", "times", "-o", "out"]
    assert main(["fit", "t.csv", *words]) == 0
    assert "weighted by 'times'" in capsys.readouterr().out
