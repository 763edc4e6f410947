"""The page in a real browser: what it shows, what a click does, what it refuses to run."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV
from protocover.report import make_report, summarize, write_report

HOSTILE = [
    "<script>window.hacked = 1; alert(1)</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "\"'><b onmouseover=alert(1)>bold</b> &amp; {{ 7 * 7 }} ${7 * 7}",
    "long" * 500,
    "שלום עולם مرحبا \u202e txt.exe",
    "👩‍🔬 naïve \u2028 \u0000 \ud83d",
]


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """A table with cross-validation and held-out cases."""
    X, y = load_iris(return_X_y=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    names = ["sepal length", "sepal width", "petal length", "petal width"]
    search = PVMClassifierCV(eps=[0.4, 0.6, 0.8, 1.0], cv=3, **PAPER).fit(X[::2], labels[::2])
    path = tmp_path_factory.mktemp("iris") / "iris.html"
    summary = summarize(
        search,
        X[::2],
        labels[::2],
        held_out=(X[1::2], labels[1::2]),
        feature_names=names,
        title="Iris",
    )
    return write_report(summary, path), summary


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Pictures."""
    X, y = load_digits(return_X_y=True)
    model = PVMClassifier(eps=22.0, **PAPER).fit(X[:400], y[:400])
    path = tmp_path_factory.mktemp("digits") / "digits.html"
    summary = summarize(model, X[:400], y[:400], image_shape=(8, 8), title="Digits")
    return write_report(summary, path), summary


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report in which every text that data can bring is an attack or a nuisance."""
    X, y = make_blobs(120, centers=6, n_features=3, random_state=0)
    table = np.array([[*row, HOSTILE[i % 6]] for i, row in enumerate(X)], dtype=object)
    labels = np.array(HOSTILE, dtype=object)[y]
    model = PVMClassifier(eps=2.0, **PAPER).fit(X, labels)
    path = tmp_path_factory.mktemp("hostile") / "hostile.html"
    return make_report(
        model,
        X,
        labels,
        path,
        shown=table,
        feature_names=HOSTILE[:4],
        row_names=[f"{HOSTILE[i % 6]} {i}" for i in range(120)],
        title=HOSTILE[0],
        how={HOSTILE[1]: HOSTILE[2]},
        target_name=HOSTILE[1],
    ), model


def test_cards_name_what_the_classes_tell(tmp_path, look):
    data = load_iris(as_frame=True)
    y = data.target.map(dict(enumerate(["setosa", "versicolor", "virginica"]))).rename("species")
    model = PVMClassifier(eps=1.0, **PAPER).fit(data.data, y)
    named = make_report(model, data.data, y, tmp_path / "named.html")
    given = make_report(
        model, data.data, y.to_numpy(), tmp_path / "given.html", target_name="kind"
    )
    bare = make_report(model, data.data, y.to_numpy(), tmp_path / "bare.html")
    for path, start in ((named, "species: "), (given, "kind: "), (bare, "")):
        with look(path) as page:
            heads = page.locator("#grid .card .card-head .text").all_inner_texts()
            assert heads == [f"{start}{label}" for label in model.prototype_labels_]
            page.locator("#grid .card").first.click()
            title = page.locator("#detail-title .text").first.inner_text()
            assert title == f"{start}{model.prototype_labels_[0]}"
            header = page.locator("#classes thead th").first.inner_text().lower()
            assert header == (start.removesuffix(": ") or "class")


def card_numbers(page):
    return [
        int(n)
        for n in page.locator("#grid .card").evaluate_all("c => c.map(e => e.dataset.prototype)")
    ]


def test_the_page_opens_without_a_complaint(look, iris):
    path, summary = iris
    with look(path) as page:
        assert page.locator("h1").inner_text() == "Iris"
        tiles = page.locator(".tiles").inner_text()
        assert f"{100 * (1 - summary.quality.error.value):.1f} %" in tiles
        assert f"{100 * (1 - summary.quality.error.nearest_error):.1f} %" in tiles
        assert page.locator("#map-canvas .node").count() == len(summary.prototypes)
        assert page.locator("#path-canvas .dot.chosen").count() == 2
        assert page.locator("#grid .card").count() == min(24, len(summary.prototypes))
        assert page.locator("#suspects-list tbody tr").count() == min(20, summary.n_suspects)
        assert page.locator("#uncovered-list tbody tr").count() == min(20, summary.n_uncovered)


def test_a_class_filter_shows_that_class_alone_and_dims_the_map(look, iris):
    path, summary = iris
    with look(path) as page:
        page.click('.chip[data-class="1"]')
        expected = [k for k, p in enumerate(summary.prototypes) if p.class_ == 1]
        assert card_numbers(page) == expected
        assert page.locator("#map-canvas .node:not(.dim)").count() == len(expected)
        assert (
            page.locator("#shown-count").inner_text()
            == f"{len(expected)} of {len(summary.prototypes)}"
        )
        page.click('.chip[data-class="0"]')
        assert len(card_numbers(page)) == sum(p.class_ < 2 for p in summary.prototypes)
        page.click("#reset")
        assert len(card_numbers(page)) == len(summary.prototypes)
        assert page.locator('.chip[aria-pressed="true"]').count() == 0


def test_search_finds_names_classes_and_says_when_there_is_nothing(look, iris):
    path, summary = iris
    with look(path) as page:
        name = summary.cases.names[summary.prototypes[2].case]
        page.fill("#search", f"{name.upper()}")
        assert 2 in card_numbers(page)
        page.fill("#search", "SETOSA")
        assert card_numbers(page) == [k for k, p in enumerate(summary.prototypes) if p.class_ == 0]
        page.fill("#search", "no such thing")
        assert page.locator("#grid").inner_text() == "No prototype matches."


@pytest.mark.parametrize(
    ("choice", "key"),
    [
        ("covers", lambda p: -p.covers),
        ("wrong", lambda p: -p.wrong),
        ("newly", lambda p: -p.newly),
        ("rival", lambda p: p.rival_distance),
        ("class", lambda p: p.class_),
        ("order", lambda p: 0),
    ],
)
def test_sorting_does_what_it_says(look, iris, choice, key):
    path, summary = iris
    with look(path) as page:
        page.select_option("#sort", "name")
        page.select_option("#sort", choice)
        order = sorted(
            range(len(summary.prototypes)), key=lambda k: (key(summary.prototypes[k]), k)
        )
        assert card_numbers(page) == order[:24]


def test_a_click_shows_the_cases_that_a_prototype_covers(look, iris):
    path, summary = iris
    prototype = summary.prototypes[0]
    with look(path) as page:
        page.click('#grid .card[data-prototype="0"]')
        rows = page.locator("#detail tbody tr")
        expected = [summary.cases.names[i] for i in prototype.members]
        assert rows.count() == len(expected) == prototype.covers + prototype.wrong
        assert rows.locator("th").all_inner_texts() == expected
        page.keyboard.press("Escape")
        assert not page.locator("#detail").is_visible()
        focused = page.evaluate("document.activeElement.dataset.prototype")
        assert focused == "0"


def test_wrongly_covered_cases_can_be_seen_alone(look, iris):
    path, summary = iris
    k = max(range(len(summary.prototypes)), key=lambda k: summary.prototypes[k].wrong)
    assert summary.prototypes[k].wrong > 0
    with look(path) as page:
        page.click(f'#grid .card[data-prototype="{k}"]')
        page.click("#detail .chip:has-text('Other classes')")
        own = summary.classes[summary.prototypes[k].class_].label
        labels = page.locator("#detail tbody td .label").all_inner_texts()
        assert len(labels) == summary.prototypes[k].wrong
        assert own not in labels


def test_from_a_prototype_one_can_go_to_its_rival_its_cases_and_back(look, iris):
    path, summary = iris
    rival = summary.prototypes[summary.prototypes[0].rival]
    with look(path) as page:
        page.click('#grid .card[data-prototype="0"]')
        page.click("#detail .facts button")
        assert summary.cases.names[rival.case] in page.locator("#detail-title").inner_text()
        page.locator("#detail tbody th button").first.click()
        assert "In the balls of" in page.locator("#detail").inner_text()
        page.click("#back")
        page.click("#back")
        first = summary.cases.names[summary.prototypes[0].case]
        assert first in page.locator("#detail-title").inner_text()
        page.click("#next")
        second = summary.cases.names[summary.prototypes[1].case]
        assert second in page.locator("#detail-title").inner_text()
        page.click("#close")
        assert not page.locator("#detail").is_visible()


def test_the_keyboard_reaches_everything(look, iris):
    path, _ = iris
    with look(path) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "document.activeElement.id || document.activeElement.getAttribute('class')"
                )
            )
        assert {"search", "sort", "chip", "card k0"} <= reached
        page.locator("#map-canvas .node[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        moved = page.evaluate("document.activeElement.dataset.prototype")
        assert page.locator("#map-canvas .node[tabindex='0']").count() == 1
        page.keyboard.press("Enter")
        assert page.locator("#detail").is_visible()
        assert moved is not None


def test_every_control_has_a_name(look, iris):
    path, _ = iris
    with look(path) as page:
        page.click('#grid .card[data-prototype="0"]')
        nameless = page.evaluate(
            """[...document.querySelectorAll('button, a, [role=button], input, select, canvas')]
            .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()
                           || e.closest('label')?.textContent.trim())).length"""
        )
        assert nameless == 0


def test_pictures_are_drawn_as_they_are(look, digits):
    path, summary = digits
    X, _ = load_digits(return_X_y=True)
    with look(path) as page:
        drawn = (
            page.locator("#grid .card canvas")
            .nth(2)
            .evaluate(
                """async (canvas) => {
                await canvas.drawn;
                return [...canvas.getContext('2d').getImageData(0, 0, 8, 8).data];
            }"""
            )
        )
        row = summary.cases.rows[summary.prototypes[2].case]
        gray = np.array(drawn).reshape(8, 8, 4)[:, :, 0]
        np.testing.assert_array_equal(gray, 255 - np.rint(X[row].reshape(8, 8) * 255 / 16))
        page.wait_for_selector("#map-canvas image")
        page.click('#grid .card[data-prototype="0"]')
        members = len(summary.prototypes[0].members)
        assert page.locator("#detail .thumb").count() == min(60, members)


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_nothing_runs_and_nothing_bursts_on_hostile_text(look, hostile, width):
    path, model = hostile
    with look(path, width=width) as page:
        assert page.evaluate("window.hacked") is None
        assert page.locator("h1").inner_text() == HOSTILE[0]
        cards = page.locator("#grid .card")
        shown = cards.nth(0).locator(".card-head .text").inner_text()
        target = f"{HOSTILE[1][:23]}…: "
        assert shown.startswith(target)
        shown = shown.removeprefix(target)
        assert (
            shown.replace("\ufffd", "")
            == str(model.prototype_labels_[0]).replace("\0", "")[: len(shown)]
        )
        for k in range(6):
            cards.nth(k).click()
            page.keyboard.press("Escape")
        page.hover("#map-canvas .node >> nth=-1")
        assert page.locator("#tip").is_visible()
        page.fill("#search", "<script>")
        assert 0 < cards.count() < len(model.prototype_labels_)
        assert page.locator("img, iframe, b[onmouseover], main script").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize("report", ["iris", "digits"])
def test_a_phone_needs_no_scrolling_to_the_side(look, report, request):
    path, _ = request.getfixturevalue(report)
    with look(path, width=360, height=740, has_touch=True) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        page.locator("#grid .card").first.click()
        assert page.evaluate("document.querySelector('#detail-body').scrollWidth <= innerWidth")
        box = page.locator("#detail").bounding_box()
        assert (box["width"], box["height"]) == (360, 740)


def test_dark_and_light_follow_the_system_and_the_button(look, iris):
    path, _ = iris

    def ground(page):
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    with look(path, color_scheme="light") as page:
        light = ground(page)
        page.click("#theme")
        dark = ground(page)
        assert dark != light
        page.click("#theme")
        assert ground(page) == light
    with look(path, color_scheme="dark") as page:
        assert ground(page) == dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(look, iris, scheme):
    """Contrast of 4.5 to 1 at least, as WCAG asks."""
    path, _ = iris
    with look(path, color_scheme=scheme) as page:
        colors = page.evaluate(
            """['--ink', '--soft', '--accent', '--alert', '--sheet', '--ground'].map((name) =>
               getComputedStyle(document.documentElement).getPropertyValue(name).trim())"""
        )
        *texts, sheet, ground = (luminance(color) for color in colors)
        for text in texts:
            for back in (sheet, ground):
                high, low = max(text, back), min(text, back)
                assert (high + 0.05) / (low + 0.05) >= 4.5


def luminance(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_print_shows_every_prototype_and_no_tools(look, digits):
    path, summary = digits
    with look(path, color_scheme="dark") as page:
        assert page.locator("#grid .card").count() < len(summary.prototypes)
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator("#grid .card").count() == len(summary.prototypes)
        assert page.locator("#uncovered-list tbody tr").count() == len(summary.uncovered)
        for hidden in (".bar", ".tools", "#class-filter", ".after"):
            assert not page.locator(hidden).first.is_visible()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert len(page.pdf()) > 10_000


def test_ten_thousand_points_and_five_hundred_prototypes_stay_light(look, tmp_path):
    """The page, and what a filter changes in it, are bounded; that keeps both quick."""
    X, y = make_blobs(10_000, centers=10, n_features=20, cluster_std=4.0, random_state=0)
    model = PVMClassifier(
        eps=19.0, max_prototypes=500, solver="greedy", solver_options={"bound": False}, **PAPER
    ).fit(X, y)
    assert len(model.prototype_labels_) == 500
    path = make_report(model, X, y, tmp_path / "large.html")
    assert path.stat().st_size < 12_000_000
    with look(path) as page:
        n_elements = "document.querySelectorAll('*').length"
        assert page.evaluate(n_elements) < 8_000
        page.evaluate(
            """window.changes = 0; new MutationObserver((list) => {
                for (const m of list) changes += m.addedNodes.length + m.removedNodes.length;
            }).observe(document.body, { subtree: true, childList: true })"""
        )
        page.click('.chip[data-class="3"]')
        page.fill("#search", "row 1")
        page.select_option("#sort", "covers")
        assert page.evaluate("window.changes") < 400
        page.click("#reset")
        page.locator("#grid .card").first.click()
        assert page.evaluate(n_elements) < 10_000
