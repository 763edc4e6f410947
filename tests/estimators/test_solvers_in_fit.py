"""The solvers behind the classifier: what they promise and how they are asked."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from protocover import PVMClassifier
from protocover.certificate import verify
from protocover.cover import CoverSolution
from protocover.solvers import SOLVERS, greedy

X, Y = load_iris(return_X_y=True)
EPS = 0.7


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", [None, 1.0, 4.0])
def test_every_solver_tells_objective_bound_and_gap(solver, cost):
    model = PVMClassifier(EPS, solver=solver, prototype_cost=cost, random_state=0).fit(X, Y)
    best = PVMClassifier(EPS, solver="exact", prototype_cost=cost).fit(X, Y)
    assert best.gap_ == 0.0
    assert model.lower_bound_ <= best.objective_ <= model.objective_
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.objective_)
    assert np.isfinite(model.lower_bound_)
    parts = model.solution_.solutions
    assert sum(part.objective for part in parts) == pytest.approx(model.objective_)
    assert all(part.lower_bound <= part.objective for part in parts)


def test_the_certificate_is_the_weakest_of_the_classes():
    model = PVMClassifier(EPS, solver="exact").fit(X, Y)
    words = [part.certificate for part in model.solution_.solutions]
    assert model.certificate_ in words
    assert model.certificate_ in ("proved", "solver-proved")
    assert PVMClassifier(EPS).fit(X, Y).certificate_ in ("bounded", "proved")


def test_certificates_of_a_fit_can_be_rechecked():
    """The problems are written down again, and the solutions checked against them."""
    from protocover.balls import build_balls
    from protocover.dissimilarity import Euclidean
    from protocover.formulation import formulate

    balls = build_balls(Euclidean(), X, X, eps=EPS)
    problems = formulate(balls, Y, np.ones(len(Y)), n_classes=3, prototype_cost=1 / len(Y))
    for solver in SOLVERS:
        model = PVMClassifier(EPS, solver=solver, random_state=0).fit(X, Y)
        for problem, solution in zip(problems, model.solution_.solutions, strict=True):
            verify(problem, solution)


def test_a_function_may_be_the_solver():
    seen = []

    def only_the_first(problem, *, rng, max_prototypes=None, flavour="plain"):
        seen.append(flavour)
        return CoverSolution.of(problem, greedy(problem).selected[:1])

    model = PVMClassifier(EPS, solver=only_the_first, solver_options={"flavour": "sweet"})
    model.fit(X, Y)
    assert sorted(model.prototype_labels_.tolist()) == [0, 1, 2]
    assert seen == ["sweet"] * 3
    assert model.certificate_ == "none"
    assert model.lower_bound_ == -np.inf


def test_a_time_limit_is_shared_out_among_the_classes():
    shares = []

    def note(problem, *, rng, max_prototypes=None, time_limit=None):
        shares.append(time_limit)
        return greedy(problem)

    PVMClassifier(EPS, solver=note, solver_options={"time_limit": 9.0}).fit(X, Y)
    assert len(shares) == 3
    assert shares[0] == pytest.approx(3.0, abs=0.1)
    assert all(later >= 2.9 for later in shares)


def test_a_budget_cuts_any_solver_s_selection_and_keeps_its_bound():
    everything = PVMClassifier(EPS, solver="exact").fit(X, Y)
    few = PVMClassifier(EPS, solver="exact", n_prototypes=4).fit(X, Y)
    assert len(few.prototype_indices_) == 4
    assert few.objective_ >= everything.objective_
    assert few.lower_bound_ <= everything.objective_


def test_an_unknown_option_is_refused_with_its_name():
    with pytest.raises(TypeError, match="flavour"):
        PVMClassifier(EPS, solver_options={"flavour": "sweet"}).fit(X, Y)
