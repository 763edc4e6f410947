"""Balls of several radii a candidate: the problem in shells against the one written out."""

from __future__ import annotations

import numpy as np
import pytest
from covers import make_problem
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from protocover._cover import CoverProblem, CoverSolution, first_cover, verify
from protocover.solvers import greedy, ratio_greedy
from protocover.solvers._duals import ascend, mend
from protocover.solvers._registry import SOLVERS


@st.composite
def nested_problems(draw, max_points=7, max_candidates=4, max_radii=3):
    """A small problem in shells, and the same with a column written out for each ball."""
    n = draw(st.integers(1, max_points))
    sizes = draw(st.lists(st.integers(1, max_radii), max_size=max_candidates))
    shells, first, wrong, columns = [], [], [], []
    weight = st.sampled_from(draw(st.sampled_from([[1.0], [0.5, 1.0, 2.0], [0.0, 0.25, 3.0]])))
    for k in sizes:
        # The shell each point lies in, of which the last is beyond all balls.
        place = np.array(draw(st.lists(st.integers(0, k), min_size=n, max_size=n)))
        rising = np.cumsum(draw(st.lists(weight, min_size=k, max_size=k)))
        first += [len(first)] * k
        for level in range(k):
            shells.append(place == level)
            columns.append(place <= level)
            wrong.append(rising[level])
    prize = np.array(draw(st.lists(weight, min_size=n, max_size=n)))
    cost = draw(st.sampled_from([0.0, 1 / 7, 0.25, 1.0]))
    parts = np.array(shells, dtype=bool).reshape(len(shells), n).T
    inside = np.array(columns, dtype=bool).reshape(len(columns), n).T
    problem = CoverProblem(parts, np.array(wrong), prize, cost, first=first)
    return problem, make_problem(inside, wrong, prize, cost)


def small():
    """Two candidates: balls of 1 and 3 points, and one ball of 2."""
    shells = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]], dtype=bool)
    return CoverProblem(shells, [0.0, 1.0, 0.0], np.ones(4), 0.25, first=[0, 0, 2])


def same_table(one, other):
    np.testing.assert_array_equal(one.toarray(), other.toarray())
    assert one.has_sorted_indices


@given(nested_problems())
def test_it_is_the_problem_with_a_column_for_each_ball(pair):
    ours, plain = pair
    same_table(ours.cover, plain.cover)
    assert ours.n_points == plain.n_points
    assert ours.n_candidates == plain.n_candidates
    assert ours.n_memberships == plain.n_memberships
    assert ours.grid == plain.grid
    assert ours.step == plain.step
    assert ours.weight_step == plain.weight_step
    np.testing.assert_array_equal(ours.cost, plain.cost)
    np.testing.assert_array_equal(ours.n_holders, plain.n_holders)
    np.testing.assert_array_equal(ours.prize_sums(), plain.prize_sums())
    np.testing.assert_array_equal(ours.worthwhile, plain.worthwhile)
    same_table(ours.core.cover, plain.core.cover)
    for column in range(plain.n_candidates):
        assert sorted(ours.ball(column)) == plain.ball(column).tolist()
    for point in range(plain.n_points):
        assert sorted(ours.columns_with(point)) == plain.columns_with(point).tolist()


@given(nested_problems(), st.randoms(use_true_random=False))
def test_any_choice_of_balls_is_worth_the_same(pair, random):
    ours, plain = pair
    chosen = random.sample(range(plain.n_candidates), random.randint(0, plain.n_candidates))
    chosen = np.array(chosen, dtype=np.intp)
    same_table(ours.members(chosen), plain.members(chosen))
    expected = float(naive.exact_value(plain, chosen))
    assert ours.objective(chosen) == plain.objective(chosen) == expected
    np.testing.assert_array_equal(first_cover(ours, chosen), first_cover(plain, chosen))
    assert ours.at_cost(0.75).objective(chosen) == plain.at_cost(0.75).objective(chosen)
    some = np.sort(chosen)
    narrow, apart = ours.narrowed(some), plain.narrowed(some)
    same_table(narrow.cover, apart.cover)
    np.testing.assert_array_equal(narrow.wrong, apart.wrong)
    owners = ours.first[some]
    assert (ours.first[some[narrow.first]] == owners).all()
    larger = [any(k > j and ours.first[k] == ours.first[j] for k in chosen) for j in chosen]
    assert ours.outermost(chosen).tolist() == [not inner for inner in larger]


@given(nested_problems(), st.data())
def test_sums_over_shells_add_up_to_those_over_balls(pair, data):
    ours, plain = pair
    uncovered = np.array(
        data.draw(st.lists(st.booleans(), min_size=ours.n_points, max_size=ours.n_points))
    )
    for values in (ours.prize * uncovered, uncovered.astype(np.intp)):
        in_parts = ours.parts.T @ values
        np.testing.assert_array_equal(ours.accumulated(in_parts), plain.cover.T @ values)
        for size in (1, 2, 100):
            blocks = ours.blocks(size)
            assert [k for b in blocks for k in range(b.start, b.stop)] == list(
                range(plain.n_candidates)
            )
            for block in blocks:
                np.testing.assert_array_equal(
                    ours.accumulated(in_parts, block), (plain.cover.T @ values)[block]
                )


