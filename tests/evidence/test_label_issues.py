"""Flipped labels are flipped as said, every ranking is judged alike, and the page tells it."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from evidence.suspects import cleanlab_peer, measure, page
from evidence.suspects.measure import doubt_by_neighbors, flip, judge, kinds_of, listed
from evidence.trust_measures import Doubt
from scipy.spatial.distance import cdist

from paper import PAPER
from protocover import PVMClassifier, find_label_issues

# What cleanlab's rankings and lists come to, in a line each.
STUB = """
import sys, numpy as np
with np.load(sys.argv[1]) as data:
    y, models = data["labels"], [data[name] for name in data.files if name != "labels"]
own = [[np.take_along_axis(p[k], y[k][:, None], 1)[:, 0] for p in models] for k in range(len(y))]
issues = [[p[k].argmax(axis=1) != y[k] for p in models] for k in range(len(y))]
scores = [[[1 - q, 2 - q] for q in row] for row in own]
np.savez(sys.argv[2], scores=scores, issues=issues, kinds=["", " other"])
"""


@pytest.fixture
def clouds():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 2)) + 4.0 * np.array([[0, 0], [1, 0], [5, 5]])[y]
    return X, y, cdist(X, X)


@pytest.mark.parametrize("kind", ["uniform", "similar"])
def test_so_many_labels_become_another_class(clouds, kind):
    _, y, table = clouds
    labels, rows = flip(y, table, 0.1, kind, np.random.default_rng(1))
    assert len(rows) == len(set(rows)) == 6
    np.testing.assert_array_equal(np.flatnonzero(labels != y), np.sort(rows))
    assert set(labels) <= {0, 1, 2}


def test_similar_is_the_class_of_the_nearest_point_of_another_class(clouds):
    _, y, table = clouds
    labels, rows = flip(y, table, 0.3, "similar", np.random.default_rng(1))
    for row in rows:
        others = [j for j in range(len(y)) if y[j] != y[row]]
        assert labels[row] == y[min(others, key=lambda j: table[row, j])]


def test_uniform_reaches_every_other_class(clouds):
    _, y, table = clouds
    labels, rows = flip(y, table, 0.9, "uniform", np.random.default_rng(1))
    assert {(y[i], labels[i]) for i in rows} == {
        (a, b) for a in range(3) for b in range(3) if a != b
    }


def test_with_two_classes_there_is_one_way_to_flip():
    assert kinds_of(np.array([0, 1, 1])) == ("uniform",)
    assert kinds_of(np.array([0, 1, 2])) == ("uniform", "similar")


def test_the_list_of_suspects_is_the_ranking_and_the_rest_comes_after_it(clouds):
    X, y, table = clouds
    labels, _ = flip(y, table, 0.1, "uniform", np.random.default_rng(1))
    model = PVMClassifier(**PAPER).fit(X, labels)
    doubt, found = listed(model, X, labels), find_label_issues(model, X, labels, refit=False)
    assert len(found) > 0
    np.testing.assert_array_equal(np.flatnonzero(doubt.flagged), np.sort(found.row))
    np.testing.assert_array_equal(doubt.score[found.row], found.score)
    assert doubt.score[~doubt.flagged].max() < found.score.min()


def test_disagreement_is_counted_before_ties_are_broken(clouds):
    _, y, table = clouds
    labels, _ = flip(y, table, 0.4, "uniform", np.random.default_rng(1))
    for k in (5, 10):
        doubt = doubt_by_neighbors(table, labels)[f"{k}-NN disagreement"]
        key = []
        for i in range(len(labels)):
            others = sorted((j for j in range(len(labels)) if j != i), key=lambda j: table[i, j])
            share = np.mean([labels[j] != labels[i] for j in others[:k]])
            own = next(table[i, j] for j in others if labels[j] == labels[i])
            rival = next(table[i, j] for j in others if labels[j] != labels[i])
            key.append((share, own / (own + rival)))
            assert doubt.flagged[i] == (share > 0.5)
        expected = sorted(range(len(key)), key=lambda i: key[i], reverse=True)
        np.testing.assert_array_equal(np.argsort(-doubt.score, kind="stable"), expected)


def test_rankings_and_lists_are_judged_by_the_rows_flipped():
    doubt = Doubt(np.array([5.0, 4.0, 3.0, 2.0]), np.array([True, True, True, False]))
    got = judge({"it": doubt}, np.array([0, 2]), 4)["it"]
    assert got["precision"] == 0.5
    assert got["auc"] == 0.75
    assert got["average_precision"] == pytest.approx((1 + 2 / 3) / 2)
    assert (got["n_listed"], got["n_right"], got["n_flipped"]) == (3, 2, 2)


def test_answers_of_the_other_environment_come_back_under_their_names(tmp_path, monkeypatch):
    (tmp_path / "stub.py").write_text(STUB)
    monkeypatch.setattr(cleanlab_peer, "PEER", tmp_path / "stub.py")
    monkeypatch.setenv("PROTOCOVER_CLEANLAB", sys.executable)
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=(2, 7))
    models = {name: rng.dirichlet(np.ones(3), (2, 7)) for name in ("a", "b")}
    found = cleanlab_peer.ask_cleanlab(y, models)
    for k, doubts in enumerate(found):
        for name, p in models.items():
            own = p[k][np.arange(7), y[k]]
            np.testing.assert_allclose(doubts[f"cleanlab {name}"].score, 1 - own)
            np.testing.assert_allclose(doubts[f"cleanlab {name} other"].score, 2 - own)
            for kind in ("", " other"):
                flagged = doubts[f"cleanlab {name}{kind}"].flagged
                np.testing.assert_array_equal(flagged, p[k].argmax(axis=1) != y[k])


@pytest.mark.skipif(cleanlab_peer.cleanlab_version() is None, reason="cleanlab is not at hand")
def test_cleanlab_ranks_by_the_probability_of_the_label():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=(2, 60))
    p = rng.dirichlet(np.ones(3), (2, 60))
    for k, doubts in enumerate(cleanlab_peer.ask_cleanlab(y, {"a": p})):
        own = p[k][np.arange(60), y[k]]
        np.testing.assert_allclose(doubts["cleanlab a"].score, 1 - own)
        assert doubts["cleanlab a"].flagged.dtype == bool


def test_where_cleanlab_is_not_installed_there_is_no_version(monkeypatch):
    monkeypatch.setenv("PROTOCOVER_CLEANLAB", "/nowhere/python")
    assert cleanlab_peer.cleanlab_version() is None


def results_of(precisions, kind="uniform"):
    """Results with given precisions of methods on sets."""
    cells = []
    for name, found in precisions.items():
        keys = {"average_precision": 0.5, "auc": 0.5, "n_listed": 2, "n_right": 1, "n_flipped": 2}
        methods = {m: {"precision": p, "each": [p, p], **keys} for m, p in found.items()}
        shares = {f"{share:g}": methods for share in measure.SHARES}
        cells.append(
            {"name": name, "kind": kind, "n": 9, "n_classes": 3, "n_draws": 2, "shares": shares}
        )
    return cells


def test_sentences_follow_from_the_numbers():
    names = [name for name in measure.FRESH if name != "glass"]
    won = {
        name: {"shared radius": 0.9, "10-NN disagreement": 0.5 + 0.01 * k}
        for k, name in enumerate(names)
    }
    lost = {"glass": {"shared radius": 0.1, "10-NN disagreement": 0.2}}
    cells = results_of(won | lost)
    found = page._gaps(cells, "uniform", "shared radius", "10-NN disagreement")
    told = page._conclude("shared radius", "uniform", {"10-NN disagreement": found}, [0.01])
    assert told == "shared radius, uniform: more than 10-NN disagreement."
    unclear = page._conclude("shared radius", "uniform", {"10-NN": found}, [0.2])
    assert unclear == "shared radius, uniform: no clear difference from 10-NN."
    assert "- uniform, 10-NN disagreement: glass (-10)" in page._tell_losses(cells)


def test_quick_run_writes_a_page(quick_page):
    text, results = quick_page("suspects", PROTOCOVER_CLEANLAB="/nowhere/python")
    assert "cleanlab was not at hand in this run" in text
    assert {cell["name"] for cell in results["cells"]} <= {"iris", "wine", "glass", "moons"}
    got = results["cells"][0]["shares"]["0.05"]["shared radius"]["each"]
    mean = f"{100 * np.mean(got):.0f} ± "
    assert f"| {results['cells'][0]['name']} (chosen on) |" in text
    assert mean in text
    assert json.dumps(results).count("NaN") == 0
