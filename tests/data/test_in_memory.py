"""Frames that are lazy or wrapped, and texts, at every public door."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from paper import PAPER
from protocover import (
    BallCover,
    PVMClassifier,
    PVMClassifierCV,
    PVMSelector,
    pvm_path,
    suggest_eps,
)
from protocover.data import check
from protocover.report import make_report, summarize

X, Y = load_iris(return_X_y=True)
NAMES = ["length", "width", "petal", "leaf"]
MODEL = PVMClassifier(eps=1.0, **PAPER).fit(X, Y)

DOORS = {
    "fit": PVMClassifier(eps=1.0, **PAPER).fit,
    "mixed": PVMClassifier(eps=1.0, metric="gower", **PAPER).fit,
    "search": PVMClassifierCV(eps=[1.0], cv=3, **PAPER).fit,
    "selector": PVMSelector(eps=1.0, **PAPER).fit_resample,
    "cover": BallCover(eps=1.0).fit,
    "path": lambda X, y: pvm_path(X, y, eps=[1.0], **PAPER),
    "grid": suggest_eps,
    "predict": lambda X, y: MODEL.predict(X),
    "transform": lambda X, y: MODEL.transform(X),
    "report": lambda X, y: summarize(MODEL, X, y),
    "held out": lambda rows, y: summarize(MODEL, X, Y, held_out=(rows, y)),
}


def frame_of(package):
    frames = pytest.importorskip(package, reason=f"{package} is not installed")
    return frames.DataFrame({name: X[:, k] for k, name in enumerate(NAMES)})


def wrapped(frame):
    return pytest.importorskip("narwhals", reason="narwhals is not installed").from_native(frame)


@pytest.mark.parametrize("door", [*DOORS, "check"])
def test_a_lazy_frame_is_to_be_collected(door):
    ask = DOORS.get(door, lambda X, y: check(X, target=y))
    lazy = frame_of("polars").lazy()
    with pytest.raises(TypeError, match=r"must be in memory, got a LazyFrame.*\.collect\(\)"):
        ask(lazy, Y)
    with pytest.raises(TypeError, match=r"must be in memory, got a LazyFrame.*\.collect\(\)"):
        ask(wrapped(lazy), Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("package", ["pandas", "polars"])
@pytest.mark.parametrize(
    "model",
    [
        PVMClassifier(eps=1.0, **PAPER),
        PVMClassifier(eps=0.2, metric="gower", **PAPER),
        PVMClassifierCV(eps=[1.0], cv=3, **PAPER),
        PVMSelector(eps=1.0, **PAPER),
        BallCover(eps=1.0),
    ],
    ids=lambda model: f"{type(model).__name__} {model.metric}",
)
def test_a_wrapped_frame_is_the_frame_within(package, model):
    native = frame_of(package)
    frame = wrapped(native)
    model.fit(frame, Y)
    assert model.feature_names_in_.tolist() == NAMES
    if hasattr(model, "predict"):
        np.testing.assert_array_equal(model.predict(frame), model.predict(native))
    else:
        rows, _ = model.fit_resample(frame, Y)
        assert type(rows) is type(native)
    labels = None if isinstance(model, BallCover) else Y
    columns = summarize(model, frame, labels).cases.columns
    assert sorted(column.name for column in columns) == sorted(NAMES)


@pytest.mark.parametrize("texts", [list, np.array], ids=["list", "array"])
@pytest.mark.parametrize("door", sorted(DOORS.keys() - {"mixed"}))
def test_texts_are_to_be_encoded(door, texts):
    with pytest.raises(
        ValueError, match=r"rows of numbers, got text: 'a cat'; encode texts first"
    ):
        DOORS[door](texts(["a cat", "a dog", "two cats"] * 50), Y)


def test_a_report_says_what_it_takes():
    with pytest.raises(
        TypeError, match=r"path must be the name of a file, got list; call make_re"
    ):
        make_report(MODEL, X, Y.tolist())
