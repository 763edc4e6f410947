"""The default solver: near the optimum, honest about it, and the same on every machine."""

from __future__ import annotations

import importlib
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from covers import large_problem, make_problem, problem_and_optimum
from sklearn.datasets import load_digits, load_iris

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._cover import CoverProblem, verify
from protocover.solvers import auto, greedy, ratio_greedy
from protocover.solvers._search import Search, grow_together

dense = importlib.import_module("protocover.solvers._dense_stages")
states = importlib.import_module("protocover.solvers._state")
AUTO, Stop = states.AUTO, states.Stop
X, Y = load_iris(return_X_y=True)


@pytest.fixture
def slow(monkeypatch):
    """A machine on which every look at the clock finds an hour gone."""
    begun, looks = time.monotonic(), iter(range(10**9))
    monkeypatch.setattr(time, "monotonic", lambda: begun + 3600.0 * next(looks))


def same(first, second):
    np.testing.assert_array_equal(first.selected, second.selected)
    np.testing.assert_array_equal(first.dual, second.dual)
    return (first.lower_bound, first.certificate) == (second.lower_bound, second.certificate)


def hard_problem():
    """One that goes through all stages, and is not closed by the first ones."""
    return large_problem(120, 200, density=0.06)


def solved(problem, effort):
    """Solve a problem as the default does, with another effort."""
    search = Search(problem, effort)
    search.go_on()
    grow_together([search])
    return search.solution()


def test_the_hard_problem_takes_all_stages():
    state = states.begin(hard_problem(), greedy(hard_problem()), AUTO)
    for stage in (dense.relaxed, dense.searched):
        state = stage(state, AUTO, Stop())
        assert not state.closed


def test_a_slow_machine_gives_the_same_answer(slow):
    """The clock is not looked at, or what it says does not matter."""
    again = auto(hard_problem())
    assert again.status != "time limit"
    with pytest.MonkeyPatch.context() as quick:
        quick.setattr(time, "monotonic", lambda: 0.0)
        assert same(auto(hard_problem()), again)


def test_a_fit_on_a_slow_machine_is_the_same_model(monkeypatch):
    points, labels = load_digits(return_X_y=True)
    points, labels = points[:300], labels[:300]
    quick = PVMClassifier(**PAPER).fit(points, labels)
    for name in ("relax", "search", "BranchAndBound"):
        plain = getattr(dense, name)

        def late(*args, plain=plain, **options):
            time.sleep(0.02)
            return plain(*args, **options)

        monkeypatch.setattr(dense, name, late)
    slow = PVMClassifier(**PAPER).fit(points, labels)
    np.testing.assert_array_equal(quick.candidate_indices_, slow.candidate_indices_)
    assert (quick.objective_, quick.lower_bound_) == (slow.objective_, slow.lower_bound_)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_the_default_model_does_not_depend_on_the_random_state(radii):
    models = [PVMClassifier(radii=radii, random_state=seed).fit(X, Y) for seed in (None, 0, 1)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].candidate_indices_, other.candidate_indices_)


def test_the_default_is_auto_and_its_gap_is_closed_on_small_tables():
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, Y)
    assert model.solver == "auto"
    assert model.gap_ == 0.0
    assert model.verify(X, Y).ok
    assert model.objective_ < PVMClassifier(eps=1.0, solver="greedy", **PAPER).fit(X, Y).objective_


def test_without_a_time_limit_no_clock_is_looked_at_by_the_stages():
    """A limit of none is no limit; one that is up ends after the greedies."""
    ended = auto(hard_problem(), time_limit=0.0)
    assert ended.status == "time limit"
    best = min(greedy(hard_problem()).objective, ratio_greedy(hard_problem()).objective)
    assert ended.objective == best


@pytest.mark.parametrize("seed", range(60))
def test_no_worse_than_either_greedy_and_in_order_of_what_each_adds(seed):
    problem = problem_and_optimum(seed)[0]
    solution = auto(problem)
    for other in (greedy(problem), ratio_greedy(problem)):
        assert (solution.objective, len(solution.selected)) <= (
            other.objective,
            len(other.selected),
        )
    left = problem.prize.copy()
    rest = solution.selected.tolist()
    for chosen in solution.selected.tolist():
        gains = [left[problem.ball(j)].sum() - problem.wrong[j] for j in rest]
        assert gains[rest.index(chosen)] == pytest.approx(max(gains))
        left[problem.ball(chosen)] = 0.0
        rest.remove(chosen)


