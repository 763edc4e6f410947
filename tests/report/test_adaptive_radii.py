"""A report on prototypes that have radii of their own, against slow, obvious recomputation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover.report import render, summarize
from protocover.report._summary import plain

X, Y = load_iris(return_X_y=True)
X, LABELS = X[::2], np.array(["setosa", "versicolor", "virginica"])[Y[::2]]
LABELS[[3, 30, 60]] = ["virginica", "setosa", "versicolor"]


@pytest.fixture(scope="module")
def model():
    return PVMClassifier(eps=None, radii="adaptive", prototype_cost=1.5).fit(X, LABELS)


@pytest.fixture(scope="module")
def summary(model):
    return summarize(model, X, LABELS, title="Iris")


@pytest.fixture(scope="module")
def multiples(model):
    """Distances of the training points from the prototypes, in multiples of their radii."""
    assert len(set(model.prototype_radii_)) > 2
    return cdist(X, model.prototypes_) / model.prototype_radii_


def test_the_members_of_each_ball_are_those_within_its_own_radius(summary, model, multiples):
    for k, prototype in enumerate(summary.prototypes):
        inside = np.flatnonzero(multiples[:, k] < 1.0)
        rows = [summary.cases.rows[i] for i in prototype.members]
        assert sorted(rows) == inside.tolist()
        assert (np.diff(multiples[rows, k]) >= -1e-9).all()
        own = LABELS[inside] == model.prototype_labels_[k]
        assert (prototype.covers, prototype.wrong) == (own.sum(), (~own).sum())
        assert prototype.radius == pytest.approx(model.prototype_radii_[k], rel=1e-4)


def test_the_nearest_of_another_class_is_so_in_multiples_of_its_radius(summary, model):
    between = cdist(model.prototypes_, model.prototypes_)
    by_distance = 0
    for k, prototype in enumerate(summary.prototypes):
        others = np.flatnonzero(model.prototype_labels_ != model.prototype_labels_[k])
        other = others[(between[k, others] / model.prototype_radii_[others]).argmin()]
        assert prototype.nearest_other == other
        assert prototype.nearest_other_distance == pytest.approx(between[k, other], rel=1e-3)
        by_distance += other == others[between[k, others].argmin()]
    assert by_distance < len(summary.prototypes)


def test_uncovered_cases_come_farthest_first_in_multiples_of_the_radius(summary, model, multiples):
    away = np.where(LABELS[:, None] == model.prototype_labels_, multiples, np.inf)
    rows = np.flatnonzero((away >= 1.0).all(axis=1))
    assert len(rows) > 2
    listed = [summary.cases.rows[case.case] for case in summary.uncovered]
    assert sorted(listed) == rows.tolist()
    assert (np.diff(away.min(axis=1)[listed]) <= 0).all()
    nearest = away.argmin(axis=1)[listed]
    assert [case.prototype for case in summary.uncovered] == nearest.tolist()
    reach = cdist(X, model.prototypes_)[listed, nearest]
    np.testing.assert_allclose([case.distance for case in summary.uncovered], reach, rtol=1e-3)


def test_no_limit_is_not_a_number_in_the_data(summary):
    assert (summary.radii, summary.eps) == ("adaptive", None)
    data = json.loads(json.dumps(summary, default=plain, allow_nan=False))
    assert data["eps"] is None
    assert [p["radius"] for p in data["prototypes"]] == [p.radius for p in summary.prototypes]
    radii = sorted(p.radius for p in summary.prototypes)
    extent = f"{radii[0]:.5g} to {radii[-1]:.5g}"
    assert dict(summary.settings)["Radius"] == f"one per prototype, {extent}; no limit"
    assert f"Each prototype has its own radius, {extent}." in summary.lead
    page = render(summary)
    assert f"within its own radius, {extent}." in page
    assert "Infinity" not in page.split('id="data"')[1].split("</script>")[0]


def test_the_maximum_radius_is_in_the_settings():
    model = PVMClassifier(eps=0.9, radii="adaptive").fit(X, LABELS)
    summary = summarize(model, X, LABELS)
    assert (summary.radii, summary.eps) == ("adaptive", 0.9)
    assert dict(summary.settings)["Radius"].endswith("; at most 0.9, as given")


def test_a_global_radius_is_in_the_settings():
    summary = summarize(PVMClassifier(eps=0.8, **PAPER).fit(X, LABELS), X, LABELS)
    assert (summary.radii, summary.eps) == ("shared", 0.8)
    assert {p.radius for p in summary.prototypes} == {0.8}
    assert dict(summary.settings)["Radius"] == "0.8, as given"
    assert "of them lie within 0.8 of a prototype of their own class." in summary.lead
    assert "covers the cases of its class within a distance of 0.8." in render(summary)


def test_a_prototype_of_radius_zero_is_reported_like_any_other():
    places, labels = np.zeros((5, 1)), np.array([0, 0, 0, 1, 1])
    model = PVMClassifier(eps=None, radii="adaptive", closed_ball=True, prototype_cost=0.1)
    model.fit(places, labels)
    summary = summarize(model, places, labels)
    assert [p.radius for p in summary.prototypes] == [0.0, 0.0]
    assert "within its own radius, 0." in render(summary)


def test_the_nearest_of_another_class_is_never_of_the_same_class():
    # A neighbour of another class at the smallest distance leaves radii of 0.
    table = np.full((6, 6), 1.0)
    table[:3, :3] = table[3:, 3:] = 0.0
    table[4, :3] = table[1, 3:] = np.nextafter(0.0, 1.0)
    labels = np.repeat([0, 1], 3)
    given = PVMClassifier(eps=None, radii="adaptive", closed_ball=True, metric="precomputed")
    summary = summarize(given.fit(table, labels), table, labels)
    assert [(p.radius, p.nearest_other, p.nearest_other_distance) for p in summary.prototypes] == [
        (0.0, 1, 1.0),
        (0.0, 0, 1.0),
    ]


def test_a_precomputed_table_gives_the_same_report_with_radii_of_their_own(summary):
    table = cdist(X, X)
    given = PVMClassifier(eps=None, radii="adaptive", prototype_cost=1.5, metric="precomputed")
    found = summarize(given.fit(table, LABELS), table, LABELS, title="Iris")
    for one, other in zip(found.prototypes, summary.prototypes, strict=True):
        assert (one.radius, one.covers) == (other.radius, other.covers)
        assert one.nearest_other == other.nearest_other
