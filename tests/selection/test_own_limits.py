"""Balls of several limits and parts from one pass, and what is not looked at for them."""

from dataclasses import fields

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protocover.balls import OrderedMembers, ordered_members
from protocover.dissimilarity import Precomputed
from protocover.selection import own_radii
from protocover.selection.own_limits import Part, balls_of_parts
from protocover.selection.own_radii import OwnBalls, Rules
from protocover.selection.training import prepare_training


def random_case(seed, n=40):
    """Points on a coarse grid, so that distances are ties, with labels and rough weights."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, (n, 2)).astype(float)
    return points, np.sort(rng.integers(0, 4, n)), rng.uniform(0.1, 1.0, n)


def prepared(points, y, weights):
    table = cdist(points, points)
    return prepare_training(
        table,
        y,
        weights,
        metric="precomputed",
        metric_params=None,
        candidates="train",
        rng=np.random.default_rng(0),
    )


def limited(training, part, limits, *, closed):
    (found,) = balls_of_parts(
        training,
        [part],
        limits=np.array(limits),
        closed=closed,
        least_cost=0.1,
        n_jobs=1,
        verbose=0,
    )
    return found


def assert_same_problems(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.problem.shells.toarray(), b.problem.shells.toarray())
        for name in ("wrong", "prize", "first"):
            np.testing.assert_array_equal(getattr(a.problem, name), getattr(b.problem, name))
        for name in ("candidate", "radius", "covered", "miscovered"):
            np.testing.assert_array_equal(getattr(a.balls, name), getattr(b.balls, name))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_part_within_a_limit_is_written_down_as_if_there_were_nothing_else(seed, closed):
    points, y, weights = random_case(seed)
    rows = np.flatnonzero(np.random.default_rng(seed).random(len(y)) < 0.4)
    limits = [1.0, 2.0, np.inf]
    whole = prepared(points, y, None)
    together = limited(whole, Part.of_rows(whole, rows, weights[rows]), limits, closed=closed)
    alone = prepared(points[rows], y[rows], weights[rows])
    for limit, problems in zip(limits, together.problems(), strict=True):
        (expected,) = limited(alone, Part.whole(alone), [limit], closed=closed).problems()
        assert_same_problems(problems, expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("closed", [False, True])
def test_members_that_are_not_looked_at_change_nothing(seed, closed, monkeypatch):
    points, y, weights = random_case(seed)
    table = cdist(points, points)
    rules = Rules(
        y, own_radii.weight_grid(1.0, 40) * np.round(weights * 2**20), 4, 0.0, np.inf, closed
    )
    (members,) = ordered_members(
        Precomputed().fit(table), table, np.arange(40), lambda found: found, eps=np.inf, n_jobs=1
    )
    ours = OwnBalls.of(members, rules)
    seen = own_radii._in_reach(members, rules)
    assert 0 < seen.sum() < len(seen)
    monkeypatch.setattr(own_radii, "_in_reach", lambda members, rules: slice(None))
    theirs = OwnBalls.of(members, rules)
    for field in fields(OwnBalls):
        np.testing.assert_array_equal(getattr(ours, field.name), getattr(theirs, field.name))


def test_what_is_in_reach_ends_with_the_first_ball_too_heavy_to_pay():
    """Two of each of three classes, by distance: a ball of four can hold no more than a half."""
    members = OrderedMembers(np.zeros(6, np.intp), np.arange(6), np.arange(6.0))
    rules = Rules(np.array([0, 0, 1, 1, 2, 2]), np.ones(6), 3, 0.0, np.inf, False)
    assert own_radii._in_reach(members, rules).tolist() == [True] * 4 + [False] * 2
