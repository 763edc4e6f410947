"""The greedy along lists of levels chooses what the slow oracle and the solver itself choose."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import naive
from protocover._balls import levels_of
from protocover._cover import CoverSolution
from protocover._selection.path import GreedyLevels, formulate_path, solve_path
from protocover._selection.selection import Selection
from protocover._selection.training import TrainingSubset, prepare_training
from protocover.solvers import greedy

RADII = np.array([1.0, 2.0, 3.0, 4.5])
COSTS = np.array([0.1, 1 / 3, 1.0, 3.0])
WEIGHTS = {
    "plain": lambda rng, n: np.ones(n),
    "all alike": lambda rng, n: np.full(n, 0.75),
    "whole": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "rough": lambda rng, n: rng.uniform(0.1, 1.0, n),
    "some zero": lambda rng, n: rng.integers(0, 3, n).astype(float),
}


def random_case(seed, n=60, m=None):
    """Distances of points on a coarse grid, full of ties, to themselves or to other places."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 9, (n, 2)).astype(float)
    others = points if m is None else rng.integers(0, 9, (m, 2)).astype(float)
    # Not symmetric either: who is near whom depends on who asks.
    table = cdist(points, others) + (rng.random((n, len(others))) < 0.1)
    np.fill_diagonal(table, 0.0)
    return table, rng.integers(0, 3, n), rng


def training_of(table, y, weights):
    return prepare_training(
        table,
        y,
        weights,
        metric="precomputed",
        metric_params=None,
        candidates="train",
        rng=np.random.default_rng(0),
    )


def path_of(training, *, closed, bound, costs=COSTS):
    """Selections from problems where bounds are asked for, else along lists."""
    rng, options = np.random.default_rng(0), {"bound": bound}
    problems = formulate_path(
        training,
        radii=RADII,
        own=False,
        closed=closed,
        prototype_cost=float(costs[0]),
        solver=greedy,
        options=options,
        rng=rng,
        n_jobs=1,
        verbose=0,
    )
    assert isinstance(problems, GreedyLevels) == (not bound)
    return solve_path(
        problems,
        n_classes=len(training.classes),
        costs=costs,
        solver=greedy,
        options=options,
        rng=rng,
        verbose=0,
    )


def assert_same_selections(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        for one, other in zip(a, b, strict=True):
            for name in {field.name for field in fields(Selection)} - {"solutions", "radii"}:
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
            for mine, its in zip(one.solutions, other.solutions, strict=True):
                assert_same_solutions(mine, its)


def assert_same_solutions(ours, theirs):
    for name in ("selected", "score", "newly_covered", "objective"):
        mine, its = getattr(ours, name), getattr(theirs, name)
        np.testing.assert_array_equal(mine, its, name)
        assert np.asarray(mine).dtype == np.asarray(its).dtype
    assert (ours.lower_bound, ours.certificate, ours.dual) == (-np.inf, "none", None)
    assert isinstance(ours, CoverSolution)
    assert ours.status == theirs.status


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(3))
def test_selections_are_those_of_the_problems_in_all_they_say(seed, weights, closed):
    table, y, rng = random_case(seed)
    training = training_of(table, y, WEIGHTS[weights](rng, len(y)))
    theirs = path_of(training, closed=closed, bound=True)
    assert_same_selections(path_of(training, closed=closed, bound=False), theirs)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(3))
def test_selections_are_those_of_the_slow_greedy(seed, weights):
    table, y, rng = random_case(seed, n=25)
    training = training_of(table, y, WEIGHTS[weights](rng, len(y)))
    kept = np.arange(len(y)) if training.rows is None else training.rows
    found = path_of(training, closed=True, bound=False)
    for eps, row in zip(RADII, found, strict=True):
        inside = naive.members(table[np.ix_(kept, kept)], eps, closed=True)
        for cost, one in zip(COSTS.tolist(), row, strict=True):
            chosen, gains = naive.pvm_greedy(inside, training.codes, training.weights, cost, 3)
            assert list(zip(one.candidates.tolist(), one.classes.tolist(), strict=True)) == chosen
            np.testing.assert_allclose(one.score, gains)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(3))
def test_a_part_is_chosen_from_as_if_there_were_nothing_else(seed, weights):
    table, y, rng = random_case(seed)
    rows = np.flatnonzero(rng.random(len(y)) < 0.6)
    some = np.maximum(WEIGHTS[weights](rng, len(rows)), 0.5)
    whole = training_of(table, y, None)
    subset = TrainingSubset.of_rows(whole, rows, some)
    part = replace(GreedyLevels.of(whole, levels(table), n_levels=len(RADII)), subset=subset)
    alone = training_of(table[np.ix_(rows, rows)], y[rows], some)
    assert_same_selections(tuple(part.selections(COSTS)), path_of(alone, closed=True, bound=True))


def test_one_class_and_a_cost_that_nothing_is_worth():
    table, _, _ = random_case(0)
    training = training_of(table, np.zeros(len(table), dtype=int), None)
    costs = np.array([0.0, 1000.0])
    found = path_of(training, closed=False, bound=False, costs=costs)
    assert_same_selections(found, path_of(training, closed=False, bound=True, costs=costs))
    assert all(len(row[1].candidates) == 0 for row in found)


def levels(table):
    found = levels_of(table, RADII, closed=True)
    i, j = np.nonzero(found < len(RADII))
    return csr_array(((found[i, j] + 1).astype(np.uint8), (i, j)), shape=table.shape)
