"""A classifier whose prototypes take radii of their own, against the obvious version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

import naive
from paper import PAPER
from protocover import PVMClassifier

X, Y = load_iris(return_X_y=True)


def own(eps=None, **options):
    """A classifier with radii of their own; a cost of 1 leaves lone points out."""
    options = {"prototype_cost": 1.0, **options}
    return PVMClassifier(eps=eps, radii="adaptive", **options)


@st.composite
def tables(draw):
    """Few points on a coarse grid: ties, duplicates of different labels, uneven weights."""
    n = draw(st.integers(2, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.integers(0, 4, (n, 2)).astype(float)
    y = rng.integers(0, draw(st.integers(1, 3)), n)
    weights = rng.integers(1, 5, n) / draw(st.sampled_from([1, 4]))
    return points, y, weights


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@settings(max_examples=40, deadline=None)
@given(
    tables(),
    st.sampled_from([None, 1.0, 2.0, 2.5]),
    st.booleans(),
    st.sampled_from([0.0, 0.25, 1.0, 4.0]),
    st.booleans(),
    st.sampled_from([0, 1]),
)
def test_prototypes_and_answers_are_those_of_the_obvious_version(
    table, eps, closed, cost, pairwise, least
):
    points, y, weights = table
    model = own(
        eps,
        closed_ball=closed,
        prototype_cost=cost,
        outlier_label="most_frequent",
        solver="greedy",
        cross_class=pairwise,
        min_per_class=least,
    )
    model.fit(points, y, weights)
    limit = np.inf if eps is None else eps
    D = cdist(points, points)
    wanted = {"served": None if pairwise else y, "floor": least > 0}
    chosen = naive.own_greedy(D, y, weights, limit, closed=closed, prototype_cost=cost, **wanted)
    found = zip(
        model.candidate_indices_, model.prototype_labels_, model.prototype_radii_, strict=True
    )
    assert list(found) == chosen
    assert model.verify(points, y, weights).ok
    queries = np.vstack((points, points + 0.3))
    expected = naive.own_nearest(cdist(queries, points), chosen, closed=closed)
    np.testing.assert_array_equal(model.explain(queries).inside if chosen else False, expected[1])
    if chosen:
        np.testing.assert_array_equal(model.explain(queries).label, expected[0])


@pytest.mark.parametrize(
    "solver", ["greedy", "ratio-greedy", "lp-rounding", "local-search", "exact", "auto"]
)
@pytest.mark.parametrize("closed", [False, True])
def test_every_solver_answers_with_a_certificate_that_holds(solver, closed):
    model = own(solver=solver, closed_ball=closed, random_state=0).fit(X, Y)
    assert model.verify(X, Y).ok
    assert model.lower_bound_ <= model.objective_
    assert len(np.unique(np.c_[model.candidate_indices_, model.prototype_labels_], axis=0)) == len(
        model.prototypes_
    )


def test_the_exact_solver_proves_what_no_choice_of_radii_beats():
    rng = np.random.default_rng(0)
    for _ in range(20):
        points, y = rng.integers(0, 4, (6, 2)).astype(float), rng.integers(0, 2, 6)
        model = own(solver="exact", prototype_cost=0.5).fit(points, y)
        D = cdist(points, points)
        least = [
            naive.own_optimum(D, y, np.ones(6), label, np.inf, False, 0.5)
            for label in range(len(model.classes_))
        ]
        if len(model.classes_) == 2:
            assert model.objective_ == model.lower_bound_ == sum(least)


def test_the_radius_belongs_to_the_column_of_a_table_that_is_not_symmetric():
    rng = np.random.default_rng(0)
    D = rng.random((30, 12))
    y = rng.integers(0, 2, 30)
    model = own(metric="precomputed", prototype_cost=0.0, solver="greedy").fit(D, y)
    chosen = naive.own_greedy(D, y, np.ones(30), np.inf, closed=False, prototype_cost=0.0)
    found = zip(
        model.candidate_indices_, model.prototype_labels_, model.prototype_radii_, strict=True
    )
    assert list(found) == chosen


def test_candidates_of_open_class_take_radii_by_class():
    rng = np.random.default_rng(0)
    extra = X + rng.normal(scale=0.1, size=X.shape)
    model = own(candidates=["kmeans"], random_state=0).fit(X, Y, unlabeled=extra)
    assert model.verify(X, Y, unlabeled=extra).ok
    assert set(model.prototype_sources_) <= {"unlabeled", "kmeans"}
    assert model.score(X, Y) > 0.9


def test_whole_weights_are_repetitions():
    weights = np.random.default_rng(0).integers(1, 4, 150)
    heavy = own(0.8, solver="greedy").fit(X, Y, weights)
    rows = np.repeat(np.arange(150), weights)
    repeated = own(0.8, solver="greedy").fit(X[rows], Y[rows])
    np.testing.assert_array_equal(heavy.prototypes_, repeated.prototypes_)
    np.testing.assert_array_equal(heavy.prototype_radii_, repeated.prototype_radii_)
    assert heavy.objective_ == repeated.objective_
    # Of several optima the default may find another.
    assert own(0.8).fit(X, Y, weights).objective_ == own(0.8).fit(X[rows], Y[rows]).objective_


@pytest.mark.parametrize("candidates", ["train", 60, "kmeans"])
def test_batches_give_what_all_points_at_once_give(candidates):
    order = np.random.default_rng(0).permutation(150)
    grown = own(candidates=candidates, random_state=0)
    for batch in np.array_split(order, 3):
        grown.partial_fit(X[batch], Y[batch], classes=[0, 1, 2])
    if candidates == "train":
        whole = own().fit(X[order], Y[order])
        np.testing.assert_array_equal(grown.candidate_indices_, whole.candidate_indices_)
        np.testing.assert_array_equal(grown.prototype_radii_, whole.prototype_radii_)
    assert grown.verify(X[order], Y[order]).ok


def test_nothing_may_be_worth_its_cost():
    model = own(prototype_cost=1e3, outlier_label=7, min_per_class=0).fit(X, Y)
    assert len(model.prototypes_) == len(model.prototype_radii_) == 0
    assert (model.predict(X) == 7).all()


def test_outliers_are_those_in_no_ball_of_its_own_radius():
    model = own(outlier_label=-1).fit(X, Y)
    queries = np.vstack((X, X + 3.0))
    outside = (cdist(queries, model.prototypes_) >= model.prototype_radii_).all(axis=1)
    np.testing.assert_array_equal(model.predict(queries) == -1, outside)


def test_by_default_the_limit_is_the_upper_decile_of_the_distances_to_rivals():
    expected = naive.rival_quantile(cdist(X, X), Y, np.ones(150), 0.9)
    assert PVMClassifier().fit(X, Y).eps_ == expected


def test_a_limit_of_none_needs_radii_of_their_own():
    with pytest.raises(
        ValueError, match="got None; None, for no limit to the radii, needs radii='adaptive'"
    ):
        PVMClassifier(eps=None, **PAPER).fit(X, Y)


@pytest.mark.parametrize("radii", ["each", None, True, 2.0, ["adaptive"]])
def test_other_words_for_radii_are_refused(radii):
    with pytest.raises(
        ValueError, match="radii must be 'shared', one radius for all, or 'adaptive'"
    ):
        PVMClassifier(radii=radii).fit(X, Y)
