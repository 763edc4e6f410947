import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import naive
from paper import PAPER
from protocover import PVMClassifier
from protocover._cover import CoverSolution, snap_weights, verify
from protocover._selection.balls import formulate
from protocover._selection.selection import ClassSelection, Selection, select
from protocover.solvers import greedy, ratio_greedy
from protocover.solvers._registry import SOLVERS

RECORDED = json.loads(
    (Path(__file__).parents[1] / "recorded" / "protoclass_recorded.json").read_text()
)


@st.composite
def labeled_balls(draw, max_points=8, max_candidates=6):
    """A small table of who is in whose ball, labels and weights, ties abounding."""
    n = draw(st.integers(1, max_points))
    m = draw(st.integers(1, max_candidates))
    inside = np.array(
        draw(st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=n, max_size=n))
    )
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    weights = np.array(
        draw(st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.5]), min_size=n, max_size=n))
    )
    cost = draw(st.sampled_from([0.0, 1 / n, 0.5, 1.0, 2.5]))
    return inside, y, weights, cost


def solve(inside, y, weights, cost, solver=greedy, **options):
    classes = formulate(csr_array(inside), y, weights, n_classes=3, prototype_cost=cost)
    return [one.problem for one in classes], select(classes, solver, **options)


@given(labeled_balls())
def test_class_by_class_is_the_paper_s_greedy_on_all_classes_at_once(instance):
    _problems, selection = solve(*instance)
    expected, gains = naive.pvm_greedy(*instance, n_classes=3)
    assert list(zip(selection.candidates, selection.classes, strict=True)) == expected
    found = sorted((s for solution in selection.solutions for s in solution.score), reverse=True)
    np.testing.assert_array_equal(found, gains)


@given(labeled_balls())
def test_objectives_add_up_to_the_integer_program_s(instance):
    inside, y, weights, cost = instance
    for solver in (greedy, ratio_greedy):
        _, selection = solve(*instance, solver=solver)
        pairs = list(zip(selection.candidates, selection.classes, strict=True))
        expected = naive.pvm_objective(inside, y, weights, pairs, cost)
        assert selection.objective == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(labeled_balls())
def test_counts_say_who_is_covered_newly_covered_and_wrongly_covered(instance):
    inside, y, _, _ = instance
    _, selection = solve(*instance)
    seen = np.zeros(len(y), dtype=bool)
    for j, label, newly, covered, wrong in zip(
        selection.candidates,
        selection.classes,
        selection.newly_covered,
        selection.covered,
        selection.miscovered,
        strict=True,
    ):
        own = y == label
        assert newly == (inside[:, j] & own & ~seen).sum()
        assert covered == (inside[:, j] & own).sum()
        assert wrong == (inside[:, j] & ~own).sum()
        seen |= inside[:, j] & own


# The certificate of several classes is the weakest: one without a bound leaves the whole without
# one, and one whose bound only the solver claims makes the whole rest on that claim.
STRENGTH = ["none", "solver", "verified"]


def worded(*words):
    """A selection of nothing whose classes have these certificates."""
    none = np.empty(0, dtype=np.intp)
    solutions = [
        CoverSolution(none, np.empty(0), none, 1.0, bound, certificate=word)
        for word, bound in words
    ]
    return Selection.joined([ClassSelection(one, none, none, None) for one in solutions])


BOUNDED = [
    ("none", -np.inf),
    ("solver", 0.5),
    ("solver", 1.0),
    ("verified", 0.5),
    ("verified", 1.0),
]


