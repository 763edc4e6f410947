"""The methods the paper compares with do what their descriptions say."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("numba", reason="numba, of the group experiments, is not installed")

from experiments.baselines import condensed, edited, means, medoids, olvq1
from experiments.baselines.codebook import Codebook


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_olvq1_from_rate_one_is_the_running_mean(rng):
    """The rates are such that all examples seen weigh the same; from 1 the start is forgotten."""
    X = rng.normal(size=(30, 2))
    drawn = np.random.default_rng(7).integers(30, size=25)
    start = Codebook(np.array([[9.0, 9.0]]), np.array([0]))
    trained = olvq1.train(
        X, np.zeros(30, int), start, np.random.default_rng(7), n_steps=25, alpha=1.0
    )
    np.testing.assert_allclose(trained.points[0], X[drawn].mean(axis=0))


def test_olvq1_weighs_the_start_like_seven_thirds_examples(rng):
    """From rate a the start counts as much as 1/a - 1 examples: 7/3 for a = 0.3."""
    X = rng.normal(size=(30, 2))
    drawn = np.random.default_rng(7).integers(30, size=25)
    start = Codebook(np.array([[9.0, -4.0]]), np.array([0]))
    trained = olvq1.train(X, np.zeros(30, int), start, np.random.default_rng(7), n_steps=25)
    expected = (7 / 3 * start.points[0] + X[drawn].sum(axis=0)) / (7 / 3 + 25)
    np.testing.assert_allclose(trained.points[0], expected)


def test_olvq1_moves_away_from_other_classes_with_a_capped_rate(rng):
    """Each step away is by the starting rate, which may not grow."""
    start = Codebook(np.array([[1.0]]), np.array(["a"]))
    trained = olvq1.train(np.array([[0.0]]), np.array(["b"]), start, rng, n_steps=2)
    assert trained.points[0, 0] == pytest.approx(1.0 * 1.3 * 1.3)


def test_olvq1_finds_the_boundary_between_two_equal_clouds(rng):
    X = np.concatenate((rng.normal(-1.0, 1.0, 2000), rng.normal(1.0, 1.0, 2000)))[:, None]
    y = np.repeat([0, 1], 2000)
    start = Codebook(np.array([[-3.0], [0.5]]), np.array([0, 1]))
    trained = olvq1.train(X, y, start, rng, n_steps=4000)
    assert trained.points.mean() == pytest.approx(0.0, abs=0.1)


def test_lvq_starts_in_proportion_and_only_well_inside(rng):
    X = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23, 24, 25, 26.0, 3.5])[:, None]
    y = np.array(["a"] * 8 + ["b"] * 8)
    inside = olvq1._well_inside(X, y)
    np.testing.assert_array_equal(inside, [True] * 15 + [False])
    for seed in range(5):
        rows = olvq1.start_codebook(y, 8, inside, np.random.default_rng(seed))
        np.testing.assert_array_equal(np.bincount(rows // 8), [4, 4])
        assert 15 not in rows
    assert len(olvq1.start_codebook(y, 16, inside, rng)) == 15


def test_default_size_is_that_of_lvqinit():
    assert olvq1.default_size(3, 75, 4) == round(0.4 * 3 * (3 - 1 + 4 / 2))
    assert olvq1.default_size(10, 50, 256) == 50


def test_medoids_of_two_pairs_of_clumps_are_their_middles():
    X = np.array([0, 1, 2, 10, 11, 12, 100, 101, 102.0, 110, 111, 112])[:, None]
    y = np.repeat(["a", "b"], 6)
    few, all_of_them = medoids.fit_medoids(X, y, [2, 7], seed=0)
    np.testing.assert_array_equal(few.points.ravel(), [1, 11, 101, 111])
    np.testing.assert_array_equal(few.labels, ["a", "a", "b", "b"])
    assert len(all_of_them) == 12
    assert all_of_them.error(X, y) == 0.0


def test_share_of_medoids_follows_the_size_of_the_class():
    y = np.repeat([0, 1], [4, 20])
    X = np.arange(24.0)[:, None]
    (rows,) = medoids.choose_medoids(y, [0.25], within=lambda r: np.abs(X[r] - X[r].T), seed=0)
    np.testing.assert_array_equal(np.bincount(y[rows]), [1, 5])


def test_means_are_centroids_of_each_class():
    X = np.array([0, 1, 10, 11, 50, 51, 60, 61.0])[:, None]
    (found,) = means.fit_means(X, np.repeat([0, 1], 4), [2], seed=0)
    np.testing.assert_allclose(np.sort(found.points.ravel()), [0.5, 10.5, 50.5, 60.5])


def test_undersampling_keeps_the_smallest_class_and_hardly_errs_on_the_rest(rng):
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0.8, "right", "left")
    kept = edited.undersample(X, y, seed=0)
    smallest = (y == "right").sum()
    assert (kept.labels == "right").sum() == smallest
    assert len(kept) < smallest + 30
    assert kept.error(X, y) < 0.05


def naive_store(X, y, order):
    """Go through the examples one by one as Hart's note says, store and grab bag as lists."""
    store, bag = [order[0]], list(order[1:])
    while True:
        left = []
        for row in bag:
            nearest = min(store, key=lambda one: ((X[one] - X[row]) ** 2).sum())
            (left if y[nearest] == y[row] else store).append(row)
        if len(left) == len(bag):
            return store
        bag = left


