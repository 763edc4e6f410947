"""The solvers behind the classifier: what they promise and how they are asked."""

from dataclasses import replace
from functools import wraps

import numpy as np
import pytest
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import BallCover, PVMClassifier, pvm_path
from protocover.solvers import greedy
from protocover.solvers._registry import SOLVERS, default_time_limit

X, Y = load_iris(return_X_y=True)
EPS = 0.7


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cost", ["auto", 1.0, 4.0])
def test_every_solver_tells_objective_bound_and_gap(solver, cost):
    model = PVMClassifier(
        eps=EPS, solver=solver, prototype_cost=cost, random_state=0, **PAPER
    ).fit(X, Y)
    best = PVMClassifier(eps=EPS, solver="exact", prototype_cost=cost, **PAPER).fit(X, Y)
    assert best.gap_ == 0.0
    assert model.lower_bound_ <= best.objective_ <= model.objective_
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.objective_)
    assert np.isfinite(model.lower_bound_)
    parts = model.solution_.solutions
    assert sum(part.objective for part in parts) == pytest.approx(model.objective_)
    assert all(part.lower_bound <= part.objective for part in parts)


def tied_distances(seed):
    """A distance matrix with few distinct values, for which many selections are optimal."""
    return np.round(np.random.default_rng(seed).integers(0, 8, size=(15, 17)) * 0.1, 1)


FITS = {
    "classifier": lambda D, s: (
        PVMClassifier(eps=0.25, radii="shared", metric="precomputed", solver=s)
        .fit(D, np.zeros(len(D), int))
        .candidate_indices_
    ),
    "cover": lambda D, s: (
        BallCover(eps=0.25, metric="precomputed", coverage=0.8, solver=s).fit(D).candidate_indices_
    ),
    "path": lambda D, s: (
        pvm_path(D, np.zeros(len(D), int), eps=0.25, metric="precomputed", solver=s, **PAPER)
        .selections[0][0]
        .candidates
    ),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("solver", ["exact", "local-search", "lp-rounding"])
def test_fits_without_a_seed_are_equal(solver, fit):
    for seed in (17, 26, 30):
        found = {tuple(FITS[fit](tied_distances(seed), solver)) for _ in range(5)}
        assert len(found) == 1


def answering(**changes):
    """A solver that returns the greedy's solution with some of it changed."""

    def my_solver(problem, *, rng, max_prototypes=None):
        return replace(greedy(problem, max_prototypes=max_prototypes), **changes)

    return my_solver


def test_what_a_function_says_of_its_selection_is_computed_again():
    """Neither an objective nor a proof is taken from a function that has no vector for it."""
    lies = {"objective": -5.0, "certificate": "verified", "dual": None, "lower_bound": -np.inf}
    lies["newly_covered"] = np.array([], dtype=int)
    model = PVMClassifier(eps=EPS, solver=answering(**lies), **PAPER).fit(X, Y)
    honest = PVMClassifier(eps=EPS, solver="greedy", **PAPER).fit(X, Y)
    assert model.objective_ == honest.objective_
    assert model.certificate_ == "none"
    assert model.lower_bound_ == -np.inf
    assert model.gap_ == np.inf
    np.testing.assert_array_equal(model.newly_covered_count_, honest.newly_covered_count_)


def test_a_function_s_vector_proves_what_it_proves_and_no_more():
    """A stronger bound is the function's word, also where it calls it proved."""
    honest = PVMClassifier(eps=EPS, solver="greedy", **PAPER).fit(X, Y)
    same = PVMClassifier(eps=EPS, solver=answering(certificate="verified"), **PAPER).fit(X, Y)
    assert same.certificate_ == honest.certificate_ == "verified"
    assert same.lower_bound_ == honest.lower_bound_
    claiming = PVMClassifier(
        eps=EPS, solver=answering(dual=None, certificate="verified"), **PAPER
    ).fit(X, Y)
    assert claiming.certificate_ == "solver"
    assert claiming.lower_bound_ == honest.lower_bound_

    def sure(problem, *, rng, max_prototypes=None):
        solution = greedy(problem, bound=False)
        return replace(solution, lower_bound=solution.objective, certificate="verified")

    certain = PVMClassifier(eps=EPS, solver=sure, **PAPER).fit(X, Y)
    assert (certain.certificate_, certain.gap_) == ("solver", 0.0)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, r"must return a CoverSolution, got None; CoverSolution\.of"),
        ([0, 1], TypeError, r"must return a CoverSolution, got \[0, 1\]"),
        ({"selected": [0, 0], "score": [1, 1]}, ValueError, "must not repeat a candidate"),
        ({"selected": [150], "score": [1]}, ValueError, r"numbers from 0 to \d+, got 150"),
        ({"selected": [-1], "score": [1]}, ValueError, r"numbers from 0 to \d+, got -1"),
        ({"selected": [0.5], "score": [1]}, ValueError, "list of candidates' numbers"),
        ({"selected": [0, 1], "score": [1]}, ValueError, "score must hold one number for each"),
        ({"selected": [0, 1], "score": [1, 2]}, ValueError, "score must not rise"),
        ({"selected": [0], "score": [np.nan]}, ValueError, "score must not rise .*nan"),
        ({"score": None}, ValueError, "score must hold one number"),
        ({"lower_bound": 1e9}, ValueError, "lower_bound is 1000000000.0, but the selection"),
        ({"lower_bound": np.nan}, ValueError, "lower_bound must be a number, -inf for none"),
        ({"lower_bound": None}, ValueError, "lower_bound must be a number"),
        ({"dual": np.ones(3)}, ValueError, "dual must be None or hold one number for each"),
        ({"dual": "strong"}, ValueError, "dual must be None or hold one number"),
        ({"status": 3}, ValueError, "status must be a text"),
        ({"details": None}, ValueError, "details a mapping"),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda solver: PVMClassifier(eps=EPS, solver=solver, **PAPER).fit(X, Y),
        lambda solver: pvm_path(X, Y, eps=[EPS], solver=solver, **PAPER),
    ],
    ids=["fit", "path"],
)
def test_an_answer_that_is_no_solution_is_refused_with_the_solver_s_name(
    answer, error, message, ask
):
    if isinstance(answer, dict):
        solver = answering(**answer)
    else:

        def my_solver(problem, *, rng, max_prototypes=None):
            return answer

        solver = my_solver
    with pytest.raises(error, match=f"(?s)solver my_solver .*{message}"):
        ask(solver)


