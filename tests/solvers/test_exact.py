"""The exact solver: its limits, interrupts, and bounds that do not depend on HiGHS."""

from __future__ import annotations

import math
import signal
import sys
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from covers import large_problem, make_problem

from protocover._cover import verify
from protocover.solvers import _lp as lp
from protocover.solvers import exact, greedy
from protocover.solvers._dense_stages import relaxed, with_tree
from protocover.solvers._residual import Packing, Residual, bound_of, leave_possible, relax
from protocover.solvers._state import EXACT, State, Stop, begin


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
    assert solution.certificate == "verified"
    assert solution.status == "optimal"


def test_what_no_vector_closes_branch_and_bound_does():
    """Two odd cycles: the relaxation says 5, the optimum is 6."""
    one = odd_cycle().cover.toarray()
    inside = np.block([[one, np.zeros_like(one)], [np.zeros_like(one), one]])
    solution = solve(make_problem(inside, np.zeros(10), np.full(10, 10.0), 1.0))
    assert solution.objective == solution.lower_bound == 6.0
    assert solution.certificate == "verified"
    assert solution.proof.n_leaves > 1
    found = verify(make_problem(inside, np.zeros(10), np.full(10, 10.0), 1.0), solution)
    assert found.ok
    assert found.lower_bound == 6.0


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
    problem = make_problem(np.ones((10, 2)), [6.0, 5.0], np.ones(10), 1.0)
    full, stop = Residual.of(problem).plain(), Stop(gap=0.25)
    assert stop.target(7.0) == 5.0
    dual = np.full(10, 0.5)
    state = State(
        problem, full, np.ones(2, bool), True, np.array([0]), 7.0, 5.0, dual, np.array([0])
    )
    state, tree = with_tree(state, EXACT, stop, 0)
    tree.grow()
    assert tree.left.cover.shape[1] == 0
    assert state.grown(tree).bound == 6.0


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


@pytest.mark.parametrize("seed", range(4))
def test_fixing_excludes_nothing_that_a_better_selection_needs(seed):
    problem = large_problem(30, 10, density=0.15, seed=seed)
    residual = Residual.of(problem)
    u = relax(residual).dual
    masks = np.array(np.meshgrid(*[[False, True]] * len(residual.cost))).reshape(
        len(residual.cost), -1
    )
    values = np.array([residual.value(np.flatnonzero(mask)) for mask in masks.T])
    for target in (values.min(), values.min() + 3 * residual.ties):
        fixed = leave_possible(residual, u, target)
        kept = np.isin(residual.candidates, fixed.candidates)
        good = values <= target
        assert not masks[:, good][~kept].any()
        columns = [np.flatnonzero(mask[kept]) for mask in masks.T[good]]
        assert [fixed.value(c) for c in columns] == values[good].tolist()
    assert bound_of(residual, u)[0] <= values.min()


@pytest.mark.parametrize("deadline", [-math.inf, 0.0])
def test_a_relaxation_that_was_not_solved_is_not_used(monkeypatch, deadline):
    assert relax(Residual.of(odd_cycle()), deadline=deadline) is None
    monkeypatch.setattr(lp._HighspyPacking, "_run", lambda *args: False)
    solution = solve(odd_cycle(), max_nodes=3)
    assert solution.objective == 3.0
    assert verify(odd_cycle(), solution).ok


def test_values_outside_the_box_are_brought_into_it(monkeypatch):
    """A payment far too large, one below zero and one that is no number."""
    lies = SimpleNamespace(
        col_value=[1e9, -1.0, math.nan, 1e9, 1e9],
        row_dual=[-1.0 - 1e-6, 1.0, math.nan, -1.0, -1.0],
    )
    honest = lp._highspy().Highs

    class Lying(honest):
        def getSolution(self):
            return lies

    monkeypatch.setattr(lp._highspy(), "Highs", Lying)
    found = relax(Residual.of(odd_cycle()))
    assert found.fraction.max() == 1.0
    assert found.fraction.min() == found.dual.min() == 0.0
    solution = solve(odd_cycle())
    assert solution.lower_bound <= 3.0 == solution.objective


@pytest.fixture
def listening():
    """Hear Ctrl-C as in a shell's foreground; a process in its background may ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _press_ctrl_c(function):
    """Return the function as it is when Ctrl-C is pressed in its midst."""

    def interrupted(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)
        return function(*args, **kwargs)

    return interrupted


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("protocover.solvers._state", "choose_by_drop"),
        ("protocover.solvers._local_search", "_shake"),
        ("protocover.solvers._branch_and_bound", "merge_identical_points"),
        ("protocover.solvers._branch_and_bound", "branch_on"),
    ],
)
@pytest.mark.usefixtures("listening")
def test_ctrl_c_ends_every_stage(module, name, monkeypatch):
    there = sys.modules[module]
    monkeypatch.setattr(there, name, _press_ctrl_c(getattr(there, name)))
    with pytest.raises(KeyboardInterrupt):
        solve(large_problem(60, 90, density=0.1))


@pytest.mark.usefixtures("listening")
@pytest.mark.parametrize("moment", [1, 2, 30])
def test_ctrl_c_while_highs_is_at_work_ends_it_at_the_next_iteration(moment, monkeypatch):
    """And the packing can be solved again, by another HiGHS."""
    residual = Residual.of(large_problem(60, 90, density=0.1)).plain()
    calls, program = [], Packing(residual)

    class Interrupted(lp._Watch):
        def __call__(self, *told):
            calls.append(told)
            if len(calls) == moment:
                signal.raise_signal(signal.SIGINT)
            super().__call__(*told)

    with monkeypatch.context() as patch:
        patch.setattr(lp, "_Watch", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            relax(residual, packing=program)
    assert len(calls) == moment
    assert relax(residual, packing=program).value == relax(residual).value


def test_the_simplex_method_is_run_at_one_go(monkeypatch):
    """In slices, each with its costs perturbed anew, it may never come to an end."""
    runs = []

    class Counted(lp._highspy().Highs):
        def run(self):
            runs.append(super().run())

    monkeypatch.setattr(lp._highspy(), "Highs", Counted)
    residual = Residual.of(large_problem(300, 400, density=0.03)).plain()
    found = Packing(residual)
    assert found.solve(residual.cost, residual.prize).solved
    assert found._program._highs.getInfo().simplex_iteration_count > 100
    assert len(runs) == 1


def test_the_vector_proves_what_the_program_of_all_candidates_would():
    """Candidates that the program was begun without are taken in where it overpays them."""
    problem = large_problem(80, 120, density=0.08)
    whole, rng = Residual.of(problem).plain(), np.random.default_rng(0)
    value = relax(whole).value * float(whole.unit)
    begun = begin(problem, greedy(problem), EXACT)
    for _ in range(5):
        keep = rng.permutation(len(whole.candidates)) >= len(whole.candidates) // 10
        keep |= np.isin(whole.candidates, begun.selected)
        state = replace(begun, full=Residual.of(problem, keep), keep=keep)
        state = relaxed(state, EXACT, Stop())
        assert problem.lower_bound(state.dual) >= value * (1.0 - 1e-7)
