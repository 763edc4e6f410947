"""The exact solver: its limits, and that nothing HiGHS says is believed unchecked."""

from __future__ import annotations

import logging
import math
import signal
import sys
import time
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from covers import countable, large_problem, make_problem, problem_and_optimum
from scipy.optimize import OptimizeResult

from protocover.cover import verify
from protocover.solvers import auto, exact, greedy
from protocover.solvers.exact import tree
from protocover.solvers.exact.fixing import bound_of, exclude, probe
from protocover.solvers.exact.scip_tree import search_scip_tree
from protocover.solvers.exact.stages import State, Task, narrow
from protocover.solvers.exact.tree import search_tree
from protocover.solvers.reduced import relaxation
from protocover.solvers.reduced.relaxation import relax
from protocover.solvers.reduced.residual import Residual


def odd_cycle():
    """Five points on a circle, balls of two neighbours: the relaxation is off by a half."""
    inside = np.eye(5, dtype=bool) | np.roll(np.eye(5, dtype=bool), 1, axis=0)
    return make_problem(inside, np.zeros(5), np.full(5, 10.0), 1.0)


def solve(problem, **options):
    return exact(problem, rng=np.random.default_rng(0), **options)


def test_an_odd_cycle_is_closed_by_rounding_up():
    """The relaxation says 2.5, the optimum is a whole number: 3 is proved by a vector."""
    solution = solve(odd_cycle())
    assert solution.objective == 3.0
    assert solution.certificate == "proved"
    assert solution.status == "optimal"


def test_what_no_vector_closes_branch_and_bound_does():
    """Two odd cycles: the relaxation says 5, the optimum is 6."""
    one = odd_cycle().cover.toarray()
    inside = np.block([[one, np.zeros_like(one)], [np.zeros_like(one), one]])
    solution = solve(make_problem(inside, np.zeros(10), np.full(10, 10.0), 1.0))
    assert solution.objective == solution.lower_bound == 6.0
    assert solution.certificate == "solver-proved"
    assert verify(make_problem(inside, np.zeros(10), np.full(10, 10.0), 1.0), solution).ok


@pytest.mark.parametrize("seed", range(40))
def test_scip_finds_the_same_optimum(seed):
    pytest.importorskip("pyscipopt", reason="SCIP is an optional back end")
    problem, optimum, fewest = problem_and_optimum(seed)
    solution = solve(problem, backend="scip")
    assert solution.objective == pytest.approx(float(optimum), rel=1e-12)
    if countable(seed):
        assert solution.objective == float(optimum)
        assert len(solution.selected) == fewest


def test_scip_searches_a_tree_of_its_own():
    pytest.importorskip("pyscipopt", reason="SCIP is an optional back end")
    residual = Residual.of(odd_cycle()).plain()
    assert search_scip_tree(residual, 2.0).columns is None
    assert search_scip_tree(residual, 2.0).bound == 3.0
    found = search_scip_tree(residual, 3.0)
    assert residual.value(found.columns) == 3.0 == found.bound


def test_an_interrupt_that_scip_catches_is_passed_on(monkeypatch):
    """SCIP ends its search at Ctrl-C as if time were up; the user meant all of the fit."""
    scip = pytest.importorskip("pyscipopt", reason="SCIP is an optional back end")

    class PressCtrlC(scip.Eventhdlr):
        def eventinit(self):
            self.model.catchEvent(scip.SCIP_EVENTTYPE.NODEFOCUSED, self)

        def eventexec(self, event):
            # In the midst of the search, where SCIP listens whatever the shell has ignored.
            signal.raise_signal(signal.SIGINT)

    class Interrupted(scip.Model):
        def optimize(self):
            self.includeEventhdlr(PressCtrlC(), "ctrl-c", "presses Ctrl-C at the first node")
            super().optimize()

    monkeypatch.setattr(scip, "Model", Interrupted)
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    with pytest.raises(KeyboardInterrupt):
        search_scip_tree(residual, float(residual.prize.sum()))


@pytest.mark.parametrize("tree", [search_tree, search_scip_tree])
def test_a_tree_is_not_begun_when_time_is_up(tree):
    if tree is search_scip_tree:
        pytest.importorskip("pyscipopt", reason="SCIP is an optional back end")
    answer = tree(Residual.of(odd_cycle()).plain(), 3.0, deadline=time.monotonic())
    assert answer.columns is None
    assert answer.bound == -math.inf


def test_probing_stops_when_time_is_up_and_keeps_what_it_did_not_reach():
    residual = Residual.of(odd_cycle()).plain()
    u = relax(residual).dual
    assert probe(residual, u, 2.0).cover.shape[1] < 5
    assert probe(residual, u, 2.0, deadline=time.monotonic()) is residual


