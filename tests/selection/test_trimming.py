"""Members that are trimmed before they are sorted make no difference to the problems.

``test_adaptive_radii.py`` compares the problems without trimming with an obvious version.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocover._selection import radius_sweep
from protocover._selection.selection import formulate_classes
from protocover._selection.training import prepare_training


def written(X, y, weights, *, eps, closed, cost, metric, cross_class, fewest_bits, bits):
    """What `formulate_own` writes down, with trimming by that many bits or without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radius_sweep, "_FEWEST_BITS", fewest_bits)
        patch.setattr(radius_sweep, "_MOST_BITS", bits)
        patch.setattr(radius_sweep, "_LEAST_PER_COUNTER", 1e-9)
        training = prepare_training(
            X,
            y,
            weights,
            metric=metric,
            metric_params=None,
            candidates="train",
            rng=np.random.default_rng(0),
            cross_class=cross_class,
        )
        found = formulate_classes(
            training, eps=eps, adaptive_radii=True, closed=closed, prototype_cost=cost, n_jobs=1
        )
    return [
        (
            one.problem.parts.toarray().tolist(),
            one.problem.wrong.tolist(),
            one.candidate.tolist(),
            one.radius.tolist(),
            one.miscovered.tolist(),
        )
        for one in found
    ]


@st.composite
def tables(draw):
    """Rows with ties and duplicates, or of a mixture, with labels and weights."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, n_classes = draw(st.integers(2, 80)), draw(st.integers(1, 4))
    y = rng.integers(n_classes, size=n)
    if draw(st.booleans()):
        X = rng.integers(5, size=(n, 2)).astype(float)
    else:
        X = 0.8 * rng.normal(size=(n_classes, 3))[y] + rng.normal(size=(n, 3))
        X[::7] = X[0]
    X *= 10.0 ** draw(st.sampled_from([-50, -3, 0, 3, 60]))
    weights = rng.choice(draw(st.sampled_from([[1.0], [0.25, 1.0, 2.0], [0.1, 0.7]])), size=n)
    return X, y, weights


@settings(max_examples=50, deadline=None)
@given(
    tables(),
    st.sampled_from(["euclidean", "sqeuclidean", "cityblock"]),
    st.sampled_from([0.1, 0.5, np.inf]),
    st.booleans(),
    st.sampled_from([0.0, 1.0, 3.0]),
    st.booleans(),
    st.integers(1, 7),
)
def test_problems_are_the_same_with_and_without(
    table, metric, share, closed, cost, cross_class, bits
):
    X, y, weights = table
    spread = float(np.ptp(X)) * 3.0
    eps = share * (spread**2 if metric == "sqeuclidean" else spread) or 1.0
    asked = {"eps": eps, "closed": closed, "cost": cost, "metric": metric, "bits": bits}
    asked["cross_class"] = cross_class
    trimmed = written(X, y, weights, fewest_bits=0, **asked)
    assert trimmed == written(X, y, weights, fewest_bits=99, **asked)


def test_hardly_any_member_is_left_where_radii_have_no_limit():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=4000)
    distance = rng.random(4000).astype(np.float64)
    distance[(y == 0) & (distance < 0.1)] *= 0.01  # a pure ball, and then all classes
    near = np.arange(4000), np.zeros(4000, dtype=np.intp), distance, np.zeros(4000, np.float32)
    trim = radius_sweep.GainTrim(y, np.ones(4000, dtype=np.int64), 3)
    point, _, low, _ = trim(near, 0)
    assert len(point) < 2000
    assert low.max() < np.delete(distance, point).min()
