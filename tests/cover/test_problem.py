"""Problems: validation, exact objectives and bounds, sums over balls, and plain set covers."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csc_matrix, csr_array

import naive
from protocover._cover import (
    CoverProblem,
    CoverSolution,
    ball_sums,
    decimal_fractions,
    exact_sum,
    first_cover,
    relative_gap,
    simplest_fraction,
)
from protocover._cover.table import line_members


def small(wrong=(0.0, 1.0, 0.0), prize=(1.0, 1.0, 1.0, 1.0), cost=0.25):
    inside = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    return CoverProblem(csc_array(inside), np.array(wrong), np.array(prize), cost)


def test_the_shapes_of_a_problem_must_fit():
    with pytest.raises(ValueError, match="one prize per point and one wrong weight per candidate"):
        CoverProblem(csc_array((2, 3), dtype=bool), np.zeros(2), np.ones(2), 1.0)


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("wrong", [0.0, -1.0, 0.0], r"wrong must hold finite numbers not below 0, got -1\.0"),
        ("wrong", [0.0, np.nan, 0.0], r"wrong must hold finite numbers not below 0, got nan"),
        ("prize", [1.0, 1.0, np.inf, 1.0], r"prize must hold finite numbers .* got inf"),
        ("prize", [1.0, 1.0, -0.5, 1.0], r"prize must hold finite numbers .* got -0\.5"),
        ("prize", [1e308, 1e308, 1.0, 1.0], r"prize must have a sum that is a finite number"),
        ("prize", ["a", "b", "c", "d"], r"prize must be an array of numbers, got"),
        ("prototype_cost", -0.25, r"prototype_cost must be a finite number not below 0, got -0"),
        ("prototype_cost", np.nan, r"prototype_cost must be a finite number .* got nan"),
        ("prototype_cost", np.inf, r"prototype_cost must be a finite number .* got inf"),
        ("prototype_cost", None, r"prototype_cost must be a finite number .* got None"),
        ("prototype_cost", "1", r"prototype_cost must be a finite number .* got '1'"),
        ("cover", np.full((4, 3), 0.5), r"cover must hold True and False.*got 0\.5; compare"),
        ("cover", np.full((4, 3), np.nan), r"cover must hold True and False.*got nan"),
        ("cover", np.ones(4, dtype=bool), r"cover must be a table .* got 1 dimensions of bool"),
        ("cover", [["yes"] * 3] * 4, r"cover must be a table .* got 2 dimensions of <U3"),
    ],
)
def test_invalid_parts_of_a_problem_are_rejected(part, value, message):
    names = ("cover", "wrong", "prize", "prototype_cost")
    given = {name: getattr(small(), name) for name in names}
    with pytest.raises(ValueError, match=message):
        CoverProblem(**{**given, part: value})


def test_a_cover_with_invalid_indices_is_rejected():
    cover = small().cover.copy()
    cover.indices[-1] = 9
    with pytest.raises(ValueError, match="cover is no valid sparse table"):
        CoverProblem(cover, np.zeros(3), np.ones(4), 0.25)


def odd_covers():
    """The same cover in every form that SciPy and NumPy have for it."""
    plain = small().cover
    inside = plain.toarray()
    stored = csc_array(np.ones((4, 3), dtype=bool))
    stored.data[:] = inside.T.ravel()
    backwards = csc_array(
        (plain.data, plain.indices.copy(), plain.indptr), shape=plain.shape, copy=True
    )
    for start, stop in pairwise(backwards.indptr):
        backwards.indices[start:stop] = backwards.indices[start:stop][::-1]
    twice = csc_array(
        (np.ones(2 * plain.nnz, dtype=bool), np.repeat(plain.indices, 2), 2 * plain.indptr),
        shape=plain.shape,
    )
    forms = {
        "False stored": stored,
        "unsorted": backwards,
        "members twice": twice,
        "rows": csr_array(inside),
        "pairs": coo_array(inside),
        "matrix": csc_matrix(inside),
        "dense": inside,
        "whole numbers": csc_array(inside.astype(np.int8)),
        "floats": inside.astype(float),
        "lists": inside.tolist(),
    }
    return [pytest.param(form, id=name) for name, form in forms.items()]


@pytest.mark.parametrize("form", odd_covers())
def test_any_form_of_a_cover_is_converted_and_not_changed(form):
    before = form.copy()
    problem = CoverProblem(form, [0, 1, 0], [1, 1, 1, 1], 0.25)
    assert problem.prize_sums().tolist() == small().prize_sums().tolist()
    assert isinstance(problem.cover, csc_array)
    assert problem.cover.dtype == bool
    np.testing.assert_array_equal(problem.cover.indices, small().cover.indices)
    np.testing.assert_array_equal(problem.cover.indptr, small().cover.indptr)
    if isinstance(form, csc_array):
        np.testing.assert_array_equal(form.indices, before.indices)
        np.testing.assert_array_equal(form.data, before.data)


def test_the_weights_of_a_problem_are_read_only():
    prize = np.ones(3)
    problem = CoverProblem(np.eye(3, dtype=bool), np.zeros(3), prize, 0.5)
    for numbers in (problem.prize, problem.wrong):
        with pytest.raises(ValueError, match="read-only"):
            numbers[0] = 0.0
    prize[0] = 2.0  # the array given stays the caller's


def test_a_canonical_cover_is_not_copied():
    cover = small().cover
    assert CoverProblem(cover, np.zeros(3), np.ones(4), 0.25).cover is cover


@pytest.mark.parametrize("least", [5e-324, 2.0**-1060])
def test_tiny_prizes_have_valid_bounds(least):
    """The grid is at least the smallest positive float."""
    problem = small(wrong=(0.0, least, 0.0), prize=(least,) * 4, cost=0.0)
    assert problem.on_grid
    assert problem.lower_bound(problem.prize) <= float(naive.exact_optimum(problem)[0])
    assert problem.lower_bound(np.zeros(4)) == 0.0


@pytest.mark.parametrize("selected", [[], [1], [2, 0], [0, 1, 2]])
def test_the_objective_is_what_the_paper_writes(selected):
    assert small().objective(selected) == naive.objective(small(), selected)


@pytest.mark.parametrize(
    ("selected", "message"),
    [
        ([0, 3], "from 0 to 2, got 3"),
        ([-1], "from 0 to 2, got -1"),
        ([2, 0, 2], "must not repeat a candidate, got 2 2 times"),
        ([0.0, 1.0], "list of candidates' numbers, got an array of shape .* and float64"),
        ([True, False, True], r"and bool; np\.flatnonzero\(mask\) turns"),
        ([[0, 1]], r"shape \(1, 2\)"),
        (0, r"shape \(\)"),
    ],
)
def test_invalid_selections_are_rejected(selected, message):
    with pytest.raises(ValueError, match=message):
        small().objective(selected)
    with pytest.raises(ValueError, match=message):
        CoverSolution.of(small(), selected)


@pytest.mark.parametrize(
    ("number", "fraction"),
    [
        (1 / 7291, Fraction(1, 7291)),
        (0.1, Fraction(1, 10)),
        (6.0, Fraction(6)),
        (0.0, Fraction(0)),
    ],
)
def test_the_exact_cost_is_the_simplest_fraction_that_rounds_to_it(number, fraction):
    assert simplest_fraction(number) == fraction
    assert small(cost=number).exact_cost == fraction


@given(st.floats(0, 1e300))
def test_the_simplest_fraction_rounds_to_its_number(number):
    assert float(simplest_fraction(number)) == number


def test_decimals_are_exact():
    numbers = [0.1, 0.0, 2.0, 0.125, 1e-9, 19.99, 1e300, 1e-300, 1 / 3, 0.1 + 0.2]
    exact = [Fraction(1, 10), 0, 2, Fraction(1, 8), Fraction(1, 10**9), Fraction(1999, 100)]
    exact += [Fraction(number) for number in numbers[6:]]
    assert decimal_fractions(np.array(numbers)) == exact
    assert decimal_fractions(np.empty(0)) == []


@given(st.lists(st.floats(0, 1e300), max_size=20))
def test_decimals_round_to_their_numbers(numbers):
    assert [float(one) for one in decimal_fractions(np.array(numbers))] == numbers


@given(st.lists(st.floats(-1e15, 1e15), max_size=20))
def test_a_sum_is_exact(numbers):
    assert exact_sum(np.array(numbers)) == sum(map(Fraction, numbers), Fraction(0))


@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0]), min_size=3, max_size=3),
    st.lists(st.sampled_from([0.0, 0.1, 0.7, 1.0]), min_size=4, max_size=4),
    st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 1.0]),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=4, max_size=4),
)
def test_no_vector_proves_too_much(wrong, prize, cost, dual):
    """Whatever it holds, on or off the grid, its bound is at most the enumerated optimum."""
    problem = small(wrong, prize, cost)
    assert problem.exact_bound(np.array(dual)) <= naive.exact_optimum(problem)[0]


def test_a_bound_is_rounded_up_to_what_an_objective_can_be():
    """With whole weights and prototypes at 1/4 the optimum is a multiple of 1/4."""
    assert small().step == Fraction(1, 4)
    assert small().lower_bound(np.array([0.05, 0.1, 0.1, 0.05])) == 0.5
    assert small(prize=(0.1, 0.2, 0.3, 0.4)).step <= Fraction(1, 2**50)


def test_the_core_has_only_worthwhile_candidates():
    problem = small(wrong=(1.75, 1.0, 3.0))
    assert problem.worthwhile.tolist() == [1]
    assert problem.core.n_candidates == 1


@pytest.mark.parametrize(("number", "above"), [(0.1, True), (0.3, False), (0.5, False)])
def test_an_amount_is_compared_with_the_exact_cost(number, above):
    """As a float 0.1 is a little above a tenth, 0.3 a little below three, 0.5 just a half."""
    cover = csc_array(np.array([[True]]))
    problem = CoverProblem(cover, np.zeros(1), np.array([number]), number)
    assert problem.above_cost(np.array([number])).tolist() == [above]
    assert naive.exact_optimum(problem)[1] == int(above)


def test_first_cover_is_the_place_of_the_first_ball():
    assert first_cover(small(), np.array([1, 2])).tolist() == [1, 0, 0, 1]
    assert first_cover(small(), np.array([], dtype=int)).tolist() == [0, 0, 0, 0]


def test_certificates_follow_from_vector_and_claim():
    problem = small()
    optimal, zeros = np.array([0.0, 0.25, 0.0, 0.25]), np.zeros(4)
    words = [
        CoverSolution.of(problem, [0, 2], dual=optimal),
        CoverSolution.of(problem, [0], dual=optimal),
        CoverSolution.of(problem, [0, 2], dual=zeros, claim=Fraction(1, 2)),
        CoverSolution.of(problem, [0], dual=zeros, claim=Fraction(1, 2)),
        CoverSolution.of(problem, [0]),
    ]
    assert [s.certificate for s in words] == [
        "verified",
        "verified",
        "solver",
        "solver",
        "none",
    ]
    assert [s.lower_bound for s in words] == [0.5, 0.5, 0.5, 0.5, -math.inf]
    assert words[0].gap == 0.0
    assert words[1].gap == pytest.approx(1.75 / 2.25)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (4.0, 3.0, 0.25),
        (4.0, 4.0, 0.0),
        (4.0, -math.inf, math.inf),
        (4.0, -4.0, 2.0),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, 0.0),
        (0.0, -math.inf, 0.0),
        (5e-324, -math.inf, math.inf),
    ],
)
def test_the_gap_is_relative_to_the_objective_also_at_zero(objective, bound, gap):
    """An objective of 0 is a sum of weights of which nothing can be saved."""
    assert relative_gap(objective, bound) == gap
    none = np.empty(0, dtype=np.intp)
    assert CoverSolution(none, np.empty(0), none, objective, bound).gap == gap


def test_a_prefix_keeps_bound_and_certificate():
    problem = small()
    optimal = np.array([0.0, 0.25, 0.0, 0.25])
    proved = CoverSolution.of(problem, [2, 0], dual=optimal, status="found", details={"a": 1})
    cut = proved.prefix(problem, 1)
    assert cut.selected.tolist() == [2]
    assert (cut.certificate, cut.lower_bound) == ("verified", 0.5)
    assert cut.objective == problem.objective([2])
    assert (cut.status, cut.details) == ("found", {"a": 1})
    said = CoverSolution.of(problem, [2, 0], claim=Fraction(1, 2)).prefix(problem, 1)
    assert (said.certificate, said.lower_bound) == ("solver", 0.5)
    assert said.prefix(problem, 0).objective == 4.0
    assert CoverSolution.of(problem, [2, 0]).prefix(problem, 1).certificate == "none"


def test_a_prefix_as_good_as_the_whole_keeps_the_solvers_claim():
    """A last choice that gains nothing may be cut off without losing the solver's proof."""
    tied = small(wrong=(0.75, 1.0, 0.0))
    whole = CoverSolution.of(tied, [2, 0], claim=Fraction(5, 4))
    assert whole.objective == tied.objective([2]) + 0.0
    assert whole.certificate == whole.prefix(tied, 1).certificate == "solver"


