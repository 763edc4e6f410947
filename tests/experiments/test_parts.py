"""Finished parts are kept, and computed anew when parameters or code change."""

from __future__ import annotations

import importlib
import json
import sys

import numpy as np
import pytest
from experiments.parts import Parts

from experiments import parts as parts_module

CODE = '''"""A module with an experiment."""

CALLS = []


def run(quick, parts):
    return parts.keep(double, number=1)


def double(number):
    """Double a number."""
    CALLS.append(number)
    return {"twice": 2 * number}
'''


@pytest.fixture
def experiment(tmp_path, monkeypatch):
    """Load a module of an experiment from code that a test may change."""
    monkeypatch.syspath_prepend(tmp_path)

    def load(code=CODE):
        (tmp_path / "doubling.py").write_text(code)
        sys.modules.pop("doubling", None)
        parts_module.code_version.cache_clear()
        importlib.invalidate_caches()
        # Two files written within one tick of the clock would share their byte code.
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return importlib.import_module("doubling")

    yield load
    sys.modules.pop("doubling", None)


def test_part_is_computed_once_and_then_read(experiment, tmp_path):
    doubling, parts = experiment(), Parts(tmp_path / "kept", progress=False)
    first = parts.keep(doubling.double, number=3)
    again = Parts(tmp_path / "kept", progress=False).keep(doubling.double, number=3)
    assert first == again
    assert first["twice"] == 6
    assert doubling.CALLS == [3]


def test_other_parameters_are_other_parts(experiment, tmp_path):
    doubling, parts = experiment(), Parts(tmp_path / "kept", progress=False)
    got = parts.keep_all("numbers", doubling.double, [{"number": k} for k in (1, 2, 1)])
    assert [one["twice"] for one in got] == [2, 4, 2]
    assert doubling.CALLS == [1, 2]


@pytest.mark.parametrize(
    ("old", "new", "computed_anew"),
    [
        ("2 * number", "number + number", True),
        ("Double a number.", "Twice a number.", False),
        ("CALLS.append", "# a remark\n    CALLS.append", False),
        ("number=1", "number=2", False),
    ],
)
def test_part_is_computed_anew_only_if_its_code_changes(
    experiment, tmp_path, old, new, computed_anew
):
    parts = Parts(tmp_path / "kept", progress=False)
    parts.keep(experiment().double, number=3)
    changed = experiment(CODE.replace(old, new))
    parts.keep(changed.double, number=3)
    assert bool(changed.CALLS) == computed_anew


def test_code_of_imported_modules_of_the_package_counts():
    reached = parts_module._reach("experiments.uci", set())
    assert "experiments.baselines.olvq1" in reached
    assert "experiments.tuning" in reached
    assert "experiments.parts" not in reached
    assert "evidence.sets" in parts_module._reach("evidence.suspects.measure", set())


def test_numpy_results_become_plain_json(tmp_path):
    path = tmp_path / "a" / "b.json"
    parts_module.write_json(path, {"x": np.arange(3), "y": np.float64(0.5), "z": np.bool_(True)})
    assert json.loads(path.read_text()) == {"x": [0, 1, 2], "y": 0.5, "z": True}
    assert list(path.parent.iterdir()) == [path]


def test_what_json_does_not_know_is_refused(tmp_path):
    with pytest.raises(TypeError, match="results must be numbers, texts, lists and dicts"):
        parts_module.write_json(tmp_path / "a.json", {"x": object()})
    assert not (tmp_path / "a.json").exists()
