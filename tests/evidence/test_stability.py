"""What stays of a selection is counted among rows that both could choose."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")

from evidence.stability.measure import (
    CHANGES,
    NOISE,
    Picked,
    Sample,
    choose_all,
    compare,
    mislabel,
    reorder,
    unit,
)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_changes_keep_labels_with_their_rows_but_for_those_changed(rng):
    y = np.repeat([0, 1, 2], 40)
    for name, change in CHANGES.items():
        sample = change(y, rng)
        assert len(sample.rows) == 120
        wrong = int(np.sum(sample.y != y[sample.rows]))
        assert wrong == (round(NOISE * 120) if name == "labels" else 0)
    assert sorted(reorder(y, rng).rows) == list(range(120))
    assert len(np.unique(CHANGES["bootstrap"](y, rng).rows)) < 120
    assert set(mislabel(y, rng).y) == {0, 1, 2}


def test_rows_that_were_not_drawn_do_not_count():
    table = np.abs(np.arange(6.0)[:, None] - np.arange(6.0))
    sample = Sample(np.array([1, 2, 3, 4, 4, 5]), np.zeros(6, dtype=int))
    told = compare(Picked(np.array([0, 1, 3])), Picked(np.array([1, 5])), sample, table)
    assert told["jaccard"] == pytest.approx(1 / 3)


def test_distance_is_to_the_nearest_of_the_other_both_ways():
    table = np.abs(np.arange(6.0)[:, None] - np.arange(6.0))
    sample = Sample(np.arange(6), np.zeros(6, dtype=int))
    told = compare(Picked(np.array([0, 3]), 4.0), Picked(np.array([1]), 2.5), sample, table)
    assert told["distance"] == pytest.approx(0.5 * (1.5 + 1.0) / unit(table))
    assert told["objective"] == -1.5
    assert compare(Picked(np.array([2])), Picked(np.array([2])), sample, table)["distance"] == 0.0


def test_the_unit_is_the_median_distance_of_two_rows():
    table = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    assert unit(table) == 4.0


def test_an_order_of_rows_does_not_change_what_a_small_problem_comes_to():
    X = np.array([0.0, 1.0, 2.1, 3.3, 4.6, 50.0, 51.7, 53.1, 54.2, 55.0])
    y, table = np.repeat([0, 1], 5), np.abs(X[:, None] - X)
    rng = np.random.default_rng(0)
    as_is = choose_all(Sample(np.arange(10), y), table, rng)
    for _ in range(5):
        sample = reorder(y, rng)
        found = choose_all(sample, table, rng)
        for method in as_is:
            if "auto" in method or "greedy" in method:
                told = compare(as_is[method], found[method], sample, table)
                assert told["objective"] == pytest.approx(0.0)


def test_a_quick_run_writes_a_page(quick_page):
    text, results = quick_page("stability")
    assert "## Another order of the rows" in text
    assert "(stability.png)" in text
    assert set(results["sets"]) == {"iris", "moons"}
    for found in results["sets"].values():
        for change in CHANGES:
            values = [one["jaccard"] for draws in found[change].values() for one in draws]
            assert 0.0 <= min(values) <= max(values) <= 1.0
