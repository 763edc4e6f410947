"""Labels that disagree with nearby prototypes."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import naive
from paper import PAPER
from protocover import (
    NoPrototypesError,
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    find_label_issues,
)

# Two groups on a line; the point at 0.3 has the label of the group far away.
X = np.array([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 5.0, 5.1, 5.2, 5.3, 5.4, 5.5])[:, None]
Y = np.array([0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1])


def judged(model, X, y):
    """Compare labels with the prototypes of the model itself, and list all that disagree."""
    return find_label_issues(model, X, y, refit=False)


def some_labels(seed, n):
    return np.random.default_rng(seed).integers(0, 3, n)


def flipped_iris(seed=0, n=8):
    X, y = load_iris(return_X_y=True)
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(y), n, replace=False)
    y[rows] = (y[rows] + rng.integers(1, 3, n)) % 3
    return X, y, rows


def test_a_point_among_points_of_another_class_is_the_only_suspect():
    found = judged(PVMClassifier(eps=0.35, **PAPER).fit(X, Y), X, Y)
    assert found.row.tolist() == [3]
    assert found.label.tolist() == [1]
    assert found.suggested.tolist() == [0]
    assert found.reason.tolist() == ["covered only by other classes"]
    assert found.score[0] > 0.9
    assert len(found) == 1


def test_a_mislabelled_point_does_not_vouch_for_itself_as_a_prototype_of_nobody_else():
    aside = np.vstack((X, [[0.8]]))
    labels = np.append(np.repeat([0, 1], 6), 1)
    model = PVMClassifier(eps=0.25, **PAPER).fit(aside, labels)
    alone = np.flatnonzero(model.prototype_indices_ == 12)
    assert model.prototype_labels_[alone].tolist() == [1]
    assert model.predict([[0.8]]).tolist() == [1]
    found = judged(model, aside, labels)
    assert found.row.tolist() == [12]
    assert found.own_distance[0] > 4


MACHINES = st.sampled_from([{"cross_class": True, "min_per_class": 0}, {}])


def assert_obvious(model, X, y):
    """Suspects are those of a slow search among the prototypes that are worth their cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        paid = clone(model).set_params(min_per_class=0).fit(X, y).prototype_labels_
    assume(len(model.prototype_labels_) > 0)
    found = judged(model, X, y)
    kept = np.isin(model.prototype_labels_, paid)
    expected = naive.suspects(
        model.transform(X)[:, kept],
        y,
        model.prototype_labels_[kept],
        model.prototype_indices_[kept],
        model.eps_,
        radii=model.prototype_radii_[kept] if model.radii == "adaptive" else None,
        closed=model.closed_ball,
    )
    assert found.row.tolist() == [row for row, *_ in expected]
    assert found.score.tolist() == pytest.approx([score for _, score, *_ in expected])
    assert found.suggested.tolist() == [label for _, _, label, _ in expected]
    assert found.reason.tolist() == [reason for *_, reason in expected]


@settings(max_examples=30)
@given(
    places=st.lists(st.integers(0, 12), min_size=4, max_size=12),
    seed=st.integers(0, 2**16),
    eps=st.sampled_from([0.5, 1.5, 2.5, 5.5]),
    machine=MACHINES,
)
def test_suspects_are_those_of_a_slow_obvious_search(places, seed, eps, machine):
    X, y = np.array(places, dtype=float)[:, None], some_labels(seed, len(places))
    assert_obvious(PVMClassifier(eps=eps, radii="shared", **machine), X, y)


@settings(max_examples=30)
@given(
    places=st.lists(st.integers(0, 12), min_size=4, max_size=12),
    seed=st.integers(0, 2**16),
    eps=st.sampled_from([None, 1.5, 2.5, 5.5]),
    closed=st.booleans(),
    machine=MACHINES,
)
def test_with_radii_of_their_own_prototypes_are_near_in_multiples_of_them(
    places, seed, eps, closed, machine
):
    X, y = np.array(places, dtype=float)[:, None], some_labels(seed, len(places))
    options = {"radii": "adaptive", "closed_ball": closed, "prototype_cost": 0.1}
    assert_obvious(PVMClassifier(eps=eps, **options, **machine), X, y)


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize(("min_per_class", "labels"), [(0, {0}), (1, {0, 1})])
def test_labels_of_a_class_without_a_prototype_worth_its_cost_are_not_listed(
    refit, min_per_class, labels
):
    X, y = np.zeros((5, 1)), np.array([0, 0, 0, 1, 1])
    model = PVMClassifier(
        eps=1.0, radii="shared", prototype_cost=0.1, min_per_class=min_per_class
    ).fit(X, y)
    assert set(model.prototype_labels_) == labels
    assert len(find_label_issues(model, X, y, refit=refit, max_suspects=None)) == 0


