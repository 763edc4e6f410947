"""Proof trees prove no more than is true, and nothing after tampering."""

from __future__ import annotations

import itertools
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from covers import large_problem, problem_and_optimum
from scipy.sparse import csc_array

import naive
from protocover._cover import CoverProblem, CoverSolution, Limit, ProofTree, verify
from protocover._cover.proof import LEAF, MOST_NUMBERS, MOST_STEPS, VECTOR, bound_by_proof
from protocover.solvers import exact
from protocover.solvers._branch_and_bound import BranchAndBound


@pytest.fixture(scope="module")
def problem():
    return large_problem(60, 90, density=0.1, seed=1)


@pytest.fixture(scope="module")
def solution(problem):
    found = exact(problem, rng=np.random.default_rng(0))
    assert found.proof.n_leaves > 2
    return found


def random_tree(rng, n_candidates, depth):
    """Steps of a tree: vectors and branchings at random, a candidate perhaps more than once."""
    steps = [VECTOR] * int(rng.integers(0, 3))
    if depth == 0 or n_candidates == 0 or rng.random() < 0.2:
        return [*steps, LEAF]
    ways = [random_tree(rng, n_candidates, depth - 1) for _ in range(2)]
    return [*steps, int(rng.integers(n_candidates)), *ways[0], *ways[1]]


def random_leaves(rng, problem):
    """A tree whose vectors are payments that come near to what balls cost."""
    steps = np.array(random_tree(rng, problem.n_candidates, 3), dtype=np.intp)
    scale = rng.choice([0.3, 0.7, 1.0], size=(int((steps == VECTOR).sum()), 1))
    drawn = rng.random((len(scale), problem.n_points)) < 0.7
    return ProofTree(steps, problem.snap(scale * drawn * problem.prize))


def test_no_tree_proves_more_than_the_optimum():
    """Whatever the tree, its vectors and the selection, also with useless candidates."""
    for seed in range(120):
        problem, optimum, _ = problem_and_optimum(seed)
        if not problem.on_grid or problem.step == 0:
            continue
        rng = np.random.default_rng(seed)
        leaves = random_leaves(rng, problem)
        drawn = problem.snap(rng.random(problem.n_points) * problem.prize)
        dual = None if rng.random() < 0.3 else drawn
        chosen = np.flatnonzero(rng.random(problem.n_candidates) < 0.4)
        reached = naive.exact_value(problem, chosen.tolist())
        bound, faults = bound_by_proof(problem, leaves, dual=dual, objective=reached)
        assert faults == []
        assert bound <= optimum
        assert bound == naive.leaves_bound(problem, leaves, dual, chosen.tolist())


def test_an_objective_that_no_useful_selection_has_excludes_no_better_one():
    """Ball 0 is worth it and leaves one point open; ball 1, which is not, makes 4 into 4.5.

    The first vector allows of no selection with ball 0 below 4, which is below 4.5 still.
    """
    inside = np.array([[1, 0]] * 4 + [[0, 1]], dtype=bool)
    problem = CoverProblem(csc_array(inside), np.array([2.0, 0.5]), np.ones(5), 1.0)
    vectors = np.array([[0.6] * 4 + [1.0], [1.0] * 5])
    leaves = ProofTree(np.array([VECTOR, VECTOR, LEAF]), problem.snap(vectors))
    reached = naive.exact_value(problem, [0, 1])
    assert reached == Fraction(9, 2)
    assert bound_by_proof(problem, leaves, dual=None, objective=reached) == (4, [])


@pytest.mark.parametrize("seed", range(2))
def test_proofs_of_larger_covers_are_rechecked(seed):
    problem = large_problem(60, 90, density=0.1, seed=seed)
    for options in ({}, {"max_nodes": 3}):
        solution = exact(problem, rng=np.random.default_rng(0), **options)
        assert solution.certificate == "verified"
        found = verify(problem, solution)
        assert found.ok, found
        assert found.lower_bound == solution.lower_bound


@pytest.mark.parametrize("name", ["MOST_STEPS", "MOST_NUMBERS", "_MOST_CHECKED"])
def test_without_a_proof_the_certificate_is_solver(name, problem, monkeypatch):
    monkeypatch.setattr(sys.modules[BranchAndBound.__module__], name, 9)
    solution = exact(problem, rng=np.random.default_rng(0))
    assert solution.certificate == "solver"
    assert solution.proof is None
    assert verify(problem, solution).ok


def test_a_proof_of_no_more_than_the_vector_is_not_kept(problem, solution):
    alone = ProofTree(np.array([LEAF]), np.empty((0, 60)))
    again = CoverSolution.of(problem, solution.selected, dual=solution.dual, proof=alone)
    assert again.certificate == "verified"
    assert again.proof is None


def steps_of(change):
    return lambda leaves: replace(leaves, steps=change(leaves.steps))


def vectors_of(change):
    return lambda leaves: replace(leaves, vectors=change(leaves.vectors))


def with_value(value):
    def change(vectors):
        changed = vectors.copy()
        changed[0, 0] = value
        return changed

    return vectors_of(change)


def branched_elsewhere(steps):
    """The first branching on another candidate, of which the vectors after it know nothing."""
    first = int(np.flatnonzero(steps >= 0)[0])
    return np.where(np.arange(len(steps)) == first, (steps[first] + 1) % 90, steps)


