"""A time limit for several problems is spent: what one saves the open ones get."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
import pytest
from covers import large_problem, make_problem

from protocover._cover import verify
from protocover.solvers import _rounds as rounds_module
from protocover.solvers import exact, greedy
from protocover.solvers._rounds import solve_together


class Clock:
    """A clock that moves only when someone works."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


class Work:
    """A search that needs so many seconds and is so far from its end by then."""

    def __init__(self, clock, log, name, needed, open_share=0.1):
        self.clock, self.log, self.name, self.left = clock, log, name, needed
        self.open_share, self.is_finished = open_share, False

    def go_on(self, seconds=None):
        spent = self.left if seconds is None else min(seconds, self.left)
        self.clock.now += spent
        self.left -= spent
        self.is_finished = self.left <= 1e-12
        self.log.append((self.name, spent))

    def solution(self):
        return self.name


def shared_out(monkeypatch, needed, limit, gaps=None):
    """Let searches that need so many seconds share a limit; return who worked when."""
    clock, log = Clock(), []
    gaps = gaps or [0.1] * len(needed)
    work = iter(
        Work(clock, log, *told) for told in zip(range(len(needed)), needed, gaps, strict=True)
    )
    monkeypatch.setattr(rounds_module, "time", clock)
    monkeypatch.setattr(rounds_module, "_begin", lambda *args, **kwargs: next(work))
    nothing = [None] * len(needed)
    solve_together(exact, nothing, rngs=nothing, budgets=nothing, options={"time_limit": limit})
    return clock.now, log


def test_what_easy_problems_save_goes_to_the_hard_one_even_if_it_comes_first(monkeypatch):
    spent, log = shared_out(monkeypatch, [7.0, 0.1, 0.1, 0.1], 8.0)
    assert spent == pytest.approx(7.3)
    assert [name for name, _ in log[:5]] == [0, 1, 2, 3, 0]
    assert log[0][1] == pytest.approx(1.0)


def test_a_limit_that_does_not_suffice_is_spent_to_the_end(monkeypatch):
    spent, _ = shared_out(monkeypatch, [50.0] * 5, 10.0)
    assert spent == pytest.approx(10.0)


def test_those_still_open_go_on_smallest_gap_first(monkeypatch):
    _, log = shared_out(monkeypatch, [9.0, 9.0, 9.0], 12.0, gaps=[0.3, 0.1, 0.2])
    assert [name for name, _ in log[:6]] == [0, 1, 2, 1, 2, 0]


def test_no_limit_is_one_round(monkeypatch):
    spent, log = shared_out(monkeypatch, [3.0, 4.0], None)
    assert spent == 7.0
    assert log == [(0, 3.0), (1, 4.0)]


def test_no_time_at_all_gives_each_its_first_look(monkeypatch):
    _, log = shared_out(monkeypatch, [3.0, 4.0], 0.0)
    assert [name for name, _ in log] == [0, 1]


def test_a_solver_that_cannot_go_on_gets_equal_shares_of_all_the_time():
    shares = []

    def hasty(problem, *, rng, max_prototypes=None, time_limit=None):
        shares.append(time_limit)
        return greedy(problem)

    nothing = [None] * 2
    problems = [make_problem(np.eye(2), np.zeros(2), np.ones(2), 0.5)] * 2
    solve_together(hasty, problems, rngs=nothing, budgets=nothing, options={"time_limit": 8.0})
    assert shares == [pytest.approx(4.0, abs=0.5), pytest.approx(8.0, abs=0.5)]


@pytest.mark.parametrize("looks", [6.0, 10.0, 20.0])
def test_many_short_rounds_prove_what_one_long_one_does(looks, monkeypatch):
    """Cut short after every few looks at the clock, it goes on to the same proof."""
    problem = large_problem(60, 90, density=0.1)
    whole = exact(problem, rng=np.random.default_rng(0))
    search = rounds_module.Search.exact(problem, rng=np.random.default_rng(0))
    ticks = 0.0

    def tick():
        nonlocal ticks
        ticks += 1.0
        return ticks

    monkeypatch.setattr(time, "monotonic", tick)
    rounds = 0
    while not search.is_finished:
        search.go_on(looks)
        found = search.solution()
        rounds += 1
        assert verify(problem, found).ok
        assert found.lower_bound <= whole.objective <= found.objective
        assert math.isfinite(search.open_share)
    assert rounds > 1
    assert (found.objective, found.status) == (whole.objective, "optimal")


def test_options_that_are_set_already_reach_the_search():
    problem = large_problem(60, 90, density=0.1)
    told = {"rngs": [np.random.default_rng(0)], "budgets": [None]}
    solver = partial(exact, max_nodes=0)
    options = {"time_limit": 60.0, "patience": 0}
    (solution,) = solve_together(solver, [problem], options=options, **told)
    assert solution.status == "node limit"
