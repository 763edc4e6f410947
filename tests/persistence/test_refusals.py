"""What a model file cannot hold is refused with the way out, and nothing is written."""

import sys

import numpy as np
import pandas as pd
import pytest
from saved_models import examples, other_models
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline

from paper import PAPER
from protocover import (
    ModelFileError,
    PVMClassifier,
    PVMClassifierCV,
    load_model,
    save_model,
)
from protocover._persistence import model_info
from protocover.dissimilarity import Function, Gower, KernelDistance, RankDissimilarity
from protocover.solvers import greedy

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.arange(12) % 2


def distance(a, b):
    return float(abs(a - b).sum())


class OwnMetric:
    def fit(self, X, y=None):
        return self

    def pairwise(self, A, B):
        return np.abs(A[:, None] - B).sum(axis=2)


class OwnClassifier(PVMClassifier):
    pass


def own_solver(problem, *, rng=None, max_prototypes=None, **options):
    return greedy(problem, rng=rng, max_prototypes=max_prototypes)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            PVMClassifier(metric=distance, **PAPER),
            "metric is or holds .*function.*metric='precomputed'",
        ),
        (
            PVMClassifier(metric=Function(distance), **PAPER),
            "metric is or holds.*metric='precomputed'",
        ),
        (
            PVMClassifier(metric=RankDissimilarity(distance), **PAPER),
            "metric is or holds.*function",
        ),
        (
            PVMClassifier(metric=KernelDistance(lambda a, b: float(a @ b)), **PAPER),
            "function.*joblib",
        ),
        (PVMClassifier(metric=OwnMetric(), **PAPER), "OwnMetric.*joblib.dump or skops"),
        (
            PVMClassifier(solver=own_solver, **PAPER),
            "solver is or holds .*name one of protocover's",
        ),
        (
            PVMClassifier(random_state=np.random.RandomState(0), **PAPER),
            "random_state is or holds.*whole number or None",
        ),
        (PVMClassifierCV(n_eps=2, cv=LeaveOneOut(), **PAPER), "cv is or holds.*best_estimator_"),
        (
            PVMClassifierCV(n_eps=2, cv=2, scoring=lambda m, X, y: 1.0, **PAPER),
            "scoring is or .*best_estimator_",
        ),
        (OwnClassifier(), "holds a PVMClassifier.*got OwnClassifier"),
        (RandomForestClassifier(2), "got RandomForestClassifier.*joblib"),
        (
            make_pipeline(PCA(1), PVMClassifier(**PAPER)),
            "StandardScaler.*got PCA; transform the data",
        ),
        (make_pipeline(PVMClassifier(**PAPER), memory="cache"), "memory=None"),
    ],
)
def test_code_and_objects_of_others_are_refused_with_the_way_out(
    model, message, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    model.fit(X, Y)
    with pytest.raises(ModelFileError, match=message):
        save_model(model, tmp_path / "model.pvm")
    assert not list(tmp_path.glob("*.pvm"))


@pytest.mark.parametrize(
    "column",
    [
        pd.period_range("2020", periods=12, freq="M"),
        pd.date_range("2020-01-01", periods=12, tz="UTC"),
        pd.interval_range(0, 12),
    ],
)
def test_columns_of_unusual_type_are_refused_by_name(column, tmp_path):
    table = pd.DataFrame({"a": X[:, 0], "odd": column})
    model = PVMClassifier(eps=0.5, metric=Gower({"odd": "categorical"}), **PAPER).fit(table, Y)
    with pytest.raises(ModelFileError, match=r"column 'odd'.*convert"):
        save_model(model, tmp_path / "model.pvm")


def test_a_model_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(PVMClassifier(**PAPER), tmp_path / "model.pvm")


def test_one_of_our_solvers_given_as_a_function_is_kept_by_name(tmp_path):
    save_model(PVMClassifier(solver=greedy, **PAPER).fit(X, Y), tmp_path / "m")
    assert load_model(tmp_path / "m").solver is greedy


def test_a_save_that_fails_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    path = tmp_path / "model.pvm"
    save_model(PVMClassifier(**PAPER).fit(X, Y), path)
    before = path.read_bytes()

    def no_room(handle):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.fsync", no_room)
    with pytest.raises(OSError, match="no space left"):
        save_model(PVMClassifier(eps=0.1, **PAPER).fit(X, Y), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_the_command_wrote_is_read_as_its_model(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no model\.protocover; give a model file"):
        load_model(tmp_path)
    model = PVMClassifier(eps=0.1, **PAPER).fit(X, Y)
    save_model(model, tmp_path / "model.protocover")
    np.testing.assert_array_equal(load_model(tmp_path).predict(X), model.predict(X))
    assert model_info(str(tmp_path)).model == "PVMClassifier"


def test_a_missing_folder_and_a_missing_file_are_the_system_errors(tmp_path):
    model = PVMClassifier(**PAPER).fit(X, Y)
    with pytest.raises(FileNotFoundError):
        save_model(model, tmp_path / "no" / "model.pvm")
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model.pvm")


def test_a_model_with_a_frame_says_what_it_needs_where_pandas_is_absent(tmp_path, monkeypatch):
    save_model(examples()["Gower of a frame"].fitted(), tmp_path / "m")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        load_model(tmp_path / "m")


def test_a_model_without_a_frame_does_not_need_pandas(tmp_path, monkeypatch):
    example = other_models()["labels are strings"]
    save_model(example.fitted(), tmp_path / "m")
    monkeypatch.delattr("protocover._persistence.frames.frame_library")
    assert len(load_model(tmp_path / "m").predict(example.queries)) == len(example.queries)