@pytest.mark.parametrize("strip", [1, 3, 7, 10_000])
def test_sums_over_balls_do_not_depend_on_the_strips(strip):
    rng = np.random.default_rng(0)
    table = rng.random((30, 20)) < 0.2
    table[:, [0, 7, 19]] = False
    values = rng.random(30)
    cover = csc_array(table)
    assert ball_sums(cover, values, strip=strip).tolist() == (cover.T @ values).tolist()
    nothing = csc_array((30, 0), dtype=bool)
    assert ball_sums(nothing, values, strip=strip).tolist() == []


@pytest.mark.parametrize("lines", [[], [3], [5, 0, 5], list(range(8))])
@pytest.mark.parametrize("n_rows", [6, 200])
@pytest.mark.parametrize("density", [0.0, 0.3])
def test_line_members_are_those_of_a_slice(lines, density, n_rows):
    inside = np.random.default_rng(0).random((n_rows, 8)) < density
    by_column, lines = csc_array(inside), np.array(lines, dtype=np.intp)
    expected = by_column[:, lines].indices.tolist()
    assert line_members(by_column, lines).tolist() == expected
    assert line_members(csc_array(inside).T, lines).tolist() == expected


SETS = [{"a", "b", "c"}, {"b", "d"}, {"c", "d"}, {"d"}]


