"""verify recomputes certificates from the problem and reports every fault."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array

from protocover._cover import CoverProblem, CoverSolution, verify
from protocover.solvers import greedy
from protocover.solvers._registry import SOLVERS


@pytest.fixture
def problem():
    inside = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1], [0, 0, 1]], dtype=bool)
    return CoverProblem(csc_array(inside), np.array([0.0, 1.0, 0.0]), np.ones(4), 0.25)


@pytest.fixture
def solution(problem):
    return SOLVERS["exact"](problem, rng=np.random.default_rng(0))


def test_a_true_solution_has_no_faults(problem, solution):
    found = verify(problem, solution)
    assert found.ok
    assert found.certificate == solution.certificate == "verified"
    assert found.lower_bound == found.objective == solution.objective == 0.5


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        ({"objective": 0.25}, "objective is 0.5, not 0.25"),
        ({"lower_bound": 0.75}, "above the objective"),
        ({"selected": np.array([0, 0])}, "must not repeat"),
        ({"selected": np.array([0, 9])}, "between 0 and 2"),
        ({"dual": np.zeros(4)}, "lower_bound is 0.0, not 0.5"),
        ({"dual": np.full(4, 2.0)}, "between 0 and the point's prize"),
        ({"dual": np.full(4, np.nan)}, "between 0 and the point's prize"),
        ({"dual": np.ones(3)}, "one number per point"),
        ({"dual": None}, "certificate is 'none', not 'verified'"),
        ({"certificate": "none"}, "but the certificate 'none'"),
        ({"certificate": "solver", "lower_bound": 0.25}, "lower_bound is 0.5, not 0.25"),
        ({"lower_bound": np.nan}, "lower_bound is nan, above the objective"),
        ({"objective": np.nan}, "objective is 0.5, not nan"),
        ({"newly_covered": np.array([3, 0])}, "newly_covered is [3, 1], not [3, 0]"),
        ({"score": np.array([1.0, 2.0])}, "never rise"),
        ({"score": np.array([1.0])}, "a number for each choice"),
        ({"score": np.array([3.0, 0.75])}, "score is [3.0, 1.0], not [3.0, 0.75]"),
        ({"score": np.array([np.nan, np.nan])}, "a number for each choice"),
        ({"lower_bound": -np.inf}, "lower_bound is 0.5, not -inf"),
        ({"lower_bound": 0.25}, "lower_bound is 0.5, not 0.25"),
        ({"lower_bound": np.inf}, "above the objective"),
        ({"certificate": "proved"}, "certificate is 'proved', not 'verified', 'solver' or 'none'"),
        ({"certificate": "solver"}, "certificate is 'verified', not 'solver'"),
        ({"certificate": "solver", "lower_bound": -np.inf}, "but the certificate 'solver'"),
        ({"selected": np.array([0.5, 1.0])}, "between 0 and 2"),
        ({"selected": np.array([0, -1])}, "between 0 and 2"),
        ({"certificate": "certain"}, "certificate is 'certain', not"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_every_false_statement_is_a_fault(problem, solution, lie, fault):
    faults = verify(problem, replace(solution, **lie)).faults
    assert any(fault in found for found in faults), faults


def test_a_bound_above_what_the_vector_proves_is_a_fault(problem):
    weak = CoverSolution.of(problem, [], dual=np.zeros(4))
    assert verify(problem, weak).ok
    assert not verify(problem, replace(weak, lower_bound=0.25)).ok


def test_an_overpaid_ball_lowers_the_bound(problem):
    """Dual variables of 1 exceed the costs of the balls, and the excess is subtracted."""
    assert verify(problem, CoverSolution.of(problem, [], dual=np.ones(4))).lower_bound < 0


def test_a_solvers_claim_is_neither_confirmed_nor_a_fault(problem, solution):
    said = replace(solution, certificate="solver", dual=None)
    found = verify(problem, said)
    assert found.ok
    assert found.certificate == "none"


def test_scores_are_checked_by_their_rule(problem):
    by_drop, by_ratio = greedy(problem), SOLVERS["ratio-greedy"](problem)
    assert verify(problem, by_drop, order_by="drop").ok
    assert verify(problem, by_ratio, order_by="ratio").ok
    assert not verify(problem, by_ratio, order_by="drop").ok
    assert not verify(problem, by_drop, order_by="ratio").ok
    fancy = replace(by_drop, score=by_drop.score * 7.0)
    assert verify(problem, fancy, order_by="own").ok
    assert not verify(problem, fancy).ok
    with pytest.raises(ValueError, match=r"order_by must be 'drop', .* got 'size'"):
        verify(problem, by_drop, order_by="size")


@pytest.mark.parametrize("selected", [[2, 0], [0, 2], [1, 0, 2]])
def test_any_order_may_be_described(problem, selected):
    assert verify(problem, CoverSolution.of(problem, selected)).ok


@pytest.mark.parametrize("exponent", [-300, 0, 300])
def test_weights_of_any_size_are_checked_without_rounding(exponent):
    """Numbers that have no common 64-bit grid are added as Python's integers."""
    weights = np.array([1.0, 2.0**-70, 3.0]) * 2.0**exponent
    cover = csc_array(np.array([[1, 0], [1, 1], [0, 1]], dtype=bool))
    problem = CoverProblem(cover, np.zeros(2), weights, 0.0)
    assert verify(problem, greedy(problem)).ok
