"""The page in a real browser: what it shows, what a click does, what it refuses to run."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import BallCover, PVMClassifier, PVMClassifierCV
from protocover.dissimilarity import Gower
from protocover.report import Queries, make_report, summarize, summarize_queries, write_report

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
    """A named target with cross-validation and held-out cases."""
    X, y = load_iris(return_X_y=True)
    species = pd.Series(np.array(["setosa", "versicolor", "virginica"])[y], name="species")
    search = PVMClassifierCV(eps=[0.4, 0.6, 0.8, 1.0], cv=3, **PAPER).fit(X[::2], species[::2])
    held_out = X[1::2], species[1::2]
    summary = summarize(search, X[::2], species[::2], held_out=held_out, title="Iris")
    return write_report(summary, tmp_path_factory.mktemp("iris") / "iris.html"), summary


@pytest.fixture(scope="module")
def adaptive(tmp_path_factory):
    """Prototypes with radii of their own."""
    X, y = load_iris(return_X_y=True)
    X, labels = X[::2], np.array(["setosa", "versicolor", "virginica"])[y[::2]]
    labels[[3, 30, 60]] = ["virginica", "setosa", "versicolor"]
    model = PVMClassifier(eps=None, radii="adaptive", prototype_cost=1.5).fit(X, labels)
    summary = summarize(model, X, labels)
    return write_report(summary, tmp_path_factory.mktemp("adaptive") / "a.html"), summary


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """Pictures, of more classes than there are colours."""
    X, y = load_digits(return_X_y=True)
    model = PVMClassifier(eps=22.0, **PAPER).fit(X[:400], y[:400])
    held_out = X[400:430], y[400:430]
    summary = summarize(model, X[:400], y[:400], image_shape=(8, 8), held_out=held_out)
    return write_report(summary, tmp_path_factory.mktemp("digits") / "d.html"), summary


def cards(page):
    """Return the prototypes of the visible cards."""
    numbers = page.locator("#grid .card").evaluate_all("c => c.map(e => e.dataset.prototype)")
    return [int(n) for n in numbers]


def fits(page):
    """Whether the page needs no scrolling to the side."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def pixels(canvas):
    """Return the grey values that are drawn on a canvas of 8 by 8."""
    script = """async (canvas) => {
        await canvas.drawn;
        return [...canvas.getContext('2d').getImageData(0, 0, 8, 8).data];
    }"""
    return np.array(canvas.evaluate(script)).reshape(8, 8, 4)[:, :, 0]


def test_the_first_screen_is_in_plain_words_and_leads_on(look, iris):
    path, summary = iris
    error = summary.quality.error
    with look(path) as page:
        assert page.locator("h1").inner_text() == "Iris"
        tiles = page.locator(".tiles").inner_text()
        for word in ("bjective", "bound", "ap ", "λ", "ε"):
            assert word not in tiles
        for share in (error.value, error.nearest_error):
            assert f"{100 * (1 - share):.1f} %" in tiles
        statistics = page.locator("#statistics").inner_text()
        for word in ("Objective", "Lower bound", "Gap", "λ", "1-NN", "ε", "Stress"):
            assert word in statistics
        for target in page.locator(".next a").evaluate_all(
            "all => all.map(a => a.getAttribute('href'))"
        ):
            assert page.locator(target).count() == 1
        assert page.locator("#map-canvas .node").count() == len(summary.prototypes)
        assert page.locator("#path-canvas .dot.chosen").count() == 2
        assert page.locator("#suspects-list tbody tr").count() == min(20, summary.n_suspects)
        assert page.locator("#uncovered-list tbody tr").count() == min(20, summary.n_uncovered)
        labels = [f"species: {summary.classes[p.class_].label}" for p in summary.prototypes]
        heads = page.locator("#grid .card .card-head .text").all_inner_texts()
        assert heads == labels[:24]
        assert page.locator("#classes thead th").first.inner_text().lower() == "species"


