import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import naive
from protocover.dissimilarity._euclidean.product import bracket
from protocover.dissimilarity._euclidean.sums import direct_squares


@settings(max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 300),
    st.sampled_from([1e-20, 1e-3, 1.0, 1e20]),
    st.sampled_from([0.0, 1.0, 1e6]),
    st.sampled_from([None, 1e-6]),
    st.booleans(),
)
def test_true_squares_lie_within_the_bracket(seed, p, scale, offset, eps, sparse):
    rng = np.random.default_rng(seed)
    X = scale * (rng.normal(size=(9, p)) + offset)
    Z = scale * (rng.normal(size=(7, p)) + offset)
    Z[0] = X[0]
    near = bracket(*((csr_array(X), csr_array(Z)) if sparse else (X, Z)), eps=eps and eps * scale)
    lower = near.lower(slice(0, 9), slice(0, 7)).astype(float)
    upper = lower + 2 * (near.x_slack[:, None] + near.z_slack)
    true = cdist(X * near.scale, Z * near.scale, "sqeuclidean")
    assert (lower <= true).all()
    assert (true <= upper).all()


def test_the_bracket_is_narrow_in_single_precision():
    """Otherwise nearly every pair would have to be computed again."""
    X = np.random.default_rng(0).normal(size=(50, 100))
    near = bracket(X, X)
    typical = np.median(cdist(X * near.scale, X * near.scale, "sqeuclidean"))
    assert near.x_slack.max() < 1e-4 * typical


LAYOUTS = {
    "rows": lambda X: X,
    "columns": np.asfortranarray,
    "every third": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "single": lambda X: X.astype(np.float32),
    "half": lambda X: X.astype(np.float16),
    "bytes": lambda X: (40 * X).clip(-128, 127).astype(np.int8),
}


@pytest.mark.parametrize("p", [1, 2, 3, 8, 63, 65, 40_000])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_direct_sums_are_added_up_from_the_first_feature_on(p, layout):
    """However the rows are stored, and however many pairs are asked for at once."""
    rng = np.random.default_rng(p)
    X, Z = (LAYOUTS[layout](rng.normal(size=(n, p))) for n in (3, 2))
    i, j = np.divmod(np.arange(6), 2)
    squares = direct_squares(X, Z, i, j)
    assert squares.tolist() == [naive.square(X[a], Z[b]) for a, b in zip(i, j, strict=True)]
    np.testing.assert_array_equal(direct_squares(X, Z, i[3:], j[3:]), squares[3:])
    assert direct_squares(X, Z, i[:0], j[:0]).shape == (0,)
