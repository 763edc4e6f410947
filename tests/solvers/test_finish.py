"""How a search's selection is put in order, compared and cut."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from covers import make_problem

from protocover.solvers._finish import best_selection, describe


def test_of_equal_objectives_the_smaller_selection_is_best():
    """A ball of one point at 1 ties with leaving that point out, in either order."""
    problem = make_problem([[1, 0], [1, 0], [0, 1]], [0, 0], [1, 1, 1], 1.0)
    one, two = np.array([0]), np.array([0, 1])
    assert problem.objective(one) == problem.objective(two)
    assert best_selection(problem, (one, two)) is one
    assert best_selection(problem, (two, one)) is one
    assert describe(problem, two).selected.tolist() == [0]


def test_a_selection_is_described_in_the_order_of_its_gains():
    problem = make_problem([[1, 0], [0, 1], [0, 1]], [0, 0], [1, 1, 1], 0.5)
    assert describe(problem, np.array([0, 1])).selected.tolist() == [1, 0]


def test_what_is_cut_keeps_the_bound_a_solver_vouched_for():
    """The optimum for any number of prototypes bounds that for fewer."""
    problem = make_problem([[1, 0], [0, 1], [0, 1]], [0, 0], [1, 1, 1], 0.5)
    whole = describe(problem, np.array([0, 1]), claim=Fraction(1), status="optimal")
    assert (whole.objective, whole.certificate) == (1.0, "solver")
    first = whole.prefix(problem, 1)
    assert first.selected.tolist() == [1]
    assert (first.objective, first.lower_bound) == (1.5, 1.0)
    assert first.certificate == "solver"
