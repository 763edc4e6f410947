"""What holds for every solver in the table, with enumeration as the judge."""

from __future__ import annotations

import math
import signal
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from covers import countable, large_problem, make_problem, problem_and_optimum
from scipy.sparse import csc_array

import naive
from protocover._cover import CoverProblem, verify
from protocover.solvers import find_solver
from protocover.solvers._registry import SOLVERS, ask_solver

every_solver = pytest.mark.parametrize("name", SOLVERS)
# Two hundred problems in the usual run, ten thousand in the slow one.
seeds = pytest.mark.parametrize(
    "seeds",
    [
        range(100),
        range(100, 200),
        *(
            pytest.param(range(first, first + 1400), marks=pytest.mark.slow)
            for first in range(200, 10_000, 1400)
        ),
    ],
    ids=lambda seeds: f"{seeds.start}-{seeds.stop}",
)


def run(name, problem, seed=0, **options):
    return SOLVERS[name](problem, rng=np.random.default_rng(seed), **options)


def check_honest(problem, solution, optimum):
    """The solution is what it says it is, and its bound holds."""
    selected = solution.selected.tolist()
    value = naive.exact_value(problem, selected)
    assert len(set(selected)) == len(selected)
    assert solution.objective == float(value)
    assert Fraction(solution.lower_bound) <= float(optimum) <= solution.objective
    assert verify(problem, solution).faults == ()
    assert (np.diff(solution.score) <= 0).all()
    covered = problem.cover.toarray()[:, selected]
    news = [int((covered[:, k] & ~covered[:, :k].any(axis=1)).sum()) for k in range(len(selected))]
    assert solution.newly_covered.tolist() == news
    if solution.gap == 0.0:
        assert value == optimum


def check_optimal(problem, solution, optimum, fewest):
    """The optimum with the fewest prototypes, proved by a vector or by branch and bound."""
    assert solution.gap == 0.0
    assert solution.status == "optimal"
    assert solution.objective == float(optimum)
    assert len(solution.selected) == fewest


def check_optimal_up_to_rounding(problem, solution, optimum):
    """Optimal, but proved only to within what rounding every number to a unit can change.

    Weights of 53 random bits cannot be counted: the exact solver rounds them to units of
    2**-50 of the total prize (to the next power of two). A selection of k balls then is off
    by a unit a ball (its wrong weight and its cost) and half a unit a point, and k is at
    most the number of points: 2 n units for the selection returned and 2 n for the bound.
    This, and the tie rule, is all that such weights are let off from: the sums of random
    weights differ by more, so that the optimum is found all the same.
    """
    total = float(problem.prize.sum())
    unit = Fraction(2) ** (math.ceil(math.log2(total)) - 50)
    assert solution.status in ("optimal", "optimal up to rounding")
    assert solution.objective == float(optimum)
    spread = Fraction(solution.objective) - Fraction(solution.lower_bound)
    assert spread <= (4 * problem.n_points + 1) * unit


def check_no_worse(found, other):
    """Neither a higher objective nor, at the same one, more prototypes."""
    assert (found.objective, len(found.selected)) <= (other.objective, len(other.selected))


@every_solver
@pytest.mark.parametrize("weight", [2.0**-800, 1.0])
def test_a_cost_beyond_all_weights_leaves_nothing_to_choose(name, weight):
    """Counted in steps of the weights, the cost is larger than any float."""
    problem = make_problem(np.eye(3), np.zeros(3), np.full(3, weight), 1e280)
    for options in ({}, {"max_prototypes": 2}):
        solution = run(name, problem, **options)
        assert (len(solution.selected), solution.objective) == (0, 3.0 * weight)
        assert verify(problem, solution).ok