def test_a_reference_without_prototypes_lists_nothing():
    X, y = np.r_[0.0, 0.0, 0.0, 0.0, 9.0][:, None], np.array([0, 1, 0, 1, 0])
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, y)
    found = find_label_issues(model, X[:4], y[:4])
    assert len(found) == len(found.to_frame()) == 0
    assert found.describe() == "No label disagrees with nearby prototypes."


def reference(**metric):
    return PVMClassifier(eps="auto", solver="greedy", **PAPER, **metric)


@pytest.mark.parametrize(
    "model",
    [
        PVMClassifier(eps=3.0, radii="shared"),
        PVMClassifier(eps=None, radii="adaptive"),
        PVMClassifierCV(eps=[0.5, 2.0], cv=2, **PAPER),
        make_pipeline(
            StandardScaler(with_mean=False, with_std=False), PVMClassifier(eps=0.1, **PAPER)
        ),
    ],
)
def test_the_result_does_not_depend_on_radius_or_prototypes_of_the_model(model):
    X, y, rows = flipped_iris()
    found = find_label_issues(model.fit(X, y), X, y, max_suspects=None)
    expected = judged(reference().fit(X, y), X, y)
    assert found.row.tolist() == expected.row.tolist()
    assert found.score.tolist() == expected.score.tolist()
    assert np.isin(found.row[: len(rows)], rows).mean() >= 0.75
    assert found.judge.prototype_labels_[found.other_prototype].tolist() == (
        found.suggested.tolist()
    )


@pytest.mark.filterwarnings("ignore:no prototype of the classes:UserWarning")
def test_classes_that_have_a_prototype_only_because_they_must_are_not_listed():
    X, y, _ = flipped_iris()
    rare = np.flatnonzero((y != 1) | (np.arange(len(y)) % 6 == 0))
    X, y = X[rare], y[rare]
    everything = find_label_issues(PVMClassifier().fit(X, y), X, y, max_suspects=None)
    model = PVMClassifier(prototype_cost=15.0).fit(X, y)
    assert model.solution_.forced.tolist() == [1]
    found = find_label_issues(model, X, y, max_suspects=None)
    assert (everything.label == 1).any()
    assert found.row.tolist() == everything.row[everything.label != 1].tolist()


def flipped(X, y, share, seed=0):
    rng, labels = np.random.default_rng(seed), y.copy()
    rows = rng.choice(len(y), round(share * len(y)), replace=False)
    labels[rows] = (y[rows] + rng.integers(1, y.max() + 1, len(rows))) % (y.max() + 1)
    return labels, rows


@pytest.mark.parametrize(("share", "fewest", "most"), [(0, 0, 0.01), (0.05, 0.02, 0.07)])
@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_the_list_is_about_as_long_as_there_are_wrong_labels(load, share, fewest, most):
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X) if load is load_breast_cancer else X
    labels, rows = flipped(X, y, share)
    found = find_label_issues(PVMClassifier(eps=1.0, **PAPER).fit(X, labels), X, labels)
    assert fewest * len(y) <= len(found) <= most * len(y)
    assert share == 0 or np.isin(found.row, rows).mean() >= 0.75
    everything = find_label_issues(found.judge, X, labels, max_suspects=None)
    assert everything.row[: len(found)].tolist() == found.row.tolist()
    assert len(everything) == found.n_disagree
    assert share == 0 or np.isin(rows, everything.row).mean() >= 0.9


def test_at_most_as_many_are_listed_as_asked_for():
    X, y, _ = flipped_iris()
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, y)
    assert find_label_issues(model, X, y, max_suspects=3).row.tolist() == (
        find_label_issues(model, X, y, max_suspects=None).row[:3].tolist()
    )
    for wrong in (-1, 1.5, "all", True):
        with pytest.raises(
            ValueError, match='max_suspects must be "auto", a non-negative integer'
        ):
            find_label_issues(model, X, y, max_suspects=wrong)


