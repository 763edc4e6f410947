"""A fitted model shows its first prototypes in a notebook, and nothing that a page would run."""

import re

import pandas as pd
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.datasets import load_digits, load_iris, load_wine

from paper import PAPER
from protocover import BallCover, PVMClassifier, PVMClassifierCV
from protocover.dissimilarity import Gower, TangentDistance

X, Y = load_iris(return_X_y=True)


def shown(model):
    """Return what is added to scikit-learn's diagram: the same in both ways to ask for it."""
    bundle, html = model._repr_mimebundle_()["text/html"], model._repr_html_()
    parts = [text.partition('<div class="protocover">')[2] for text in (bundle, html)]
    assert parts[0] == parts[1]
    return parts[0]


def cells(model):
    """Return the cells of the table, row by row."""
    rows = re.findall(r"<tr>(.*?)</tr>", shown(model), flags=re.S)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.S) for row in rows]


def test_the_first_prototypes_with_their_counts_and_features():
    frame, y = load_wine(return_X_y=True, as_frame=True)
    model = PVMClassifier(**PAPER).fit(frame, y)
    head, *rows = cells(model)
    assert head == [
        *("row", "class", "covers", "by mistake"),
        *frame.columns[:8],
        f"and {frame.shape[1] - 8} more",
    ]
    assert len(rows) == 10
    row = model.prototype_indices_[0]
    assert rows[0][:4] == [
        str(row),
        str(model.prototype_labels_[0]),
        str(model.covered_count_[0]),
        str(model.miscovered_count_[0]),
    ]
    assert rows[0][4:12] == [f"{value:.4g}" for value in frame.iloc[row, :8]]
    assert f"The first 10 of {len(model.prototypes_)}." in shown(model)


def test_what_is_proved():
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, Y)
    assert "eps 1; objective 10.06, no other choice of prototypes is better." in (shown(model))
    model = PVMClassifier(eps=1.0, solver="greedy", **PAPER).fit(X, Y)
    assert "no choice of prototypes has an objective below " in shown(model)


def test_before_the_fit_and_as_text_there_is_the_diagram_alone_or_none():
    assert "protocover {" not in PVMClassifier(**PAPER)._repr_html_()
    with config_context(display="text"):
        assert set(PVMClassifier(**PAPER).fit(X, Y)._repr_mimebundle_()) == {"text/plain"}


def test_labels_names_and_texts_are_escaped():
    bad = "<script>alert(1)</script>"
    frame = pd.DataFrame({bad: [bad, "b", bad, "c"], "n": [1.0, 2.0, 3.0, 4.0]})
    for model in (
        PVMClassifier(metric=Gower(), **PAPER).fit(frame, [bad, "q", bad, "q"]),
        PVMClassifier(metric=lambda a, b: float(a != b), **PAPER).fit([bad, "x"], [bad, "q"]),
        PVMClassifier(**PAPER).fit(frame[["n"]].rename(columns={"n": bad}), [bad, "q", bad, "q"]),
    ):
        assert "<script" not in shown(model)
        assert "&lt;script&gt;" in shown(model)


def test_pictures_where_the_dissimilarity_is_of_images():
    digits, y = load_digits(return_X_y=True)
    model = PVMClassifier(metric=TangentDistance((8, 8)), solver="greedy", **PAPER).fit(
        digits[:60], y[:60]
    )
    images = min(10, len(model.prototypes_))
    assert shown(model).count('src="data:image/png;base64,') == images


def test_sparse_rows_tell_their_largest_entries():
    rows = csr_array([[0.0, 2.0, -5.0, 1.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0, 0.0, 9.0]])
    assert (
        cells(PVMClassifier(eps=1.0, **PAPER).fit(rows, ["a", "b"]))[1][-1]
        == "[2] -5, [5] 4, [4] 3, [1] 2, …"
    )
    assert cells(PVMClassifier(eps=1.0, **PAPER).fit(rows, ["a", "b"]))[2][-1] == "[5] 9"


def test_radii_of_their_own_and_what_was_made():
    assert cells(PVMClassifier(radii="adaptive").fit(X, Y))[0][2] == "radius"
    made = PVMClassifier(candidates="kmeans", random_state=0, **PAPER).fit(X, Y)
    assert cells(made)[1][0] == "made"


def test_no_prototypes_no_table():
    model = PVMClassifier(eps=1.0, max_prototypes=0, outlier_label=0, **PAPER).fit(X, Y)
    assert shown(model).startswith("<p>0 prototypes of 3 classes")
    assert "<table" not in shown(model)


def test_a_search_shows_what_it_chose_and_a_cover_its_representatives():
    search = PVMClassifierCV(eps=[0.8, 1.0], cv=3, **PAPER).fit(X, Y)
    assert shown(search) == shown(search.best_estimator_)
    cover = BallCover(eps=1.0).fit(X)
    assert "7 representatives that cover 100.0% of the points, eps 1" in shown(cover)
    assert [int(row[1]) for row in cells(cover)[1:]] == cover.counts_.tolist()
