"""What scikit-learn is told of the input is what happens to such input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import InputTags

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import (
    DANN,
    Cosine,
    Function,
    Gower,
    KernelDistance,
    Metric,
    MismatchDistance,
    Precomputed,
    RankDissimilarity,
    SpectrumDistance,
    TangentDistance,
)


def _product(a, b):
    return float((a @ b.T).sum())


def _difference(a, b):
    return float(abs(a - b).sum())


RNG = np.random.default_rng(0)
Y = np.arange(20) % 2


def _rows(metric):
    """Rows of positive numbers, which all metrics take."""
    return np.abs(RNG.normal(size=(20, 2 if metric == "haversine" else 4))) + 0.1


ROW_METRICS = [
    *("cityblock", "nan_euclidean", "jensenshannon", "yule", "haversine", "mahalanobis"),
    *("euclidean", "cosine", "cheby"),
    *(KernelDistance(name) for name in ("rbf", "laplacian", "chi2", "additive_chi2")),
    KernelDistance(_product),
    _difference,
    Metric("canberra"),
    Cosine(),
    DANN(),
    Gower(),
    RankDissimilarity(),
    RankDissimilarity("canberra"),
    RankDissimilarity(KernelDistance("chi2")),
    TangentDistance((2, 2)),
]


def _name(metric):
    """Name a metric alike in every process."""
    return repr(metric).split(" at 0x")[0]


def _tags(metric):
    return PVMClassifier(metric=metric, **PAPER).__sklearn_tags__().input_tags


def _takes(metric, X):
    try:
        PVMClassifier(metric=metric, outlier_label=0, **PAPER).fit(X, Y).predict(X)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ROW_METRICS, ids=_name)
def test_a_metric_says_truly_whether_it_takes_sparse_rows(metric):
    X = _rows(metric)
    assert _takes(metric, X)
    assert _tags(metric).sparse is _takes(metric, csr_array(X))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ROW_METRICS, ids=_name)
def test_a_metric_says_truly_whether_it_takes_gaps(metric):
    X = _rows(metric)
    X[3, 1] = np.nan
    assert _tags(metric).allow_nan is _takes(metric, X)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ROW_METRICS, ids=_name)
def test_a_metric_says_truly_whether_numbers_must_be_positive(metric):
    X = _rows(metric)
    X[:, 0] -= 1.5
    assert _tags(metric).positive_only is not _takes(metric, X)


@pytest.mark.parametrize(
    ("metric", "pairwise", "positive_only", "sparse"),
    [
        ("precomputed", True, True, True),
        (Precomputed(), True, True, True),
        (KernelDistance("precomputed"), True, False, False),
        (RankDissimilarity("precomputed"), True, True, False),
        ("euclidean", False, False, True),
    ],
)
def test_tables_say_that_they_are(metric, pairwise, positive_only, sparse):
    tags = _tags(metric)
    assert tags.pairwise is pairwise
    assert tags.positive_only is positive_only
    assert tags.sparse is sparse


@pytest.mark.parametrize("metric", [MismatchDistance(), SpectrumDistance()])
def test_sequences_are_strings_one_after_another(metric):
    for asked in (metric, RankDissimilarity(metric)):
        tags = _tags(asked)
        assert (tags.string, tags.one_d_array, tags.two_d_array) == (True, True, False)
        assert not tags.sparse


def test_mixed_tables_hold_categories():
    tags = _tags(Gower())
    assert (tags.string, tags.categorical, tags.two_d_array) == (True, True, True)


def test_what_is_no_metric_has_plain_tags():
    for metric in ("nonsense", 3, None):
        assert _tags(metric) == InputTags()


def test_an_object_that_says_nothing_is_handed_sparse_rows():
    class Silent:
        def fit(self, X, y=None):
            return self

        def pairwise(self, A, B):
            return np.abs(A.toarray()[:, :1] - B.toarray()[:, 0])

    assert _tags(Silent()).sparse
    assert _takes(Silent(), csr_array(_rows("euclidean")))


def test_sparse_rows_are_refused_with_a_way_out():
    with pytest.raises(TypeError, match=r"Sparse data was passed.*Use '\.toarray\(\)'"):
        PVMClassifier(metric="canberra", **PAPER).fit(csr_array(np.eye(20)), Y)


def test_a_function_keeps_its_examples_under_ranks():
    words = ["a", "bb", "ccc", "dddd"] * 5
    rank = RankDissimilarity(Function(lambda a, b: abs(len(a) - len(b))))
    model = PVMClassifier(eps=6, metric=rank, **PAPER).fit(tuple(words), Y)
    assert list(model.predict(["aa"])) in ([0], [1])
