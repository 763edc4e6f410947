"""The contract of every solver on every kind of problem, checked against enumeration."""

from __future__ import annotations

import itertools
import math
import signal
import threading
import time
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from covers import PROBLEMS, large_problem, make_problem, problem_and_optimum, some_problems
from scipy.sparse import csc_array

import naive
from protocover._cover import CoverProblem, CoverSolution, Limit, verify
from protocover.solvers import _search as search_module
from protocover.solvers import greedy, ratio_greedy
from protocover.solvers._coverage import (
    cover_by_tree,
    cover_large,
    search_coverage_prices,
    solve_coverage,
)
from protocover.solvers._registry import SOLVERS, ask_solver, find_solver

every_solver = pytest.mark.parametrize("name", SOLVERS)
every_kind = pytest.mark.parametrize("kind", PROBLEMS)


def run(name, problem, seed=0, **options):
    return SOLVERS[name](problem, rng=np.random.default_rng(seed), **options)


def check(problem, solution, optimum):
    """Objective, bound and order are what the solution states, and the bound holds."""
    selected = solution.selected.tolist()
    value = naive.exact_value(problem, selected)
    assert solution.objective == float(value)
    assert Fraction(solution.lower_bound) <= float(optimum) <= solution.objective
    found = verify(problem, solution)
    assert found.faults == ()
    if solution.certificate == "verified":
        assert found.lower_bound == solution.lower_bound or not problem.on_grid
    inside = problem.cover.toarray()[:, selected]
    newly = [(inside[:, k] & ~inside[:, :k].any(axis=1)).sum() for k in range(len(selected))]
    assert solution.newly_covered.tolist() == newly
    if solution.gap == 0.0:
        assert value == optimum


def check_optimal(problem, solution, optimum, fewest):
    """The optimum with the fewest prototypes, proved; off the grid up to rounding.

    There all numbers are rounded to units of 2**-50 of the total prize, to the next power of
    two. That changes a selection of k balls by a unit per ball and half a unit per point, and k
    is at most the number of points.
    """
    assert solution.objective == float(optimum)
    if problem.on_grid:
        assert (solution.status, solution.gap) == ("optimal", 0.0)
        assert solution.certificate == "verified"
        assert len(solution.selected) == fewest
        return
    assert solution.status in ("optimal", "optimal up to rounding")
    unit = Fraction(2) ** (math.ceil(math.log2(problem.prize.sum())) - 50)
    spread = Fraction(solution.objective) - Fraction(solution.lower_bound)
    assert spread <= (4 * problem.n_points + 1) * unit


@every_solver
@every_kind
def test_solutions_are_valid_and_as_good_as_the_solver_promises(name, kind):
    for problem, optimum, fewest in some_problems(kind):
        solution = run(name, problem)
        check(problem, solution, optimum)
        if name == "exact":
            check_optimal(problem, solution, optimum, fewest)
        if name in ("local-search", "auto", "exact"):
            for other in (greedy(problem), ratio_greedy(problem)):
                better = solution.objective, len(solution.selected)
                assert better <= (other.objective, len(other.selected))


@every_solver
@every_kind
def test_a_budget_is_kept_and_bounded(name, kind):
    for problem, _, _ in some_problems(kind)[:6]:
        for budget in (0, 1, 2, 4):
            optimum = naive.exact_optimum_within([problem], budget)
            solution = run(name, problem, max_prototypes=budget)
            assert len(solution.selected) <= budget
            check(problem, solution, optimum)
            assert solution.objective <= greedy(problem, max_prototypes=budget).objective
            if name == "exact" and problem.on_grid:
                assert solution.objective == float(optimum)
                assert solution.is_optimal


@every_kind
def test_budgets_of_large_problems_are_kept_and_bounded(kind, monkeypatch):
    """Large problems have no linear programs, but a subgradient method."""
    monkeypatch.setattr(search_module, "_LARGE", -1)
    for problem, _, _ in some_problems(kind)[:6]:
        for budget in range(4):
            solution = run("auto", problem, max_prototypes=budget)
            assert len(solution.selected) <= budget
            check(problem, solution, naive.exact_optimum_within([problem], budget))
            assert solution.objective <= greedy(problem, max_prototypes=budget).objective


def coverage_problems():
    """Problems of least cost: one per candidate, or costs of the candidates' own."""
    for kind in PROBLEMS:
        for problem, _, _ in some_problems(kind)[:4]:
            if problem.n_candidates and not problem.is_nested and problem.on_grid:
                nothing = np.zeros(problem.n_candidates)
                yield CoverProblem(problem.cover, nothing, problem.prize, 1.0)
                costs = np.arange(1, problem.n_candidates + 1) / 4
                yield CoverProblem(problem.cover, costs, problem.prize, 0.0)


