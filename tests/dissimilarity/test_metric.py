import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix
from scipy.spatial.distance import cdist
from sklearn.metrics import DistanceMetric, pairwise_distances
from sklearn.metrics.pairwise import nan_euclidean_distances

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import (
    Cosine,
    Euclidean,
    KernelDistance,
    Metric,
    SquaredEuclidean,
    resolve_metric,
)
from protocover.dissimilarity import _metric as metric_module
from protocover.dissimilarity._arithmetic import column_products, pseudo_inverse
from protocover.dissimilarity._metric import METRIC_ALIASES, METRIC_NAMES

RNG = np.random.default_rng(0)
_BOOLEAN = {"dice", "jaccard", "matching", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}
X = RNG.uniform(0.1, 1.0, size=(12, 4))


@pytest.mark.parametrize(
    "name", sorted(METRIC_NAMES | {"euclidean", "l2", "sqeuclidean", "cosine"})
)
def test_every_named_metric_gives_what_its_home_gives(name):
    data = X[:, :2] if name == "haversine" else X
    if name in _BOOLEAN:
        data = RNG.random((12, 6)) < 0.5
    fitted = resolve_metric(name).fit(data)
    whole = (
        cdist(data, data, name)
        if name == "jensenshannon"
        else pairwise_distances(data, data, metric=name)
    )
    np.testing.assert_allclose(fitted.pairwise(data[:5], data[5:]), whole[:5, 5:], atol=1e-12)


def test_the_list_of_names_is_all_of_scikit_learn_and_scipy():
    from sklearn.metrics.pairwise import distance_metrics

    known = METRIC_NAMES | {"euclidean", "l2", "sqeuclidean", "cosine", "precomputed"}
    assert set(distance_metrics()) <= known
    for name in ("braycurtis", "canberra", "chebyshev", "correlation", "jensenshannon", "yule"):
        assert name in known


def test_parameters_are_passed_on():
    fitted = resolve_metric("minkowski", {"p": 3}).fit(X)
    np.testing.assert_allclose(fitted.pairwise(X, X), cdist(X, X, "minkowski", p=3))


def test_variances_are_learned_once_and_used_for_other_rows():
    """A block of two rows must not be measured by the block's own variance."""
    fitted = Metric("seuclidean").fit(X)
    whole = cdist(X, X, "seuclidean", V=X.var(axis=0, ddof=1))
    np.testing.assert_allclose(fitted.pairwise(X[:2], X[3:5]), whole[:2, 3:5])
    fitted = Metric("mahalanobis").fit(X)
    whole = cdist(X, X, "mahalanobis", VI=np.linalg.inv(np.cov(X, rowvar=False)))
    np.testing.assert_allclose(fitted.pairwise(X[:2], X[3:5]), whole[:2, 3:5])


def test_a_constant_feature_tells_nothing():
    constant = np.column_stack((X, np.ones(len(X))))
    np.testing.assert_allclose(
        Metric("seuclidean").fit(constant).pairwise(constant, constant),
        Metric("seuclidean").fit(X).pairwise(X, X),
    )


def test_sparse_rows_are_refused_where_the_metric_does_not_take_them():
    S = csr_array(X)
    np.testing.assert_allclose(
        Metric("manhattan").fit(S).pairwise(S, S), cdist(X, X, "cityblock"), atol=1e-12
    )
    with pytest.raises(
        ValueError, match=r"'chebyshev' does not take sparse input; pass X.toarray"
    ):
        Metric("chebyshev").fit(S).pairwise(S, S)


@pytest.mark.parametrize("dissimilarity", [Euclidean(), SquaredEuclidean(), Cosine()])
def test_sparse_and_dense_tables_agree(dissimilarity):
    Y = X * (RNG.random(X.shape) < 0.5)
    dense = dissimilarity.pairwise(Y, Y)
    np.testing.assert_allclose(
        dissimilarity.pairwise(csr_array(Y), csr_array(Y)), dense, atol=1e-7
    )


