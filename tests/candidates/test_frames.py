"""Candidates in data frames: matched by name, and joined with frames of the same kind."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import PVMClassifier, PVMClassifierCV, pvm_path, suggest_eps
from protocover.dissimilarity import Gower

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

X, Y = load_iris(return_X_y=True)
NAMES = list("abcd")
KINDS = {
    "pandas": lambda rows, names=NAMES: pd.DataFrame(rows, columns=names),
    "polars": lambda rows, names=NAMES: pl.DataFrame(rows, schema=list(names)),
}
FITS = {
    "classifier": lambda X, candidates: PVMClassifier(eps=0.8, candidates=candidates, **PAPER).fit(
        X, Y
    ),
    "unlabeled": lambda X, Z: PVMClassifier(eps=0.8, **PAPER).fit(X, Y, unlabeled=Z),
    "search": lambda X, candidates: PVMClassifierCV(
        eps=[0.8], cv=3, candidates=candidates, **PAPER
    ).fit(X, Y),
    "searched grid": lambda X, candidates: PVMClassifierCV(
        eps=2, cv=3, candidates=candidates, **PAPER
    ).fit(X, Y),
    "grid": lambda X, candidates: suggest_eps(X, Y, candidates=candidates),
    "path": lambda X, candidates: pvm_path(X, Y, eps=[0.8], candidates=candidates, **PAPER),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fit", FITS)
def test_candidates_whose_columns_are_in_another_order_are_refused(fit, kind):
    frame = KINDS[kind]
    what = "unlabeled" if fit == "unlabeled" else "candidates"
    with pytest.raises(ValueError, match=rf"names of {what} .*match those of X.*same order"):
        FITS[fit](frame(X), frame(X[::5, ::-1], NAMES[::-1]))
    if fit != "unlabeled":
        with pytest.raises(ValueError, match="same order"):
            FITS[fit](frame(X), ["train", frame(X[::5, ::-1], NAMES[::-1])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FITS[fit](frame(X), frame(X[::5]))


def test_names_that_are_missing_or_new_are_told():
    with pytest.raises(ValueError, match=r"not in X: e; missing: d"):
        PVMClassifier(eps=0.8, candidates=KINDS["pandas"](X, list("abce")), **PAPER).fit(
            KINDS["pandas"](X), Y
        )


@pytest.mark.parametrize("fit", FITS)
def test_names_on_one_side_only_are_a_warning_as_in_predict(fit):
    frame = KINDS["pandas"]
    with pytest.warns(UserWarning, match="has feature names, but X has none"):
        FITS[fit](X, frame(X[::5]))
    with pytest.warns(UserWarning, match="does not have valid feature names, but X has"):
        FITS[fit](frame(X), X[::5])


@pytest.mark.parametrize("kind", KINDS)
def test_frames_of_rows_give_the_model_of_arrays(kind):
    frame = KINDS[kind]
    plain = PVMClassifier(eps=0.8, candidates=["train", X[::5] + 0.01], **PAPER).fit(
        X, Y, unlabeled=X[::7]
    )
    framed = PVMClassifier(eps=0.8, candidates=["train", frame(X[::5] + 0.01)], **PAPER)
    framed.fit(frame(X), Y, unlabeled=frame(X[::7]))
    np.testing.assert_array_equal(plain.prototypes_, framed.prototypes_)
    np.testing.assert_array_equal(plain.candidate_indices_, framed.candidate_indices_)


def mixed(kind, rows):
    """A frame with a column of words, which only some dissimilarities take."""
    columns = {name: X[rows, k] for k, name in enumerate(NAMES)}
    columns["word"] = np.where(X[rows, 0] > 5.8, "long", "short").tolist()
    return (pd if kind == "pandas" else pl).DataFrame(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_the_union_of_frames_is_a_frame(kind):
    train, more = mixed(kind, slice(0, 150)), mixed(kind, slice(3, 150, 5))
    model = PVMClassifier(eps=0.1, metric=Gower(), candidates=["train", more], **PAPER)
    model.fit(train, Y, unlabeled=mixed(kind, slice(0, 150, 7)))
    assert type(model.prototypes_) is type(train)
    assert list(model.prototypes_.columns) == [*NAMES, "word"]
    assert model.prototypes_.shape == (len(model.prototype_labels_), 5)
    assert model.predict(train).shape == (150,)
    search = PVMClassifierCV(eps=[0.1], cv=3, metric=Gower(), candidates=["train", more], **PAPER)
    assert search.fit(train, Y).predict(train).shape == (150,)


def test_frames_of_different_packages_are_not_joined():
    train, more = mixed("pandas", slice(0, 150)), mixed("polars", slice(3, 150, 5))
    with pytest.raises(ValueError, match=r"one kind.*pandas.*polars"):
        PVMClassifier(eps=0.1, metric=Gower(), candidates=["train", more], **PAPER).fit(train, Y)
    with pytest.raises(ValueError, match=r"one kind.*pandas.*polars"):
        PVMClassifier(eps=0.1, metric=Gower(), **PAPER).fit(train, Y, unlabeled=more)
    model = PVMClassifier(eps=0.1, metric=Gower(), **PAPER).partial_fit(train, Y)
    with pytest.raises(ValueError, match=r"one kind.*pandas.*polars"):
        model.partial_fit(mixed("polars", slice(0, 150)), Y)
    with pytest.raises(ValueError, match=r"one kind.*pandas.*list|one kind.*pandas.*ndarray"):
        PVMClassifier(eps=0.1, metric=Gower(), candidates=["train", more.to_numpy()], **PAPER).fit(
            train, Y
        )
