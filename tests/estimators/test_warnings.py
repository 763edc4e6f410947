"""Warnings point at the line of the user that led to them."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, PVMSelector, pvm_path
from protocover._balls import forecast
from protocover._exceptions import CoverMemoryWarning

X = np.random.default_rng(0).normal(size=(60, 2))
Y = np.arange(60) % 2

FITS = {
    "classifier": lambda: PVMClassifier(eps=1.0, **PAPER).fit(X, Y),
    "search": lambda: PVMClassifierCV(eps=[0.5, 1.0], cv=2, **PAPER).fit(X, Y),
    "path": lambda: pvm_path(X, Y, eps=[0.5, 1.0], **PAPER),
    "selector": lambda: PVMSelector(eps=1.0, **PAPER).fit_resample(X, Y),
    "pipeline": lambda: make_pipeline(StandardScaler(), PVMClassifier(eps=1.0, **PAPER)).fit(X, Y),
    "grid": lambda: GridSearchCV(PVMClassifier(**PAPER), {"eps": [1.0]}, cv=2).fit(X, Y),
    "first batch": lambda: PVMClassifier(eps=1.0, **PAPER).partial_fit(X, Y),
}


@pytest.mark.parametrize("name", FITS)
def test_little_memory(name, monkeypatch):
    monkeypatch.setattr(forecast, "available_memory", lambda: 100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        FITS[name]()
    told = [one for one in caught if one.category is CoverMemoryWarning]
    assert told
    assert {one.filename for one in told} == {__file__}


def test_partial_fit_after_fit():
    model = PVMClassifier(eps=1.0, **PAPER).fit(X, Y)
    with pytest.warns(UserWarning, match="starts over") as caught:
        model.partial_fit(X, Y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "estimator", [PVMClassifier(eps=1.0, **PAPER), PVMClassifierCV(eps=[1.0], cv=2, **PAPER)]
)
def test_labels_in_a_column(estimator):
    with pytest.warns(UserWarning, match="column-vector y") as caught:
        estimator.fit(X, Y[:, None])
    assert {one.filename for one in caught} == {__file__}
    with pytest.warns(UserWarning, match="column-vector y") as caught:
        estimator.coverage(X, Y[:, None])
    assert {one.filename for one in caught} == {__file__}
