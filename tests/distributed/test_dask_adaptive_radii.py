"""Balls of their own radii, cut into blocks and chunks, against the walk of one machine.

What runs on workers are functions of arrays, which need no cluster to be tested.
"""

from __future__ import annotations

from dataclasses import fields
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocover._cover import snap_weights
from protocover._selection.adaptive_radii import Rules
from protocover._selection.selection import formulate_classes, select
from protocover._selection.training import Training
from protocover.candidates import Pool
from protocover.dissimilarity import Euclidean
from protocover.distributed import _adaptive_radii as adaptive_radii
from protocover.distributed._adaptive_radii import chunk_members, reduce_own, solve_own
from protocover.distributed._blocks import CandidateBlock, block_numbers, count_blocks
from protocover.distributed._chunks import Chunk
from protocover.distributed._cluster import Cluster
from protocover.distributed._cover import load_share, save_block
from protocover.distributed._selection import check_selection, choose_tiers, refuse_rounds
from protocover.solvers import greedy


@st.composite
def instances(draw):
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


def one_machine(X, y, weights, terms, *, cross_class):
    """The problems of all classes and their solution."""
    n = len(X)
    pool = Pool(X, "train", np.arange(n), n)
    classes = np.arange(int(y.max()) + 1)
    training = Training(
        X, y, weights, classes, Euclidean().fit(X), [pool], cross_class=cross_class
    )
    classes = formulate_classes(training, adaptive_radii=True, **terms)
    return classes, select(classes, greedy)


def reduced_blocks(X, y, weights, terms, cuts, n_blocks, *, cross_class=True):
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


@settings(max_examples=150, deadline=None)
@given(instances(), st.booleans())
def test_a_class_solved_from_its_blocks_is_solved_as_on_one_machine(instance, cross_class):
    """Also its radii, counts, bound and the vector that proves it."""
    X, y, weights, terms, *_ = instance
    classes, expected = one_machine(X, y, weights, terms, cross_class=cross_class)
    blocks = reduced_blocks(*instance, cross_class=cross_class)
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


def centers(balls):
    """Candidate and radius of each ball, as one number."""
    return balls.candidate + 1j * balls.radius


def test_few_members_walked_along_at_a_time_give_the_same_balls(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 3, 40)
    instance = (X, y, np.ones(40), {"eps": np.inf, "closed": False, "prototype_cost": 0.5})
    whole = reduced_blocks(*instance, [15, 15], 2)
    for most in (1, 60, 500):
        monkeypatch.setattr(adaptive_radii, "_MEMBERS", most)
        cut = reduced_blocks(*instance, [15, 15], 2)
        for one, other in zip(chain(*whole), chain(*cut), strict=True):
            # Each walk adds the best ball of a class of which it finds none that pays.
            again = np.flatnonzero(np.isin(centers(other), centers(one)))
            other = adaptive_radii._taken(other, again)
            for field in fields(one):
                np.testing.assert_array_equal(
                    getattr(one, field.name), getattr(other, field.name), err_msg=field.name
                )
        for label, n_points in enumerate(np.bincount(y)):
            one, other = (
                solve_own(
                    [block[label] for block in blocks],
                    None,
                    n_points=n_points,
                    prototype_cost=0.5,
                    max_prototypes=None,
                    min_per_class=1,
                )
                for blocks in (whole, cut)
            )
            np.testing.assert_array_equal(one.solution.selected, other.solution.selected)
            np.testing.assert_array_equal(one.radii, other.radii)
            assert one.solution.lower_bound == other.solution.lower_bound


def test_a_block_comes_back_from_storage_as_it_was(tmp_path):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), np.arange(20) % 2
    terms = {"eps": 1.0, "closed": True, "prototype_cost": 0.5}
    (block,) = reduced_blocks(X, y, np.ones(20), terms, [7], 1)
    path = str(tmp_path / "block-0.npz")
    assert save_block(path, block) == [len(share.point) for share in block]
    for label, share in enumerate(block):
        read = load_share(path, label)
        for field in fields(share):
            np.testing.assert_array_equal(getattr(read, field.name), getattr(share, field.name))


def test_blocks_have_room_for_members_with_their_distances():
    tight = Cluster(n_threads=1, thread_bytes=1e6)
    sizes = {"memberships": 1e8, "cluster": tight}
    more = count_blocks(10**6, 10**6, 10, **sizes, adaptive_radii=True)
    assert more > count_blocks(10**6, 10**6, 10, **sizes)


def test_rounds_are_refused_with_the_way_out():
    check_selection("rounds", adaptive_radii=False)
    for word in ("auto", "classes"):
        check_selection(word, adaptive_radii=True)
    with pytest.raises(
        ValueError, match=r"'auto' or 'classes' with radii='adaptive', got 'rounds'.*l"
    ):
        check_selection("rounds", adaptive_radii=True)


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
