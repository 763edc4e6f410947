"""Foreign distances by hand-over: the examples and the pages of documentation run."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "dissimilarities"


def load(name, package):
    """Import an example, if the package that it hands over from is there."""
    pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def edit_distance():
    return load("edit_distance", "rapidfuzz")


@pytest.fixture
def time_series():
    return load("time_series", "dtaidistance")


def test_edit_distance_gives_one_model_whichever_way_it_is_handed_over(edit_distance):
    words, meant = edit_distance.make_words(n_each=15)
    queries, _ = edit_distance.make_words(n_each=15, seed=1)
    function = edit_distance.fit_function(words, meant)
    blocks = edit_distance.fit_blocks(words, meant)
    matrix = edit_distance.fit_matrix(words, meant)
    for other in (blocks, matrix):
        np.testing.assert_array_equal(other.candidate_indices_, function.candidate_indices_)
    expected = function.predict(queries)
    np.testing.assert_array_equal(blocks.predict(queries), expected)
    np.testing.assert_array_equal(edit_distance.predict_matrix(matrix, words, queries), expected)


def test_prototypes_of_misspelt_words_are_the_words_spelt_right(edit_distance):
    words, meant = edit_distance.make_words()
    model = edit_distance.fit_blocks(words, meant)
    assert sorted(model.prototypes_) == sorted(set(meant))


def test_warping_gives_one_model_whichever_way_it_is_handed_over(time_series):
    series, shape = time_series.make_series()
    queries, truth = time_series.make_series(seed=1)
    function = time_series.fit_function(series, shape, eps=7.5)
    matrix = time_series.fit_matrix(series, shape, eps=7.5)
    np.testing.assert_array_equal(matrix.candidate_indices_, function.candidate_indices_)
    predicted = function.predict(queries)
    np.testing.assert_array_equal(time_series.predict_matrix(matrix, series, queries), predicted)
    assert np.mean(predicted == truth) > 0.9


@pytest.mark.parametrize(
    ("page", "packages"),
    [
        ("kernel", []),
        ("dann", []),
        ("rank", []),
        ("tangent", []),
        ("strings", []),
        ("gower", ["pandas"]),
        ("graphs", []),
        ("handover", ["rapidfuzz", "dtaidistance"]),
    ],
)
def test_code_of_the_page_runs_and_its_picture_is_there(page, packages):
    for package in packages:
        pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    text = (PAGES / f"{page}.md").read_text()
    code = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert code
    exec("\n".join(code), {"__name__": page})
    assert (PAGES / f"{page}.png").stat().st_size < 60_000


@pytest.mark.parametrize("package", ["pynndescent", "faiss"])
def test_graphs_of_other_indexes_are_taken_as_the_page_says(package):
    index = pytest.importorskip(package, reason=f"{package}, an optional package, is missing")
    from sklearn.datasets import load_iris

    from protocover import BallCover

    text = (PAGES / "graphs.md").read_text()
    X, y = load_iris(return_X_y=True)
    names = {package: index, "BallCover": BallCover, "X": X, "y": y, "X_new": X[:5]}
    for code in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(code, names)
    blocks = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    (code,) = [block for block in blocks if f"{package}." in block]
    exec(code, names)
    if package == "faiss":
        by_rows = BallCover(eps=0.02, metric="cosine").fit(X)
        assert len(names["cover"].candidate_indices_) == len(by_rows.candidate_indices_)
    else:
        assert names["model"].score(names["graph"], y) > 0.9
