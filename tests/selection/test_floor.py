"""A prototype for every class, candidates of one class, and weights of classes."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import naive
from protocover import PVMClassifier, PVMSelector, pvm_path
from protocover._cover import CoverProblem, CoverSolution, Limit, verify

pytestmark = pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")


@st.composite
def labeled_points(draw):
    """A few points of a small grid in up to three classes, with weights and a cost."""
    n = draw(st.integers(2, 7))
    grid = st.tuples(st.integers(0, 3), st.integers(0, 2))
    X = np.array(draw(st.lists(grid, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 0.5]), min_size=n, max_size=n)))
    cost = draw(st.sampled_from([0.0, 0.25, 1.0, 2.5, 4.0]))
    return X, y, weights, draw(st.sampled_from([0.5, 1.5, 2.5])), cost


def least(columns, rows, weights, cost):
    """The lowest objective of a class over all selections that cover one of its samples."""
    best = math.inf
    for size in range(1, len(columns) + 1):
        for chosen in itertools.combinations(columns, size):
            covered = np.zeros(len(weights), dtype=bool)
            for own, _ in chosen:
                covered |= own
            if not covered.any():
                continue
            wrong = sum(weight for _, weight in chosen)
            best = min(best, weights[rows & ~covered].sum() + wrong + cost * size)
    return best


def columns_of(X, y, weights, label, eps, *, own, pairwise):
    """All balls that a class may choose: (members of the class, weight of the others)."""
    D = cdist(X, X)
    served = None if pairwise else y
    if own:
        balls = naive.own_balls(D, y, weights, label, eps, served=served)
        return [(members, wrong) for _, _, members, wrong, _ in balls]
    inside = eps > D
    return [
        (inside[:, j] & (y == label), weights[inside[:, j] & (y != label)].sum())
        for j in range(len(y))
        if pairwise or y[j] == label
    ]


@pytest.mark.parametrize("pairwise", [False, True])
@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@settings(max_examples=60, deadline=None)
@given(labeled_points())
def test_exact_finds_the_optimum_in_which_every_class_has_a_prototype(radii, pairwise, instance):
    X, y, weights, eps, cost = instance
    model = PVMClassifier(
        eps=eps, radii=radii, cross_class=pairwise, prototype_cost=cost, solver="exact"
    ).fit(X, y, weights)
    assert set(model.prototype_labels_) == set(y)
    best = [
        least(
            columns_of(X, y, weights, label, eps, own=radii == "adaptive", pairwise=pairwise),
            y == label,
            weights,
            cost,
        )
        for label in model.classes_
    ]
    assert model.objective_ == pytest.approx(sum(best))
    assert model.gap_ == 0.0
    assert model.verify(X, y, weights).ok
    if not pairwise:
        assert (y[model.prototype_indices_] == model.prototype_labels_).all()


@settings(max_examples=100, deadline=None)
@given(labeled_points(), st.integers(0, 4))
def test_a_shared_budget_keeps_a_prototype_of_every_class(instance, extra):
    X, y, weights, eps, cost = instance
    n = len(np.unique(y)) + extra
    for solver in ("greedy", "auto"):
        model = PVMClassifier(eps=eps, prototype_cost=cost, solver=solver, max_prototypes=n)
        model.fit(X, y, weights)
        assert set(model.prototype_labels_) == set(y)
        assert len(model.prototype_labels_) <= n
        found = model.verify(X, y, weights)
        assert found.ok, found
        free = PVMClassifier(eps=eps, prototype_cost=cost, solver="exact").fit(X, y, weights)
        assert model.lower_bound_ <= model.objective_
        assert free.objective_ <= model.objective_ + 1e-9


@settings(max_examples=15, deadline=None)
@given(labeled_points())
def test_a_path_has_the_selections_of_fits(instance):
    X, y, weights, eps, _ = instance
    costs = [0.25, 1.0, 4.0]
    for radii, pairwise, bound in itertools.product(
        ("shared", "adaptive"), (False, True), (False, True)
    ):
        given = {"radii": radii, "cross_class": pairwise}
        path = pvm_path(
            X,
            y,
            eps=[eps / 2, eps],
            prototype_costs=costs,
            sample_weight=weights,
            solver_options={"bound": bound},
            **given,
        )
        for i, radius in enumerate(path.eps):
            for j, cost in enumerate(costs):
                fit = PVMClassifier(eps=radius, prototype_cost=cost, solver="greedy", **given)
                fit.fit(X, y, weights)
                assert path.candidate_indices[i][j].tolist() == fit.candidate_indices_.tolist()
                assert path.objective[i, j] == pytest.approx(fit.objective_)
                assert path.selections[i][j].forced.tolist() == fit.solution_.forced.tolist()


def test_a_single_that_does_not_pay_is_verified_as_such():
    problem = CoverProblem(np.ones((2, 3), dtype=bool), [5.0, 3.0, 3.0], np.ones(2), 1.0)
    solution = CoverSolution.best_single(problem)
    assert solution.selected.tolist() == [1]
    assert (solution.objective, solution.lower_bound) == (4.0, 4.0)
    assert verify(problem, solution).ok
    other = CoverSolution.of(problem, [0], limit=Limit(at_least=1))
    assert (other.certificate, other.lower_bound) == ("verified", 4.0)
    assert verify(problem, other).ok


def test_the_single_prototype_of_a_class_covers_one_of_its_samples():
    X, y = np.array([[0.0], [0.1], [0.2], [0.3], [0.15]]), [0, 0, 0, 0, 1]
    for radii in ("shared", "adaptive"):
        model = PVMClassifier(eps=1.0, radii=radii, candidates=np.array([[0.1], [1000.0]]))
        model.fit(X, y)
        assert model.prototypes_[model.prototype_labels_ == 1].tolist() == [[0.1]]
        assert model.gap_ == 0.0
        assert model.verify(X, y).ok
        path = pvm_path(X, y, eps=[1.0], radii=radii, candidates=model.candidates)
        assert set(path.selections[0][0].candidates) == {0}


def test_a_class_that_may_have_none_needs_no_candidate():
    X, y = np.array([[0.0], [0.1], [50.0]]), ["a", "a", "b"]
    for radii in ("shared", "adaptive"):
        model = PVMClassifier(eps=1.0, radii=radii, candidates=np.array([[0.0]]))
        with pytest.raises(ValueError, match=r"every class needs a candidate.*\['b'\]"):
            model.fit(X, y)
        model.set_params(max_prototypes={"b": 0}).fit(X, y)
        assert model.prototype_labels_.tolist() == ["a"]


def test_fit_warns_and_names_classes_that_have_a_prototype_only_because_they_must():
    X, y = load_iris(return_X_y=True)
    rare = np.r_[np.arange(50), 60, 100:150]
    with pytest.warns(UserWarning, match=r"classes \[1\] is worth.*class_weight='balanced'"):
        model = PVMClassifier(prototype_cost=2.0).fit(X[rare], y[rare])
    assert model.solution_.forced.tolist() == [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PVMClassifier(prototype_cost=2.0, class_weight="balanced").fit(X[rare], y[rare])
        paper = PVMClassifier(prototype_cost=2.0, min_per_class=0).fit(X[rare], y[rare])
    assert 1 not in paper.prototype_labels_


def test_fit_warns_if_it_keeps_more_than_a_quarter():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 2)), np.arange(120) % 2
    with pytest.warns(UserWarning, match="more than a quarter"):
        PVMClassifier(radii="shared", prototype_cost=0.01).fit(X, y)


def test_class_weights_multiply_those_of_samples_but_not_the_default_cost():
    X, y = load_iris(return_X_y=True)
    w = 1.0 + np.arange(150) % 3
    for weighting, factors in (
        ({0: 2.0, 2: 4.0}, np.array([2.0, 1.0, 4.0])),
        ("balanced", w.sum() / (3 * np.bincount(y, w))),
    ):
        ours = PVMClassifier(class_weight=weighting).fit(X, y, w)
        cost = PVMClassifier().fit(X, y, w).prototype_cost_
        theirs = PVMClassifier(prototype_cost=cost).fit(X, y, w * factors[y])
        assert ours.prototype_cost_ == cost
        assert ours.candidate_indices_.tolist() == theirs.candidate_indices_.tolist()
        assert ours.objective_ == pytest.approx(theirs.objective_)
        assert ours.verify(X, y, w).ok
        rows = PVMSelector(class_weight=weighting, radii="adaptive").fit(X, y, w).sample_indices_
        assert rows.tolist() == ours.candidate_indices_.tolist()


def test_bad_values_are_refused_with_a_remedy():
    X, y = load_iris(return_X_y=True)
    for params, words in (
        ({"min_per_class": 2}, "min_per_class must be 1, or 0"),
        ({"min_per_class": True}, "min_per_class must be 1, or 0"),
        ({"max_prototypes": 2}, "at least the number of classes, 3, got 2; min_per_class=0"),
        ({"cross_class": "no"}, "cross_class must be True or False"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {7: 1.0}}, r"class_weight names classes that are not in y: \[7\]"),
        ({"class_weight": {1: 0.0}}, "class_weight must hold positive finite numbers, got 0.0"),
        ({"candidates": X[:5] + 100.0}, "every class needs a candidate within eps"),
    ):
        with pytest.raises(ValueError, match=words):
            PVMClassifier(**params).fit(X, y)
    with pytest.raises(ValueError, match="class_weight must be None for partial_fit"):
        PVMClassifier(class_weight="balanced").partial_fit(X, y)