def test_rows_of_zeros_have_a_cosine_distance():
    Y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(Cosine().pairwise(Y, Y), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        ("euclidian", None, "metric must be one of .*, got 'euclidian'"),
        ("euclidean", {"p": 2}, "'euclidean' takes no metric_params"),
        ("minkowski", 3, "metric_params must be a dict such as {'p': 3}, or None, got 3"),
        (Euclidean(), {"p": 2}, "set the parameters of Euclidean itself"),
        (3, None, "an object with fit and pairwise, got 3"),
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
    one, other = metric.fit(A).pairwise(A, B), metric.fit(B).pairwise(A, B)
    assert metric.stateless is expected
    assert np.array_equal(one, other) is expected


@pytest.mark.parametrize("alias", sorted(METRIC_ALIASES))
def test_an_alias_means_what_it_means_at_home(alias):
    """SciPy's and scikit-learn's other names, each asked of the one that knows it."""
    full = METRIC_ALIASES[alias]
    data = (RNG.random((12, 6)) < 0.5) if full in _BOOLEAN else X
    left, right = np.asarray(data[:5], dtype=float), np.asarray(data[5:], dtype=float)
    params = {"seuclidean": {"V": np.arange(1.0, 5.0)}, "mahalanobis": {"VI": np.eye(4)}}
    given = params.get(full)
    ours = resolve_metric(alias, given).fit(data).pairwise(data[:5], data[5:])
    home = DistanceMetric if alias in {"infinity", "l1", "l2", "manhattan", "p"} else cdist
    if alias == "sokalmichener":
        home = DistanceMetric
    if home is cdist:
        expected = cdist(data[:5], data[5:], alias, **(given or {}))
    else:
        expected = DistanceMetric.get_metric(alias).pairwise(left, right)
    np.testing.assert_allclose(ours, expected, atol=1e-12)
    if full not in {"euclidean", "sqeuclidean", "cosine"}:
        np.testing.assert_array_equal(
            Metric(alias, given).fit(data).pairwise(data[:5], data[5:]), ours
        )


def test_a_metric_of_no_such_name_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of .*canberra.*, got 'cityblok'"):
        Metric("cityblok").fit(X)


def _wide(S):
    """The same rows with indices of 64 bits."""
    wide = S.copy()
    wide.indices, wide.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return wide


@pytest.mark.parametrize("metric", [Metric("manhattan"), KernelDistance("laplacian")])
@pytest.mark.parametrize("form", [csc_array, csr_matrix, coo_array, lambda A: _wide(csr_array(A))])
def test_sparse_rows_may_come_in_any_form(metric, form):
    Y = X * (RNG.random(X.shape) < 0.5)
    expected = metric.fit(Y).pairwise(Y, Y)
    S = form(Y)
    np.testing.assert_allclose(metric.fit(csr_array(Y)).pairwise(S, S), expected, atol=1e-12)
    labels = np.arange(len(Y)) % 2
    sparse = PVMClassifier(eps=0.5, metric=metric, **PAPER).fit(S, labels)
    dense = PVMClassifier(eps=0.5, metric=metric, **PAPER).fit(Y, labels)
    np.testing.assert_array_equal(sparse.candidate_indices_, dense.candidate_indices_)


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis", "nan_euclidean", "yule"])
def test_sparse_rows_are_refused_before_anything_is_learned(name):
    with pytest.raises(ValueError, match=f"'{name}' does not take sparse input"):
        Metric(name).fit(csr_array(X))


def _with_gaps(seed=0, shape=(40, 7)):
    rng = np.random.default_rng(seed)
    holes = rng.normal(size=shape)
    holes[rng.random(shape) < 0.3] = np.nan
    holes[:, 2] = rng.normal(size=shape[0])  # so that every pair has a feature in common
    return holes


@pytest.mark.parametrize("params", [{}, {"squared": True}, {"missing_values": -1.0}])
def test_gaps_are_left_out_as_scikit_learn_does(params):
    holes = _with_gaps()
    if "missing_values" in params:
        holes = np.nan_to_num(holes, nan=-1.0)
    table = Metric("nan_euclidean", params).fit(holes).pairwise(holes, holes[:9])
    expected = nan_euclidean_distances(holes, holes[:9], **params)
    np.testing.assert_allclose(table, expected, atol=1e-7)


def test_distances_across_gaps_do_not_depend_on_tile_or_side(monkeypatch):
    monkeypatch.setattr(metric_module, "_STRIP", 64)
    holes = _with_gaps()
    metric = Metric("nan_euclidean").fit(holes)
    table = metric.pairwise(holes, holes)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diagonal(table), 0.0)
    np.testing.assert_array_equal(metric.pairwise(holes[3:4], holes[5:20]), table[3:4, 5:20])
    without = metric.pairwise(np.nan_to_num(holes), np.nan_to_num(holes))
    np.testing.assert_array_equal(without, cdist(np.nan_to_num(holes), np.nan_to_num(holes)))


