import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import KernelDistance, RankDissimilarity, kernel_to_distance

X = np.random.default_rng(0).normal(size=(90, 3))
Y = (X[:, 0] > 0).astype(int)


def test_the_linear_kernel_induces_euclidean_distance():
    np.testing.assert_allclose(
        KernelDistance("linear").fit(X).pairwise(X, X[:5]), cdist(X, X[:5]), atol=1e-6
    )


def test_the_gaussian_kernel_by_name_by_function_and_by_matrix_are_one_distance():
    K = rbf_kernel(X, gamma=0.3)
    expected = np.sqrt(2 - 2 * K)
    by_name = KernelDistance("rbf", {"gamma": 0.3}).fit(X).pairwise(X, X)
    by_function = KernelDistance(lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum())).fit(X)
    np.testing.assert_allclose(by_name, expected, atol=1e-7)
    np.testing.assert_allclose(by_function.pairwise(X, X), expected, atol=1e-7)
    np.testing.assert_allclose(kernel_to_distance(K), expected, atol=1e-12)


def test_diagonals_are_needed_where_the_matrix_is_not_square():
    K = X @ X.T
    part = kernel_to_distance(K[:4], row_diagonal=np.diag(K)[:4], column_diagonal=np.diag(K))
    np.testing.assert_allclose(part, cdist(X[:4], X), atol=1e-6)
    with pytest.raises(ValueError, match="pass row_diagonal and column_diagonal"):
        kernel_to_distance(K[:4])
    with pytest.raises(ValueError, match="two dimensions"):
        kernel_to_distance(K[0])


def test_a_precomputed_kernel_gives_the_model_of_its_name():
    K = rbf_kernel(X, gamma=0.5)
    by_name = PVMClassifier(eps=0.6, metric=KernelDistance("rbf", {"gamma": 0.5}), **PAPER).fit(
        X, Y
    )
    by_matrix = PVMClassifier(eps=0.6, metric=KernelDistance("precomputed"), **PAPER).fit(K, Y)
    np.testing.assert_array_equal(by_name.candidate_indices_, by_matrix.candidate_indices_)
    queries = np.random.default_rng(1).normal(size=(20, 3))
    K_new = rbf_kernel(queries, X, gamma=0.5)
    expected = by_name.predict(queries)
    np.testing.assert_array_equal(by_matrix.predict(K_new), expected)
    np.testing.assert_array_equal(
        by_matrix.predict(K_new[:, by_matrix.candidate_indices_]), expected
    )


QUERIES = np.random.default_rng(1).normal(size=(25, 3))


def _linear():
    """A model of an unnormalised kernel matrix, and the same by the name of the kernel."""
    by_matrix = PVMClassifier(eps=1.0, metric=KernelDistance("precomputed"), **PAPER).fit(
        X @ X.T, Y
    )
    return by_matrix, PVMClassifier(eps=1.0, metric=KernelDistance("linear"), **PAPER).fit(X, Y)


def test_an_unnormalised_kernel_matrix_tells_the_nearest_prototype():
    """K(x, x) of a query is the same for all prototypes, so that it is not needed."""
    by_matrix, by_name = _linear()
    np.testing.assert_array_equal(by_matrix.candidate_indices_, by_name.candidate_indices_)
    K_new = QUERIES @ X.T
    expected = by_name.predict(QUERIES)
    assert len(set(expected)) == 2
    np.testing.assert_array_equal(by_matrix.predict(K_new), expected)
    np.testing.assert_array_equal(
        by_matrix.predict(K_new[:, by_matrix.candidate_indices_]), expected
    )
    assert by_matrix.score(K_new, expected) == 1.0


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, K: model.explain(K),
        lambda model, K: model.decision_function(K),
        lambda model, K: model.transform(K),
        lambda model, K: model.coverage(K, Y[: len(K)]),
    ],
)
def test_what_needs_distances_of_unknown_queries_says_what_is_missing(ask):
    by_matrix, _ = _linear()
    for K in (QUERIES @ X.T, (X @ X.T)[:20], (QUERIES @ X.T)[:, by_matrix.candidate_indices_]):
        with pytest.raises(ValueError, match=r"need K\(x, x\) of the queries.*kernel_to_distance"):
            ask(by_matrix, K)


def test_the_training_matrix_itself_tells_everything():
    by_matrix, by_name = _linear()
    K = X @ X.T
    one, other = by_matrix.explain(K), by_name.explain(X)
    np.testing.assert_array_equal(one.inside, other.inside)
    np.testing.assert_allclose(one.distance, other.distance, atol=1e-6)
    np.testing.assert_allclose(
        by_matrix.decision_function(K), by_name.decision_function(X), atol=1e-6
    )
    np.testing.assert_array_equal(
        by_matrix.coverage(K, Y).balls.toarray(), by_name.coverage(X, Y).balls.toarray()
    )
    with_label = PVMClassifier(
        eps=1.0, metric=KernelDistance("precomputed"), outlier_label=7, **PAPER
    )
    assert set(with_label.fit(K, Y).predict(K)) <= {0, 1, 7}