def test_many_samples_are_compared_with_prototypes_among_some_of_them(monkeypatch):
    X, y, rows = flipped_iris()
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, y)
    assert find_label_issues(model, X, y).n_candidates is None
    monkeypatch.setattr("protocover._inspection.label_issues._MOST_PAIRS", 150 * 80)
    monkeypatch.setattr("protocover._inspection.label_issues._FEWEST_CANDIDATES", 10)
    found = find_label_issues(model, X, y)
    assert found.n_candidates == 80
    assert found.describe().endswith("among 80 samples drawn at random.")
    assert np.isin(found.row[: len(rows)], rows).mean() >= 0.7


def test_a_precomputed_table_gives_the_same_suspects_as_its_metric():
    X, y, _ = flipped_iris()
    table = cdist(X, X)  # the metric's own numbers: some distances are the radius
    found = judged(PVMClassifier(eps=1.0, **PAPER).fit(X, y), X, y)
    again = judged(PVMClassifier(eps=1.0, metric="precomputed", **PAPER).fit(table, y), table, y)
    assert again.row.tolist() == found.row.tolist()
    assert again.score == pytest.approx(found.score)


def test_searches_selectors_and_pipelines_are_asked_for_the_classifier_within():
    X, y, _ = flipped_iris()
    scaled = StandardScaler().fit_transform(X)
    expected = judged(PVMClassifier(eps=0.8, **PAPER).fit(scaled, y), scaled, y).row.tolist()
    pipeline = make_pipeline(StandardScaler(), PVMClassifier(eps=0.8, **PAPER)).fit(X, y)
    assert judged(pipeline, X, y).row.tolist() == expected
    search = PVMClassifierCV(eps=[0.8], cv=2, **PAPER).fit(scaled, y)
    assert judged(search, scaled, y).row.tolist() == expected
    selector = PVMSelector(eps=0.8, **PAPER).fit(scaled, y)
    assert judged(selector, scaled, y).row.tolist() == expected


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "model", [PVMClassifier(eps=1.0, **PAPER), PVMClassifierCV(eps=[1.0], cv=2, **PAPER)]
)
def test_frames_give_their_index_to_the_suspects(model):
    X, y, _ = flipped_iris()
    names = [f"flower {i}" for i in range(len(y))]
    table = pd.DataFrame(X, columns=list("abcd"), index=names)
    found = judged(model.fit(table, y), table, y)
    frame = found.to_frame()
    assert frame.index.tolist() == [names[row] for row in found.row]
    assert frame.columns[:5].tolist() == ["row", "label", "suggested", "score", "reason"]


def test_rows_of_other_points_do_not_count_as_those_of_the_training():
    """New points in the rows of prototypes are judged as any new point is."""
    model = PVMClassifier(eps=0.35, **PAPER).fit(X, Y)
    fresh = X[::-1] + 0.001
    found = judged(model, fresh, Y[::-1])
    whole = judged(model, np.vstack((fresh, fresh + 0.001)), np.r_[Y[::-1], Y[::-1]])
    assert found.row.tolist() == [8]
    assert set(whole.row) == {8, 20}
    assert found.score[0] == pytest.approx(whole.score[whole.row == 8][0])


@pytest.mark.parametrize("outlier", [None, -1])
def test_a_model_without_prototypes_has_nothing_to_say(outlier):
    model = PVMClassifier(eps=0.1, prototype_cost=1e3, outlier_label=outlier, **PAPER).fit(X, Y)
    with pytest.raises(NoPrototypesError, match="no label can be compared with any"):
        judged(model, X, Y)


def test_labels_that_the_model_does_not_know_are_refused():
    with pytest.raises(ValueError, match=r"classes that the model knows, \[0, 1\]"):
        judged(PVMClassifier(eps=0.35, **PAPER).fit(X, Y), X, Y + 1)


def test_other_models_are_refused():
    with pytest.raises(TypeError, match="got LogisticRegression"):
        judged(LogisticRegression().fit(X, Y), X, Y)


def test_queries_are_not_taken_for_training_points_because_they_are_as_many():
    """Of a table only its shape and its values tell whose rows they are."""
    X, y = load_wine(return_X_y=True)
    X = X / X.std(axis=0)
    model = PVMClassifier(eps=2.5, metric="precomputed", **PAPER).fit(
        pairwise_distances(X[::2]), y[::2]
    )
    by_rows = PVMClassifier(eps=2.5, **PAPER).fit(X[::2], y[::2])
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        of_table = judged(model, pairwise_distances(X[rows], X[::2]), y[rows])
        of_rows = judged(by_rows, X[rows], y[rows])
        np.testing.assert_array_equal(of_table.row, of_rows.row)
        np.testing.assert_allclose(of_table.score, of_rows.score)