def test_a_function_that_overruns_its_budget_is_refused():
    def too_many(problem, *, rng, max_prototypes=None):
        return greedy(problem)

    with pytest.raises(ValueError, match=r"too_many .*chose \d+ .*max_prototypes allows 2; end"):
        PVMClassifier(eps=EPS, solver=too_many, max_prototypes=2, **PAPER).fit(X, Y)
    with pytest.raises(ValueError, match="max_prototypes allows 0"):
        PVMClassifier(eps=EPS, solver=too_many, max_prototypes={0: 0}, **PAPER).fit(X, Y)


def test_a_function_that_passes_for_one_of_ours_is_not_believed_either():
    @wraps(greedy)
    def improved(problem, **options):
        return replace(greedy(problem, **options), objective=-5.0, certificate="verified")

    model = PVMClassifier(eps=EPS, solver=improved, **PAPER).fit(X, Y)
    assert (
        model.objective_ == PVMClassifier(eps=EPS, solver="greedy", **PAPER).fit(X, Y).objective_
    )
    assert model.certificate_ == "verified"


def test_a_function_that_cannot_be_asked_is_refused_before_any_work():
    def no_budget(problem, *, rng):
        raise AssertionError

    with pytest.raises(ValueError, match=r"a function \(problem, \*, rng, max_prototypes\)"):
        PVMClassifier(eps=EPS, solver=no_budget, **PAPER).fit(X, Y)


def no_distance(a, b):
    raise AssertionError("options are to be checked before distances are computed")