@pytest.mark.parametrize("seed", range(120))
def test_a_small_problem_solved_at_once_has_the_fewest_prototypes(seed):
    """Where the linear program closes it, and its own vector says so, against enumeration."""
    problem, optimum, fewest = problem_and_optimum(seed)
    state = states.solved_at_once(problem, AUTO, Stop())
    if not state.full.exact:  # weights finer than can be counted
        return
    if state.closed:
        assert problem.objective(state.selected) == float(optimum)
        assert problem.lower_bound(state.dual) == float(optimum)
    if state.least:
        assert len(state.selected) == fewest


def test_what_ties_with_more_prototypes_is_not_the_last_word(monkeypatch):
    """Two small balls, or at the same objective the one that holds both points."""
    problem = make_problem([[1, 0, 1], [0, 1, 1]], [0, 0, 1], [3, 3], 1.0)
    plain = states.relax

    def wasteful(residual, **options):
        return replace(plain(residual, **options), fraction=np.array([1.0, 1.0, 0.0]))

    monkeypatch.setattr(states, "relax", wasteful)
    for name in ("choose_by_drop", "choose_by_ratio"):
        monkeypatch.setattr(states, name, lambda _: (np.array([0, 1]), None))
    state = states.solved_at_once(problem, AUTO, Stop())
    assert state.closed
    assert not state.least
    assert auto(problem).selected.tolist() == [2]


def test_most_small_problems_are_solved_at_once():
    found = [
        states.solved_at_once(problem_and_optimum(seed)[0], AUTO, Stop()) for seed in range(120)
    ]
    assert sum(state.least for state in found) > 60


def test_problems_that_are_not_small_and_those_out_of_time_begin_with_the_greedies():
    assert states.solved_at_once(hard_problem(), AUTO, Stop(-math.inf)) is None
    small = replace(AUTO, small=10)
    assert states.solved_at_once(hard_problem(), small, Stop()) is None
    solution = solved(hard_problem(), small)
    assert solution.objective <= greedy(hard_problem()).objective
    assert verify(hard_problem(), solution).ok


@pytest.mark.parametrize("seed", range(60))
def test_no_gap_is_claimed_closed_that_is_not_whichever_way_a_problem_goes(seed):
    """Small ones the long way round, too."""
    problem, optimum, _ = problem_and_optimum(seed)
    solution = solved(problem, replace(AUTO, small=0))
    assert solution.lower_bound <= float(optimum) <= solution.objective
    assert verify(problem, solution).ok


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("cost", [0.0, 0.3, 1.0])
def test_balls_of_several_radii_are_the_problem_written_out(seed, cost):
    """A candidate's balls one inside the other, against enumeration."""
    rng = np.random.default_rng(seed)
    n_points, n_centers, n_radii = 8, 3, 3
    level = rng.integers(0, n_radii + 1, size=(n_points, n_centers))  # n_radii: in no ball
    shells = np.concatenate(
        [level[:, [j]] == np.arange(n_radii) for j in range(n_centers)], axis=1
    )
    first = np.repeat(np.arange(n_centers) * n_radii, n_radii)
    wrong = np.cumsum(rng.integers(0, 2, (n_centers, n_radii)), axis=1).ravel().astype(float)
    problem = CoverProblem(shells, wrong, np.ones(n_points), cost, first=first)
    solution = auto(problem)
    optimum, _ = naive.exact_optimum(problem)
    assert solution.objective == float(optimum)
    assert verify(problem, solution).ok


def test_nothing_to_choose_and_nothing_worth_choosing():
    empty = make_problem(np.zeros((3, 0)), [], [1, 1, 1], 1.0)
    dear = make_problem(np.ones((3, 2)), [5, 7], [1, 1, 1], 1.0)
    for problem in (empty, dear):
        solution = auto(problem)
        assert solution.selected.tolist() == []
        assert solution.certificate == "verified"
        assert solution.gap == 0.0
        assert solution.objective == 3.0


def test_one_class_and_weights_of_zero():
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, np.zeros(len(X)), weights)
    assert model.gap_ == 0.0
    assert (weights[model.candidate_indices_] > 0).all()