@pytest.mark.parametrize("first", BOUNDED)
@pytest.mark.parametrize("second", BOUNDED)
def test_the_certificate_of_the_whole_is_the_weakest_of_the_classes(first, second):
    whole = worded(first, second)
    assert whole.certificate == min(first[0], second[0], key=STRENGTH.index)
    assert worded(second, first).certificate == whole.certificate
    assert worded(first, second, first).certificate == whole.certificate
    assert (whole.gap == 0.0) == (first[1] == second[1] == 1.0)
    assert np.isinf(whole.gap) == (whole.certificate == "none")


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("n_prototypes", [None, 0, 1, {0: 0, 1: 1, 2: 0}])
def test_classes_without_points_and_tables_without_candidates_are_borne(solver, n_prototypes):
    y, weights = np.array([0, 0, 1]), np.ones(3)
    for inside in (np.ones((3, 2), dtype=bool), np.ones((3, 0), dtype=bool)):
        problems, selection = solve(
            inside, y, weights, 0.25, solver=solver, max_prototypes=n_prototypes
        )
        assert len(selection.solutions) == len(problems) == 3
        assert selection.solutions[2].objective == 0.0
        assert selection.solutions[2].gap == 0.0
        assert selection.lower_bound <= selection.objective
        assert 0.0 <= selection.gap <= 1.0
        for problem, solution in zip(problems, selection.solutions, strict=True):
            assert verify(problem, solution).ok


@given(labeled_balls(), st.integers(0, 5))
def test_a_budget_keeps_the_first_prototypes(instance, budget):
    _, everything = solve(*instance)
    problems, some = solve(*instance, max_prototypes=budget)
    np.testing.assert_array_equal(some.candidates, everything.candidates[:budget])
    np.testing.assert_array_equal(some.classes, everything.classes[:budget])
    for problem, solution in zip(problems, some.solutions, strict=True):
        assert solution.objective == problem.objective(solution.selected)


@given(labeled_balls())
def test_budgets_by_class_bind_only_the_classes_they_name(instance):
    _, everything = solve(*instance)
    _, some = solve(*instance, max_prototypes={1: 1})
    for label in (0, 2):
        np.testing.assert_array_equal(
            some.candidates[some.classes == label],
            everything.candidates[everything.classes == label],
        )
    assert (some.classes == 1).sum() == min(1, (everything.classes == 1).sum())


@given(labeled_balls())
def test_a_higher_cost_gives_a_prefix(instance):
    inside, y, weights, _ = instance
    _, free = solve(inside, y, weights, 0.0)
    for cost in (0.3, 1.0, 2.0):
        _, dear = solve(inside, y, weights, cost)
        np.testing.assert_array_equal(dear.candidates, free.candidates[: len(dear.candidates)])


@pytest.mark.parametrize("record", RECORDED, ids=range(len(RECORDED)))
def test_order_is_that_of_r_protoclass(record):
    inside = np.array(record["dissimilarities"]) < record["eps"]
    y = np.array(record["labels"])
    classes = formulate(
        csr_array(inside),
        y,
        np.ones(len(y)),
        n_classes=y.max() + 1,
        prototype_cost=record["prototype_cost"],
    )
    selection = select(classes, greedy)
    assert selection.candidates.tolist() == record["order"]
    counts = np.column_stack((selection.newly_covered, selection.miscovered)).tolist()
    assert counts == record["newly_covered_and_miscovered"]
    per_class = np.bincount(selection.classes, minlength=y.max() + 1).tolist()
    assert per_class == record["prototypes_per_class"]


def test_no_weight_is_so_small_beside_another_that_its_point_gets_lost():
    weights = snap_weights(np.array([0.0, 1e-30, 1.0, 1e20]))
    assert (weights > 0.0).tolist() == [False, True, True, True]
    assert weights[3] == 1e20
    model = PVMClassifier(eps=1.5, **PAPER).fit(
        [[0.0], [1.0], [5.0]], [0, 0, 1], [1e20, 1e20, 1.0]
    )
    assert model.class_count_.tolist() == [2, 1]
    assert model.predict([[0.0], [5.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e-300, 0.7, 1.0, 3.0, 1e300])
def test_weights_of_any_size_come_to_a_grid_on_which_sums_are_exact(largest):
    """Also where numbers are so small that the grid is the spacing of all numbers."""
    weights = snap_weights(largest * np.array([1.0, 0.5, 0.3, 1.0, 0.7]))
    exact = sum(map(Fraction, weights.tolist()))
    assert Fraction(float(weights.sum())) == exact
    assert Fraction(float(weights[::-1].sum())) == exact
    np.testing.assert_allclose(weights[0], largest, rtol=1e-12)
