"""The experiments with proteins, on a small made-up kernel."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments import proteins_compared as compared
from experiments import proteins_page, proteins_scop, proteins_scop_page
from protocover.dissimilarity import kernel_to_distance

LABELS = np.array(["Negative", "Positive"])


@pytest.fixture
def rng():
    """Always the same random numbers."""
    return np.random.default_rng(0)


@pytest.fixture
def overlapping(rng):
    """A normalised kernel of 60 points, a third of them positive, not all told apart."""
    y = LABELS[(np.arange(60) % 3 == 0).astype(int)]
    X = rng.normal(size=(60, 4)) + 1.2 * (y == "Positive")[:, None]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X @ X.T, y


def test_first_radius_and_all_medoids_are_the_nearest_neighbor_rule(overlapping):
    kernel, y = overlapping
    train, held = np.arange(40), np.arange(40, 60)
    got = compared.compare_methods(kernel, y, train, held)
    nearest = kernel_to_distance(kernel)[np.ix_(held, train)].argmin(axis=1)
    wrong = np.sum(y[nearest] != y[held])
    assert 0 < wrong < 20
    assert got["PVM"]["wrong"][0] == wrong == got["K-medoids"]["wrong"][-1]
    assert got["PVM"]["size"][0] == 40 == got["K-medoids"]["size"][-1]


def test_all_methods_tell_far_groups_apart():
    y = np.repeat(LABELS, 10)
    kernel = np.where(y[:, None] == y, 0.9, 0.1) + 0.1 * np.eye(20)
    got = compared.compare_methods(kernel, y, np.arange(0, 20, 2), np.arange(1, 20, 2))
    for method in ("PVM", "K-medoids", "SVM"):
        assert got[method]["wrong"][-1] == 0, method


def test_radii_go_from_the_smallest_distance_to_the_median(overlapping):
    distances = kernel_to_distance(overlapping[0])
    pairs = distances[np.triu_indices(60, k=1)]
    radii = compared.radii(distances)
    assert radii[0] == pairs.min()
    assert radii[-1] == np.quantile(pairs, 0.5, method="lower")


def test_errors_of_folds_are_pooled():
    """Two folds of 4 and 6 proteins with 1 and 2 mistakes: 3 of 10."""

    def fold(wrong, size):
        curve = {"parameter": [0.5], "wrong": [wrong], "size": [size]}
        return {"PVM": curve, "K-medoids": curve, "SVM": curve}

    got = compared.average([fold(1, 3), fold(2, 4)], 10)
    assert got["SVM"] == {"parameter": [0.5], "size": [3.5], "error": [0.3]}


def test_best_radius_is_the_largest_of_equals():
    curve = {"parameter": [1.0, 2.0, 3.0], "size": [9, 5, 2], "error": [0.2, 0.1, 0.1]}
    assert compared.best_radius({"PVM": curve}) == 3.0
    assert proteins_page.lowest(curve) == (0.1, 2)


def test_thinning_keeps_all_positives():
    y = LABELS[(np.arange(50) % 10 == 0).astype(int)]
    rows = compared.thin_out(y, 20)
    assert len(rows) == len(set(rows)) == 20
    assert np.sum(y[rows] == "Positive") == 5
    np.testing.assert_array_equal(compared.thin_out(y, 50), np.arange(50))


def test_prototypes_are_counted_by_class(overlapping):
    kernel, y = overlapping
    smallest = compared.radii(kernel_to_distance(kernel))[0]
    got = compared.count_prototypes(kernel, y, smallest)
    assert (got["Positive"], got["Negative"]) == (20, 40)


def test_sequences_and_their_kernel_give_the_same_prototypes(monkeypatch, rng):
    """The radius must not fall on a distance, which the two ways may round differently."""
    sequences = ["".join(rng.choice(list("ACDE"), 30)) for _ in range(24)]
    y = LABELS[(np.arange(24) % 4 == 0).astype(int)]
    kernel = proteins_scop.mismatch_kernel(sequences, k=5, m=1)
    monkeypatch.setattr(proteins_scop, "load", lambda name, n: (sequences, kernel, y))
    pairs = np.unique(kernel_to_distance(kernel)[np.triu_indices(24, k=1)])
    middle = len(pairs) // 8
    got = proteins_scop.run_final("1.27.1", 24, float(pairs[middle : middle + 2].mean()))
    assert got["same_from_sequences"]
    assert got["points"] == 6
    assert 0 < got["Positive"] + got["Negative"] < 24


def _curves(error):
    curve = {"parameter": [1.0, 2.0], "size": [10.0, 5.0], "error": [0.1, error]}
    return {"PVM": curve, "K-medoids": curve, "SVM": curve | {"error": [0.1, 0.05]}}


def test_page_of_sequences_compares_by_the_numbers(tmp_path):
    final = {"Positive": 1, "Negative": 4, "points": 3, "same_from_sequences": True}
    sets = {
        "a": {"curves": _curves(0.02), "final": final},
        "b": {"curves": _curves(0.09), "final": final | {"same_from_sequences": False}},
    }
    results = {"n": 20, "n_folds": 2, "k": 5, "m": 1, "sets": sets}
    text = proteins_scop_page.write(results, tmp_path)
    assert "below the SVM's in 1 of 2 sets and above in 1" in text
    assert "same order in 1 of 2" in text
    assert "two standard errors in 0 of 2 sets." in text
    big = {"n": 2000, "sets": {"a": sets["a"] | {"final": final | {"points": 100}}}}
    assert "for 1 of 1 superfamilies" in proteins_scop_page.summarize(big)
    assert (tmp_path / "scop.png").exists()


def test_page_of_proteins_says_who_errs_more(tmp_path):
    final = [{"Positive": 30, "Negative": 900}]
    results = {"n": 1000, "n_folds": 2, "curves": [_curves(0.052)], "final": final}
    results["alike"] = {"row": 1, "Positive": 27, "Negative": 800}
    text = proteins_page.write(results, tmp_path)
    assert "PVM makes 2.0 mistakes more than the SVM at its" in text
    results["curves"] = [_curves(0.05)]
    assert "equally many mistakes, as in the paper" in proteins_page.write(results, tmp_path)
    assert "PVM 5.00 % with 5 prototypes" in proteins_page.summarize(results)
