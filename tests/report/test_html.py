"""The page as text: nothing of the data is markup, and nothing comes from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover.report import make_report, render, summarize, write_report

X, Y = load_iris(return_X_y=True)
EVIL = "</script><script>window.hacked=1</script>\u2028<img src=x onerror=alert(1)>'\"&"


@pytest.fixture(scope="module")
def page():
    labels = np.array(["setosa", EVIL, "virginica"])[Y]
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, labels)
    names = ["petal", EVIL, "a", "b"]
    summary = summarize(model, X, labels, feature_names=names, title=EVIL, how={EVIL: EVIL})
    return render(summary)


def test_no_markup_of_the_data_reaches_the_page(page):
    assert "<script>window.hacked" not in page
    assert "<img src=x" not in page
    assert page.count("</script>") == 2
    assert "\u2028" not in re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]


def test_the_data_survive_the_way_into_the_page(page):
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert data["title"] == EVIL
    assert data["cases"]["columns"][1]["name"] == EVIL


def test_the_page_is_whole_in_itself(page):
    # The one address is the name of a format, which nobody fetches.
    assert set(re.findall(r"https?://[^\s\"'`)]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<link|@import|url\(|<iframe|<base", page)


def test_the_policy_allows_the_pages_own_script_and_style_only(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src &#39;none&#39;" in policy or "default-src 'none'" in policy
    assert "unsafe" not in policy
    parser = Attributes()
    parser.feed(page)
    assert "class" in parser.names
    assert not {name for name in parser.names if name == "style" or name.startswith("on")}


class Attributes(HTMLParser):
    """Collects the names of all attributes of a page."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def handle_starttag(self, tag, attrs):
        self.names |= {name for name, _ in attrs}


def test_scripts_put_text_into_the_page_as_text_alone(page):
    script = page.rsplit("<script>", 1)[1]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", script
    )


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y)
    path = make_report(model, X, Y, tmp_path / "report.html", title="Iris")
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(OSError, match="disk full"):
        make_report(model, X, Y, path, title="Other")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def _fail(*_):
    raise OSError("disk full")


def test_halves_of_characters_do_not_stop_a_report(tmp_path):
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y)
    summary = summarize(model, X, Y, title="half \ud800", row_names=["\udfff"] * 150)
    assert write_report(summary, tmp_path / "r.html").stat().st_size > 1000


def test_a_missing_template_engine_is_named(monkeypatch):
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y)
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "protocover\[report\]"'):
        render(summarize(model, X, Y))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"solver": "exact"}, "o other choice of prototypes is better."),
        ({"outlier_label": 9}, "“9” is predicted for a case outside every radius"),
        ({"max_prototypes": {0: 2}}, "2 for 0"),
        ({"metric": "cosine", "eps": 0.002}, "cosine distance"),
        ({"prototype_cost": 0.5}, "as much as 0.5 uncovered cases"),
        ({"eps": "auto"}, "(10 % of the cases have no case of another class within it)"),
        (
            {"eps": "auto", "radii": "shared"},
            "(50 % of the cases have no case of another class within it)",
        ),
    ],
)
def test_the_page_says_what_was_asked(options, says):
    model = PVMClassifier(**{"eps": 0.8} | options).fit(X, Y)
    assert says in render(summarize(model, X, Y))


def test_an_unknown_error_is_said_to_be_unknown():
    model = PVMClassifier(eps=0.8, **PAPER).fit(X, Y)
    assert "not known" in render(summarize(model, X, Y))
    told = render(summarize(model, X, Y, held_out=(X[:10], 2 - Y[:10])))
    assert "not known" not in told
    assert "100.0 %" in told


def test_each_figure_has_its_sentence():
    model = PVMClassifier(eps=0.6, **PAPER).fit(X[::2], Y[::2])
    summary = summarize(model, X[::2], Y[::2], held_out=(X[1::2], Y[1::2]))
    assert len({figure.name for figure in summary.figures}) == len(summary.figures)
    assert all(figure.value and figure.about.endswith(".") for figure in summary.figures)
    values = {figure.name: figure.value for figure in summary.figures}
    assert values["Objective"] == f"{summary.quality.objective:,.5g}"
    assert values["1-NN"] == f"{100 * (1 - summary.quality.error.nearest_error):.1f} %"


def test_singular_nouns_follow_one(tmp_path):
    model = PVMClassifier(eps=2.0, **PAPER).fit([[0.0], [1.0]], ["a", "a"])
    summary = summarize(model, [[0.0], [1.0]], ["a", "a"], held_out=([[0.5]], ["b"]))
    assert summary.lead.startswith("1 case represents 2 cases of 1 class.")
    page = write_report(summary, tmp_path / "one.html").read_text(encoding="utf-8")
    page = page[: page.index('<script type="application/json"')]
    for wrong in ("1 cases", "1 classes", "1 prototypes", "1 labels", "1 features"):
        assert f" {wrong}" not in page
        assert f">{wrong}" not in page
    assert "1 misclassified case, explained" in page


def test_too_many_prototypes_and_classes_without_any_are_noted(tmp_path):
    crowd = np.linspace(0.0, 0.3, 9)[:, None]
    points, labels = np.vstack((crowd, [[0.15]])), ["many"] * 9 + ["lost"]
    few = make_report(
        PVMClassifier(eps=1.0, **PAPER).fit(points, labels), points, labels, tmp_path / "few.html"
    )
    said = " ".join(few.read_text(encoding="utf-8").split())
    assert "No prototype represents lost." in said
    assert "too many prototypes for a useful summary" not in said
    apart = np.arange(10.0)[:, None]
    model = PVMClassifier(eps=0.5, **PAPER).fit(apart, [0, 1] * 5)
    all_kept = make_report(model, apart, [0, 1] * 5, tmp_path / "all.html")
    said = all_kept.read_text(encoding="utf-8")
    assert "too many prototypes for a useful summary" in said
    assert "No prototype represents" not in said
