"""The tasks of a fit on Dask: functions of arrays, which need no cluster to be tested."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_array, csr_array

from protocover._cover import snap_weights, weight_grid
from protocover._selection.adaptive_radii import Rules
from protocover._selection.selection import formulate, formulate_classes, select
from protocover._selection.training import Training
from protocover.candidates import Pool
from protocover.dissimilarity import Euclidean, Precomputed
from protocover.distributed import _blocks, _rounds
from protocover.distributed._adaptive_radii import chunk_members, reduce_own, solve_own
from protocover.distributed._blocks import (
    CandidateBlock,
    ClassCover,
    block_numbers,
    chunk_cover,
    count_blocks,
    load_share,
    reduce_block,
    save_block,
)
from protocover.distributed._chunks import Chunk, _read
from protocover.distributed._cluster import Cluster
from protocover.distributed._rounds import begin, conclude, report, take_round
from protocover.distributed._selection import _solve, choose_tiers, refuse_rounds
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


@settings(max_examples=30)
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


@settings(max_examples=30)
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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_blocks", [3, 16])
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


def test_an_equal_gain_of_higher_number_waits_for_the_next_round():
    """Candidate 5 is reported, 3 is only a bound of the same gain: 5 must not go first."""
    one = csr_array(np.ones((1, 1), dtype=bool)).tocsc()
    best = ClassCover(np.array([5]), one, np.zeros(1), np.zeros(1, int), np.ones(1, int))
    start = begin(np.ones(1), prototype_cost=0.0)
    waits = take_round(start, [_rounds.Report(best, (1.0, -3))])
    assert waits.score == ()
    goes = take_round(start, [_rounds.Report(best, (1.0, -6))])
    assert goes.score == (1.0,)


def test_blocks_are_asked_for_as_much_as_the_driver_can_take(monkeypatch):
    cover = csr_array(np.eye(64, dtype=bool)).tocsc()
    share = ClassCover(np.arange(64), cover, np.zeros(64), np.zeros(64, int), np.ones(64, int))

    def next_ask(ask):
        start = begin(np.ones(64), prototype_cost=0.0, ask=ask)
        packed = np.packbits(start.covered)
        return take_round(start, [report(share, packed, None, ask=ask, prototype_cost=0.0)]).ask

    monkeypatch.setattr(_rounds, "_REPORTED", 16)
    assert [next_ask(ask) for ask in (4, 8, 9, 16, 17, 40)] == [8, 16, 9, 16, 8, 20]


@st.composite
def adaptive_instances(draw):
    """Points on a coarse grid, labels and weights; a limit, a cost, and how all is cut."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_classes = draw(st.integers(2, 30)), draw(st.integers(1, 3))
    X = rng.integers(0, 5, (n, 2)).astype(float)
    y = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, n)))[:n]
    weights = snap_weights(rng.integers(1, 5, n) / draw(st.sampled_from([1, 3])))
    terms = {
        "eps": draw(st.sampled_from([1.0, 2.5, np.inf])),
        "closed": draw(st.booleans()),
        "prototype_cost": draw(st.sampled_from([0.0, 0.25, 1.0])),
    }
    cuts = np.sort(rng.integers(0, n + 1, draw(st.integers(0, 3))))
    return X, y.astype(np.intp), weights, terms, cuts, draw(st.integers(1, 4))


def adaptive_on_one_machine(X, y, weights, terms, *, cross_class):
    """The problems of all classes and their solution."""
    n = len(X)
    pool = Pool(X, "train", np.arange(n), n)
    classes = np.arange(int(y.max()) + 1)
    training = Training(
        X, y, weights, classes, Euclidean().fit(X), [pool], cross_class=cross_class
    )
    classes = formulate_classes(training, adaptive_radii=True, **terms)
    return classes, select(classes, greedy)


def adaptive_blocks(X, y, weights, terms, cuts, n_blocks, *, cross_class=True):
    """The shares of all classes of each block, as the workers make them."""
    limit = {"eps": terms["eps"], "closed": terms["closed"]}
    rules = Rules(y, weights, int(y.max()) + 1, terms["prototype_cost"], **limit)
    rows = np.split(np.arange(len(X)), cuts)
    block_of = block_numbers(np.arange(len(X)), n_blocks)
    blocks = []
    for b in range(n_blocks):
        numbers = np.flatnonzero(block_of == b)
        served = np.full(len(numbers), -1) if cross_class else y[numbers]
        block = CandidateBlock(numbers, X[numbers], served)
        parts = [
            chunk_members(
                Chunk(X[some], y[some], weights[some], some),
                block,
                Euclidean(),
                first=sum(map(len, rows[:k])),
                **limit,
            )
            for k, some in enumerate(rows)
        ]
        blocks.append(reduce_own(block, parts, rules))
    return blocks


@settings(max_examples=60, deadline=None)
@given(adaptive_instances(), st.booleans())
def test_a_class_with_adaptive_radii_is_solved_as_on_one_machine(instance, cross_class):
    """Also its radii, counts, bound and the vector that proves it."""
    X, y, weights, terms, *_ = instance
    classes, expected = adaptive_on_one_machine(X, y, weights, terms, cross_class=cross_class)
    blocks = adaptive_blocks(*instance, cross_class=cross_class)
    for label, one in enumerate(classes):
        problem = one.problem
        solved = solve_own(
            [block[label] for block in blocks],
            problem.prize,
            n_points=problem.n_points,
            prototype_cost=terms["prototype_cost"],
            max_prototypes=None,
        )
        mine = np.flatnonzero(expected.classes == label)
        for name, found in {
            "candidates": solved.solution.selected,
            "score": solved.solution.score,
            "newly_covered": solved.solution.newly_covered,
            "covered": solved.covered,
            "miscovered": solved.miscovered,
            "radii": solved.radius,
        }.items():
            np.testing.assert_array_equal(found, getattr(expected, name)[mine], err_msg=name)
        solution = expected.solutions[label]
        np.testing.assert_array_equal(solved.solution.dual, solution.dual)
        assert solved.solution.objective == solution.objective
        assert solved.solution.lower_bound == solution.lower_bound
        assert solved.solution.certificate == solution.certificate


