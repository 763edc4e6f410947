import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from protocover import PVMClassifier
from protocover.dissimilarity import KernelDistance, kernel_to_distance

X = np.random.default_rng(0).normal(size=(90, 3))
Y = (X[:, 0] > 0).astype(int)


def test_the_linear_kernel_induces_euclidean_distance():
    np.testing.assert_allclose(
        KernelDistance("linear").fit(X).cross(X, X[:5]), cdist(X, X[:5]), atol=1e-6
    )


def test_the_gaussian_kernel_by_name_by_function_and_by_matrix_are_one_distance():
    K = rbf_kernel(X, gamma=0.3)
    expected = np.sqrt(2 - 2 * K)
    by_name = KernelDistance("rbf", {"gamma": 0.3}).fit(X).cross(X, X)
    by_function = KernelDistance(lambda a, b: np.exp(-0.3 * ((a - b) ** 2).sum())).fit(X)
    np.testing.assert_allclose(by_name, expected, atol=1e-7)
    np.testing.assert_allclose(by_function.cross(X, X), expected, atol=1e-7)
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
    by_name = PVMClassifier(0.6, metric=KernelDistance("rbf", {"gamma": 0.5})).fit(X, Y)
    by_matrix = PVMClassifier(0.6, metric=KernelDistance("precomputed")).fit(K, Y)
    np.testing.assert_array_equal(by_name.prototype_indices_, by_matrix.prototype_indices_)
    queries = np.random.default_rng(1).normal(size=(20, 3))
    K_new = rbf_kernel(queries, X, gamma=0.5)
    expected = by_name.predict(queries)
    np.testing.assert_array_equal(by_matrix.predict(K_new), expected)
    np.testing.assert_array_equal(
        by_matrix.predict(K_new[:, by_matrix.prototype_indices_]), expected
    )


def test_an_unnormalised_kernel_matrix_cannot_tell_a_query_s_own_value():
    model = PVMClassifier(1.0, metric=KernelDistance("precomputed")).fit(X @ X.T, Y)
    with pytest.raises(ValueError, match="normalise the kernel, or use kernel_to_distance"):
        model.predict(X @ X.T)


def test_a_kernel_matrix_to_fit_on_must_be_square():
    with pytest.raises(ValueError, match=r"square matrix to fit on, got shape \(90, 80\)"):
        PVMClassifier(1.0, metric=KernelDistance("precomputed")).fit((X @ X.T)[:, :80], Y)