def ways_exchanged(steps):
    """All steps of the ways of the first branching, the other way round."""
    first = int(np.flatnonzero(steps >= 0)[0])
    open_ways, end = 1, first + 1
    while open_ways:
        open_ways += {LEAF: -1, VECTOR: 0}.get(int(steps[end]), 1)
        end += 1
    return np.concatenate((steps[: first + 1], steps[end:], steps[first + 1 : end]))


TAMPERINGS = {
    "a leaf dropped": steps_of(lambda steps: steps[:-1]),
    "a way dropped": steps_of(lambda steps: steps[: int(np.flatnonzero(steps == LEAF)[0]) + 1]),
    "a leaf too many": steps_of(lambda steps: np.append(steps, LEAF)),
    "nothing": steps_of(lambda steps: steps[:0]),
    "a leaf alone": lambda _: ProofTree(np.array([LEAF]), np.empty((0, 60))),
    "branched elsewhere": steps_of(branched_elsewhere),
    "ways exchanged": steps_of(ways_exchanged),
    "a candidate that is none": steps_of(lambda steps: np.where(steps >= 0, 90, steps)),
    "a step that is none": steps_of(lambda steps: np.where(steps == LEAF, -3, steps)),
    "steps as fractions": steps_of(lambda steps: steps.astype(float)),
    "steps in two rows": steps_of(lambda steps: np.array([steps, steps])),
    "a vector more than steps": vectors_of(lambda all_: np.vstack((all_, all_[:1]))),
    "a vector fewer": vectors_of(lambda all_: all_[:-1]),
    "vectors all alike": vectors_of(lambda all_: np.tile(all_[0], (len(all_), 1))),
    "vectors backwards": vectors_of(lambda all_: all_[::-1]),
    "vectors halved": vectors_of(lambda all_: 0.5 * all_),
    "vectors of nothing": vectors_of(np.zeros_like),
    "vectors at the prizes": vectors_of(np.ones_like),
    "vectors too short": vectors_of(lambda all_: all_[:, :-1]),
    "vectors in one row": vectors_of(np.ravel),
    "nan": with_value(np.nan),
    "inf": with_value(np.inf),
    "below zero": with_value(-1e-300),
    "above the prize": with_value(np.nextafter(1.0, 2.0)),
    "no leaves": lambda _: None,
}


@pytest.mark.parametrize("change", TAMPERINGS.values(), ids=TAMPERINGS)
def test_no_tampered_proof_is_accepted(problem, solution, change):
    assert verify(problem, solution).ok
    found = verify(problem, replace(solution, proof=change(solution.proof)))
    assert not found.ok
    assert found.lower_bound < solution.objective


def test_a_proof_with_a_worse_selection_proves_less(problem, solution):
    """More nodes need a closer look then."""
    empty = CoverSolution.of(problem, [], dual=solution.dual, proof=solution.proof)
    assert empty.certificate == "verified"
    assert empty.lower_bound <= solution.objective


def test_a_proof_proves_nothing_within_a_budget(problem, solution):
    said = replace(solution, limit=Limit(at_most=9), price=1.0)
    assert "a proof tree proves nothing under a limit" in verify(problem, said).faults


def test_a_proof_proves_nothing_off_the_grid(problem, solution):
    off = CoverProblem(problem.cover, np.full(90, 0.1), np.full(60, 1e12), problem.prototype_cost)
    _, faults = bound_by_proof(off, solution.proof, dual=None, objective=Fraction(9))
    assert faults == ["a proof tree needs prizes on a common grid"]


def test_the_size_of_a_proof_is_limited(problem):
    many = ProofTree(np.full(MOST_STEPS + 1, LEAF), np.empty((0, 60)))
    assert "at most 4096" in bound_by_proof(problem, many, dual=None, objective=Fraction(6))[1][0]
    n_vectors = MOST_NUMBERS // 1024 + 1
    wide = CoverProblem(csc_array(np.ones((1024, 1), dtype=bool)), [0.0], np.ones(1024), 1.0)
    much = ProofTree(np.array([*[VECTOR] * n_vectors, LEAF]), np.zeros((n_vectors, 1024)))
    bound, faults = bound_by_proof(wide, much, dual=None, objective=Fraction(1))
    assert bound is None
    assert "numbers" in faults[0]


@pytest.mark.parametrize("cost", [1e-300, 1.0, 1e300])
def test_costs_and_weights_of_any_size_are_counted(cost):
    cover = csc_array(np.array([[1, 0], [1, 1], [0, 1]], dtype=bool))
    problem = CoverProblem(cover, np.array([0.0, 2.0**60]), np.array([1.0, 2.0, 3.0]), cost)
    leaves = ProofTree(np.array([0, VECTOR, LEAF, LEAF]), np.ones((1, 3)))
    optimum = min(
        naive.exact_value(problem, chosen)
        for size in range(3)
        for chosen in itertools.combinations(range(2), size)
    )
    bound, faults = bound_by_proof(problem, leaves, dual=None, objective=optimum)
    assert faults == []
    assert bound <= optimum


def test_candidates_can_be_renumbered(problem, solution):
    columns = np.arange(1, 91)
    inside = csc_array(np.hstack((np.zeros((60, 1)), problem.cover.toarray())).astype(bool))
    wider = CoverProblem(inside, np.append(0.0, problem.wrong), problem.prize, 2.0)
    again = solution.renumbered(columns)
    assert verify(wider, again).certificate == "verified"
    assert verify(wider, again).ok
    plain = replace(solution, proof=None).renumbered(columns)
    assert plain.proof is None
    assert plain.selected.tolist() == again.selected.tolist()
