"""The programs behind the page on own radii: they run, and the page tells what they kept."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("numba", reason="numba, of the group experiments, is not installed")
pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")

import adaptive_radii
import adaptive_radii_budgets
import adaptive_radii_page
import choose_adaptive_radii
from adaptive_radii_search import Fold, in_order, judge, own, ratio_at, shared
from adaptive_radii_sets import DataSet
from paper import PAPER
from protocover import PVMClassifier

ROOT = Path(__file__).parents[2]
RUN = {"date": "2026-01-01", "load": 1.0, "cpu_seconds": 1.0}


def clouds(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three overlapping clouds."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 2)) + 2.0 * np.eye(3)[y][:, :2], y


@pytest.fixture
def fold():
    """Distances of some points, several of them equal."""
    (X, y), (X_test, y_test) = clouds(60, 0), clouds(30, 1)
    X, X_test = X.round(1), X_test.round(1)
    return Fold(cdist(X, X), cdist(X_test, X), y, y_test)


@pytest.mark.parametrize("solver", ["greedy", "ratio-greedy"])
@pytest.mark.parametrize("limit", [0.5, 1.5, np.inf])
@pytest.mark.parametrize("cost", [1 / 60, 1.0, 2.0])
def test_the_search_chooses_as_the_package_does(fold, limit, cost, solver):
    balls = own(fold, limit)
    chosen = in_order(balls).at_cost(cost) if solver == "greedy" else ratio_at(balls, cost)
    model = PVMClassifier(
        eps=None if np.isinf(limit) else limit,
        **{**PAPER, "radii": "adaptive"},
        prototype_cost=cost,
        solver=solver,
        metric="precomputed",
    ).fit(fold.within, fold.y)
    np.testing.assert_array_equal(chosen.candidates, model.candidate_indices_)
    np.testing.assert_array_equal(chosen.radii, model.prototype_radii_)
    error, size = judge(fold, chosen)
    assert error == pytest.approx(1.0 - model.score(fold.across, fold.y_test))
    assert size == len(model.prototype_labels_)


def test_the_search_chooses_as_the_package_does_with_a_shared_radius(fold):
    chosen = in_order(shared(fold, 0.8)).at_cost(1.0)
    model = PVMClassifier(
        eps=0.8, prototype_cost=1.0, solver="greedy", metric="precomputed", **PAPER
    )
    model.fit(fold.within, fold.y)
    np.testing.assert_array_equal(chosen.candidates, model.candidate_indices_)


def test_programs_measure_a_tiny_set_and_tell_of_it(monkeypatch):
    """One run from the data to the text of every section."""
    X, y = clouds(60, 0)
    sets = {"points": DataSet(X, y), "distances": DataSet(cdist(X, X), y, kind="table")}
    monkeypatch.setattr(adaptive_radii, "EXACT_SPLITS", 1)
    for module in (adaptive_radii, adaptive_radii_budgets):
        for name, small in {"N_SPLITS": 2, "N_RADII": 2, "N_LIMITS": 2, "COSTS": (1.0,)}.items():
            monkeypatch.setattr(module, name, small)
    results = {name: adaptive_radii.measure(data) | {"run": RUN} for name, data in sets.items()}
    at_budgets = {name: adaptive_radii_budgets.measure(data) for name, data in sets.items()}
    proset = {"points": [{"error": 0.1, "size": 5, "seconds": 0.1}]}
    curve = {"at_most": [20], "error": [0.1], "size": [18], "solver": ["ratio-greedy"]}
    digits = {"1-NN": {"error": 0.05}, "adaptive_radii": {"adaptive": curve, "shared": curve}}
    told = adaptive_radii_page.sections(results, at_budgets, proset, digits, digits)
    assert "| 20 | 10.0 / 18 | 10.0 / 18 | ratio greedy | 10.0 / 18 |" in told["digits"]
    assert told["budgets"].startswith("Measured on all 2 sets.")
    assert all("nan" not in text for text in told.values())


def test_defaults_are_chosen_from_every_setting():
    (X, y), (X_test, y_test) = clouds(60, 0), clouds(30, 1)
    found = list(choose_adaptive_radii.fold_results(cdist(X, X), y, cdist(X_test, X), y_test))
    assert len(found) == len(choose_adaptive_radii.SETTINGS)
    assert all(0.0 <= error <= 1.0 for errors, _ in found for error in errors)


def test_the_page_tells_what_was_kept():
    """Every section is what its program writes from the results in docs/adaptive-radii."""
    page = (ROOT / "docs" / "adaptive-radii-results.md").read_text()
    kept = [
        json.loads((ROOT / "docs" / f"{name}.json").read_text()) for name in adaptive_radii.TOLD
    ]
    for name, text in adaptive_radii_page.sections(*kept).items():
        section = page.split(f"<!-- {name}: begin -->")[1].split(f"<!-- {name}: end -->")[0]
        assert section.strip() == text.strip(), name
