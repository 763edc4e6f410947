"""Selection from blocks without a cluster: the pure functions that the tasks run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import naive
from protocover._cover import CoverProblem
from protocover._selection.balls import formulate
from protocover._selection.selection import select
from protocover.dissimilarity import Precomputed
from protocover.distributed import _rounds as rounds_module
from protocover.distributed._blocks import (
    CandidateBlock,
    block_numbers,
    chunk_cover,
    join_covers,
    reduce_block,
)
from protocover.distributed._chunks import Chunk
from protocover.distributed._rounds import begin, conclude, report, take_round
from protocover.distributed._selection import _solve
from protocover.solvers import greedy


@st.composite
def instances(draw, max_points=10, max_candidates=9):
    """Who is in whose ball, labels, weights and a cost, with ties in plenty, cut somehow."""
    n, m = draw(st.integers(1, max_points)), draw(st.integers(1, max_candidates))
    rows = st.lists(st.booleans(), min_size=m, max_size=m)
    inside = np.array(draw(st.lists(rows, min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    sizes = st.sampled_from([1.0, 1.0, 2.0, 0.5])
    weights = np.array(draw(st.lists(sizes, min_size=n, max_size=n)))
    cost = draw(st.sampled_from([0.0, 1 / n, 0.5, 1.0, 2.5]))
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=2)))
    return inside, y, weights, cost, cuts, draw(st.integers(1, 4))


def reduced_blocks(inside, y, weights, cost, cuts, n_blocks, n_classes=3, served=None):
    """Build the reduced cover as the workers do, from a table of distances 0 and 1."""
    table = np.where(inside, 0.0, 1.0)
    dissimilarity = Precomputed().fit(table)
    chunks = [
        Chunk(*part, rows=np.arange(len(part[1])))
        for part in zip(*(np.split(values, cuts) for values in (table, y, weights)), strict=True)
    ]
    numbers = np.arange(inside.shape[1])
    of_block = block_numbers(numbers, n_blocks)
    served = np.full(len(numbers), -1) if served is None else served
    blocks = [
        CandidateBlock(numbers[of_block == b], numbers[of_block == b], served[of_block == b])
        for b in range(n_blocks)
    ]
    options = {"eps": 0.5, "closed": False, "n_classes": n_classes}
    return [
        reduce_block(
            block,
            [chunk_cover(chunk, block, dissimilarity, **options) for chunk in chunks],
            prototype_cost=cost,
        )
        for block in blocks
    ]


def run_rounds(shares, prize, cost, *, ask=1, most=None, weighted=True):
    progress = begin(prize, prototype_cost=cost, max_prototypes=most, ask=ask)
    n_rounds = 0
    while not progress.done:
        packed = np.packbits(progress.covered)
        told = prize if weighted else None
        reports = [
            report(share, packed, told, ask=progress.ask, prototype_cost=cost) for share in shares
        ]
        progress = take_round(progress, reports)
        n_rounds += 1
    return progress, n_rounds


def single_machine(inside, y, weights, cost, n_classes=3, served=None):
    classes = formulate(
        csr_array(inside),
        y,
        weights,
        n_classes=n_classes,
        prototype_cost=cost,
        candidate_classes=served,
    )
    return classes, select(classes, greedy)


@settings(max_examples=60)
@given(instances(), st.integers(1, 3), st.sampled_from([None, 0, 1, 2]), st.booleans())
def test_rounds_make_the_choices_of_one_machine_in_its_order(instance, ask, most, bound):
    """Also if some candidates are bound to a class."""
    inside, y, weights, cost, *_ = instance
    served = np.arange(inside.shape[1]) % 4 - 1 if bound else None
    blocks = reduced_blocks(*instance, served=served)
    classes, _ = single_machine(inside, y, weights, cost, served=served)
    for label, one in enumerate(classes):
        problem = one.problem
        shares = [block[label] for block in blocks]
        progress, _ = run_rounds(shares, problem.prize, cost, ask=ask, most=most)
        solved = conclude(progress)
        solution = solved.solution
        expected = greedy(problem, max_prototypes=most)
        candidates = one.candidate[expected.selected]
        np.testing.assert_array_equal(solution.selected, candidates)
        np.testing.assert_array_equal(solution.score, expected.score)
        np.testing.assert_array_equal(solution.newly_covered, expected.newly_covered)
        assert solution.objective == expected.objective
        others = inside[y != label][:, solution.selected].sum(axis=0)
        np.testing.assert_array_equal(solved.miscovered, others)
        own = inside[y == label][:, solution.selected].sum(axis=0)
        np.testing.assert_array_equal(solved.covered, own)


@settings(max_examples=40)
@given(instances())
def test_a_class_solved_whole_from_its_blocks_is_solved_as_on_one_machine(instance):
    """Also the bound and the vector that proves it: what was left out could not matter."""
    inside, y, weights, cost, *_ = instance
    blocks = reduced_blocks(*instance)
    classes, _ = single_machine(inside, y, weights, cost)
    for label, one in enumerate(classes):
        problem = one.problem
        shares = [block[label] for block in blocks]
        solved = _solve(shares, problem.prize, prototype_cost=cost, max_prototypes=None)
        solution = solved.solution
        expected = greedy(problem)
        np.testing.assert_array_equal(solution.selected, expected.selected)
        np.testing.assert_array_equal(solution.score, expected.score)
        np.testing.assert_array_equal(solution.dual, expected.dual)
        assert solution.objective == expected.objective
        assert solution.lower_bound == expected.lower_bound
        assert solution.certificate == expected.certificate


@settings(max_examples=40)
@given(instances())
def test_a_candidate_serves_a_class_by_majority_of_weight_or_as_its_best(instance):
    """A block keeps the best candidate of a class for which none of the block pays."""
    inside, y, weights, cost, _, n_blocks = instance
    of_block = block_numbers(np.arange(inside.shape[1]), n_blocks)
    for b, block in enumerate(reduced_blocks(*instance)):
        for label, share in enumerate(block):
            own = weights @ (inside & (y == label)[:, None])
            other = weights @ (inside & (y != label)[:, None])
            gain, here = own - other, np.flatnonzero((of_block == b) & (own > 0))
            pays = here[(gain[here] > 0) & (gain[here] >= cost)]
            best = here[gain[here].argmax()][None] if len(here) else here
            kept = pays if len(pays) else best
            np.testing.assert_array_equal(share.numbers, kept)
            np.testing.assert_array_equal(share.wrong, other[kept])
            np.testing.assert_array_equal(share.cover.toarray(), inside[y == label][:, kept])


@settings(max_examples=40)
@given(instances())
def test_no_candidate_that_the_greedy_takes_is_left_out(instance):
    inside, y, weights, cost, *_ = instance
    blocks = reduced_blocks(*instance)
    chosen, _ = naive.pvm_greedy(inside, y, weights, cost, n_classes=3)
    kept = {
        (int(j), label)
        for block in blocks
        for label, share in enumerate(block)
        for j in share.numbers
    }
    assert set(chosen) <= kept


def test_weights_decide_the_majority():
    """Two light points of class 0 and one heavy of class 1: the ball pays for class 1."""
    inside, y = np.ones((3, 1), dtype=bool), np.array([0, 0, 1])
    (block,) = reduced_blocks(inside, y, np.array([1.0, 1.0, 3.0]), 0.0, [], 1, n_classes=2)
    assert [share.miscovered.tolist() for share in block] == [[1], [2]]
    assert [share.wrong.tolist() for share in block] == [[3.0], [2.0]]
    prizes = [np.ones(2), np.array([3.0])]
    raced = [run_rounds([share], prize, 0.0) for share, prize in zip(block, prizes, strict=True)]
    chosen = [conclude(progress).solution.selected for progress, _ in raced]
    assert [selected.tolist() for selected in chosen] == [[], [0]]


def test_a_ball_without_a_majority_is_chosen_for_no_class():
    inside, y = np.ones((2, 1), dtype=bool), np.array([0, 1])
    (block,) = reduced_blocks(inside, y, np.ones(2), 0.0, [], 1, n_classes=2)
    for share in block:
        progress, _ = run_rounds([share], np.ones(1), 0.0)
        assert len(conclude(progress).solution.selected) == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("n_blocks", [1, 3, 16])
def test_rounds_agree_on_larger_covers_full_of_ties(seed, n_blocks):
    rng = np.random.default_rng(seed)
    inside = rng.random((200, 150)) < 0.04
    y = rng.integers(0, 2, 200)
    weights = np.ones(200)
    blocks = reduced_blocks(inside, y, weights, 1 / 200, [50, 120], n_blocks, n_classes=2)
    classes, _ = single_machine(inside, y, weights, 1 / 200, n_classes=2)
    for label, one in enumerate(classes):
        problem = one.problem
        shares = [block[label] for block in blocks]
        progress, n_rounds = run_rounds(shares, problem.prize, 1 / 200, ask=2, weighted=False)
        expected = greedy(problem)
        np.testing.assert_array_equal(conclude(progress).solution.selected, expected.selected)
        assert n_rounds < len(expected.selected)


def test_a_report_holds_only_open_points_and_the_next_best_as_bound():
    cover = csr_array(np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0]], dtype=bool)).tocsc()
    share = join_covers(
        [
            rounds_module.ClassCover(
                np.array([4, 7, 9]), cover, np.zeros(3), np.zeros(3, int), np.ones(3, int)
            )
        ]
    )
    covered = np.packbits(np.array([True, False, False]))
    told = report(share, covered, None, ask=1, prototype_cost=0.0)
    np.testing.assert_array_equal(told.best.numbers, [7])
    np.testing.assert_array_equal(told.best.cover.indices, [1, 2])
    assert told.bound == (1.0, -4)
    assert report(share, covered, None, ask=2, prototype_cost=0.0).bound is None


def test_an_equal_gain_of_higher_number_waits_for_the_next_round():
    """Candidate 5 is reported, 3 is only a bound of the same gain: 5 must not go first."""
    one = csr_array(np.ones((1, 1), dtype=bool)).tocsc()
    best = rounds_module.ClassCover(
        np.array([5]), one, np.zeros(1), np.zeros(1, int), np.ones(1, int)
    )
    start = begin(np.ones(1), prototype_cost=0.0)
    waits = take_round(start, [rounds_module.Report(best, (1.0, -3))])
    assert waits.score == ()
    goes = take_round(start, [rounds_module.Report(best, (1.0, -6))])
    assert goes.score == (1.0,)


def test_blocks_are_asked_for_as_much_as_the_driver_can_take(monkeypatch):
    cover = csr_array(np.eye(64, dtype=bool)).tocsc()
    share = rounds_module.ClassCover(
        np.arange(64), cover, np.zeros(64), np.zeros(64, int), np.ones(64, int)
    )

    def next_ask(ask):
        start = begin(np.ones(64), prototype_cost=0.0, ask=ask)
        packed = np.packbits(start.covered)
        return take_round(start, [report(share, packed, None, ask=ask, prototype_cost=0.0)]).ask

    monkeypatch.setattr(rounds_module, "_REPORTED", 16)
    assert [next_ask(ask) for ask in (4, 8, 9, 16, 17, 40)] == [8, 16, 9, 16, 8, 20]


def test_a_budget_that_is_spent_ends_the_rounds():
    cover = csr_array(np.eye(8, dtype=bool)).tocsc()
    share = rounds_module.ClassCover(
        np.arange(8), cover, np.zeros(8), np.zeros(8, int), np.ones(8, int)
    )
    progress, n_rounds = run_rounds([share], np.ones(8), 0.0, ask=2, most=2)
    assert conclude(progress).solution.selected.tolist() == [0, 1]
    assert n_rounds == 1


def test_the_first_choices_can_be_described_alone():
    problem = CoverProblem(
        csr_array(np.eye(4, dtype=bool)).tocsc(), np.zeros(4), np.ones(4), prototype_cost=0.25
    )
    share = rounds_module.ClassCover(
        np.arange(4), problem.cover, np.zeros(4), np.zeros(4, int), np.ones(4, int)
    )
    progress, _ = run_rounds([share], problem.prize, 0.25)
    for k in range(5):
        solution = conclude(progress, k).solution
        expected = greedy(problem, max_prototypes=k)
        np.testing.assert_array_equal(solution.selected, expected.selected)
        assert solution.objective == expected.objective
        assert solution.certificate == "none"
