"""The default's trees share one effort: what one saves others get, and enough is enough."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from covers import large_problem

from protocover._cover import verify
from protocover.solvers import _search as effort
from protocover.solvers import auto, greedy
from protocover.solvers._rounds import solve_together
from protocover.solvers._search import Search, grow_together
from protocover.solvers._state import AUTO


class Tree:
    """A search whose bound rises to the objective by equal steps, one a node."""

    def __init__(self, log, name, needed, *, candidates=100, pairs=0, objective=100.0, open_at=90):
        self.log, self.name, self.needed = log, name, needed
        self.n_candidates_left, self.n_pairs, self.n_memberships = candidates, pairs, 0
        self.objective, self._from = objective, float(open_at)
        self.n_nodes = 0

    @property
    def is_open(self):
        return self.n_nodes < self.needed

    @property
    def lower_bound(self):
        done = self.n_nodes / self.needed if self.needed else 1.0
        return self._from + (self.objective - self._from) * done

    def grow(self, max_nodes, deadline):
        assert max_nodes >= 0
        grown = min(max_nodes, self.needed - self.n_nodes)
        self.n_nodes += grown
        self.log.append((self.name, grown))


@pytest.fixture
def plain(monkeypatch):
    """A credit of one for each pair, of which a node takes a hundred."""
    monkeypatch.setattr(effort, "_LEAST_CREDIT", 0)
    monkeypatch.setattr(effort, "_PAIRS_A_CREDIT", 1)
    monkeypatch.setattr(effort, "_ANY_NODE", 0)


def nodes(trees):
    return [tree.n_nodes for tree in trees]


def test_what_one_tree_saves_the_next_ones_get(plain):
    """Ten nodes for two: the first needs one, so that the second has nine."""
    trees = [Tree([], 0, 1, pairs=500, open_at=99.9), Tree([], 1, 50, pairs=500, open_at=99)]
    grow_together(trees)
    assert nodes(trees) == [1, 9]


def test_members_of_balls_are_effort_too(plain, monkeypatch):
    """Five nodes for the pairs, and two more for the members."""
    monkeypatch.setattr(effort, "_MEMBERS_A_CREDIT", 2)
    tree = Tree([], 0, 50, pairs=500, open_at=99.5)
    tree.n_memberships = 400
    grow_together([tree])
    assert tree.n_nodes == 7


def test_what_the_last_tree_saves_the_first_ones_get(plain):
    trees = [Tree([], 0, 50, pairs=500, open_at=99), Tree([], 1, 1, pairs=500, open_at=99.9)]
    grow_together(trees)
    assert nodes(trees) == [9, 1]


def test_the_smallest_tree_is_first_and_a_node_of_a_large_one_costs_more(plain):
    log = []
    trees = [
        Tree(log, "large", 50, candidates=400, pairs=1000, open_at=99.5),
        Tree(log, "small", 50, candidates=100, pairs=1000, open_at=99.5),
    ]
    grow_together(trees)
    assert log[0][0] == "small"
    assert nodes(trees) == [2, 12]  # a thousand each; what two nodes leave pays for two more


def test_beyond_the_credit_trees_grow_until_a_hundredth_of_all_is_left():
    """No pairs, no credit but the least; a per cent of both together, not of each."""
    easy = Tree([], "closed", 0, objective=900.0, open_at=900)
    hard = Tree([], "hard", 40, candidates=10**6, objective=100.0, open_at=80)
    grow_together([easy, hard])  # half of what is open is a hundredth of a thousand
    assert hard.n_nodes == 20


def test_a_tree_that_goes_on_for_ever_is_left_in_the_end():
    hard = Tree([], "hard", 10**9)
    grow_together([hard])
    assert hard.n_nodes == effort._MOST_NODES


def test_what_is_as_good_as_closed_gets_more(plain):
    near = Tree([], "near", 50, pairs=500, open_at=99.99)
    wide = Tree([], "wide", 50, pairs=500, open_at=99.5)
    for tree in (near, wide):
        grow_together([tree])
    assert nodes([wide, near]) == [5, 5 * (1 + effort._MORE)]


def test_time_that_is_up_ends_it_and_nothing_open_is_nothing_to_do():
    tree = Tree([], 0, 10**6)
    grow_together([tree], deadline=time.monotonic())
    assert tree.n_nodes == 0
    closed = Tree([], 1, 0)
    grow_together([closed])
    assert closed.n_nodes == 0
    grow_together([])


def begun(problem):
    search = Search(problem)
    search.go_on()
    return search


def hard_problems():
    return [large_problem(120, 200, density=density) for density in (0.05, 0.06, 0.07)]


def test_while_a_tree_grows_its_search_tells_how_far_it_is():
    """Objective and bound close in on one another, and hold at every node."""
    problem = hard_problems()[1]
    search = begun(problem)
    assert search.is_open
    known = [(search.lower_bound, search.objective)]
    for _ in range(5):
        search.grow(1, math.inf)
        known.append((search.lower_bound, search.objective))
    bounds, objectives = (np.array(column) for column in zip(*known, strict=True))
    assert (np.diff(bounds) >= 0.0).all()
    assert (np.diff(objectives) <= 0.0).all()
    assert (bounds <= objectives).all()
    solution = search.solution()
    assert (solution.lower_bound, solution.objective) == pytest.approx(known[-1])
    assert verify(problem, solution).ok


@pytest.mark.parametrize("light", [False, True])
def test_problems_solved_together_are_proved_to_within_a_hundredth(light, monkeypatch):
    """Whether or not what waits for others is made light."""
    monkeypatch.setattr(effort, "_MOST_NODES", 1000)
    problems = hard_problems()
    limits = replace(AUTO, heavy=-1) if light else AUTO
    searches = [Search(problem, limits) for problem in problems]
    for search in searches:
        search.go_on()
    grow_together(searches)
    found = [search.solution() for search in searches]
    for problem, solution in zip(problems, found, strict=True):
        assert verify(problem, solution).ok
        assert solution.objective <= greedy(problem).objective
    objective = sum(solution.objective for solution in found)
    assert sum(solution.lower_bound for solution in found) >= 0.99 * objective


def test_a_time_limit_for_several_is_said_of_those_it_cut_short():
    problems = hard_problems()
    nothing = [None] * len(problems)
    options = {"time_limit": 0.0}
    found = solve_together(auto, problems, rngs=nothing, budgets=nothing, options=options)
    assert [solution.status for solution in found] == ["time limit"] * 3
