import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import euclidean

from paper import PAPER
from protocover import DissimilarityError, PVMClassifier
from protocover.dissimilarity import Function

WORDS = ["cat", "car", "cart", "house", "horse", "mouse"]
KINDS = ["c", "c", "c", "h", "h", "h"]


def letters_apart(a, b):
    return len(set(a) ^ set(b))


def test_a_function_gives_the_model_of_the_metric_it_computes():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] > 0
    named = PVMClassifier(eps=0.8, **PAPER).fit(X, y)
    written = PVMClassifier(eps=0.8, metric=euclidean, **PAPER).fit(X, y)
    np.testing.assert_array_equal(named.candidate_indices_, written.candidate_indices_)
    np.testing.assert_array_equal(named.predict(X), written.predict(X))


@pytest.mark.parametrize("as_what", [list, np.array, lambda words: np.array(words, dtype=object)])
def test_examples_may_be_strings(as_what):
    words = as_what(WORDS)
    model = PVMClassifier(eps=3.0, metric=letters_apart, **PAPER).fit(words, KINDS)
    assert set(model.prototypes_) <= set(WORDS)
    np.testing.assert_array_equal(model.predict(as_what(["tract", "hose"])), ["c", "h"])


def test_a_pandas_series_of_strings_will_do():
    pd = pytest.importorskip("pandas")
    model = PVMClassifier(eps=3.0, metric=letters_apart, **PAPER).fit(
        pd.Series(WORDS), pd.Series(KINDS)
    )
    np.testing.assert_array_equal(model.predict(pd.Series(["tract"])), ["c"])


def test_the_function_sees_arrays_of_a_table_and_rows_of_a_sparse_one():
    seen = []
    Function(lambda a, b: seen.append(type(a)) or 0.0).pairwise(np.eye(2), np.eye(2))
    assert set(seen) == {np.ndarray}
    table = Function(lambda a, b: abs(a - b).sum()).pairwise(
        csr_array(np.eye(2)), csr_array(np.eye(2))
    )
    np.testing.assert_array_equal(table, [[0, 2], [2, 0]])


def test_further_arguments_are_passed_on():
    X = np.array([[0.0], [2.0]])
    table = Function(lambda a, b, times: times * abs(a[0] - b[0]), {"times": 3}).pairwise(X, X)
    np.testing.assert_array_equal(table, [[0, 6], [6, 0]])


def raises(a, b):
    raise KeyError("no such word")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (raises, "the metric callable raised KeyError: 'no such word'"),
        (lambda a, b: None, "must return one number a pair, got None"),
        (lambda a, b: [1.0, 2.0], r"must return one number a pair, got \[1.0, 2.0\]"),
        (lambda a, b: float("nan"), "the metric callable gave NaN or infinity"),
        (lambda a, b: float("inf"), "the metric callable gave NaN or infinity"),
        (lambda a, b: -1.0, "the metric callable must not be negative, got -1"),
    ],
)
def test_functions_that_raise_or_return_nonsense_are_named(function, message):
    model = PVMClassifier(eps=1.0, metric=function, **PAPER)
    with pytest.raises(DissimilarityError, match=message):
        model.fit(WORDS, KINDS)
    assert not hasattr(model, "classes_")
