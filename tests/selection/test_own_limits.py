"""Balls of several limits and parts from one pass, and what is not looked at for them."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from protocover.selection.own_limits import balls_of_parts
from protocover.selection.part import Part
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