@every_solver
@seeds
def test_a_solution_is_honest_and_as_good_as_its_solver_promises(name, seeds):
    """Valid indices, the recomputed objective, and lower bound <= optimum <= objective.

    Exact ones are optimal and say so; local search is no worse than either greedy.
    """
    for seed in seeds:
        problem, optimum, fewest = problem_and_optimum(seed)
        solution = run(name, problem, seed)
        check_honest(problem, solution, optimum)
        if name in ("exact", "auto") and countable(seed):
            check_optimal(problem, solution, optimum, fewest)
        elif name in ("exact", "auto"):
            check_optimal_up_to_rounding(problem, solution, optimum)
        if name == "local-search":
            check_no_worse(solution, run("greedy", problem))
            check_no_worse(solution, run("ratio-greedy", problem))


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_does_not_depend_on_order_or_duplicates(seed):
    """Permuted points and candidates, doubled candidates, and points split in two."""
    problem, optimum, _ = problem_and_optimum(seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(problem.n_points), rng.permutation(problem.n_candidates)
    inside = problem.cover.toarray()
    variants = [
        make_problem(
            inside[rows][:, columns],
            problem.wrong[columns],
            problem.prize[rows],
            problem.prototype_cost,
        ),
        make_problem(
            np.hstack((inside, inside)),
            np.tile(problem.wrong, 2),
            problem.prize,
            problem.prototype_cost,
        ),
        make_problem(
            np.vstack((inside, inside)),
            problem.wrong,
            np.tile(problem.prize / 2, 2),
            problem.prototype_cost,
        ),
    ]
    for variant in variants:
        assert run("exact", variant).objective == pytest.approx(float(optimum), rel=1e-12)
        for name in SOLVERS:
            solution = run(name, variant)
            assert solution.lower_bound <= float(optimum) * (1 + 1e-12)


@every_solver
def test_the_same_generator_gives_the_same_selection(name):
    problem = large_problem(60, 90, density=0.1)
    first, second = run(name, problem, 3), run(name, problem, 3)
    assert first.selected.tolist() == second.selected.tolist()


@every_solver
@pytest.mark.parametrize("limit", [0.0, 0.5])
def test_a_time_limit_is_kept_and_the_best_so_far_returned(name, limit):
    problem = large_problem()
    # Processor time, so that other work on the machine does not count.
    begun = time.process_time()
    solution = run(name, problem, time_limit=limit)
    assert time.process_time() - begun < limit + 2.0
    assert verify(problem, solution).ok
    assert solution.objective <= problem.objective([])
    assert solution.lower_bound > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["local-search", "exact", "auto"])
def test_a_time_limit_is_kept_on_large_problems(name):
    """A million and a half memberships, as a class of 30,000 images has."""
    problem = large_problem(3000, 3000, density=0.17)
    begun = time.process_time()
    solution = run(name, problem, time_limit=3.0)
    assert time.process_time() - begun < 5.0
    assert verify(problem, solution).ok


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
@pytest.mark.parametrize("name", ["local-search", "exact", "auto"])
def test_an_interrupt_ends_the_search_and_leaves_no_thread_behind(name):
    def interrupt(number, frame):
        raise KeyboardInterrupt

    def search():
        # From here on: on a busy machine the time may be up before the search begins.
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        run(name, problem, time_limit=2.0, **({} if name == "auto" else {"patience": 10**9}))

    problem = (
        large_problem(3000, 3000, density=0.17) if name == "auto" else large_problem(300, 500)
    )
    before = set(threading.enumerate())
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            search()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, old)
    assert set(threading.enumerate()) <= before


@every_solver
@pytest.mark.parametrize(
    ("n_points", "n_candidates"), [(0, 0), (0, 3), (3, 0)], ids=["nothing", "no point", "no ball"]
)
def test_problems_without_points_or_candidates_select_nothing(name, n_points, n_candidates):
    cover = csc_array((n_points, n_candidates), dtype=bool)
    problem = CoverProblem(cover, np.zeros(n_candidates), np.ones(n_points), 0.5)
    solution = run(name, problem)
    assert len(solution.selected) == 0
    assert solution.objective == solution.lower_bound == n_points
    assert solution.certificate == "verified"


