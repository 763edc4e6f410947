"""What blocks of similar mixed rows find is what comparing all of `pairwise` finds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocover._balls import build_balls, build_levels, ordered_members, relative_to, within
from protocover._balls.nearest import find_nearest
from protocover.dissimilarity import Gower
from protocover.dissimilarity import _gower as distance
from protocover.dissimilarity import _gower_blocks as blocks


def mixed(rng, n, *, missing, beyond):
    """A table with all kinds of columns, ties, gaps and values that training did not have."""
    frame = pd.DataFrame(
        {
            "number": rng.gamma(2.0, size=n).round(2) * (2.0 if beyond else 1.0),
            "few": rng.integers(4, size=n).astype(float),
            "label": rng.choice(list("abcdef" if beyond else "abcd"), n).astype(object),
            "flag": rng.random(n) < 0.3,
            "rare": rng.random(n) < 0.1,
        }
    )
    frame["flag"] = frame["flag"].astype(object)
    frame["rare"] = frame["rare"].astype(object)
    if missing:
        frame = frame.mask(rng.random(frame.shape) < missing)
    return frame


@st.composite
def questions(draw):
    """Fitted dissimilarity, points, candidates and radii, some of them distances."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    missing = draw(st.sampled_from([0.0, 0.02, 0.3]))
    X = mixed(rng, draw(st.integers(5, 90)), missing=missing, beyond=False)
    same = draw(st.booleans())
    Z = X if same else mixed(rng, draw(st.integers(5, 60)), missing=missing, beyond=True)
    weights = draw(st.sampled_from([None, [1.0, 2.0, 0.5, 0.0, 1.0]]))
    kinds = {"rare": "asymmetric"} if draw(st.booleans()) else None
    metric = Gower(
        feature_types=kinds, weights=weights, missing_penalty=draw(st.sampled_from([None, 0.5]))
    ).fit(X)
    table = metric.pairwise(X, Z)
    positive = table[table > 0.0]
    eps = float(rng.choice(positive)) if len(positive) else 0.1
    return metric, X, Z, table, draw(st.sampled_from([eps, 0.3 * eps, eps + 1e-3])), rng


@pytest.fixture(autouse=True)
def small_blocks():
    """Blocks that even small tables have several of, and that are always looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance, "_WORTH_A_SEARCH", 0)
        patch.setattr(blocks, "_SIZE", 4)
        patch.setattr(blocks, "_SMALL", 4)
        patch.setattr(blocks, "_LARGEST_SHARE", 1.0)
        yield


@settings(max_examples=50, deadline=None)
@given(questions(), st.booleans())
def test_members_levels_and_distances_are_those_of_cross(question, closed):
    metric, X, Z, table, eps, _ = question
    inside = within(table, eps, closed=closed)
    balls = build_balls(metric, X, Z, eps=eps, closed=closed, n_jobs=1)
    assert np.array_equal(balls.toarray(), inside)
    levels = build_levels(
        metric, X, Z, radii=np.array([eps / 2, eps]), closed=closed, n_jobs=1
    ).toarray()
    first = within(table, eps / 2, closed=closed)
    assert np.array_equal(levels, np.where(first, 1, np.where(inside, 2, 0)))
    found = np.full(table.shape, np.nan)
    for members in ordered_members(metric, X, Z, lambda some: some, eps=eps, closed=closed):
        found[members.point, members.candidate] = members.distance
    assert np.array_equal(found, np.where(inside, table, np.nan), equal_nan=True)


@settings(max_examples=50, deadline=None)
@given(questions(), st.booleans(), st.integers(1, 4))
def test_the_nearest_of_each_group_is_that_of_cross(question, with_radii, n_groups):
    metric, X, Z, table, _, rng = question
    cuts = np.sort(rng.integers(len(Z) + 1, size=n_groups - 1))
    bounds = np.concatenate(([0], cuts, [len(Z)]))
    radii = rng.choice([0.01, 0.1, 0.25, 3.0], len(Z)) if with_radii else None
    ranking = table if radii is None else relative_to(radii, table)
    index, found = find_nearest(metric, X, Z, bounds=bounds, radii=radii, n_jobs=1)
    for g in range(n_groups):
        some = slice(bounds[g], bounds[g + 1])
        if bounds[g] == bounds[g + 1]:
            assert (index[:, g] == -1).all()
            continue
        nearest = bounds[g] + ranking[:, some].argmin(axis=1)
        assert np.array_equal(index[:, g], nearest)
        assert np.array_equal(found[:, g], table[np.arange(len(X)), nearest])


def test_few_rows_of_far_blocks_are_looked_at(monkeypatch):
    """Otherwise nothing would be saved."""
    rng = np.random.default_rng(0)
    X = mixed(rng, 2000, missing=0.0, beyond=False)
    metric, n_pairs = Gower().fit(X), [0]
    average = blocks.average_differences

    def counted(left, right, weighing):
        n_pairs[0] += left.n_rows * right.n_rows
        return average(left, right, weighing)

    monkeypatch.setattr(blocks, "average_differences", counted)
    monkeypatch.setattr(blocks, "_SIZE", 16)
    monkeypatch.setattr(blocks, "_SMALL", 16)
    build_balls(metric, X, X, eps=0.01, n_jobs=1)
    find_nearest(metric, X, X, bounds=np.array([0, 2000]), n_jobs=1)
    assert 2000 < n_pairs[0] < 0.25 * 2 * 2000**2
