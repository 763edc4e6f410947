"""The report on a cover: what it says is true, and it needs no labels."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_wine
from sklearn.neighbors import radius_neighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import BallCover, PVMClassifier
from protocover._exceptions import NoPrototypesError
from protocover._inspection.label_issues import find_label_issues
from protocover.report import make_report, render, summarize

X, Y = load_wine(return_X_y=True, as_frame=True)
Z = StandardScaler().fit_transform(X)


@pytest.fixture(scope="module")
def cover():
    return BallCover(eps=3.0, max_representatives=10).fit(Z)


@pytest.fixture(scope="module")
def summary(cover):
    return summarize(cover, Z)


def test_counts_are_those_of_the_cover(cover, summary):
    distances = cdist(Z, Z[cover.representative_indices_])
    inside = distances < 3.0
    assert summary.quality.n_points == len(Z)
    assert summary.quality.n_covered == inside.any(axis=1).sum()
    assert [one.newly for one in summary.prototypes] == cover.counts_.tolist()
    assert [one.covers for one in summary.prototypes] == inside.sum(axis=0).tolist()
    assert summary.n_uncovered == (~inside.any(axis=1)).sum() == len(summary.uncovered)
    assert summary.quality.verdict.startswith("No 10 representatives cover more")


def test_the_farthest_and_the_uncovered_are_listed_with_the_nearest(cover, summary):
    distances = cdist(Z, Z[cover.representative_indices_])
    least, covered = distances.min(axis=1), cover.labels_ >= 0
    for listed, rows in ((summary.farthest, covered), (summary.uncovered, ~covered)):
        order = np.flatnonzero(rows)[np.argsort(-least[rows], kind="stable")][:100]
        assert [summary.cases.rows[one.case] for one in listed] == order.tolist()
        assert [one.prototype for one in listed] == distances[order].argmin(axis=1).tolist()
        np.testing.assert_allclose([one.distance for one in listed], least[order], rtol=1e-3)


def test_each_case_has_its_representative(cover, summary):
    assert summary.represented_by == cover.labels_[summary.cases.rows].tolist()


def test_the_features_that_set_a_group_apart_come_first():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    table.loc[:29, "b"] += 20.0
    found = summarize(BallCover(eps=9.0, max_representatives=2).fit(table), table)
    assert [one.top_columns[0] for one in found.prototypes] == [1, 1]


def test_a_pipeline_shows_the_values_before_it():
    model = make_pipeline(StandardScaler(), BallCover(max_representatives=5)).fit(X)
    found = summarize(model, X)
    alcohol = next(column for column in found.cases.columns if column.name == "alcohol")
    assert alcohol.high == X["alcohol"].max()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"^No cover has fewer than \d+ representatives\.$"),
        ({"coverage": 0.8}, "overing 80 % of the samples takes at least"),
        ({"cost": 3.0}, "o other choice is better"),
    ],
    ids=str,
)
def test_the_proof_is_told_in_plain_words(options, words):
    model = BallCover(eps=3.5, **{"solver": "exact", **options}).fit(Z)
    verdict = summarize(model, Z).quality.verdict
    assert re.search(words, verdict)


def test_the_page_has_no_words_of_classes(cover, summary):
    page = render(summary)
    body = page[: page.index("<script")]
    for word in ("Suspect", "miscovered", "class of", "Held-out", "Prototypes"):
        assert word not in body
    for word in ("Representatives", "Farthest cases", "Uncovered cases", "cover more"):
        assert word in body
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert data["labeled"] is False


def test_make_report_takes_a_cover_without_labels(cover, tmp_path):
    assert make_report(cover, Z, tmp_path / "a.html", title="Wines").read_text("utf-8")
    assert make_report(cover, Z, None, tmp_path / "b.html").exists()
    with pytest.raises(
        TypeError, match=r"path must be the name of a file, got ndarray; call make"
    ):
        make_report(cover, Z, Y.to_numpy())


def test_other_points_are_refused(cover):
    for other in (Z[::-1], Z[:-1], np.vstack((Z, Z[:1])), Z + 0.5):
        with pytest.raises(ValueError, match="must be the samples that the model was fitted on"):
            summarize(cover, other)


@pytest.mark.filterwarnings("error")
def test_points_of_a_graph_are_their_own_neighbors_in_its_report_too():
    bare = radius_neighbors_graph(Z, 4.0, mode="distance")
    whole = radius_neighbors_graph(Z, 4.0, mode="distance", include_self=True)
    cover = BallCover(eps=2.5, metric="precomputed").fit(bare)
    assert summarize(cover, bare).quality.n_covered == len(Z)
    summaries = [
        summarize(PVMClassifier(eps=3.0, metric="precomputed", **PAPER).fit(graph, Y), graph, Y)
        for graph in (bare, whole)
    ]
    assert summaries[0].quality == summaries[1].quality


@pytest.mark.parametrize("options", [{"queries": Z[:3]}, {"held_out": (Z[:3], Y[:3])}], ids=list)
def test_a_cover_has_no_answers_to_explain(cover, options):
    with pytest.raises(ValueError, match="held_out and queries need a classifier"):
        summarize(cover, Z, **options)


def test_a_cover_of_nothing_has_nothing_to_report():
    words = (
        "no representative was worth its cost at eps=1, so there is nothing to report; lower cost"
    )
    with pytest.raises(NoPrototypesError, match=words):
        summarize(BallCover(eps=1.0, cost=1e6).fit(Z), Z)


def test_labels_need_a_classifier(cover):
    with pytest.raises(TypeError, match="must be a classifier: a BallCover knows no classes"):
        find_label_issues(cover, Z, Y)
    assert summarize(PVMClassifier(**PAPER).fit(Z, Y), Z, Y).classes