def test_a_back_end_that_is_not_there_is_named_with_the_way_to_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    with pytest.raises(ImportError, match="pip install pyscipopt"):
        search_scip_tree(Residual.of(odd_cycle()), 2.0)
    with pytest.raises(ValueError, match=r"backend must be 'auto' or one of .*got 'cplex'"):
        solve(odd_cycle(), backend="cplex")


def test_small_differences_beside_large_objectives_are_not_lost():
    """Prizes a thousand million times the cost of a prototype leave its count exact."""
    inside = np.zeros((8, 5), dtype=bool)
    inside[:5] = odd_cycle().cover.toarray()
    inside[5:, 0] = True
    problem = make_problem(inside, np.zeros(5), [1e6] * 5 + [1e6, 1e6, 1e6], 1 / 1000)
    solution = solve(problem)
    assert solution.objective == 3 / 1000
    assert solution.gap == 0.0


def test_a_gap_ends_the_search_early_and_is_kept():
    problem = large_problem(80, 120, density=0.06)
    solution = solve(problem, gap=0.2)
    assert solution.gap <= 0.2
    assert solution.status in ("gap reached", "optimal")


def test_leaving_out_what_is_not_good_enough_proves_nothing_about_the_rest():
    """With 7 in hand, 5 proved and a gap of a quarter allowed, only up to 5 is looked for.

    Both balls, at 7 and 6, are left out for that. Without balls no selection is below 10,
    but that is no bound: 6 is the optimum, and all that is known is that nothing is below it.
    """
    left = Residual.of(make_problem(np.ones((10, 2)), [6.0, 5.0], np.ones(10), 1.0)).plain()
    rng = np.random.default_rng(0)
    task = Task(
        left, rng, 0, gap=0.25, deadline=math.inf, branch=search_tree, verbose=0, write=print
    )
    half = relaxation.Relaxation(np.zeros(2), np.full(10, 0.5), 5.0)
    state = State(left, np.array([0]), 7.0, 5.0, np.zeros(10), half)
    assert task.target(state) == 5.0
    narrowed = narrow(task, state)
    assert narrowed.left.cover.shape == (0, 0)
    assert narrowed.bound == 6.0


def test_of_equal_objectives_the_one_with_fewer_prototypes_is_looked_for():
    """Balls 0 to 2 leave one point uncovered, 3 and 4 leave two; greedy takes the three."""
    inside = np.zeros((12, 5), dtype=bool)
    for ball, points in enumerate(([0, 1, 2, 3, 4], [5, 6, 7], [8, 9, 10])):
        inside[points, ball] = True
    inside[[0, 1, 5, 6, 8], 3] = inside[[2, 3, 7, 9, 10], 4] = True
    problem = make_problem(inside, np.zeros(5), np.ones(12), 1.0)
    assert greedy(problem).selected.tolist() == [0, 1, 2]
    solution = solve(problem)
    assert solution.objective == greedy(problem).objective == 4.0
    assert sorted(solution.selected.tolist()) == [3, 4]


def test_a_difference_that_rounding_hides_is_not_called_optimal():
    """Balls 1 and 2 are alike but for a share of a unit, by which the second is cheaper.

    In units both cost the same, rounded up, and reductions keep the first; greedy is of no
    help, for it begins with ball 0.
    """
    inside = np.zeros((6, 4), dtype=bool)
    inside[1:5, 0] = inside[:3, 1] = inside[:3, 2] = inside[3:, 3] = True
    unit = 2.0**-47
    problem = make_problem(
        inside, [0.25, 0.25 + 0.75 * unit, 0.25 + 0.625 * unit, 0.25], [1] * 6, 0.25
    )
    optimum = Fraction(1) + Fraction(0.625 * unit)
    solution = solve(problem)
    assert Fraction(solution.lower_bound) <= optimum
    assert solution.objective == float(optimum) or solution.status == "optimal up to rounding"
    assert verify(problem, solution).ok


def test_progress_is_shown_on_request(capsys):
    solve(odd_cycle(), verbose=1)
    assert "best" in capsys.readouterr().err


def test_auto_takes_local_search_where_the_problem_is_large(monkeypatch):
    problem = large_problem(60, 80, density=0.05)
    assert auto(problem, rng=np.random.default_rng(0)).status == "optimal"
    # The package's attribute of that name is the function; this is the module.
    monkeypatch.setattr(import_module("protocover.solvers.auto"), "_LARGEST_EXACT", 10)
    assert auto(problem, rng=np.random.default_rng(0)).status == "local optimum"