def least_cost(problem, allowed):
    """The least cost of a selection that leaves at most `allowed` uncovered."""
    every = range(problem.n_candidates)
    subsets = itertools.chain(*(itertools.combinations(every, k) for k in range(len(every) + 1)))
    enough = (np.array(one, dtype=np.intp) for one in subsets)
    return min(problem.spent(one) for one in enough if problem.uncovered(one) <= allowed)


@pytest.mark.parametrize("method", ["prices", "prices, exact", "tree", "large"])
def test_a_required_coverage_is_reached_at_a_bounded_cost(method):
    solve = {"prices": SOLVERS["auto"], "prices, exact": SOLVERS["exact"]}.get(method)
    search = {
        "tree": lambda problem, limit, found: found,
        "large": cover_large,
    }.get(method, partial(search_coverage_prices, solve=solve))
    for problem in coverage_problems():
        most = problem.uncovered(np.arange(problem.n_candidates))
        total = Fraction(float(problem.prize.sum()))
        assert solve_coverage(problem, Limit(uncovered=most - 1), search) is None
        for share in (Fraction(0), Fraction(1, 3)):
            limit = Limit(uncovered=most + share * (total - most))
            close = None if method in ("prices", "large") else cover_by_tree
            found = solve_coverage(problem, limit, search, close=close)
            optimum = least_cost(problem, limit.uncovered)
            assert problem.uncovered(found.selected) <= limit.uncovered
            assert found.bound <= optimum <= problem.spent(found.selected)
            if close is not None:
                assert found.bound == optimum == problem.spent(found.selected)
            solution = CoverSolution.of(
                problem,
                found.selected,
                dual=found.dual,
                claim=found.bound if found.claimed else None,
                limit=limit,
                price=found.price if found.dual is not None else None,
            )
            assert verify(problem, solution).faults == ()
            worse = replace(solution, lower_bound=solution.objective + 1.0)
            assert not verify(problem, worse).ok


def tampered(problem, solution):
    """Solutions that state something false, one field each."""
    yield replace(solution, objective=solution.objective - 0.25)
    yield replace(solution, lower_bound=solution.objective + 0.25)
    if solution.certificate == "verified":
        more = 1e-6 * (solution.objective + 1.0)  # off the grid bounds may be off by rounding
        yield replace(solution, lower_bound=solution.lower_bound + more)
        yield replace(solution, dual=None, proof=None)
        yield replace(solution, dual=solution.dual + 2.0 * problem.prize.max() + 1.0)
    n = len(solution.selected)
    if n:
        yield replace(solution, selected=np.full(n, problem.n_candidates))
        yield replace(solution, newly_covered=solution.newly_covered + 1)
        yield replace(solution, score=np.full(n, np.nan))
    if n > 1:
        yield replace(solution, selected=np.full(n, solution.selected[0]))
        yield replace(solution, limit=Limit(at_most=n - 1), price=problem.prototype_cost)


@every_kind
@every_solver
def test_verify_rejects_tampered_solutions(name, kind):
    for problem, _, _ in some_problems(kind)[:8]:
        for changed in tampered(problem, run(name, problem)):
            assert not verify(problem, changed).ok


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_ignores_order_and_duplicates(seed):
    problem, optimum, _ = problem_and_optimum(seed)
    rng = np.random.default_rng(seed)
    inside, wrong, prize = problem.cover.toarray(), problem.wrong, problem.prize
    rows, columns = rng.permutation(problem.n_points), rng.permutation(problem.n_candidates)
    for variant in (
        (inside[rows][:, columns], wrong[columns], prize[rows]),
        (np.hstack((inside, inside)), np.tile(wrong, 2), prize),
        (np.vstack((inside, inside)), wrong, np.tile(prize / 2, 2)),
    ):
        changed = make_problem(*variant, problem.prototype_cost)
        assert run("exact", changed).objective == pytest.approx(float(optimum), rel=1e-12)
        for name in SOLVERS:
            assert run(name, changed).lower_bound <= float(optimum) * (1 + 1e-12)


@every_solver
def test_the_same_generator_gives_the_same_selection(name):
    problem = large_problem(60, 90, density=0.1)
    first, second = run(name, problem, 3), run(name, problem, 3)
    assert first.selected.tolist() == second.selected.tolist()


@every_solver
@pytest.mark.parametrize("limit", [0.0, 0.3])
def test_a_time_limit_returns_the_best_selection_so_far(name, limit):
    problem = large_problem()
    begun = time.process_time()  # does not count other work on the machine
    solution = run(name, problem, time_limit=limit)
    assert time.process_time() - begun < limit + 2.0
    assert verify(problem, solution).ok
    assert 0 < solution.lower_bound <= solution.objective <= problem.objective([])
    small = large_problem(30, 20, density=0.1)
    found = run(name, small, max_prototypes=2, time_limit=0.0)
    assert found.objective <= greedy(small, max_prototypes=2).objective
    assert verify(small, found).ok


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.parametrize("name", ["local-search", "exact", "auto"])
def test_an_interrupt_ends_the_search_and_its_threads(name):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    problem = (
        large_problem(3000, 3000, density=0.17) if name == "auto" else large_problem(300, 500)
    )
    options = {} if name == "auto" else {"patience": 10**9}
    before = set(threading.enumerate())
    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(name, problem, time_limit=2.0, **options)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert set(threading.enumerate()) <= before


