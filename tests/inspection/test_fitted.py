"""From a pipeline, a search, a selector or a cluster's model to the classifier within."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, PVMSelector
from protocover._exceptions import NoPrototypesError
from protocover._inspection.fitted import unwrap

X, Y = load_iris(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
WITHIN = make_pipeline(StandardScaler(), PVMClassifier(eps=0.8, **PAPER))


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        (PVMClassifier(eps=0.8, **PAPER), X),
        (PVMSelector(eps=0.8, **PAPER), X),
        (PVMClassifierCV(eps=[0.8], cv=2, **PAPER), X),
        (GridSearchCV(PVMClassifier(**PAPER), {"eps": [0.8]}, cv=2), X),
        (make_pipeline(PVMClassifier(eps=0.8, **PAPER)), X),
        (make_pipeline(StandardScaler(), PVMClassifierCV(eps=[0.8], cv=2, **PAPER)), SCALED),
        (GridSearchCV(WITHIN, {"pvmclassifier__eps": [0.8]}, cv=2), SCALED),
        (make_pipeline(MinMaxScaler(), WITHIN), SCALED),
    ],
)
def test_the_classifier_within_and_its_points_are_found(model, takes):
    within = unwrap(model.fit(X, Y))
    assert type(within.classifier) is PVMClassifier
    assert within.classifier.eps_ == 0.8
    np.testing.assert_allclose(within.prepare(X), takes, atol=1e-12)
    np.testing.assert_allclose(
        within.prepare(X)[within.classifier.prototype_indices_], within.classifier.prototypes_
    )


def test_the_search_that_chose_the_classifier_is_found_with_it():
    search = PVMClassifierCV(eps=[0.8], cv=2, **PAPER)
    pipe = make_pipeline(StandardScaler(), search).fit(X, Y)
    assert unwrap(pipe).search is search
    assert unwrap(pipe).classifier is search.best_estimator_
    assert unwrap(search.best_estimator_).search is None


def test_the_model_of_a_cluster_is_its_local_one():
    da = pytest.importorskip("dask.array", reason="dask is not installed")
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    from protocover.distributed import DaskPVMClassifier

    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        points, labels = da.from_array(X, chunks=(75, 4)), da.from_array(Y, chunks=75)
        model = DaskPVMClassifier(eps=0.8, client=client, **PAPER).fit(points, labels)
    within = unwrap(model)
    assert type(within.classifier) is PVMClassifier
    np.testing.assert_array_equal(within.classifier.prototypes_, model.prototypes_)


def test_models_without_a_classifier_of_ours_are_refused_by_name():
    message = "estimator must be, or be a pipeline or search that ends in, .* got LogisticRegr"
    for model in (LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        with pytest.raises(TypeError, match=message):
            unwrap(model.fit(SCALED, Y), name="estimator")
    with pytest.raises(TypeError, match=r"model must be, .* got str"):
        unwrap("model")


@pytest.mark.parametrize(
    "model",
    [
        PVMClassifier(eps=0.8, **PAPER),
        PVMClassifierCV(**PAPER),
        PVMSelector(eps=0.8, **PAPER),
        WITHIN,
    ],
)
def test_models_that_are_not_fitted_are_refused(model):
    with pytest.raises(NotFittedError):
        unwrap(clone(model))


def test_a_classifier_without_prototypes_is_refused_with_what_follows():
    none = PVMClassifier(eps=0.1, prototype_cost=1e3, outlier_label=-1, **PAPER).fit(X, Y)
    message = "at eps=0.1 and prototype_cost=1000, so all is lost; lower prototype_cost"
    with pytest.raises(NoPrototypesError, match=message):
        unwrap(none).require_prototypes("all is lost")
