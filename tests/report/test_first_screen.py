"""The first screen in the reader's words, search, navigation and marks that stay apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import Gower
from protocover.report import make_report, summarize, write_report

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    model = PVMClassifier(eps=0.6, **PAPER).fit(X[::2], Y[::2])
    summary = summarize(model, X[::2], Y[::2], held_out=(X[1::2], Y[1::2]))
    return write_report(summary, tmp_path_factory.mktemp("iris") / "iris.html"), summary


def test_the_first_screen_is_without_the_words_of_statisticians(look, iris):
    path, summary = iris
    quality = summary.quality
    with look(path) as page:
        tiles = page.locator(".tiles").inner_text()
        for word in ("bjective", "bound", "ap ", "λ", "1-NN", "ε"):
            assert word not in tiles
        assert f"{quality.n_prototypes}\n" in tiles
        assert f"{100 * (1 - quality.error.value):.1f} %" in tiles
        statistics = page.locator("#statistics").inner_text()
        for word in ("Objective", "Lower bound", "Gap", "λ", "1-NN", "ε", "Stress"):
            assert word in statistics


def test_what_to_look_at_next_leads_there(look, iris):
    path, summary = iris
    with look(path) as page:
        links = page.locator(".next a")
        said = links.all_inner_texts()
        n_wrong = summary.held_out.n_wrong
        assert f"{n_wrong} unseen case{'s'[: n_wrong != 1]} answered wrongly, and why" in said
        for target in links.evaluate_all("all => all.map(a => a.getAttribute('href'))"):
            assert page.locator(target).count() == 1


def test_each_figure_has_its_sentence(iris):
    _, summary = iris
    assert len({figure.name for figure in summary.figures}) == len(summary.figures)
    assert all(figure.value and figure.about.endswith(".") for figure in summary.figures)
    values = {figure.name: figure.value for figure in summary.figures}
    assert values["Objective"] == f"{summary.quality.objective:,.5g}"
    assert values["1-NN"] == f"{100 * (1 - summary.quality.error.nearest_error):.1f} %"


def test_one_is_told_as_one(tmp_path):
    model = PVMClassifier(eps=2.0, **PAPER).fit([[0.0], [1.0]], ["a", "a"])
    summary = summarize(model, [[0.0], [1.0]], ["a", "a"], held_out=([[0.5]], ["b"]))
    assert summary.lead.startswith("1 case sums up 2 cases of 1 class:")
    page = write_report(summary, tmp_path / "one.html").read_text(encoding="utf-8")
    page = page[: page.index('<script type="application/json"')]
    for wrong in ("1 cases", "1 classes", "1 prototypes", "1 labels", "1 features"):
        assert f" {wrong}" not in page
        assert f">{wrong}" not in page
    assert "1 unseen case answered wrongly" in page


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    frame = pd.DataFrame(
        {"sex": ["male", "female"] * 6, "age": np.arange(12.0), "town": ["Köln", "東京都"] * 6}
    )
    model = PVMClassifier(eps=0.01, metric=Gower(), **PAPER).fit(frame, ["x", "y"] * 6)
    path = tmp_path_factory.mktemp("people") / "people.html"
    return make_report(model, frame, ["x", "y"] * 6, path)


@pytest.mark.parametrize(
    ("words", "n_found"),
    [("male", 6), ("FEMALE", 6), ("fem", 6), ("köl", 6), ("京", 6), ("male 4", 1), ("xyz", 0)],
)
def test_search_finds_words_by_their_beginnings(look, people, words, n_found):
    with look(people) as page:
        page.fill("#search", words)
        assert page.locator("#grid .card").count() == n_found


def test_a_narrow_bar_shows_that_there_is_more_of_it(look, iris):
    path, _ = iris
    with look(path, width=390) as page:
        nav = page.locator(".bar nav")
        assert "more-right" in nav.get_attribute("class")
        assert page.locator(".onward").is_visible()
        nav.evaluate("bar => { bar.scrollLeft = bar.scrollWidth; }")
        # The page's own policy forbids predicates that are evaluated again and again.
        page.locator(".bar nav:not(.more-right)").wait_for()
        assert "more-left" in nav.get_attribute("class")
    with look(path, width=1280) as page:
        assert page.locator(".more-left, .more-right").count() == 0


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_on_the_map_are_cut_and_do_not_overlap(look, tmp_path, width):
    points, y = make_blobs(300, centers=12, n_features=5, center_box=(-20, 20), random_state=3)
    names = np.array([f"一 very long name of class {c} and what it is" for c in range(12)])[y]
    model = PVMClassifier(eps=2.5, **PAPER).fit(points, names)
    path = make_report(model, points, names, tmp_path / "long.html")
    with look(path, width=width) as page:
        texts = page.locator("#map-canvas .node-name")
        assert texts.count() >= 6
        assert len(set(texts.all_text_contents())) >= 6
        boxes = texts.evaluate_all("all => all.map(t => t.getBoundingClientRect().toJSON())")
        for i, a in enumerate(boxes):
            for b in boxes[:i]:
                apart = a["right"] <= b["left"] or b["right"] <= a["left"]
                assert apart or a["bottom"] <= b["top"] + 2 or b["bottom"] <= a["top"] + 2


def test_ten_classes_have_ten_frames(look, tmp_path):
    rng = np.random.default_rng(0)
    pixels = np.repeat(np.eye(10), 3, axis=0) * 8 + rng.uniform(0, 1, (30, 10))
    y = np.repeat(np.arange(10), 3)
    model = PVMClassifier(eps=3.0, **PAPER).fit(pixels, y)
    path = make_report(model, pixels, y, tmp_path / "ten.html", image_shape=(2, 5))
    with look(path) as page:
        page.wait_for_selector("#map-canvas .corner")
        looks = page.locator("#map-canvas .node:has(.frame)").evaluate_all(
            """nodes => nodes.map(node => [getComputedStyle(node.querySelector('.frame')).stroke,
                getComputedStyle(node.querySelector('.frame')).strokeDasharray,
                node.querySelector('.corner').getAttribute('href'), node.dataset.prototype])"""
        )
        kinds = {(*kind,): int(model.prototype_labels_[int(k)]) for *kind, k in looks}
        assert len(kinds) == len(set(kinds.values())) >= 8


def test_what_is_no_summary_and_classes_without_prototypes_are_said_to_be(tmp_path):
    crowd = np.linspace(0.0, 0.3, 9)[:, None]
    points, labels = np.vstack((crowd, [[0.15]])), ["many"] * 9 + ["lost"]
    few = make_report(
        PVMClassifier(eps=1.0, **PAPER).fit(points, labels), points, labels, tmp_path / "few.html"
    )
    said = " ".join(few.read_text(encoding="utf-8").split())
    assert "No prototype stands for lost:" in said
    assert "Too many for a useful summary" not in said
    apart = np.arange(10.0)[:, None]
    model = PVMClassifier(eps=0.5, **PAPER).fit(apart, [0, 1] * 5)
    all_kept = make_report(model, apart, [0, 1] * 5, tmp_path / "all.html")
    said = all_kept.read_text(encoding="utf-8")
    assert "Too many for a useful summary" in said
    assert "No prototype stands for" not in said


def test_a_prototype_that_stands_for_another_class_than_its_label_says_so(look, tmp_path):
    points = np.vstack((np.linspace(-1.0, 1.0, 9)[:, None], [[9.0]]))
    labels = ["crowd"] * 4 + ["odd"] + ["crowd"] * 4 + ["odd"]
    model = PVMClassifier(eps=1.01, **PAPER).fit(points, labels)
    assert labels[model.prototype_indices_[0]] != model.prototype_labels_[0]
    path = make_report(model, points, labels, tmp_path / "odd.html")
    with look(path) as page:
        cards = page.locator("#prototypes .card")
        assert "labelled odd" in " ".join(cards.nth(0).inner_text().split())
        assert "labelled" not in cards.nth(1).inner_text()
        cards.nth(0).click()
        assert "look whether the label is right" in page.locator("#detail").inner_text()
