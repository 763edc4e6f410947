"""The page about models elsewhere does what it says, where its packages are at hand."""

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_digits

from paper import PAPER
from protocover import PVMClassifier

PAGE = Path(__file__).parent.parent / "docs" / "elsewhere.md"
WHY = "pip install skl2onnx onnxruntime mlflow to try it"


def run_section(title, known):
    """Run what a section of the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    (block,) = re.findall(r"```python\n(.*?)```", section, flags=re.S)
    exec(compile(block, f"{PAGE.name}: {title}", "exec"), known)
    return known


@pytest.fixture
def known(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return run_section("scikit-learn alone", {})


def test_scikit_learn_alone(known):
    assert len(known["knn"]._fit_X) == len(known["clf"].prototypes_)


def test_onnx(known):
    pytest.importorskip("skl2onnx", reason=WHY)
    pytest.importorskip("onnxruntime", reason=WHY)
    assert len(run_section("ONNX", known)["labels"]) == len(known["X"])


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine", "minkowski"])
def test_onnx_of_other_metrics(metric):
    skl2onnx = pytest.importorskip("skl2onnx", reason=WHY)
    onnxruntime = pytest.importorskip("onnxruntime", reason=WHY)
    X, y = load_digits(return_X_y=True)
    clf = PVMClassifier(metric=metric, **PAPER).fit(X[::2], y[::2])
    onnx = skl2onnx.to_onnx(clf.to_knn(), X[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(onnx.SerializeToString())
    assert (session.run(["label"], {"X": X})[0] == clf.predict(X)).all()


def test_skops_names_types_of_ours_alone(known):
    pytest.importorskip("skops", reason=WHY)
    run_section("skops", known)
    assert all(name.startswith("protocover.") for name in known["trusted"])
    assert (known["again"].predict(known["X"]) == known["clf"].predict(known["X"])).all()


def test_mlflow(known, monkeypatch, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason=WHY)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    run_section("MLflow", run_section("skops", known))
    assert len(known["again"].prototypes_) == len(known["clf"].prototypes_)