@pytest.mark.parametrize("name", ["jensenshannon", "correlation", "haversine", "minkowski"])
def test_rounded_metrics_are_the_same_from_both_sides(name):
    data = X[:, :2] if name == "haversine" else X
    params = {"p": 1.5} if name == "minkowski" else None
    metric = Metric(name, params).fit(data)
    table = metric.pairwise(data, data)
    np.testing.assert_array_equal(table, table.T)
    np.testing.assert_array_equal(np.diagonal(table), 0.0)


def test_a_feature_that_repeats_others_adds_nothing_to_mahalanobis_distance():
    """Whether a sum of features is kept must not hang on the last bits of a covariance."""
    data = np.random.default_rng(3).normal(size=(60, 4)) * [1.0, 1e-6, 1e3, 1.0]
    expected = Metric("mahalanobis").fit(data).pairwise(data, data[:5])
    wider = np.column_stack((data, data[:, 0] + data[:, 3], np.full(60, 2.0), 1e4 * data[:, 1]))
    table = Metric("mahalanobis").fit(wider).pairwise(wider, wider[:5])
    np.testing.assert_allclose(table, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rank", [1, 4, 12])
def test_the_inverse_is_that_of_linear_algebra(rank):
    rng = np.random.default_rng(rank)
    rows = rng.normal(size=(5000, rank)) @ rng.normal(size=(rank, 12))
    products = column_products(rows)
    np.testing.assert_allclose(products, rows.T @ rows, atol=1e-12 * abs(products).max())
    np.testing.assert_array_equal(products, products.T)
    expected = np.linalg.pinv(products, hermitian=True, rtol=1e-10)
    found = pseudo_inverse(products, rtol=1e-10)
    np.testing.assert_allclose(found, expected, atol=1e-9 * abs(expected).max())
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis"])
def test_a_variance_that_underflows_is_refused(name):
    with pytest.raises(ValueError, match="variance underflows; rescale the features"):
        Metric(name).fit(X * [1.0, 1.0, 1e-200, 1.0])


@pytest.mark.parametrize(
    ("name", "params", "unit"),
    [
        ("minkowski", {"p": 2}, 1e-160),
        ("minkowski", {"p": 3}, 1e-110),
        ("nan_euclidean", None, 1e-160),
        ("sqeuclidean", None, 1e-160),
    ],
)
def test_values_whose_powers_underflow_are_refused(name, params, unit):
    model = PVMClassifier(eps=1.0, radii="shared", metric=name, metric_params=params)
    y = np.arange(len(X)) % 2
    with pytest.raises(ValueError, match=f"so small that {name} distances underflow; rescale"):
        model.fit(X * unit, y)
    model.fit(np.where(np.arange(4) < 3, X * unit, X), y)
    model.fit(X * 0.0, y)


@pytest.mark.parametrize("name", ["seuclidean", "mahalanobis"])
def test_what_is_learned_does_not_depend_on_the_layout_in_memory(name):
    data = np.random.default_rng(4).normal(size=(500, 5))
    one = Metric(name).fit(data).params_
    other = Metric(name).fit(np.asfortranarray(data)).params_
    for key in one:
        np.testing.assert_array_equal(one[key], other[key])


def test_an_inverse_covariance_of_another_size_is_refused():
    with pytest.raises(ValueError, match=r"VI must be .* of shape \(4, 4\), got shape \(3, 3\)"):
        Metric("mahalanobis", {"VI": np.eye(3)}).fit(X)
