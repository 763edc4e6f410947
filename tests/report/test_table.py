"""How rows, features and pictures are prepared for the page."""

from __future__ import annotations

import base64
import io

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import norm
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier
from protocover._inspection.evaluation import percent
from protocover.report import render, summarize
from protocover.report._cases import as_bytes, make_sheets
from protocover.report._table import ShownColumn, read_row_names, read_rows, weigh_evidence
from protocover.report._training_data import _largest_cut
from protocover.report._wording import short_number


def test_numbers_labels_and_texts_are_told_apart():
    rows = [[1.5, "a", f"text {i}"] for i in range(70)]
    columns, n_columns = read_rows(np.array(rows, dtype=object), None, np.zeros(70, int))
    assert [column.kind for column in columns] == ["number", "label", "text"]
    assert [column.name for column in columns] == ["feature 0", "feature 1", "feature 2"]
    assert n_columns == 3


def test_examples_that_are_no_rows_are_texts():
    columns, _ = read_rows(["to be", "or not"], ["line"], np.array([0, 1]))
    assert (columns[0].name, columns[0].kind) == ("line", "text")
    assert columns[0].values.tolist() == ["to be", "or not"]
    uneven, _ = read_rows([[1.0, 2.5], [3.0]], None, np.array([0, 1]))
    assert uneven[0].values.tolist() == ["1 2.5", "3"]


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_of_very_many_columns_those_are_read_that_differ_between_the_classes(make):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 30)
    table = rng.random((60, 500))
    table[:, 321] += 5.0 * codes
    columns, n_columns = read_rows(make(table), None, codes)
    assert n_columns == 500
    assert len(columns) == 200
    chosen = {column.index: column for column in columns}
    np.testing.assert_allclose(chosen[321].values, table[:, 321])
    assert chosen[321].name == "feature 321"


def test_row_names_come_from_the_index():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert read_row_names(None, np.zeros((2, 1))) == ["row 0", "row 1"]
    assert read_row_names(None, pandas.DataFrame({"a": [1]}, index=["x"])) == ["x"]
    assert read_row_names(None, pandas.DataFrame({"a": [1]}, index=[7])) == ["row 7"]
    assert read_row_names(["y"], pandas.DataFrame({"a": [1]}, index=[7])) == ["y"]


def test_evidence_of_numbers_is_the_ratio_of_normal_densities():
    rng = np.random.default_rng(1)
    values, codes = rng.normal(size=40), np.repeat([0, 1], 20)
    values[codes == 1] += 2.0
    column = ShownColumn("x", "number", values, (), 0)
    own, rest = values[:20], values[20:]
    expected = norm.logpdf(values[3], own.mean(), own.std()) - norm.logpdf(
        values[3], rest.mean(), rest.std()
    )
    found = weigh_evidence([column], codes, np.array([3]), np.array([0]))
    assert found[0, 0] == pytest.approx(expected)


def test_evidence_of_labels_is_the_ratio_of_their_shares():
    values = np.array(["a", "a", "a", "b", "b", None], dtype=object)
    column = ShownColumn("x", "label", values, ("a", "b"), 0)
    codes = np.array([0, 0, 0, 1, 1, 1])
    found = weigh_evidence([column], codes, np.array([0, 5]), np.array([0, 1]))
    assert found[0, 0] == pytest.approx(np.log((4 / 5) / (1 / 4)))
    assert found[1, 0] == 0.0


def test_a_constant_feature_tells_nothing():
    column = ShownColumn("x", "number", np.ones(4), (), 0)
    codes = np.array([0, 0, 1, 1])
    assert weigh_evidence([column], codes, np.array([0]), np.array([0]))[0, 0] == 0.0


@pytest.mark.parametrize("shape", [(5, 4, 6), (300, 3, 3), (7, 4, 4, 3)])
def test_sheets_hold_the_pictures(shape):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    pictures = np.random.default_rng(2).integers(0, 256, shape, dtype=np.uint8)
    sheets = make_sheets(pictures)
    for i in (0, 1, shape[0] - 1):
        file = io.BytesIO(base64.b64decode(sheets.sheets[i // sheets.per_sheet]))
        sheet = np.asarray(image.open(file))
        place = i % sheets.per_sheet
        top, left = place // sheets.across * shape[1], place % sheets.across * shape[2]
        np.testing.assert_array_equal(
            sheet[top : top + shape[1], left : left + shape[2]], pictures[i]
        )


def test_large_pictures_are_averaged_until_they_fit():
    pictures = np.zeros((3, 8, 8), dtype=np.uint8)
    pictures[:, :, 1::2] = 200
    sheets = make_sheets(pictures, budget=60)
    assert (sheets.width, sheets.height) == (4, 4)
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    sheet = np.asarray(image.open(io.BytesIO(base64.b64decode(sheets.sheets[0]))))
    assert set(np.unique(sheet)) <= {0, 100}


def test_brightness_is_kept_where_it_is_known_and_stretched_elsewhere():
    assert as_bytes(np.array([0, 128, 255]), ink=False).tolist() == [0, 128, 255]
    assert as_bytes(np.array([0.0, 0.5]), ink=False).tolist() == [0, 128]
    assert as_bytes(np.array([-2.0, 0.0, 2.0]), ink=False).tolist() == [0, 128, 255]
    assert as_bytes(np.array([0.0, 16.0]), ink=True).tolist() == [255, 0]


@pytest.mark.parametrize("total", [0, 5, 12, 17, 100])
def test_lists_get_equal_shares_of_what_there_is(monkeypatch, total):
    monkeypatch.setattr("protocover.report._training_data._FEWEST_MEMBERS", 0)
    sizes = np.array([9, 1, 4, 4])
    share = _largest_cut(sizes, total)
    assert np.minimum(sizes, share).sum() <= total
    assert share == 9 or np.minimum(sizes, share + 1).sum() > total


def test_figures_are_short_and_never_more_than_the_truth():
    assert [percent(s) for s in (0.0, 0.0001, 0.1234, 0.9999, 1.0)] == [
        "0.0 %",
        "< 0.1 %",
        "12.3 %",
        "99.9 %",
        "100.0 %",
    ]
    assert [short_number(v) for v in (1234567.0, 0.123456, 2.5)] == ["1,234,567", "0.12346", "2.5"]


def test_large_pictures_and_many_long_texts_are_cut_and_the_page_says_so():
    X, y = load_iris(return_X_y=True)
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, y)
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (150, 128, 128, 3), dtype=np.uint8)
    small, large = (
        render(summarize(model, X, y, images=part)) for part in (images[:, :64, :64], images)
    )
    assert "reduced to 64 \u00d7 64 pixels to keep this page small" in large
    assert "pixels to keep this page small" not in small
    assert len(large) < 9e6
    texts = pd.DataFrame(
        {f"text {k}": [f"{i} " + "word " * 799 for i in range(150)] for k in range(10)}
    )
    page = render(summarize(model, X, y, shown=texts))
    assert len(page) < 4e6
    assert "…" in page or "\\u2026" in page
