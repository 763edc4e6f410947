"""Error figures in the report: of held-out cases, of folds, and of cases that are asked about."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import confusion_matrix

from protocover import PVMClassifier, PVMClassifierCV, evaluate
from protocover.report import Queries, render, summarize, summarize_queries

X, Y = make_blobs([60, 30, 10], centers=None, cluster_std=4.0, random_state=0)
Y = np.array(["ape", "bee", "<b>"])[Y]
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


@pytest.fixture(scope="module")
def model():
    return PVMClassifier(eps=1.0, radii="shared").fit(X[TRAIN], Y[TRAIN])


def cells(page, section):
    """Return the counts of a confusion matrix on a page."""
    matrix = page[page.index(f'<section id="{section}"') :]
    matrix = matrix[: matrix.index("</table>")]
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", matrix, flags=re.DOTALL)
    return [[int(n) for n in re.findall(r">([\d,]+)</td>", row)] for row in rows]


def test_the_page_has_the_figures_of_the_held_out_cases(model):
    found = evaluate(model, X[TEST], Y[TEST])
    summary = summarize(model, X[TRAIN], Y[TRAIN], held_out=(X[TEST], Y[TEST]))
    error = summary.quality.error
    assert error.evaluation == found
    assert error.value == pytest.approx(1.0 - found.accuracy)
    page = render(summary)
    labels = ["<b>", "ape", "bee"]
    matrix = confusion_matrix(Y[TEST], model.predict(X[TEST]), labels=labels)
    assert cells(page, "errors") == matrix.tolist()
    tiles = page[page.index('class="tiles"') : page.index('id="prototypes"')]
    assert f"{100 * found.accuracy:.1f} %" in tiles
    assert "always predicting" in tiles
    assert f"{100 * found.baseline_accuracy:.1f} %" in tiles
    assert "“ape”" in tiles
    low, high = 100 * found.recall_interval[1]
    assert f"{low:.1f} to {high:.1f}" in page


def test_a_page_of_answers_has_the_figures_of_those_whose_class_is_known(model):
    labels = Y[TEST].astype(object)
    labels[:5] = None
    summary = summarize_queries(model, Queries(X[TEST], labels))
    assert summary.queries.evaluation == evaluate(model, X[TEST][5:], Y[TEST][5:])
    n_wrong = (Y[TEST][5:] != "ape").sum()
    assert f"Always predicting “ape” would misclassify {n_wrong}." in summary.lead
    assert sum(map(sum, cells(render(summary), "query-errors"))) == len(Y[TEST]) - 5
    bare = summarize_queries(model, Queries(X[TEST]))
    assert bare.queries.evaluation is None
    assert "query-errors" not in render(bare)


def test_a_cross_validated_accuracy_has_the_baseline_beside_it():
    search = PVMClassifierCV(eps=[1.0, 2.0], radii="shared", cv=3).fit(X, Y)
    page = render(summarize(search, X, Y))
    tiles = page[page.index('class="tiles"') : page.index('id="prototypes"')]
    assert "always predicting" in tiles
    assert "60.0 %" in tiles