@every_solver
@pytest.mark.parametrize(
    ("wrong", "prize", "cost"),
    [([5, 5], [1, 1], 0.5), ([0, 0], [1, 1], 2), ([0, 1], [0, 0], 0), ([0, 0], [0, 0], 1)],
    ids=["all balls too impure", "prototypes too dear", "no prizes, free", "no prizes"],
)
def test_where_nothing_pays_nothing_is_selected_and_that_is_proved(name, wrong, prize, cost):
    problem = make_problem([[1, 0], [1, 1]], wrong, prize, cost)
    solution = run(name, problem)
    assert len(solution.selected) == 0
    assert solution.objective == sum(prize)
    assert solution.certificate == "verified"


@every_solver
def test_balls_that_cover_nothing_and_points_in_no_ball_are_borne(name):
    problem = make_problem([[1, 0, 0], [0, 0, 0], [1, 1, 0]], [0, 0, 0], [1, 1, 1], 0.25)
    solution = run(name, problem)
    assert solution.selected.tolist() == [0]
    assert solution.objective == solution.lower_bound == 1.25


@every_solver
@pytest.mark.parametrize("budget", [-1, 1.5, "2", True])
def test_a_budget_that_is_none_is_refused(name, budget):
    problem = make_problem([[1, 0], [1, 1]], [0, 0], [1, 1], 0.25)
    with pytest.raises(ValueError, match=f"max_prototypes must be a whole.*got {budget!r}"):
        run(name, problem, max_prototypes=budget)


@every_solver
@pytest.mark.parametrize("limit", [-1, math.nan, "5"])
def test_a_time_limit_that_is_none_is_refused(name, limit):
    problem = make_problem([[1, 0], [1, 1]], [0, 0], [1, 1], 0.25)
    with pytest.raises(ValueError, match=f"time_limit must be a number of seconds.*got {limit!r}"):
        run(name, problem, time_limit=limit)


@every_solver
@pytest.mark.parametrize("limit", [None, math.inf, 0])
def test_no_limit_no_time_and_all_the_time_are_limits(name, limit):
    problem, optimum, _ = problem_and_optimum(4)
    check_honest(problem, run(name, problem, time_limit=limit), optimum)


@every_solver
@pytest.mark.parametrize("seed", range(20))
def test_what_is_computed_again_is_what_the_solver_said(name, seed):
    """An honest function loses nothing by not being believed."""
    problem, _, _ = problem_and_optimum(seed)
    said = run(name, problem, seed)

    def honest(problem, *, rng, max_prototypes=None):
        return SOLVERS[name](problem, rng=rng, max_prototypes=max_prototypes)

    heard = ask_solver(honest, problem, rng=np.random.default_rng(seed), options={})
    for part in ("objective", "lower_bound", "certificate", "status"):
        assert getattr(heard, part) == getattr(said, part)
    for part in ("selected", "score", "newly_covered", "dual"):
        np.testing.assert_array_equal(getattr(heard, part), getattr(said, part))


def test_a_tie_between_a_ball_and_its_point_goes_to_no_prototype():
    """With a prototype at 1 a ball with one new point ties with leaving it uncovered."""
    problem = make_problem([[1, 0], [1, 0], [1, 0], [0, 1]], [0, 0], [1, 1, 1, 1], 1.0)
    for name in SOLVERS:
        solution = run(name, problem)
        assert solution.selected.tolist() == [0]
        assert solution.objective == 2.0


def test_a_name_or_a_function_is_found_and_anything_else_refused():
    assert find_solver("exact") is SOLVERS["exact"]
    assert find_solver("greedy", verbose=1) is SOLVERS["greedy"]
    own = lambda problem, *, rng=None, max_prototypes=None: None  # noqa: E731
    assert find_solver(own) is own
    with pytest.raises(ValueError, match=r"solver must be one of 'greedy'.*got 'exakt'"):
        find_solver("exakt")


@pytest.mark.parametrize("name", ["exact", "auto"])
def test_a_solver_that_can_show_progress_does_so_if_asked(name, capsys):
    problem = make_problem([[1, 1, 0], [1, 0, 1], [0, 1, 1]], [0, 0, 0], [9, 9, 9], 1.0)
    find_solver(name)(problem)
    assert capsys.readouterr().err == ""
    find_solver(name, verbose=1)(problem)
    assert "best 2, bound 2" in capsys.readouterr().err