@every_solver
@pytest.mark.parametrize(("n_points", "n_candidates"), [(0, 0), (0, 3), (3, 0)])
@pytest.mark.parametrize("chains", [False, True])
def test_problems_without_points_or_candidates_select_nothing(
    name, n_points, n_candidates, chains
):
    cover = csc_array((n_points, n_candidates), dtype=bool)
    first = np.zeros(n_candidates, dtype=int) if chains else None
    problem = CoverProblem(cover, np.zeros(n_candidates), np.ones(n_points), 0.5, first=first)
    solution = run(name, problem)
    assert len(solution.selected) == 0
    assert solution.objective == solution.lower_bound == n_points
    assert solution.certificate == "verified"


@every_solver
@pytest.mark.parametrize(
    ("wrong", "prize", "cost"),
    [
        ([5, 5], [1, 1], 0.5),
        ([0, 0], [1, 1], 2),
        ([0, 0], [2.0**-800] * 2, 1e280),
        ([0, 1], [0, 0], 0),
        ([0, 0], [0, 0], 1),
    ],
    ids=["impure balls", "high cost", "enormous cost", "no prizes, free", "no prizes"],
)
def test_nothing_is_selected_if_no_candidate_is_worth_its_cost(name, wrong, prize, cost):
    problem = make_problem([[1, 0], [1, 1]], wrong, prize, cost)
    solution = run(name, problem)
    assert len(solution.selected) == 0
    assert solution.objective == sum(prize)
    assert solution.certificate == "verified"


@every_solver
def test_empty_balls_uncovered_points_and_ties_are_possible(name):
    problem = make_problem([[1, 0, 0], [0, 0, 0], [1, 1, 0]], [0, 0, 0], [1, 1, 1], 0.25)
    solution = run(name, problem)
    assert solution.selected.tolist() == [0]
    assert solution.objective == solution.lower_bound == 1.25
    # A ball with one new point ties with leaving the point uncovered, which needs no prototype.
    problem = make_problem([[1, 0], [1, 0], [1, 0], [0, 1]], [0, 0], [1, 1, 1, 1], 1.0)
    assert run(name, problem).selected.tolist() == [0]
    assert run(name, problem).objective == 2.0


@every_solver
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("max_prototypes", -1, "max_prototypes must be a whole.*got -1"),
        ("max_prototypes", 1.5, "max_prototypes must be a whole.*got 1.5"),
        ("max_prototypes", True, "max_prototypes must be a whole.*got True"),
        ("time_limit", -1, "time_limit must be a number of seconds.*got -1"),
        ("time_limit", math.nan, "time_limit must be a number of seconds.*got nan"),
        ("time_limit", "5", "time_limit must be a number of seconds.*got '5'"),
    ],
)
def test_invalid_options_are_rejected(name, option, value, message):
    problem = make_problem([[1, 0], [1, 1]], [0, 0], [1, 1], 0.25)
    with pytest.raises(ValueError, match=message):
        run(name, problem, **{option: value})


@every_solver
def test_a_custom_solver_loses_nothing_by_being_recomputed(name):
    def custom(problem, *, rng, max_prototypes=None):
        return SOLVERS[name](problem, rng=rng, max_prototypes=max_prototypes)

    for problem, _, _ in some_problems("labelled")[:8]:
        own = run(name, problem, 1)
        again = ask_solver(custom, problem, rng=np.random.default_rng(1), options={})
        for part in ("objective", "lower_bound", "certificate", "status"):
            assert getattr(again, part) == getattr(own, part)
        for part in ("selected", "score", "newly_covered", "dual"):
            np.testing.assert_array_equal(getattr(again, part), getattr(own, part))


def test_a_solver_is_found_by_name_or_is_a_function():
    assert find_solver("exact") is SOLVERS["exact"]
    assert find_solver("greedy", verbose=1) is SOLVERS["greedy"]
    own = lambda problem, *, rng=None, max_prototypes=None: None  # noqa: E731
    assert find_solver(own) is own
    with pytest.raises(ValueError, match=r"solver must be one of 'greedy'.*got 'exakt'"):
        find_solver("exakt")


@pytest.mark.parametrize("name", ["exact", "auto"])
def test_progress_is_shown_on_request(name, capsys):
    problem = make_problem([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [0, 0, 0], [9, 9, 9], 1.0)
    find_solver(name)(problem)
    assert capsys.readouterr().err == ""
    find_solver(name, verbose=1)(problem)
    assert "best 2, bound 2" in capsys.readouterr().err