@given(nested_problems(), st.data())
def test_bounds_are_those_of_the_problem_written_out(pair, data):
    ours, plain = pair
    number = st.floats(0, 3)
    dual = np.array(data.draw(st.lists(number, min_size=ours.n_points, max_size=ours.n_points)))
    assert ours.exact_bound(dual) == plain.exact_bound(dual)
    assert ours.exact_bound(dual) <= naive.exact_optimum(plain)[0]
    for vector in (ascend(ours), mend(ours, dual)):
        assert (vector >= 0.0).all()
        assert (ours.snap(vector) <= ours.prize).all()
        assert ours.exact_bound(vector) == plain.exact_bound(vector)


@given(nested_problems())
def test_the_greedy_takes_the_same_balls(pair):
    ours, plain = pair
    one, other = greedy(ours), greedy(plain)
    assert one.selected.tolist() == other.selected.tolist()
    assert one.score.tolist() == other.score.tolist()
    assert one.newly_covered.tolist() == other.newly_covered.tolist()
    assert one.objective == other.objective
    assert verify(ours, one).ok
    assert verify(plain, one).ok


@given(nested_problems())
def test_the_ratio_greedy_takes_the_same_balls_and_drops_those_inside_others(pair):
    ours, plain = pair
    one, other = ratio_greedy(ours), ratio_greedy(plain)
    outer = ours.outermost(other.selected)
    assert one.selected.tolist() == other.selected[outer].tolist()
    assert one.objective == plain.objective(other.selected[outer]) <= other.objective
    assert verify(ours, one).ok


@settings(max_examples=40)
@pytest.mark.parametrize("name", ["exact", "local-search", "lp-rounding", "auto"])
@given(pair=nested_problems())
def test_every_other_solver_reaches_the_same_objective(name, pair):
    ours, plain = pair
    one = SOLVERS[name](ours, rng=np.random.default_rng(0))
    other = SOLVERS[name](plain, rng=np.random.default_rng(0))
    assert one.objective == other.objective
    assert one.lower_bound == other.lower_bound
    assert verify(ours, one).ok
    assert verify(plain, one).ok
    if name == "exact":
        least, fewest = naive.exact_optimum(plain)
        assert (one.objective, len(one.selected)) == (float(least), fewest)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_budget_is_kept(name):
    for budget in (0, 1, 2):
        found = SOLVERS[name](small(), rng=np.random.default_rng(0), max_prototypes=budget)
        assert len(found.selected) <= budget
        assert verify(small(), found).ok


def test_a_candidate_s_balls_are_written_out_one_inside_the_other():
    assert small().cover.toarray().astype(int).tolist() == [
        [1, 1, 0],
        [0, 1, 1],
        [0, 1, 0],
        [0, 0, 1],
    ]
    assert small().n_memberships == 6
    assert small().parts.nnz == 5
    assert CoverSolution.of(small(), [1]).newly_covered.tolist() == [3]


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("first", [0, 0], r"for each of 3 candidates, got \[0 0\]"),
        ("wrong", [0.0], r"one prize per point and one wrong weight per candidate"),
        ("prize", [1.0], r"a cover of 4 points x 3 candidates needs .* got shapes \(1,\)"),
        (
            "first",
            [1, 1, 2],
            r"first must name the smallest ball of each chain.*got \[1 1 2\]",
        ),
        ("first", [0, 1, 0], r"whose balls are adjacent.*got \[0 1 0\]"),
        ("prize", [0.1, 0.2, 0.3, 1.0], r"prizes must be multiples .*snap_weights makes them so"),
        ("prototype_cost", -1.0, r"prototype_cost must be a finite number not below 0"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(part, value, message):
    given_parts = {
        "cover": small().parts,
        "first": [0, 0, 2],
        "wrong": [0.0, 1.0, 0.0],
        "prize": np.ones(4),
        "prototype_cost": 0.25,
    }
    with pytest.raises(ValueError, match=message):
        CoverProblem(**{**given_parts, part: value})


def test_candidates_without_balls_and_points_without_candidates_are_borne():
    for n in (0, 3):
        empty = CoverProblem(np.empty((n, 0), bool), [], np.ones(n), 0.5, first=[])
        assert empty.cover.shape == (n, 0)
        assert empty.n_memberships == 0
        assert empty.blocks(4) == []
        for name in SOLVERS:
            found = SOLVERS[name](empty, rng=np.random.default_rng(0))
            assert (found.objective, found.gap) == (float(n), 0.0)