def test_a_class_that_would_fill_half_of_a_worker_is_refused_with_the_way_out():
    memberships, classes = np.array([10, 10_000_000]), np.array(["oak", "pine"])
    small = Cluster(n_threads=4, thread_bytes=1e9)
    in_rounds = choose_tiers("auto", memberships, cluster=small, adaptive_radii=True)
    assert in_rounds.tolist() == [False, True]
    message = r"'pine' would take 0.64 GB of the 1 GB .* lower eps.*candidates=0.1.*'classes'"
    with pytest.raises(ValueError, match=message):
        refuse_rounds(classes, memberships, in_rounds, cluster=small)
    forced = choose_tiers("classes", memberships, cluster=small, adaptive_radii=True)
    refuse_rounds(classes, memberships, forced, cluster=small)


def test_every_block_is_a_fair_sample_of_any_run_of_candidates():
    for run in (np.arange(10_000), np.arange(50_000, 60_000), np.arange(0, 80_000, 8)):
        sizes = np.bincount(block_numbers(run, 10), minlength=10)
        assert sizes.min() > 900
        assert sizes.max() < 1100


def test_blocks_are_made_for_threads_memory_and_classes():
    roomy = Cluster(n_threads=8, thread_bytes=math.inf)
    assert count_blocks(10**6, 10**6, 10, memberships=1e8, cluster=roomy) == 32
    assert count_blocks(100, 100, 10, memberships=1e3, cluster=roomy) == 1
    tight = Cluster(n_threads=1, thread_bytes=1e6)
    n_blocks = count_blocks(10**6, 10**6, 10, memberships=1e8, cluster=tight)
    assert 1e8 * _blocks._BYTES_PER_MEMBERSHIP / n_blocks <= 1e6 / 4
    many = count_blocks(10**4, 10**6, 10**3, memberships=1e3, cluster=roomy)
    assert 10**6 / many * 10**3 <= _blocks._TABLE_SIZE
    assert count_blocks(10**9, 3, 2, memberships=1e9, cluster=roomy) == 3


def test_a_class_goes_through_rounds_when_it_would_fill_half_of_a_worker():
    memberships = np.array([10, 10_000_000])
    cluster = Cluster(n_threads=4, thread_bytes=100e6)
    assert choose_tiers("auto", memberships, cluster=cluster).tolist() == [False, True]
    assert choose_tiers("classes", memberships, cluster=cluster).tolist() == [False, False]
    assert choose_tiers("rounds", memberships, cluster=cluster).tolist() == [True, True]
    unlimited = Cluster(n_threads=4, thread_bytes=math.inf)
    assert not choose_tiers("auto", memberships, cluster=unlimited).any()


@given(st.lists(st.just(0.0) | st.floats(1e-9, 1e6), min_size=1, max_size=30), st.integers(0, 30))
def test_weights_of_a_chunk_come_to_the_grid_of_all_weights(weights, cut):
    weights = np.array(weights)
    grid = weight_grid(weights.max(), len(weights))
    parts = [
        _read(
            np.zeros((len(part), 1)),
            np.zeros(len(part), dtype=int),
            part,
            len(part),
            classes=np.array([0]),
            grid=grid,
            dissimilarity=Euclidean(),
        ).weights
        for part in np.split(weights, [min(cut, len(weights))])
    ]
    expected = snap_weights(weights)
    np.testing.assert_array_equal(np.concatenate(parts), expected[expected > 0.0])


@pytest.fixture
def block():
    cover = csc_array(np.array([[True, False], [True, True], [False, False]]))
    one = ClassCover(
        np.array([3, 8]), cover, np.array([0.5, 0.0]), np.array([1, 0]), np.array([2, 1])
    )
    no_one = np.empty(0, np.intp)
    none = ClassCover(no_one, csc_array((2, 0), dtype=bool), np.empty(0), no_one, no_one)
    return [one, none]


def test_a_block_comes_back_from_storage_as_it_was(block, tmp_path):
    path = str(tmp_path / "new" / "block-0.npz")
    assert save_block(path, block) == [3, 0]
    for label, share in enumerate(block):
        read = load_share(path, label)
        np.testing.assert_array_equal(read.cover.toarray(), share.cover.toarray())
        np.testing.assert_array_equal(read.numbers, share.numbers)
        np.testing.assert_array_equal(read.wrong, share.wrong)
        np.testing.assert_array_equal(read.miscovered, share.miscovered)
        np.testing.assert_array_equal(read.own, share.own)


def test_a_block_is_written_whole_or_not_at_all(block, tmp_path, monkeypatch):
    path = tmp_path / "block-0.npz"
    save_block(str(path), block)
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half of a fi")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError, match="no space"):
        save_block(str(path), block)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_reading_a_block_runs_no_code(tmp_path):
    path = tmp_path / "block-0.npz"
    np.savez(path, **{"indices-0": np.array([{}], dtype=object)})
    with pytest.raises(ValueError, match="allow_pickle"):
        load_share(str(path), 0)
