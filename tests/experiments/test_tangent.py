"""The experiments with tangent distance, on small made-up tables and on a few digits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments.digits_table import Digits, load_digits, pack_images, unpack_images

from experiments import digits_table, tangent_model, tangent_model_page, tangent_page
from paper import PAPER
from protocover import PVMClassifier


@pytest.fixture
def rng():
    """Always the same random numbers."""
    return np.random.default_rng(0)


@pytest.fixture
def digits(rng):
    """Two overlapping clouds of points as digits 0 and 1, with random pictures."""

    def draw(n):
        y = rng.integers(2, size=n)
        return rng.normal(size=(n, 2)) + 1.2 * y[:, None], y, rng.uniform(-1, 1, (n, 256))

    (X, y, images), (X_test, y_test, test_images) = draw(120), draw(60)
    return Digits(images, y, test_images, y_test, cdist(X, X), cdist(X_test, X))


@pytest.fixture
def told(digits, monkeypatch, tmp_path):
    """What is told of a model of about 20 prototypes, of which the first 6 are shown."""
    monkeypatch.setattr(tangent_model, "load_digits", lambda n, folder: digits)
    monkeypatch.setattr(tangent_model, "BETWEEN", (0.5, 40.0))
    return tangent_model.run_model(120, tmp_path, total=20, first=6)


def greedy_model(digits, eps, **options):
    """Fit the paper's machine to the table of distances."""
    model = PVMClassifier(eps=eps, metric="precomputed", solver="greedy", **PAPER, **options)
    return model.fit(digits.table, digits.labels)


def test_images_survive_as_texts_to_a_gray_level(rng):
    images = rng.uniform(-1.0, 1.0, (3, 256))
    read = unpack_images(pack_images(images)) / 127.5 - 1.0
    np.testing.assert_allclose(read.reshape(3, 256), images, atol=0.5 / 127)


def test_radii_are_percentiles_of_the_positive_distances(digits):
    table = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    small = dataclasses.replace(digits, table=table)
    np.testing.assert_array_equal(small.radii((0, 50, 100)), [1.0, 2.0])


def test_wrong_answers_are_counted_by_what_prototypes_stand_for(digits):
    """A prototype may stand for another class than its own."""
    rows = np.array([0, 1])
    nearest = digits.test_table[:, :2].argmin(axis=1)
    for labels in ([0, 1], [1, 0], [1, 1]):
        expected = sum(labels[k] != y for k, y in zip(nearest, digits.test_labels, strict=True))
        assert digits.count_wrong(rows, np.array(labels)) == expected


def test_radius_is_found_by_the_number_of_prototypes(digits, told):
    assert abs(told["size"] - 20) <= 3
    model = greedy_model(digits, told["eps"])
    assert len(model.prototype_labels_) == told["size"]


def test_cost_stops_where_a_model_of_that_cost_stops(digits, told):
    model = greedy_model(digits, told["eps"], prototype_cost=6.0)
    assert told["stop"] == len(model.prototype_labels_) > 0


def test_corrected_digits_are_wrong_at_first_and_right_in_the_end(digits, told):
    model = greedy_model(digits, told["eps"])
    rows, labels = model.candidate_indices_, model.prototype_labels_
    corrected = 0
    for distances, y in zip(digits.test_table, digits.test_labels, strict=True):
        early = labels[distances[rows[:6]].argmin()]
        corrected += early != y and labels[distances[rows].argmin()] == y
    assert told["corrected"]["count"] == corrected > 0
    truth, early, own, late = np.array(told["corrected"]["labels"])
    assert (early != truth).all()
    np.testing.assert_array_equal(own, truth)
    np.testing.assert_array_equal(late, truth)


def test_miscovered_images_are_as_many_as_the_first_prototype_counts(told):
    assert len(told["miscovered"]["images"]) == told["shown"]["miscovered"][0] > 0
    assert told["shown"]["labels"][0] not in told["miscovered"]["labels"]


def test_way_of_the_greedy_ends_with_the_error_of_all(digits, told):
    model = greedy_model(digits, told["eps"])
    wrong = tangent_model_page._numbers(told["wrong"])
    assert wrong[-1] == np.sum(model.predict(digits.test_table) != digits.test_labels)
    assert len(wrong) == told["size"]
    covered = tangent_model_page._numbers(told["covered"])
    np.testing.assert_array_equal(covered, model.newly_covered_count_)


def test_page_of_the_model_has_its_figures(told, tmp_path):
    text = tangent_model_page.write(told, tmp_path)
    shown = sorted(path.name for path in tmp_path.glob("*.png"))
    assert len(shown) == 5
    assert all(name in text for name in shown)
    assert f"| prototypes | 3372 | {told['size']} |" in text


def test_table_of_distances_is_computed_once(data_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOCOVER_DATA", str(data_folder))
    first = load_digits(12, tmp_path)
    load_digits.cache_clear()
    monkeypatch.setattr(digits_table, "TangentDistance", None)
    again = load_digits(12, tmp_path)
    load_digits.cache_clear()
    np.testing.assert_array_equal(again.table, first.table)
    assert first.table.shape == first.test_table.shape == (12, 12)
    assert not np.diagonal(first.table).any()
    assert [path.name for path in tmp_path.iterdir()] == ["tangent-12.npz"]


def test_tables_of_both_tangents_are_kept_apart(data_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("PROTOCOVER_DATA", str(data_folder))
    load_digits.cache_clear()
    tables = {name: load_digits(12, tmp_path, name).table for name in digits_table.DISTANCES}
    load_digits.cache_clear()
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["paper-like-12.npz", "tangent-12.npz"]
    images = load_digits(12, tmp_path).images
    load_digits.cache_clear()
    np.testing.assert_array_equal(tables["euclidean"], cdist(images, images))
    assert not np.allclose(tables["tangent"], tables["paper-like"])


def test_page_compares_the_spread_of_digits():
    same = [5.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 3.0, 5.0, 5.0]
    assert "So the paper says" in tangent_page._judge_spread(same)
    other = tangent_page._judge_spread([5.0, 2.0, *same[2:]])
    assert "more than half of the second (0.67 of it). The paper:" in other
