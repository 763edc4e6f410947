"""scikit-learn's own checks of its conventions, with every kind of dissimilarity."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from paper import PAPER
from protocover import PVMClassifier
from protocover.dissimilarity import DANN, Function, Gower, KernelDistance, RankDissimilarity
from protocover.dissimilarity._metric import METRIC_NAMES


def city_block(a, b):
    return float(np.abs(a - b).sum())


def of_balanced_classes(estimator):
    """The checks that fail with `class_weight`, each with the reason."""
    if estimator.class_weight is None:
        return {}
    rounded = (
        "balanced weights are rounded, so the gains of two equally good prototypes differ in "
        "their last bits, and transform has their columns in another order"
    )
    reason = "partial_fit refuses class_weight, as it does not know the counts of later batches"
    checks = (
        "fit_score_takes_y",
        "n_features_in_after_fitting",
        "estimators_partial_fit_n_features",
    )
    return {f"check_{name}": reason for name in checks} | {
        f"check_sample_weight_equivalence_on_{kind}_data": rounded for kind in ("dense", "sparse")
    }


@parametrize_with_checks(
    [
        PVMClassifier(**PAPER),
        PVMClassifier(metric="precomputed", **PAPER),
        PVMClassifier(solver="ratio-greedy", **PAPER),
        PVMClassifier(class_weight="balanced"),
    ],
    expected_failed_checks=of_balanced_classes,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_choice_of_radii_is_a_parameter_like_any_other():
    model = PVMClassifier(eps=None, radii="adaptive")
    assert repr(model) == "PVMClassifier(eps=None)"
    assert repr(PVMClassifier(eps=1.0, radii="shared")) == "PVMClassifier(eps=1.0, radii='shared')"
    paper = "PVMClassifier(cross_class=True, min_per_class=0, radii='shared')"
    assert repr(PVMClassifier(**PAPER)) == paper
    assert clone(model).get_params() == model.get_params()
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    model.fit(X, y).set_params(radii="shared", eps=1.5)
    assert model.solution_.radii is not None  # until the next fit
    assert model.fit(X, y).solution_.radii is None
    again = model.set_params(radii="adaptive", eps=None).fit(X, y)
    assert again.prototype_radii_.tolist() == [3.0, 2.0]


# Those in which a dissimilarity has a say.
CHECKS = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimator_sparse_array",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_methods_subset_invariance",
    "check_n_features_in_after_fitting",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_sample_weight_equivalence_on_dense_data",
    "check_transformer_general",
    "check_transformer_get_feature_names_out",
}

# They take every number but 0 for true, so that queries may lie in no ball.
_OF_TRUTH_VALUES = {
    "dice",
    "jaccard",
    "matching",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "yule",
}
# These want so many columns as the checks never bring: two, and as many as pixels.
_NOT_CHECKED = {"haversine", "TangentDistance"}

CASES = {
    name: PVMClassifier(metric=name, **PAPER)
    for name in sorted(METRIC_NAMES | {"sqeuclidean", "cosine"})
    if name not in _OF_TRUTH_VALUES | _NOT_CHECKED | {"l1", "manhattan"}
}
CASES |= {
    name: PVMClassifier(metric=name, outlier_label="most_frequent", **PAPER)
    for name in sorted(_OF_TRUTH_VALUES)
}
CASES |= {
    "minkowski": PVMClassifier(metric="minkowski", metric_params={"p": 3}, **PAPER),
    "rbf": PVMClassifier(metric=KernelDistance(), **PAPER),
    "linear": PVMClassifier(metric=KernelDistance("linear"), **PAPER),
    "polynomial": PVMClassifier(metric=KernelDistance("polynomial"), **PAPER),
    "sigmoid": PVMClassifier(metric=KernelDistance("sigmoid", {"gamma": 0.01}), **PAPER),
    "laplacian": PVMClassifier(metric=KernelDistance("laplacian"), **PAPER),
    "chi2": PVMClassifier(metric=KernelDistance("chi2"), **PAPER),
    "Gower": PVMClassifier(metric=Gower(), **PAPER),
    "DANN": PVMClassifier(metric=DANN(), **PAPER),
    "rank": PVMClassifier(metric=RankDissimilarity(), **PAPER),
    "Function": PVMClassifier(metric=Function(city_block), **PAPER),
}

# A call for each pair of rows.
_TOO_SLOW = {"Function": {"check_classifiers_train", "check_estimator_sparse_array"}}

_TIES = "the check shuffles the points, and of equally good candidates the first row is taken"
_UNWEIGHTED = "it learns from the points whatever their weights"
_ROUNDED = "the check rounds the features of what takes categories"
_CONSTANT = "it is not defined for rows that are constant, such as those of one feature"
_ZEROS = "two rows of zeros have no such distance"
_NO_COMMON_VALUE = "rows without a common value have no distance"
_EQUALLY_FAR = "all pairs of rows without a zero are equally far"

_WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
_TRAIN = "check_classifiers_train"
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "braycurtis": {"check_estimators_dtypes": _ZEROS},
    "canberra": {_WEIGHTS: _TIES},
    "chebyshev": {_WEIGHTS: _TIES},
    "cityblock": {_WEIGHTS: _TIES},
    "correlation": {
        "check_estimators_dtypes": _CONSTANT,
        "check_fit2d_1feature": _CONSTANT,
        _TRAIN: "of two features the correlation is 1 or -1",
    },
    "hamming": {_WEIGHTS: _TIES},
    "jensenshannon": {"check_estimators_dtypes": _ZEROS, "check_fit2d_1feature": _ZEROS},
    "mahalanobis": {_WEIGHTS: _UNWEIGHTED},
    "nan_euclidean": {"check_estimators_pickle": _NO_COMMON_VALUE},
    "seuclidean": {_WEIGHTS: _UNWEIGHTED},
    "laplacian": {_WEIGHTS: _TIES},
    "Gower": {_TRAIN: _ROUNDED},
    "DANN": {_WEIGHTS: _UNWEIGHTED},
    "rank": {_WEIGHTS: _UNWEIGHTED},
    "Function": {_WEIGHTS: _TIES},
    **{name: {_TRAIN: _EQUALLY_FAR} for name in _OF_TRUTH_VALUES},
}
for _name in ("dice", "sokalsneath"):
    EXPECTED_FAILURES[_name]["check_estimators_dtypes"] = _ZEROS


def cases():
    """Yield each check of each dissimilarity, marked where it is expected to fail."""
    for name, estimator in CASES.items():
        expected = dict(EXPECTED_FAILURES.get(name, {}))
        left = CHECKS - _TOO_SLOW.get(name, set())
        for made, check in estimator_checks_generator(estimator):
            what = check.func.__name__
            if what in left:
                left = left - {what}  # the same again with another form of input
                marks = (
                    [pytest.mark.xfail(reason=expected[what], strict=True)]
                    if what in expected
                    else []
                )
                yield pytest.param(made, check, id=f"{name}-{what}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_conventions_with_every_dissimilarity(estimator, check):
    check(estimator)
