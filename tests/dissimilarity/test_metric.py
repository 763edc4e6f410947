import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from protocover.dissimilarity import Cosine, Euclidean, Metric, SquaredEuclidean, resolve_metric
from protocover.dissimilarity.metric import METRIC_NAMES

RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 1.0, size=(12, 4))


@pytest.mark.parametrize(
    "name", sorted(METRIC_NAMES | {"euclidean", "l2", "sqeuclidean", "cosine"})
)
def test_every_named_metric_gives_what_its_home_gives(name):
    data = X[:, :2] if name == "haversine" else X
    if name in {"dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}:
        data = RNG.random((12, 6)) < 0.5
    fitted = resolve_metric(name).fit(data)
    whole = (
        cdist(data, data, name)
        if name == "jensenshannon"
        else pairwise_distances(data, data, metric=name)
    )
    np.testing.assert_allclose(fitted.cross(data[:5], data[5:]), whole[:5, 5:], atol=1e-12)


def test_the_list_of_names_is_all_of_scikit_learn_and_scipy():
    from sklearn.metrics.pairwise import distance_metrics

    known = METRIC_NAMES | {"euclidean", "l2", "sqeuclidean", "cosine", "precomputed"}
    assert set(distance_metrics()) <= known
    for name in ("braycurtis", "canberra", "chebyshev", "correlation", "jensenshannon", "yule"):
        assert name in known


def test_parameters_are_passed_on():
    fitted = resolve_metric("minkowski", {"p": 3}).fit(X)
    np.testing.assert_allclose(fitted.cross(X, X), cdist(X, X, "minkowski", p=3))


def test_variances_are_learned_once_and_used_for_other_rows():
    """A block of two rows must not be measured by the block's own variance."""
    fitted = Metric("seuclidean").fit(X)
    whole = cdist(X, X, "seuclidean", V=X.var(axis=0, ddof=1))
    np.testing.assert_allclose(fitted.cross(X[:2], X[3:5]), whole[:2, 3:5])
    fitted = Metric("mahalanobis").fit(X)
    whole = cdist(X, X, "mahalanobis", VI=np.linalg.inv(np.cov(X, rowvar=False)))
    np.testing.assert_allclose(fitted.cross(X[:2], X[3:5]), whole[:2, 3:5])


def test_a_constant_feature_tells_nothing():
    constant = np.column_stack((X, np.ones(len(X))))
    np.testing.assert_allclose(
        Metric("seuclidean").fit(constant).cross(constant, constant),
        Metric("seuclidean").fit(X).cross(X, X),
    )


def test_missing_values_pass_where_the_metric_takes_them():
    holes = X.copy()
    holes[0, 0] = np.nan
    assert np.isfinite(Metric("nan_euclidean").fit(holes).cross(holes, holes)).all()


def test_sparse_rows_are_refused_where_the_metric_does_not_take_them():
    S = csr_array(X)
    np.testing.assert_allclose(
        Metric("manhattan").fit(S).cross(S, S), cdist(X, X, "cityblock"), atol=1e-12
    )
    with pytest.raises(
        ValueError, match=r"'chebyshev' does not take sparse input; pass X.toarray"
    ):
        Metric("chebyshev").fit(S).cross(S, S)


@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()])
def test_sparse_and_dense_tables_agree(dissimilarity):
    Y = X * (RNG.random(X.shape) < 0.5)
    dense = dissimilarity.cross(Y, Y)
    np.testing.assert_allclose(dissimilarity.cross(csr_array(Y), csr_array(Y)), dense, atol=1e-7)


def test_rows_of_zeros_have_a_cosine_distance():
    Y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(Cosine().cross(Y, Y), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        ("euclidian", None, "metric must be one of .*, got 'euclidian'"),
        ("euclidean", {"p": 2}, "'euclidean' takes no metric_params"),
        (Euclidean(), {"p": 2}, "set the parameters of Euclidean itself"),
        (3, None, "an object with fit and cross, got 3"),
    ],
)
def test_what_is_no_metric_is_refused(metric, params, message):
    with pytest.raises(ValueError, match=message):
        resolve_metric(metric, params)


def test_an_object_is_cloned_and_never_changed():
    mine = Metric("seuclidean")
    resolve_metric(mine).fit(X)
    assert not hasattr(mine, "params_")


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (Metric("cityblock"), True),
        (Metric("seuclidean"), False),
        (Metric("seuclidean", {"V": [1.0, 2.0]}), True),
        (Metric("mahalanobis"), False),
        (Metric("mahalanobis", {"VI": np.eye(2)}), True),
    ],
)
def test_a_metric_knows_whether_it_learns(metric, expected):
    """Fitted on other points it gives the same numbers just when it says so."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, 2)), rng.normal(size=(4, 2)) * [1.0, 9.0]
    one, other = metric.fit(A).cross(A, B), metric.fit(B).cross(A, B)
    assert metric.learns_nothing is expected
    assert np.array_equal(one, other) is expected
