"""A report on prototypes that have radii of their own, against slow, obvious recomputation."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover.report import render, summarize, write_report
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


def test_the_rival_is_nearest_in_multiples_of_its_radius(summary, model):
    between = cdist(model.prototypes_, model.prototypes_)
    by_distance = 0
    for k, prototype in enumerate(summary.prototypes):
        others = np.flatnonzero(model.prototype_labels_ != model.prototype_labels_[k])
        rival = others[(between[k, others] / model.prototype_radii_[others]).argmin()]
        assert prototype.rival == rival
        assert prototype.rival_distance == pytest.approx(between[k, rival], rel=1e-3)
        by_distance += rival == others[between[k, others].argmin()]
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


def test_no_limit_is_told_in_words_and_is_no_number_in_the_data(summary):
    assert (summary.radii, summary.eps) == ("adaptive", None)
    data = json.loads(json.dumps(summary, default=plain, allow_nan=False))
    assert data["eps"] is None
    assert [p["radius"] for p in data["prototypes"]] == [p.radius for p in summary.prototypes]
    radii = sorted(p.radius for p in summary.prototypes)
    extent = f"{radii[0]:.5g} to {radii[-1]:.5g}"
    assert dict(summary.settings)["Radius"] == f"its own for each prototype, {extent}; no limit"
    assert f"Each has its own radius, {extent}." in summary.lead
    page = render(summary)
    assert f"within its own radius, {extent}." in page
    assert "Infinity" not in page.split('id="data"')[1].split("</script>")[0]


def test_a_limit_is_told_beside_the_radii():
    model = PVMClassifier(eps=0.9, radii="adaptive").fit(X, LABELS)
    summary = summarize(model, X, LABELS)
    assert (summary.radii, summary.eps) == ("adaptive", 0.9)
    assert dict(summary.settings)["Radius"].endswith("; at most 0.9, as given")


def test_one_radius_for_all_is_told_as_ever():
    summary = summarize(PVMClassifier(eps=0.8, **PAPER).fit(X, LABELS), X, LABELS)
    assert (summary.radii, summary.eps) == ("shared", 0.8)
    assert {p.radius for p in summary.prototypes} == {0.8}
    assert dict(summary.settings)["Radius"] == "0.8, as given"
    assert "of them lie within 0.8 of a prototype of their own class." in summary.lead
    assert "Each stands for the cases of its class within 0.8 of it." in render(summary)


def test_a_prototype_of_radius_zero_is_reported_like_any_other():
    places, labels = np.zeros((5, 1)), np.array([0, 0, 0, 1, 1])
    model = PVMClassifier(eps=None, radii="adaptive", closed_ball=True, prototype_cost=0.1)
    model.fit(places, labels)
    summary = summarize(model, places, labels)
    assert [p.radius for p in summary.prototypes] == [0.0, 0.0]
    assert "within its own radius, 0." in render(summary)


def test_the_rival_is_never_of_the_same_class_however_small_all_radii_are():
    # A rival at the smallest of all distances leaves radii of 0.
    table = np.full((6, 6), 1.0)
    table[:3, :3] = table[3:, 3:] = 0.0
    table[4, :3] = table[1, 3:] = np.nextafter(0.0, 1.0)
    labels = np.repeat([0, 1], 3)
    given = PVMClassifier(eps=None, radii="adaptive", closed_ball=True, metric="precomputed")
    summary = summarize(given.fit(table, labels), table, labels)
    assert [(p.radius, p.rival, p.rival_distance) for p in summary.prototypes] == [
        (0.0, 1, 1.0),
        (0.0, 0, 1.0),
    ]


def test_a_precomputed_table_gives_the_same_report_with_radii_of_their_own(summary):
    table = cdist(X, X)
    given = PVMClassifier(eps=None, radii="adaptive", prototype_cost=1.5, metric="precomputed")
    found = summarize(given.fit(table, LABELS), table, LABELS, title="Iris")
    for one, other in zip(found.prototypes, summary.prototypes, strict=True):
        assert (one.radius, one.covers, one.rival) == (other.radius, other.covers, other.rival)


@pytest.fixture(scope="module")
def page_of_iris(summary, tmp_path_factory):
    return write_report(summary, tmp_path_factory.mktemp("adaptive") / "iris.html")


@pytest.fixture(scope="module")
def page_of_digits(tmp_path_factory):
    images, digits = load_digits(return_X_y=True)
    images, digits = images[:300], digits[:300]
    model = PVMClassifier(eps=None, radii="adaptive", prototype_cost=2.0).fit(images, digits)
    found = summarize(model, images, digits, image_shape=(8, 8))
    return write_report(found, tmp_path_factory.mktemp("adaptive") / "digits.html")


def test_cards_and_details_show_the_radius(look, page_of_iris, summary):
    first = summary.prototypes[0]
    radius = f"{first.radius:.4g}"
    with look(page_of_iris) as page:
        card = page.locator('#grid .card[data-prototype="0"]')
        assert f"radius {radius}" in card.inner_text()
        assert f"radius {radius}, covers" in card.get_attribute("aria-label")
        page.hover('#map-canvas .node[data-prototype="0"]')
        assert f"radius {radius}" in page.locator("#tip").inner_text()
        card.click()
        detail = page.locator("#detail").inner_text()
        assert f"Cases within its own radius, {radius}, nearest first" in detail
        rival = summary.prototypes[first.rival]
        multiple = first.rival_distance / rival.radius
        assert f"{rival.radius:.4g}, {multiple:.4g} times that away" in detail


def test_cards_can_be_sorted_by_radius_and_by_how_near_the_rival_is(look, page_of_iris, summary):
    def near(p):
        return p.rival_distance / summary.prototypes[p.rival].radius

    with look(page_of_iris) as page:
        for choice, key in (("radius", lambda p: -p.radius), ("rival", near)):
            page.select_option("#sort", choice)
            shown = page.locator("#grid .card").evaluate_all(
                "cards => cards.map(card => Number(card.dataset.prototype))"
            )
            places = range(len(summary.prototypes))
            assert shown == sorted(places, key=lambda k: (key(summary.prototypes[k]), k))


def test_uncovered_cases_tell_their_distance_in_radii(look, page_of_iris, summary):
    with look(page_of_iris) as page:
        heads = page.locator("#uncovered-list th[scope=col]").all_inner_texts()
        column = heads.index("in radii")
        cells = page.locator("#uncovered-list tbody tr").nth(0).locator("th, td")
        case = summary.uncovered[0]
        multiple = case.distance / summary.prototypes[case.prototype].radius
        assert cells.nth(column).inner_text() == f"{multiple:.4g}"


@pytest.mark.parametrize("report", ["page_of_iris", "page_of_digits"])
def test_nothing_bursts_on_a_phone(look, report, request):
    with look(request.getfixturevalue(report), width=360, height=740) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.locator("#grid .card").first.click()
        assert page.evaluate("document.querySelector('#detail-body').scrollWidth <= innerWidth")


def test_one_radius_for_all_leaves_the_page_as_it_was(look, tmp_path):
    shared = summarize(PVMClassifier(eps=0.8, **PAPER).fit(X, LABELS), X, LABELS)
    with look(write_report(shared, tmp_path / "shared.html")) as page:
        assert "radius" not in page.locator("#grid").inner_text()
        assert page.locator("#sort option[value=radius]").count() == 0
        assert "in radii" not in page.locator("#uncovered").inner_text()
        page.locator("#grid .card").first.click()
        detail = page.locator("#detail").inner_text()
        assert "Cases in its ball, nearest first" in detail
        assert "radius" not in detail.lower()