def test_prototypes_can_be_filtered_searched_and_sorted(look, iris):
    path, summary = iris
    every, names = summary.prototypes, summary.cases.names
    with look(path) as page:
        page.click('.chip[data-class="1"]')
        expected = [k for k, p in enumerate(every) if p.class_ == 1]
        assert cards(page) == expected
        assert page.locator("#map-canvas .node:not(.dim)").count() == len(expected)
        count = page.locator("#shown-count").inner_text()
        assert count == f"{len(expected)} of {len(every)}"
        page.click("#reset")
        assert len(cards(page)) == min(24, len(every))
        page.fill("#search", names[every[2].case].upper())
        assert 2 in cards(page)
        page.fill("#search", "SETOSA")
        assert cards(page) == [k for k, p in enumerate(every) if p.class_ == 0]
        page.fill("#search", "no such thing")
        assert page.locator("#grid").inner_text() == "No matching prototypes."
        page.fill("#search", "")
        for choice, key in {
            "covers": lambda p: -p.covers,
            "wrong": lambda p: -p.wrong,
            "newly": lambda p: -p.newly,
            "other": lambda p: p.nearest_other_distance,
            "class": lambda p: p.class_,
            "order": lambda p: 0,
        }.items():
            page.select_option("#sort", choice)
            order = sorted(range(len(every)), key=lambda k, key=key: (key(every[k]), k))
            assert cards(page) == order[:24]


def test_details_lead_from_prototype_to_case_and_back(look, iris):
    path, summary = iris
    every, names = summary.prototypes, summary.cases.names
    with look(path) as page:
        title = page.locator("#detail-title")
        page.click('#grid .card[data-prototype="0"]')
        rows = page.locator("#detail tbody tr")
        assert rows.locator("th").all_inner_texts() == [names[i] for i in every[0].members]
        assert rows.count() == every[0].covers + every[0].wrong
        page.click("#detail .facts button")
        assert names[every[every[0].nearest_other].case] in title.inner_text()
        page.locator("#detail tbody th button").first.click()
        assert "Covered by" in page.locator("#detail").inner_text()
        page.click("#back")
        page.click("#back")
        assert names[every[0].case] in title.inner_text()
        page.click("#next")
        assert names[every[1].case] in title.inner_text()
        page.keyboard.press("Escape")
        assert not page.locator("#detail").is_visible()
        k = max(range(len(every)), key=lambda k: every[k].wrong)
        assert every[k].wrong > 0
        page.click(f'#grid .card[data-prototype="{k}"]')
        page.click("#detail .chip:has-text('Other classes')")
        labels = page.locator("#detail tbody td .label").all_inner_texts()
        assert len(labels) == every[k].wrong
        assert summary.classes[every[k].class_].label not in labels


def test_predictions_and_suspects_are_explained(look, iris):
    path, summary = iris
    by_case = {item.case: item for item in summary.comparisons}
    with look(path) as page:
        blocks = page.locator("#held-out-list .answer")
        assert blocks.count() == 5
        found = by_case[summary.held_out.listed[0].case]
        assert found.words in blocks.first.inner_text()
        columns = [summary.cases.columns[j].name for j in found.columns]
        assert blocks.first.locator("tbody th").all_inner_texts() == [*columns, "distance"]
        shown = blocks.first.locator("tbody tr").first.locator(".share .fine").first.inner_text()
        assert shown == f"{100 * found.near.terms[0] / sum(found.near.terms):.1f} %"
        page.click("#held-out-wrong")
        assert blocks.count() == min(5, summary.held_out.n_wrong)
        page.click("#held-out-list .answer .link >> nth=0")
        assert found.words in page.locator("#detail").inner_text()
        page.keyboard.press("Escape")
        page.locator("#suspects-list tbody th button").first.click()
        assert by_case[summary.suspects[0].case].words in page.locator("#detail").inner_text()
        assert page.locator("#detail .comparison").is_visible()


