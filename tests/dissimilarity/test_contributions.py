"""What each column contributes to a distance: by hand, and adding up to it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

import naive
from protocover.dissimilarity import Gower, resolve_metric

METRICS = [
    ("euclidean", None),
    ("sqeuclidean", None),
    ("cosine", None),
    ("cityblock", None),
    ("l1", None),
    ("cityblock", {"w": [1.0, 0.0, 2.0, 0.5]}),
    ("canberra", None),
    ("hamming", None),
    ("hamming", {"w": [1.0, 0.0, 2.0, 0.5]}),
    ("seuclidean", {"V": [1.0, 4.0, 2.0, 0.5]}),
    ("nan_euclidean", None),
]


@pytest.fixture
def pairs():
    """Rows of whole numbers, so that some are equal; some rows are zero."""
    rng = np.random.default_rng(0)
    A, B = rng.integers(-2, 3, (2, 30, 4)).astype(float)
    A[3] = 0.0
    A[4] = B[4] = 0.0
    B[5] = 0.0
    return A, B


@pytest.mark.parametrize(("name", "params"), METRICS)
def test_contributions_are_those_by_hand_and_add_up_to_the_distance(pairs, name, params):
    A, B = pairs
    if name == "nan_euclidean":
        A = np.where(A == 2.0, np.nan, A)
        A[np.isnan(A).all(axis=1)] = 1.0
    metric = resolve_metric(name, params).fit(np.nan_to_num(A))
    shares = metric.contributions(A, B)
    weights = next(iter(params.values())) if params else None
    known = {"l1": "cityblock"}.get(name, name)
    expected = [naive.contributions(known, x, z, weights) for x, z in zip(A, B, strict=True)]
    np.testing.assert_allclose(shares, expected, atol=1e-14)
    power = {"distance": 1, "square": 2}[metric.contribution_unit]
    distance = metric.pairwise(A, B).diagonal() ** power
    np.testing.assert_allclose(shares.sum(axis=1), distance, atol=1e-12)


@pytest.mark.parametrize("name", ["euclidean", "sqeuclidean", "cosine", "cityblock"])
def test_sparse_rows_contribute_as_dense_ones(pairs, name):
    A, B = pairs
    metric = resolve_metric(name).fit(A)
    found = metric.contributions(csr_array(A), csr_array(B))
    found = found if isinstance(found, np.ndarray) else found.toarray()
    np.testing.assert_allclose(found, metric.contributions(A, B), atol=1e-15)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
@pytest.mark.parametrize("name", ["euclidean", "cosine"])
def test_narrow_rows_contribute_as_wide_ones(pairs, name, dtype):
    A, B = pairs
    metric = resolve_metric(name)
    expected = metric.contributions(A, B)
    np.testing.assert_array_equal(metric.contributions(A.astype(dtype), B.astype(dtype)), expected)


@pytest.mark.parametrize(
    ("name", "params"),
    [("chebyshev", None), ("correlation", None), ("jaccard", None), ("minkowski", {"p": 3})],
)
def test_a_metric_that_is_no_sum_says_that_there_is_nothing_to_tell(pairs, name, params):
    A, B = pairs
    assert resolve_metric(name, params).fit(A).contributions(A, B) is None


@pytest.mark.parametrize("gap", [None, 0.5, 1.0])
def test_gowers_contributions_are_those_by_hand_and_add_up_to_it(gap):
    columns = [
        ("numeric", 1.0, 10.0),
        ("ordered", 2.0, ["low", "middle", "high"]),
        ("categorical", 1.0, None),
        ("asymmetric", 0.5, None),
        ("numeric", 0.0, 10.0),
    ]
    rng = np.random.default_rng(1)
    values = [
        [None, 0.0, 3.0, 10.0],
        [None, "low", "middle", "high"],
        [None, "red", "blue"],
        [None, True, False],
        [0.0, 10.0],
    ]
    # The ends of each range are among the rows, so that they are learned.
    rows = [[0.0, "low", "red", True, 0.0], [10.0, "high", "blue", False, 10.0], [None] * 5]
    rows += [[column[rng.integers(len(column))] for column in values] for _ in range(60)]
    table = np.array(rows, dtype=object)
    kinds = {1: ["low", "middle", "high"], 3: "asymmetric"}
    gower = Gower(feature_types=kinds, weights=[1.0, 2.0, 1.0, 0.5, 0.0], missing_penalty=gap).fit(
        table
    )
    A, B = table, table[::-1]
    shares = gower.contributions(A, B)
    expected = [naive.gower_contributions(a, b, columns, gap) for a, b in zip(A, B, strict=True)]
    np.testing.assert_allclose(shares, expected, atol=1e-14)
    np.testing.assert_allclose(shares.sum(axis=1), gower.pairwise(A, B).diagonal(), atol=1e-12)
