"""Chains of balls, compared with the same problem with a column for each ball."""

from __future__ import annotations

import numpy as np
import pytest
from covers import chain_problem, written_out

from protocover._cover import CoverProblem, CoverSolution, first_cover, verify
from protocover.solvers import auto, exact
from protocover.solvers._duals import ascend, mend

seeds = pytest.mark.parametrize("seed", range(60))


def small():
    """Two candidates: balls of 1 and 3 points, and one ball of 2."""
    shells = np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]], dtype=bool)
    return CoverProblem(shells, [0.0, 1.0, 0.0], np.ones(4), 0.25, first=[0, 0, 2])


def same_table(one, other):
    np.testing.assert_array_equal(one.toarray(), other.toarray())
    assert one.has_sorted_indices


@seeds
def test_a_problem_of_chains_is_that_of_all_balls(seed):
    chains = chain_problem(seed)
    plain = written_out(chains)
    same_table(chains.cover, plain.cover)
    same_table(chains.core.cover, plain.core.cover)
    for name in ("n_points", "n_candidates", "n_memberships", "grid", "step", "weight_step"):
        assert getattr(chains, name) == getattr(plain, name)
    for name in ("cost", "n_holders", "worthwhile", "reach", "sizes"):
        np.testing.assert_array_equal(getattr(chains, name), getattr(plain, name))
    for column in range(plain.n_candidates):
        assert sorted(chains.ball(column)) == plain.ball(column).tolist()
    for point in range(plain.n_points):
        assert sorted(chains.columns_with(point)) == plain.columns_with(point).tolist()


@seeds
def test_any_selection_has_the_same_objective(seed):
    chains, rng = chain_problem(seed), np.random.default_rng(seed)
    plain, n = written_out(chains), chains.n_candidates
    chosen = rng.permutation(n)[: rng.integers(0, n + 1)]
    same_table(chains.members(chosen), plain.members(chosen))
    assert chains.objective(chosen) == plain.objective(chosen)
    assert chains.at_cost(0.75).objective(chosen) == plain.at_cost(0.75).objective(chosen)
    np.testing.assert_array_equal(first_cover(chains, chosen), first_cover(plain, chosen))
    some = np.sort(chosen)
    narrow, apart = chains.narrowed(some), plain.narrowed(some)
    same_table(narrow.cover, apart.cover)
    np.testing.assert_array_equal(narrow.wrong, apart.wrong)
    owner = chains.first
    assert (owner[some[narrow.first]] == owner[some]).all()
    larger = [any(k > j and owner[k] == owner[j] for k in chosen) for j in chosen]
    assert chains.outermost(chosen).tolist() == [not inner for inner in larger]


@seeds
def test_sums_over_shells_accumulate_to_those_over_balls(seed):
    chains, rng = chain_problem(seed), np.random.default_rng(seed)
    inside, n = chains.cover.toarray(), chains.n_candidates
    uncovered = rng.random(chains.n_points) < 0.5
    for values in (chains.prize * uncovered, uncovered.astype(np.intp)):
        in_parts = chains.parts.T @ values
        np.testing.assert_array_equal(chains.accumulated(in_parts), values @ inside)
        for size in (1, 2, 100):
            blocks = chains.blocks(size)
            assert [k for b in blocks for k in range(b.start, b.stop)] == list(range(n))
            for block in blocks:
                found = chains.accumulated(in_parts, block)
                np.testing.assert_array_equal(found, (values @ inside)[block])


@seeds
def test_bounds_and_solutions_are_the_same(seed):
    chains, rng = chain_problem(seed), np.random.default_rng(seed)
    plain = written_out(chains)
    dual = 3.0 * rng.random(chains.n_points)
    assert chains.exact_bound(dual) == plain.exact_bound(dual)
    for vector in (ascend(chains), mend(chains, dual)):
        assert (vector >= 0.0).all()
        assert (chains.snap(vector) <= chains.prize).all()
        assert chains.exact_bound(vector) == plain.exact_bound(vector)
    for solver in (exact, auto):
        one, other = solver(chains), solver(plain)
        assert (one.objective, one.lower_bound) == (other.objective, other.lower_bound)
        assert verify(plain, one).ok


def test_each_membership_is_stored_once():
    expected = [[1, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 1]]
    assert small().cover.toarray().astype(int).tolist() == expected
    assert (small().n_memberships, small().parts.nnz) == (6, 5)
    assert CoverSolution.of(small(), [1]).newly_covered.tolist() == [3]


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("first", [0, 0], r"for each of 3 candidates, got \[0 0\]"),
        ("first", [1, 1, 2], r"first must name the smallest ball of each chain.*got \[1 1 2\]"),
        ("first", [0, 1, 0], r"whose balls are adjacent.*got \[0 1 0\]"),
        ("prize", [0.1, 0.2, 0.3, 1.0], r"prizes must be multiples .*snap_weights makes them so"),
    ],
)
def test_invalid_chains_are_rejected(part, value, message):
    given = {"first": [0, 0, 2], "prize": np.ones(4)} | {part: value}
    with pytest.raises(ValueError, match=message):
        CoverProblem(small().parts, [0.0, 1.0, 0.0], prototype_cost=0.25, **given)