@pytest.mark.parametrize(
    ("solver", "options", "error", "message"),
    [
        ("exact", {"gap": -1}, ValueError, "gap must be a share .* between 0 and 1, got -1"),
        ("exact", {"gap": "0"}, ValueError, "gap must be a share .*, got '0'"),
        ("exact", {"patience": -3}, ValueError, "patience must be a whole number .* got -3"),
        ("local-search", {"patience": 2.5}, ValueError, "patience must be .* got 2.5"),
        ("greedy", {"time_limit": -1}, ValueError, "time_limit must be .* seconds .* got -1"),
        ("auto", {"time_limit": float("nan")}, ValueError, "time_limit must be .* got nan"),
        ("exact", {"time_limit": "5"}, ValueError, "time_limit must be .* got '5'"),
        ("exact", {"max_nodes": 1.5}, ValueError, "max_nodes must be a whole .* got 1.5"),
        (
            "exact",
            {"backend": "scip"},
            TypeError,
            "'backend', which .* its options are gap, max_n",
        ),
        ("lp-rounding", {"n_draws": 0}, ValueError, "n_draws must be at least 1, got 0"),
        ("greedy", {"bound": "no"}, ValueError, "bound must be True or False, got 'no'"),
        ("exact", {"verbose": "yes"}, ValueError, "verbose must be .* got 'yes'"),
        ("greedy", {"gap": 0.1}, TypeError, "'gap', which solver 'greedy' .* bound, time_limit"),
        ("ratio-greedy", {"patience": 5}, TypeError, "its options are time_limit"),
        ("exact", {"max_prototypes": 3}, TypeError, "'max_prototypes': .* max_prototypes instead"),
        ("exact", {"rng": 0}, TypeError, "'rng': give the estimator random_state instead"),
        ("exact", {"problem": 0}, TypeError, "must not hold 'problem'"),
        ("exact", ["gap"], TypeError, r"must be a dict .* got list \['gap'\]"),
        (answering(), {"speed": 1}, TypeError, "'speed', which solver my_solver .* none"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_options_are_checked_before_any_work(solver, options, error, message):
    with pytest.raises(error, match=message):
        PVMClassifier(
            eps=EPS, metric=no_distance, solver=solver, solver_options=options, **PAPER
        ).fit(X, Y)
    with pytest.raises(error, match=message):
        pvm_path(
            X, Y, eps=[EPS], metric=no_distance, solver=solver, solver_options=options, **PAPER
        )


def test_a_solver_that_is_not_there_is_refused_before_any_work():
    with pytest.raises(ValueError, match="solver must be one of"):
        pvm_path(X, Y, eps=[EPS], metric=no_distance, solver="exakt", **PAPER)


def test_the_time_that_a_solver_takes_by_itself_is_for_all_classes_together():
    """What holds for a limit that is given holds for one that a solver has by itself."""
    shares = []

    def hasty(problem, *, rng, max_prototypes=None, time_limit=5.0):
        shares.append(time_limit)
        return greedy(problem)

    PVMClassifier(eps=EPS, solver=hasty, **PAPER).fit(X, Y)
    assert shares[0] == pytest.approx(5.0 / 3, abs=0.1)
    shares.clear()
    PVMClassifier(eps=EPS, solver=hasty, solver_options={"time_limit": None}, **PAPER).fit(X, Y)
    assert shares == [None] * 3
    # None of ours has one: what they find does not depend on the clock unless it is set.
    assert [name for name in SOLVERS if default_time_limit(SOLVERS[name])] == []


def test_a_budget_has_a_bound_of_its_own():
    """No four prototypes do as well as all that are worth having, and that is proved."""
    everything = PVMClassifier(eps=EPS, solver="exact", **PAPER).fit(X, Y)
    few = PVMClassifier(eps=EPS, solver="exact", max_prototypes=4, **PAPER).fit(X, Y)
    assert len(few.candidate_indices_) == 4
    assert few.lower_bound_ > everything.objective_
    assert few.lower_bound_ == few.objective_
    assert few.verify(X, Y).ok
