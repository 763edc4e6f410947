"""The short sections of the page: what they measure, and what they say of it."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("numba", reason="numba, of the group experiments, is not installed")
pytest.importorskip("imblearn", reason="imbalanced-learn is not installed")
pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments import (
    neighbors,
    neighbors_page,
    rank,
    rank_page,
    relaxation,
    relaxation_page,
    set_cover_page,
    tangent_model_page,
    uci_page,
    uci_raw_page,
)
from paper import PAPER
from protocover import PVMClassifier


@pytest.fixture
def rng():
    """Always the same random numbers."""
    return np.random.default_rng(0)


def test_the_paper_s_relaxation_is_the_one_that_the_package_rounds(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(3, size=60)
    model = PVMClassifier(eps=0.8, solver="lp-rounding", random_state=0, **PAPER).fit(X, y)
    values = [one.details["lp_value"] for one in model.solution_.solutions]
    assert relaxation.solve_relaxation(X, y, 0.8) == pytest.approx(sum(values))


def test_relaxation_page_compares_with_the_greedy_at_the_same_radius(tmp_path):
    ways = (*relaxation.SOLVERS, relaxation.PLAIN)
    rows = [
        {"percentile": p, "way": way, "mb": p * k, "seconds": 2.0 * k, "value": 1.0}
        for p in (2, 5)
        for k, way in enumerate(ways, start=1)
    ]
    text = relaxation_page.write({"n": 100, "rows": rows}, tmp_path)
    assert "the paper's relaxation takes 4 to 4 times the memory" in text
    assert "the package's relaxation takes 2 to 2 times the memory" in text


def test_balls_of_ranks_hold_as_many_points_as_the_radius_says(rng):
    """But for ties: on a grid both neighbours are equally far, so that neither is in a ball."""
    assert rank.count_odd_balls(rng.normal(size=(40, 2)), 5.0) == 0
    assert rank.count_odd_balls(rng.normal(size=(40, 2)), 5.5) == 0
    assert rank.count_odd_balls(np.arange(10.0)[:, None], 3.0) == 8


def test_rank_page_counts_sets_and_ties(tmp_path):
    def got(shift):
        curve = {"error": [0.2 + shift, 0.3 + shift], "size": [3, 5], "eps": [1.0, 2.0]}
        return {"euclidean": curve | {"error": [0.2, 0.3]}, "rank": curve | {"odd_balls": [0, 18]}}

    sets = {"heart": got(-0.01), "wine": got(0.02)}
    text = rank_page.write({"n_splits": 2, "n_folds": 3, "sets": sets}, tmp_path)
    assert "lower with ranks than with distances on 1 of 2 UCI sets" in text
    # 18 of twice 180 balls.
    assert "| 5.0 % |" in text


def test_set_cover_page_says_what_the_greedy_takes_more(tmp_path):
    def row(greedy, exact, left=0):
        both = {"certificate": "proved", "uncovered": left}
        setting = {"name": "wine", "n": 9, "percentile": 2}
        return setting | {"greedy": {"size": greedy, **both}, "exact": {"size": exact, **both}}

    text = set_cover_page.write({"rows": [row(5, 3), row(4, 4)]}, tmp_path)
    assert "All points are covered; in 2 of 2 settings the fewest balls are proved" in text
    assert "more in 1 of them, at most 2 more" in text
    assert "2 points are NOT covered" in set_cover_page._judge([row(4, 4, left=1)])


def test_standardising_is_judged_by_where_the_paper_s_error_falls(tmp_path):
    """The paper has 21.1 on heart and 3.4 on wine."""
    near, far = [0.20, 0.211, 0.22] * 10, [0.40, 0.41, 0.42] * 10
    sets = {
        "heart": {"standardised": near, "raw": far},
        "wine": {"standardised": [0.03, 0.034, 0.04], "raw": [0.03, 0.034, 0.04]},
    }
    text = uci_raw_page.write({"n_splits": 30, "sets": sets}, tmp_path)
    assert "only standardised features explain heart; only raw features explain no set" in text
    assert "differ most on heart: 1-NN errs on 21.0 % with standardised and on 41.0 %" in text


def test_neighbors_are_all_told(tmp_path, data_folder, monkeypatch):
    monkeypatch.setenv("PROTOCOVER_DATA", str(data_folder))
    row = neighbors.run_split("wine", 0)
    sets = {"wine": {m: {k: [v, v] for k, v in row[m].items()} for m in neighbors.METHODS}}
    text = neighbors_page.write({"n_splits": 2, "sets": sets}, tmp_path)
    assert "What Hart's condensing keeps errs on 0.0 % of the training examples" in text
    assert row["condensed"]["size"] < row["edited"]["size"] < row["1-NN"]["size"]
    assert row["multiedit, condensed"]["size"] <= row["condensed"]["size"]


def test_numbers_of_prototypes_outside_ours_are_counted():
    """The paper's 12 medoids on wine lie among ours, its 3 vectors of LVQ do not."""
    sizes = {"1-NN": [119] * 40, "PVM": [4] * 40, "K-medoids": [12] * 40, "LVQ": [9] * 40}
    sets = {"wine": {"methods": {m: {"size": size} for m, size in sizes.items()}}}
    n, outside = uci_page._place_sizes(sets)
    assert n == 3
    assert outside == ["wine, LVQ (3, below nearly all of ours)"]


def test_path_of_the_cost_stops_before_gains_that_only_pay_for_it():
    results = {"improvement": "9 6 6 2 1 1", "wrong": "50 40 30 20 10 5", "n_test": 100, "size": 6}
    text = tangent_model_page._tabulate_costs(results)
    assert "| 1/n | 6 | 5 | 5.00 |" in text
    assert "| 1 | 4 | 20 | 20.00 |" in text
    assert "| 6 | 1 | 50 | 50.00 |" in text
    assert "| 10 |" not in text