def test_everything_works_by_keyboard_and_has_a_name(look, iris):
    with look(iris[0]) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        reached = set()
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.add(
                page.evaluate(
                    "document.activeElement.id || document.activeElement.getAttribute('class')"
                )
            )
        assert {"search", "sort", "chip", "card k0"} <= reached
        page.locator("#map-canvas .node[tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        assert page.locator("#map-canvas .node[tabindex='0']").count() == 1
        page.keyboard.press("Enter")
        assert page.locator("#detail").is_visible()
        nameless = page.evaluate(
            """[...document.querySelectorAll('button, a, [role=button], input, select, canvas')]
            .filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()
                           || e.closest('label')?.textContent.trim())).length"""
        )
        assert nameless == 0


def test_light_dark_narrow_and_print(look, iris):
    """Contrast of text is at least 4.5 to 1, as WCAG requires."""
    path, summary = iris

    def colors(page):
        values = page.evaluate(
            """['--ink', '--soft', '--accent', '--alert', '--sheet', '--ground'].map((name) =>
               getComputedStyle(document.documentElement).getPropertyValue(name).trim())"""
        )
        return [luminance(value) for value in values]

    with look(path, color_scheme="light") as page:
        grounds = set()
        for _ in range(2):
            *texts, sheet, ground = colors(page)
            grounds.add(ground)
            for text in texts:
                for back in (sheet, ground):
                    assert (max(text, back) + 0.05) / (min(text, back) + 0.05) >= 4.5
            page.click("#theme")
        assert len(grounds) == 2
        assert page.locator(".more-left, .more-right").count() == 0
        page.set_viewport_size({"width": 360, "height": 740})
        # The page's own policy forbids predicates that are evaluated again and again.
        page.locator(".bar nav.more-right").wait_for()
        page.locator(".bar nav").evaluate("bar => { bar.scrollLeft = bar.scrollWidth; }")
        page.locator(".bar nav.more-left:not(.more-right)").wait_for()
        assert fits(page)
        page.locator("#grid .card").first.click()
        assert page.evaluate("document.querySelector('#detail-body').scrollWidth <= innerWidth")
        box = page.locator("#detail").bounding_box()
        assert (box["width"], box["height"]) == (360, 740)
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.locator("#grid .card").count() == len(summary.prototypes)
        for hidden in (".bar", ".tools", "#class-filter", ".after"):
            assert not page.locator(hidden).first.is_visible()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert ground == "rgb(255, 255, 255)"
        assert len(page.pdf()) > 10_000


def luminance(color):
    channels = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("radii", ["adaptive", "shared"])
def test_radii_are_shown_if_prototypes_have_their_own(look, adaptive, iris, radii):
    path, summary = adaptive if radii == "adaptive" else iris
    first, every = summary.prototypes[0], summary.prototypes
    other = every[first.nearest_other]
    with look(path) as page:
        card = page.locator('#grid .card[data-prototype="0"]')
        if radii == "shared":
            assert "radius" not in page.locator("#grid").inner_text()
            assert page.locator("#sort option[value=radius]").count() == 0
            assert "in radii" not in page.locator("#uncovered").inner_text()
            return
        radius = f"{first.radius:.4g}"
        assert f"radius {radius}, covers" in card.get_attribute("aria-label")
        page.hover('#map-canvas .node[data-prototype="0"]')
        assert f"radius {radius}" in page.locator("#tip").inner_text()
        card.click()
        detail = page.locator("#detail").inner_text()
        assert f"Cases within its radius, {radius}, nearest first" in detail
        multiple = first.nearest_other_distance / other.radius
        assert f"{other.radius:.4g}; the distance is {multiple:.4g} times" in detail
        page.keyboard.press("Escape")
        near = {k: p.nearest_other_distance / every[p.nearest_other].radius
                for k, p in enumerate(every)}  # fmt: skip
        for choice, key in (("radius", lambda k: -every[k].radius), ("other", near.get)):
            page.select_option("#sort", choice)
            assert cards(page) == sorted(near, key=lambda k, key=key: (key(k), k))
        column = page.locator("#uncovered-list th[scope=col]").all_inner_texts().index("in radii")
        cell = page.locator("#uncovered-list tbody tr").nth(0).locator("th, td").nth(column)
        case = summary.uncovered[0]
        assert cell.inner_text() == f"{case.distance / every[case.prototype].radius:.4g}"


def test_pictures_are_drawn_as_they_are(look, digits):
    path, summary = digits
    X = load_digits().data

    def ink(row):
        return 255 - np.rint(X[row].reshape(8, 8) * 255 / 16)

    with look(path) as page:
        row = summary.cases.rows[summary.prototypes[2].case]
        canvas = page.locator("#grid .card canvas").nth(2)
        np.testing.assert_array_equal(pixels(canvas), ink(row))
        block = page.locator("#held-out-list .answer").first
        row = int(block.locator("h3 .link").inner_text().removeprefix("row "))
        assert block.locator("figure canvas.side-by-side").count() == 3
        canvas = block.locator("figure canvas.side-by-side").first
        np.testing.assert_array_equal(pixels(canvas), ink(400 + row))
        page.wait_for_selector("#map-canvas .corner")
        looks = page.locator("#map-canvas .node:has(.frame)").evaluate_all(
            """nodes => nodes.map(node => [getComputedStyle(node.querySelector('.frame')).stroke,
                getComputedStyle(node.querySelector('.frame')).strokeDasharray,
                node.querySelector('.corner').getAttribute('href'), node.dataset.prototype])"""
        )
        kinds = {(*kind,): summary.prototypes[int(k)].class_ for *kind, k in looks}
        assert len(kinds) == len(set(kinds.values())) >= 8
        page.click('#grid .card[data-prototype="0"]')
        members = len(summary.prototypes[0].members)
        assert page.locator("#detail .thumb").count() == min(60, members)
        page.keyboard.press("Escape")
        page.set_viewport_size({"width": 360, "height": 740})
        assert fits(page)


def test_hostile_text_neither_runs_nor_overflows(look, tmp_path):
    X, y = make_blobs(120, centers=6, n_features=3, random_state=0)
    table = np.array([[*row, HOSTILE[i % 6]] for i, row in enumerate(X)], dtype=object)
    labels = np.array(HOSTILE, dtype=object)[y]
    model = PVMClassifier(eps=2.0, **PAPER).fit(X, labels)
    path = make_report(
        model,
        X,
        labels,
        tmp_path / "hostile.html",
        shown=table,
        feature_names=HOSTILE[:4],
        row_names=[f"{HOSTILE[i % 6]} {i}" for i in range(120)],
        title=HOSTILE[0],
        how={HOSTILE[1]: HOSTILE[2]},
        target_name=HOSTILE[1],
    )
    with look(path) as page:
        assert page.locator("h1").inner_text() == HOSTILE[0]
        shown = page.locator("#grid .card").nth(0).locator(".card-head .text").inner_text()
        target = f"{HOSTILE[1][:23]}…: "
        assert shown.startswith(target)
        shown = shown.removeprefix(target).replace("\ufffd", "")
        assert shown == str(model.prototype_labels_[0]).replace("\0", "")[: len(shown)]
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert fits(page)
            for k in range(6):
                page.locator("#grid .card").nth(k).click()
                page.keyboard.press("Escape")
        page.hover("#map-canvas .node >> nth=-1")
        assert page.locator("#tip").is_visible()
        page.fill("#search", "<script>")
        assert 0 < page.locator("#grid .card").count() < len(model.prototype_labels_)
        assert page.locator("img, iframe, b[onmouseover], main script").count() == 0
        assert page.evaluate("window.hacked") is None


def test_a_page_of_predictions_is_safe_and_fits_too(look, tmp_path):
    frame = pd.DataFrame({HOSTILE[0] * 3: [0.0, 1.0, 9.0, 10.0], "b": [0.0, 1.0, 0.0, 1.0]})
    labels = [HOSTILE[1]] * 2 + ["long" * 100] * 2
    model = make_pipeline(StandardScaler(), PVMClassifier(eps=1.0, **PAPER)).fit(frame, labels)
    asked = Queries(frame, labels, [f"{HOSTILE[0]} {i}" * 20 for i in range(4)])
    path = write_report(summarize_queries(model, asked, title=HOSTILE[1]), tmp_path / "why.html")
    with look(path) as page:
        assert page.locator("h1").inner_text() == HOSTILE[1]
        assert page.locator("#queries-list .answer").count() == 4
        rows = page.locator("#queries-list .answer").first.locator("tbody th").all_inner_texts()
        assert sorted(rows) == sorted([*frame.columns, "distance"])
        assert page.locator("img, main script").count() == 0
        for width in (1280, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert fits(page)
        page.locator("#grid .card").first.focus()
        page.keyboard.press("Enter")
        assert "Decides" in page.locator("#detail").inner_text()
        page.keyboard.press("Escape")
        page.fill("#queries-search", "long")
        assert page.locator("#queries-list .answer").count() >= 2
        assert page.evaluate("window.hacked") is None


def test_search_finds_words_by_their_beginnings(look, tmp_path):
    frame = pd.DataFrame(
        {"sex": ["male", "female"] * 6, "age": np.arange(12.0), "town": ["Köln", "東京都"] * 6}
    )
    model = PVMClassifier(eps=0.01, metric=Gower(), **PAPER).fit(frame, ["x", "y"] * 6)
    path = make_report(model, frame, ["x", "y"] * 6, tmp_path / "people.html")
    expected = {"male": 6, "FEMALE": 6, "fem": 6, "köl": 6, "京": 6, "male 4": 1, "xyz": 0}
    with look(path) as page:
        for words, n_found in expected.items():
            page.fill("#search", words)
            assert page.locator("#grid .card").count() == n_found, words


def test_long_names_and_many_classes_fit(look, tmp_path):
    """Names on the map are cut and do not overlap; the confusion matrix scrolls in its box."""
    X, y = make_blobs(300, centers=20, n_features=5, center_box=(-20, 20), random_state=3)
    names = np.array([f"一 very long name of class {c} and what it is" for c in range(20)])[y]
    model = PVMClassifier(eps=2.5, **PAPER).fit(X[::2], names[::2])
    path = make_report(
        model, X[::2], names[::2], tmp_path / "long.html", held_out=(X[1::2], names[1::2])
    )
    with look(path) as page:
        assert page.locator("#errors .counts tbody tr").count() == 20
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert fits(page)
            texts = page.locator("#map-canvas .node-name")
            assert len(set(texts.all_text_contents())) >= 6
            boxes = texts.evaluate_all("all => all.map(t => t.getBoundingClientRect().toJSON())")
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    apart = a["right"] <= b["left"] or b["right"] <= a["left"]
                    assert apart or a["bottom"] <= b["top"] + 2 or b["bottom"] <= a["top"] + 2


def test_a_prototype_of_another_class_than_its_label_is_marked(look, tmp_path):
    points = np.vstack((np.linspace(-1.0, 1.0, 9)[:, None], [[9.0]]))
    labels = ["crowd"] * 4 + ["odd"] + ["crowd"] * 4 + ["odd"]
    model = PVMClassifier(eps=1.01, **PAPER).fit(points, labels)
    assert labels[model.prototype_indices_[0]] != model.prototype_labels_[0]
    with look(make_report(model, points, labels, tmp_path / "odd.html")) as page:
        found = page.locator("#prototypes .card")
        assert "labelled odd" in " ".join(found.nth(0).inner_text().split())
        assert "labelled" not in found.nth(1).inner_text()
        found.nth(0).click()
        assert "check this label" in page.locator("#detail").inner_text()


def test_the_page_of_a_cover_works_on_a_phone(look, tmp_path):
    wine = StandardScaler().fit_transform(load_wine().data)
    cover = BallCover(eps=3.0, max_representatives=10).fit(wine)
    names = [f"wine {k}" for k in range(178)]
    path = make_report(cover, wine, tmp_path / "cover.html", row_names=names)
    with look(path, width=390) as page:
        assert page.locator(".card").count() == 10
        page.click(".card >> nth=0")
        assert "Represents" in page.inner_text("#detail")
        assert page.locator("#detail tbody tr").count() == min(60, cover.counts_[0])
        assert "null" not in page.inner_text("#detail-title")
        page.keyboard.press("Escape")
        assert page.locator("#uncovered-list tbody tr").count() > 0
        assert fits(page)


def test_ten_thousand_points_and_five_hundred_prototypes_stay_light(look, tmp_path):
    """The page, and what a filter changes in it, are bounded; that keeps both quick."""
    X, y = make_blobs(10_000, centers=10, n_features=20, cluster_std=4.0, random_state=0)
    model = PVMClassifier(
        eps=16.0,
        max_prototypes=500,
        candidates=700,
        random_state=0,
        solver="greedy",
        solver_options={"bound": False},
        **PAPER,
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
