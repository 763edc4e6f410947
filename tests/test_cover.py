"""Objective, bound and their exactness."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

import naive
from protocover.cover import CoverProblem, CoverSolution, exact_sum, first_cover, simplest_fraction


def small(wrong=(0.0, 1.0, 0.0), prize=(1.0, 1.0, 1.0, 1.0), cost=0.25):
    inside = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    return CoverProblem(csc_array(inside), np.array(wrong), np.array(prize), cost)


def test_the_shapes_of_a_problem_must_fit():
    with pytest.raises(ValueError, match="one prize a point and one wrong weight a candidate"):
        CoverProblem(csc_array((2, 3), dtype=bool), np.zeros(2), np.ones(2), 1.0)


@pytest.mark.parametrize("selected", [[], [1], [2, 0], [0, 1, 2]])
def test_the_objective_is_what_the_paper_writes(selected):
    assert small().objective(selected) == naive.objective(small(), selected)


@pytest.mark.parametrize(
    ("number", "fraction"),
    [
        (1 / 7291, Fraction(1, 7291)),
        (0.1, Fraction(1, 10)),
        (6.0, Fraction(6)),
        (0.0, Fraction(0)),
    ],
)
def test_the_price_is_the_simplest_fraction_that_rounds_to_the_cost(number, fraction):
    assert simplest_fraction(number) == fraction
    assert small(cost=number).price == fraction


@given(st.floats(0, 1e300))
def test_the_simplest_fraction_rounds_to_its_number(number):
    assert float(simplest_fraction(number)) == number


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


def test_the_core_holds_just_the_candidates_that_can_pay():
    problem = small(wrong=(1.75, 1.0, 3.0))
    assert problem.worthwhile.tolist() == [1]
    assert problem.core.n_candidates == 1


@pytest.mark.parametrize(("number", "above"), [(0.1, True), (0.3, False), (0.5, False)])
def test_an_amount_is_compared_with_the_exact_price(number, above):
    """As a float 0.1 is a little above a tenth, 0.3 a little below three, 0.5 just a half."""
    cover = csc_array(np.array([[True]]))
    problem = CoverProblem(cover, np.zeros(1), np.array([number]), number)
    assert problem.above_price(np.array([number])).tolist() == [above]
    assert naive.exact_optimum(problem)[1] == int(above)


def test_points_remember_the_step_that_first_covers_them():
    assert first_cover(small().cover, np.array([1, 2])).tolist() == [1, 0, 0, 1]
    assert first_cover(small().cover, np.array([], dtype=int)).tolist() == [0, 0, 0, 0]


def test_a_solution_says_who_proved_what():
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
        "proved",
        "bounded",
        "solver-proved",
        "solver-bounded",
        "none",
    ]
    assert [s.lower_bound for s in words] == [0.5, 0.5, 0.5, 0.5, -math.inf]
    assert words[0].gap == 0.0
    assert words[1].gap == pytest.approx(1.75 / 2.25)
