"""How candidates are cut into blocks, kept on storage, and weights brought to their grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csc_array

from protocover._cover import snap_weights, weight_grid
from protocover.dissimilarity import Euclidean
from protocover.distributed import _blocks as blocks_module
from protocover.distributed._blocks import (
    ClassCover,
    block_numbers,
    count_blocks,
    load_share,
    save_block,
)
from protocover.distributed._chunks import _read
from protocover.distributed._cluster import Cluster
from protocover.distributed._selection import choose_tiers


def test_every_block_is_a_fair_sample_of_any_run_of_candidates():
    for run in (np.arange(10_000), np.arange(50_000, 60_000), np.arange(0, 80_000, 8)):
        sizes = np.bincount(block_numbers(run, 10), minlength=10)
        assert sizes.min() > 900
        assert sizes.max() < 1100


def test_neighbors_go_to_different_blocks():
    numbers = block_numbers(np.arange(1000), 16)
    assert (numbers[1:] != numbers[:-1]).mean() > 0.9


def test_blocks_are_made_for_threads_memory_and_classes():
    roomy = Cluster(n_threads=8, thread_bytes=math.inf)
    assert count_blocks(10**6, 10**6, 10, memberships=1e8, cluster=roomy) == 32
    assert count_blocks(100, 100, 10, memberships=1e3, cluster=roomy) == 1
    tight = Cluster(n_threads=1, thread_bytes=1e6)
    n_blocks = count_blocks(10**6, 10**6, 10, memberships=1e8, cluster=tight)
    assert 1e8 * blocks_module._BYTES_PER_MEMBERSHIP / n_blocks <= 1e6 / 4
    many = count_blocks(10**4, 10**6, 10**3, memberships=1e3, cluster=roomy)
    assert 10**6 / many * 10**3 <= blocks_module._TABLE_SIZE
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
