"""A fitted model is rechecked against its data, and a false one, or false data, found out."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
from saved_models import examples
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from paper import PAPER
from protocover import BallCover, PVMClassifier, PVMClassifierCV, load_model, save_model
from protocover.candidates import KMeansCandidates
from protocover.dissimilarity import DANN
from protocover.solvers import greedy
from protocover.solvers._registry import SOLVERS

X, Y = load_iris(return_X_y=True)
EPS = 0.7
EXAMPLES = examples()
WEIGHTS = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(Y))


def fitted(solver="greedy", **settings):
    """A model that leaves something to be proved, unless another solver is named."""
    return PVMClassifier(eps=EPS, solver=solver, **settings).fit(X, Y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", ["auto", 1.0])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_a_true_model_has_no_faults(solver, cost, weights):
    model = PVMClassifier(eps=EPS, solver=solver, prototype_cost=cost, random_state=0, **PAPER)
    model.fit(X, Y, sample_weight=weights)
    found = model.verify(X, Y, sample_weight=weights)
    assert found.ok, found
    assert found.objective == model.objective_
    assert list(found.by_class) == [0, 1, 2]
    assert found.unchecked == ""
    if model.certificate_ == "verified":
        assert found.certificate == model.certificate_
        assert found.lower_bound == model.lower_bound_


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_model_of_any_kind_of_examples_is_rechecked_also_from_its_file(name, tmp_path):
    example = EXAMPLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = example.fitted()
        save_model(model, tmp_path / "model.pvm")
        for one in (model, load_model(tmp_path / "model.pvm")):
            assert one.verify(example.X, example.y).ok, one.verify(example.X, example.y)


@pytest.mark.parametrize(
    "candidates",
    ["train", 30, 0.4, "kmeans", "hull", ["train", "kmeans"], X[::7] + 0.01],
    ids=lambda candidates: str(candidates)[:20],
)
def test_candidates_of_every_kind_are_made_again(candidates):
    model = fitted(candidates=candidates, random_state=7)
    found = model.verify(X, Y)
    assert found.ok, found
    assert found.lower_bound == model.lower_bound_
    assert found.unchecked == ""


@pytest.mark.parametrize("candidates", ["kmeans", 30])
@pytest.mark.parametrize("state", [None, np.random.RandomState(0)], ids=["none", "used up"])
def test_candidates_that_cannot_be_made_again_leave_the_bounds_unchecked(candidates, state):
    model = PVMClassifier(eps=EPS, candidates=candidates, random_state=state, **PAPER).fit(X, Y)
    with pytest.warns(UserWarning, match="cannot be made again .* fit with random_state=0"):
        found = model.verify(X, Y)
    assert found.ok, found
    assert found.objective == model.objective_
    assert found.certificate == "none"
    assert found.lower_bound == -np.inf
    assert "the bounds are not" in repr(found)
    with pytest.warns(UserWarning, match="in part only"):
        assert not model.verify(X + 1.0, Y).ok
    model.objective_ += 1.0
    with pytest.warns(UserWarning, match="in part only"):
        assert not model.verify(X, Y).ok


def test_a_recheck_uses_up_no_randomness_of_the_user():
    state = np.random.RandomState(0)
    model = PVMClassifier(eps=EPS, random_state=state, **PAPER).fit(X, Y)
    before = state.get_state()[1].copy()
    assert model.verify(X, Y).ok
    np.testing.assert_array_equal(state.get_state()[1], before)


def test_further_candidates_must_be_handed_over_again():
    model = PVMClassifier(eps=EPS, **PAPER).fit(X[::2], Y[::2], unlabeled=X[1::2])
    assert "unlabeled" in model.prototype_sources_
    assert model.verify(X[::2], Y[::2], unlabeled=X[1::2]).ok
    faults = model.verify(X[::2], Y[::2]).faults
    assert any("which are no candidates" in fault for fault in faults)


@pytest.mark.parametrize("width", [150, 40])
def test_tables_are_rechecked_with_all_their_columns(width):
    table = np.abs(X[:, None] - X[:width]).sum(axis=2)
    weights = WEIGHTS
    model = PVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(
        table, Y, sample_weight=weights
    )
    assert model.verify(table, Y, sample_weight=weights).ok
    other = table.copy()
    other[:, model.candidate_indices_[0]] += 1.0
    assert not model.verify(other, Y, sample_weight=weights).ok
    assert not model.verify(table[:, model.candidate_indices_], Y, sample_weight=weights).ok


def test_prototypes_that_are_all_columns_are_rechecked_in_the_order_chosen():
    table = np.array([[1.0, 2.0], [1.0, 1.0], [2.0, 1.0], [2.0, 1.0], [2.0, 2.0]])
    labels = [0, 0, 0, 0, 1]
    model = PVMClassifier(eps=2.0, metric="precomputed", **PAPER).fit(table, labels)
    assert model.candidate_indices_.tolist() == [0, 1]
    assert model.newly_covered_count_.tolist() == [1, 3]  # the second was chosen first
    found = model.verify(table, labels)
    assert found.ok, found
    model.covered_count_ = np.array([2, 2])
    assert not model.verify(table, labels).ok


@pytest.mark.parametrize("budget", [0, 3, 4, {0: 1, 2: 0}])
@pytest.mark.parametrize("solver", ["greedy", "exact"])
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("least", [0, 1])
def test_models_with_a_budget_are_rechecked(budget, solver, radii, least):
    asked = {"radii": radii, "max_prototypes": budget, "min_per_class": least}
    if budget == 0 and least:
        with pytest.raises(ValueError, match="at least the number of classes, 3, got 0"):
            fitted(solver=solver, **asked)
        return
    found = fitted(solver=solver, **asked).verify(X, Y)
    assert found.ok, found


def test_a_search_s_choice_is_rechecked():
    search = PVMClassifierCV(
        eps=[0.5, 0.9], cv=3, candidates="kmeans", random_state=1, **PAPER
    ).fit(X, Y)
    assert search.best_estimator_.verify(X, Y).ok


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"metric": DANN()},
        {"metric": "seuclidean"},
        {"candidates": KMeansCandidates(4)},
        {"candidates": [20, "train"]},
    ],
    ids=str,
)
def test_a_model_that_has_grown_is_rechecked_with_all_its_points(settings):
    """Also where the dissimilarity or the candidates were made from the first batch."""
    order = np.random.default_rng(0).permutation(len(Y))
    model = PVMClassifier(eps=EPS, **settings)
    for batch in np.array_split(order, 3):
        model.partial_fit(X[batch], Y[batch], classes=[0, 1, 2, 3], sample_weight=WEIGHTS[batch])
    assert len(model.classes_) == 4
    for one in (model, pickle.loads(pickle.dumps(model))):
        found = one.verify(X[order], Y[order], sample_weight=WEIGHTS[order])
        assert found.ok, found
    assert not model.verify(X[order], Y[order]).ok
    assert not model.verify(X, Y, sample_weight=WEIGHTS).ok


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ((X + 1.0, Y), "prototypes_ are not the candidates"),
        ((X[::-1], Y), "prototypes_ are not the candidates"),
        ((X * 1.01, Y), "objective is"),
        ((X, np.roll(Y, 60)), "objective is"),
        ((X[:140], Y[:140]), r"class_count_ is [50, 50, 40], not [50, 50, 50]"),
        ((X[:40], np.repeat([0, 1], 20)), "which are no candidates"),
        ((X, Y, WEIGHTS), "class_count_ is"),
        ((X, Y, WEIGHTS + 1.0), "objective is"),
    ],
    ids=["moved", "backwards", "scaled", "relabelled", "fewer", "few", "weighted", "heavier"],
)
def test_other_data_are_found_out(data, fault):
    assert not fitted(solver="greedy").verify(*data).ok
    found = fitted(solver="greedy", **PAPER).verify(*data)
    assert not found.ok
    assert fault in repr(found)
    assert repr(found).startswith("Not verified: objective")


def test_data_of_another_form_are_refused():
    model = fitted()
    with pytest.raises(ValueError, match=r"not fitted on: \[3\]; its classes are \[0, 1, 2\]"):
        model.verify(X, np.where(Y == 2, 3, Y))
    with pytest.raises(ValueError, match="features"):
        model.verify(X[:, :3], Y)
    with pytest.raises(NotFittedError):
        PVMClassifier(**PAPER).verify(X, Y)


def test_the_word_of_a_function_is_no_fault_and_no_proof():
    def sure(problem, *, rng, max_prototypes=None):
        solution = greedy(problem, bound=False)
        return replace(solution, lower_bound=solution.objective)

    model = fitted(solver=sure)
    found = model.verify(X, Y)
    assert model.certificate_ == "solver"
    assert found.ok
    assert found.certificate == "none"


def test_the_verdict_reads_well():
    text = repr(fitted(solver="exact", prototype_cost=1.0).verify(X, Y.astype(str).astype(int)))
    first, *classes = text.splitlines()
    assert first.startswith("Verified: objective ")
    assert len(classes) == 3
    assert classes[0].startswith("  class 0: objective ")


PRICE = np.random.default_rng(1).choice([0.5, 1.0, 2.25], len(X))


@pytest.mark.parametrize("solver", [*SOLVERS, greedy])
@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"max_representatives": 3},
        {"coverage": 0.7},
        {"cost": 2.0},
        {"must_include": [int(WEIGHTS.argmax())]},
    ],
    ids=str,
)
@pytest.mark.parametrize("price", [None, PRICE], ids=["equal", "priced"])
def test_no_true_cover_is_refused(solver, wish, price):
    model = BallCover(eps=0.9, solver=solver, candidate_cost=price, random_state=0, **wish)
    model.fit(X, sample_weight=WEIGHTS)
    found = model.verify(X, sample_weight=WEIGHTS)
    assert found.ok, found


@pytest.mark.parametrize("seed", range(8))
def test_covers_of_small_sets_are_accepted_whatever_the_weights(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(1, 25), 2)).round(1)
    weights = rng.choice([0.0, 0.1, 0.3, 1.0, 7.0], len(points))
    weights[0] = 1.0
    price = rng.choice([0.0, 0.1, 0.7, 3.0], len(points)) if seed % 2 else None
    wishes = ({}, {"max_representatives": 2}, {"coverage": 0.85}, {"cost": 0.4})
    for wish in wishes:
        settings = {"eps": "auto" if seed % 3 else 0.5, "candidate_cost": price, **wish}
        model = BallCover(**settings, closed_ball=bool(seed % 2)).fit(points, None, weights)
        found = model.verify(points, sample_weight=weights)
        assert found.ok, (settings, found)
        assert found.lower_bound <= found.objective


def test_other_data_and_other_weights_are_found_out():
    model = BallCover(eps=0.8, max_representatives=4).fit(X, sample_weight=WEIGHTS)
    assert not model.verify(X).ok
    assert not model.verify(X[::-1], sample_weight=WEIGHTS).ok
    assert not model.verify(X[:-1], sample_weight=WEIGHTS[:-1]).ok
    assert not model.verify(X + 1e-9, sample_weight=WEIGHTS).ok


@pytest.mark.parametrize("candidates", [KMeansCandidates(20), 40])
def test_candidates_of_a_cover_that_cannot_be_made_again_leave_the_bound_unchecked(candidates):
    model = BallCover(eps=0.9, candidates=candidates).fit(X)
    with pytest.warns(UserWarning, match="cannot be made again .* fit with random_state=0"):
        found = model.verify(X)
    assert found.ok, found
    assert found.objective == model.objective_
    assert found.certificate == "none"
    assert "random_state=0" in found.unchecked
    seeded = BallCover(eps=0.9, candidates=candidates, random_state=3).fit(X)
    assert seeded.verify(X).ok
    assert seeded.verify(X).certificate == seeded.certificate_


def test_a_table_all_of_whose_columns_are_chosen_has_them_in_order():
    """A table of queries might else be one of all candidates or of the representatives."""
    points = np.array([[0.0], [5.0], [5.1], [10.0], [10.1]])
    table = cdist(points, points)
    model = BallCover(eps=0.05, metric="precomputed").fit(table, sample_weight=[1, 2, 3, 4, 5])
    assert model.candidate_indices_.tolist() == [0, 1, 2, 3, 4]
    assert model.predict(table).tolist() == model.labels_.tolist() == [0, 1, 2, 3, 4]
    assert model.verify(table, sample_weight=[1, 2, 3, 4, 5]).ok