@pytest.mark.parametrize("metric", [KernelDistance("precomputed"), None])
def test_a_point_of_weight_zero_is_as_if_it_were_not_in_the_matrix(metric):
    metric = metric or RankDissimilarity(KernelDistance("precomputed"))
    K = X @ X.T
    weights = np.ones(len(X))
    weights[[0, 7, 33]] = 0.0
    kept = np.flatnonzero(weights)
    eps = 6 if isinstance(metric, RankDissimilarity) else 1.0
    with_zeros = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(K, Y, weights)
    without = PVMClassifier(eps=eps, metric=metric, **PAPER).fit(K[np.ix_(kept, kept)], Y[kept])
    np.testing.assert_array_equal(with_zeros.candidate_indices_, kept[without.candidate_indices_])
    np.testing.assert_array_equal(with_zeros.newly_covered_count_, without.newly_covered_count_)
    if isinstance(metric, KernelDistance):
        np.testing.assert_array_equal(
            with_zeros.predict(QUERIES @ X.T), without.predict(QUERIES @ X[kept].T)
        )
        assert with_zeros.eps_ == without.eps_
        whole = with_zeros.coverage(K, Y).balls.toarray()[kept]
        part = without.coverage(K[np.ix_(kept, kept)], Y[kept]).balls.toarray()
        np.testing.assert_array_equal(whole, part)


def test_an_indefinite_kernel_is_said_to_be_so_once_and_where_it_was_passed():
    """K(x, x) = 1 and K(x, z) = 3 give squared distances of -4."""
    K = np.full((4, 4), 1.0) + 2.0 * (1 - np.eye(4))
    model = PVMClassifier(eps=0.5, metric=KernelDistance("precomputed"), **PAPER)
    with pytest.warns(UserWarning, match="not positive definite.* as low as -4 times K") as seen:
        model.fit(K, [0, 0, 1, 1])
    assert len(seen) == 1
    assert seen[0].filename == __file__


def test_an_indefinite_kernel_by_name_or_function_is_said_to_be_so():
    with pytest.warns(UserWarning, match="kernel 'sigmoid' is not positive definite"):
        KernelDistance("sigmoid", {"gamma": 1.0, "coef0": 1.0}).fit(X)
    with pytest.warns(UserWarning, match="is not positive definite"):
        KernelDistance(lambda a, b: float(abs(a - b).sum())).fit(X[:9])


def test_rounding_alone_is_no_reason_to_warn(recwarn):
    far = X + 1e3
    KernelDistance("linear").fit(far)
    KernelDistance("rbf").fit(far)
    K = (far.astype(np.float32) @ far.T.astype(np.float32)).astype(np.float64)
    KernelDistance("precomputed").fit(K)
    assert not recwarn.list


KERNELS = {
    "rbf": {"gamma": 0.3},
    "linear": None,
    "poly": {"degree": 3},
    "sigmoid": {"gamma": 0.01},
    "laplacian": None,
    "cosine": None,
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_point_is_at_zero_from_itself_wherever_it_stands(kernel):
    distance = KernelDistance(kernel, KERNELS[kernel]).fit(X)
    order = np.random.default_rng(3).permutation(len(X))
    table = distance.pairwise(X, X[order].copy())
    np.testing.assert_array_equal(table[order, np.arange(len(X))], 0.0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_pairs_are_equally_far(kernel):
    """Sums in another order give the same distances, but for a few that are between two steps."""
    grid = np.array([[i, j, 0.1 * i * j] for i in range(-4, 5) for j in range(-4, 5)]) / 3.0
    distance = KernelDistance(kernel, KERNELS[kernel]).fit(grid)
    table = distance.pairwise(grid, grid)
    np.testing.assert_array_equal(table, table.T)
    mirrored = distance.pairwise(grid[:, ::-1].copy(), grid[:, ::-1].copy())
    assert (mirrored != table).mean() < 0.01
    np.testing.assert_allclose(mirrored, table, rtol=1e-9, atol=1e-12)


def test_a_kernel_matrix_to_fit_on_must_be_square():
    with pytest.raises(ValueError, match=r"square matrix to fit on, got shape \(90, 80\)"):
        PVMClassifier(eps=1.0, metric=KernelDistance("precomputed"), **PAPER).fit(
            (X @ X.T)[:, :80], Y
        )


@pytest.mark.parametrize("kernel", ["chi2", "additive_chi2"])
def test_the_kernels_of_histograms_take_what_cannot_be_written_and_nothing_negative(kernel):
    positive = np.abs(X)
    expected = KernelDistance(kernel).fit(positive).pairwise(positive, positive[:5])
    positive.flags.writeable = False
    model = KernelDistance(kernel).fit(positive)
    np.testing.assert_array_equal(model.pairwise(positive, positive[:5]), expected)
    with pytest.raises(ValueError, match="Negative values in data"):
        KernelDistance(kernel).fit(X)