@pytest.mark.parametrize("seed", range(8))
def test_condensing_is_hart_s(seed):
    """On a coarse grid, where many lie equally near and some in the same place."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 2)).round(1), rng.integers(3, size=80)
    order = rng.permutation(80)
    rows = condensed.choose_store(lambda row: ((X - X[row]) ** 2).sum(axis=1), y, order)
    assert rows.tolist() == naive_store(X, y, order)


def test_condensing_keeps_few_and_errs_on_none_of_the_rest(rng):
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0.8, "right", "left")
    kept = condensed.condense(X, y, seed=0)
    assert len(kept) < 40
    assert kept.error(X, y) == 0.0
    assert len(condensed.condense(X, np.full(200, "one"), seed=0)) == 1


def test_editing_drops_the_odd_one_out_and_no_class():
    X = np.array([0, 1, 2, 3, 20, 21, 22, 23, 1.5])[:, None]
    y = np.array(["a"] * 4 + ["b"] * 4 + ["c"])
    kept = edited.edit(X, y)
    assert set(kept.labels) == {"a", "b", "c"}
    kept = edited.edit(X, np.array(["a"] * 4 + ["b"] * 5))
    assert 1.5 not in kept.points
    # Its nearest other is the odd one, but two of its three nearest are its own kind.
    assert 1.0 in kept.points


@pytest.mark.parametrize("seed", range(5))
def test_a_round_of_multiedit_drops_what_the_next_part_gets_wrong(seed):
    rng = np.random.default_rng(seed)
    X, y, rows = rng.normal(size=(31, 2)), rng.integers(2, size=31), rng.permutation(31)[:20]
    parts = [rows[:7], rows[7:14], rows[14:]]
    kept = [
        row
        for part, other in zip(parts, [*parts[1:], parts[0]], strict=True)
        for row in part
        if y[min(other, key=lambda one: np.linalg.norm(X[one] - X[row]))] == y[row]
    ]
    assert 0 < len(kept) < 20
    np.testing.assert_array_equal(edited.edit_once(X, y, rows), np.sort(kept))


def test_multiedit_leaves_what_no_further_round_would_change(rng):
    """Two clouds that touch are left as two that do not."""
    X = np.concatenate((rng.normal(-1.0, 1.0, (200, 2)), rng.normal(1.0, 1.0, (200, 2))))
    y = np.repeat([0, 1], 200)
    kept = edited.multiedit(X, y, seed=0)
    assert 100 < len(kept) < 390
    own = Codebook(kept.points, kept.labels).error(X, y)
    assert own < 0.12
    assert len(edited.multiedit(X[:2], y[:2], seed=0)) == 2


def test_multiedit_never_drops_everything():
    """Each of two examples of one place and different classes gets the other wrong."""
    X, y = np.zeros((3, 1)), np.array([0, 1, 2])
    assert len(edited.multiedit(X, y, seed=0)) == 3


def test_codebook_answers_the_same_by_table_and_by_search(rng, monkeypatch):
    book = Codebook(rng.normal(size=(50, 3)), rng.integers(3, size=50))
    X = rng.normal(size=(40, 3))
    by_table = book.predict(X)
    monkeypatch.setattr("experiments.baselines.codebook._SMALL", 0)
    np.testing.assert_array_equal(book.predict(X), by_table)