def test_an_optimum_of_a_set_cover_covers_all_elements():
    """Every cover is compared with every other selection by its objective alone."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        sets = [np.flatnonzero(rng.random(6) < 0.4) for _ in range(5)] + [range(6)]
        costs = rng.choice([None, 1, 2]) and rng.integers(1, 9, 6) / 10
        problem = CoverProblem.from_sets(sets, costs)
        spent = np.ones(6) if costs is None else costs
        values = {}
        for chosen in (c for k in range(7) for c in itertools.combinations(range(6), k)):
            covered = set().union(*(map(int, sets[j]) for j in chosen))
            value = problem.objective(list(chosen))
            if len(covered) == 6:
                assert value == pytest.approx(spent[list(chosen)].sum(), abs=1e-9)
            values[chosen] = (len(covered) == 6, value)
        best = min(value for _, value in values.values())
        assert all(full for full, value in values.values() if value == best)


def test_sets_may_hold_any_values_and_elements_may_be_given_weights():
    by_name, by_number = (
        CoverProblem.from_sets(SETS),
        CoverProblem.from_sets([[0, 1, 2], [1, 3], [2, 3], [3]], n_elements=4),
    )
    assert by_name.n_memberships == by_number.n_memberships == 8
    assert by_name.objective([0, 3]) == by_number.objective([0, 3]) == 2.0
    weighted = CoverProblem.from_sets(SETS, weights={"a": 2.0, "d": 0.5, "e": 3.0})
    assert weighted.objective([]) == 5.5
    assert weighted.objective([0]) == 1.0 + 0.5 + 3.0
    assert CoverProblem.from_sets([[0, 1]], weights=[1.0, 2.0, 4.0]).objective([]) == 7.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"sets": [[0], [2]], "n_elements": 3},
            "every element must be in a set, but 1 is in none",
        ),
        ({"sets": [[0, 5]], "n_elements": 3}, "sets must hold elements from 0 to 2, got 5"),
        ({"sets": SETS, "costs": [1, 2]}, "costs must hold one number per set, 4"),
        ({"sets": SETS, "costs": [1, 2, -1, 0]}, "costs must hold finite numbers"),
    ],
)
def test_invalid_sets_are_rejected(given, message):
    with pytest.raises(ValueError, match=message):
        CoverProblem.from_sets(**given)