@pytest.mark.parametrize("seed", range(10))
def test_fixing_excludes_nothing_that_a_better_selection_needs(seed):
    problem = large_problem(30, 10, density=0.15, seed=seed)
    residual = Residual.of(problem)
    u = relax(residual).dual
    masks = np.array(np.meshgrid(*[[False, True]] * len(residual.cost))).reshape(
        len(residual.cost), -1
    )
    values = np.array([residual.value(np.flatnonzero(mask)) for mask in masks.T])
    for target in (values.min(), values.min() + 3 * residual.ties):
        fixed = probe(exclude(residual, u, target), u, target)
        kept = np.isin(residual.candidates, fixed.candidates)
        good = values <= target
        assert not masks[:, good][~kept].any()
        columns = [np.flatnonzero(mask[kept]) for mask in masks.T[good]]
        assert [fixed.value(c) for c in columns] == values[good].tolist()
    assert bound_of(residual, u)[0] <= values.min()


@pytest.mark.parametrize(
    "answer",
    [
        OptimizeResult(status=1, x=None, message="time limit"),
        OptimizeResult(status=0, x=np.ones(10), message="no duals"),
        OptimizeResult(status=4, x=np.ones(10), ineqlin=None, message="trouble"),
    ],
    ids=["time limit", "no duals", "numerical trouble"],
)
def test_a_relaxation_that_is_no_solution_is_not_used(monkeypatch, answer):
    monkeypatch.setattr(relaxation, "linprog", lambda *args, **kwargs: answer)
    assert relax(Residual.of(odd_cycle())) is None
    solution = solve(odd_cycle())
    assert solution.objective == 3.0
    assert verify(odd_cycle(), solution).ok


def test_values_outside_the_box_are_brought_into_it(monkeypatch):
    lies = OptimizeResult(
        status=0,
        x=np.array([1e9, -1.0, np.nan, 1e9, 1e9]),
        ineqlin=OptimizeResult(marginals=np.full(5, -1.0 - 1e-6)),
        message="",
    )
    monkeypatch.setattr(relaxation, "linprog", lambda *args, **kwargs: lies)
    found = relax(Residual.of(odd_cycle()))
    assert found.fraction.max() == 1.0
    assert found.dual.min() == 0.0
    solution = solve(odd_cycle())
    assert solution.lower_bound <= 3.0 == solution.objective


@pytest.mark.parametrize(
    ("x", "bound"),
    [
        (None, None),
        (np.zeros(11), 0.0),
        (np.full(11, np.nan), np.nan),
        (np.full(11, 0.4), -np.inf),
    ],
    ids=["nothing", "false optimum", "not a number", "fractional"],
)
def test_an_incumbent_that_does_not_reproduce_its_objective_is_not_used(monkeypatch, x, bound):
    answer = OptimizeResult(status=1, x=x, mip_dual_bound=bound, message="")
    monkeypatch.setattr(tree, "milp", lambda *args, **kwargs: answer)
    residual = Residual.of(odd_cycle())
    found = search_tree(residual, target=3.0 * residual.ties)
    assert found.columns is None
    assert found.bound <= 0.0


def test_a_bound_above_the_value_of_its_own_selection_is_not_believed(monkeypatch):
    x = np.zeros(11)
    x[[0, 2, 4]] = 1.0
    answer = OptimizeResult(status=0, x=x, mip_dual_bound=5.0, message="")
    monkeypatch.setattr(tree, "milp", lambda *args, **kwargs: answer)
    found = search_tree(Residual.of(odd_cycle()).plain(), 4.0)
    assert found.columns.tolist() == [0, 2, 4]
    assert found.bound == 3.0


def test_highs_is_told_not_to_stop_at_a_relative_gap(monkeypatch):
    """Its default of one in ten thousand calls objectives optimal that are not."""
    told = {}
    answer = OptimizeResult(status=1, x=None, mip_dual_bound=None, message="")
    monkeypatch.setattr(tree, "milp", lambda *args, **kwargs: told.update(kwargs) or answer)
    search_tree(Residual.of(odd_cycle()).plain(), 2.0)
    assert told["options"]["mip_rel_gap"] == 0.0


def test_giving_up_means_that_nothing_better_exists():
    residual = Residual.of(odd_cycle()).plain()
    assert search_tree(residual, 2.0).columns is None
    assert search_tree(residual, 2.0).bound == 3.0
    found = search_tree(residual, 3.0)
    assert residual.value(found.columns) == 3.0 == found.bound


def test_what_is_not_used_is_logged(monkeypatch, caplog):
    answer = OptimizeResult(status=0, x=np.zeros(11), mip_dual_bound=0.0, message="")
    monkeypatch.setattr(tree, "milp", lambda *args, **kwargs: answer)
    with caplog.at_level(logging.INFO, logger="protocover"):
        search_tree(Residual.of(odd_cycle()).plain(), 2.0)
    assert "not used" in caplog.text
