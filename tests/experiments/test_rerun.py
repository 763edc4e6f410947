"""Two runs are the same if every number is, but for what the machine decides."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

from experiments.parts import write_json
from experiments.rerun import compare_runs, tell_rerun

FIRST = {
    "quick": False,
    "run": {"kernels": "SkylakeX", "date": "2026-11-18"},
    "errors": [0.25, 0.5],
    "best": {"size": 7, "seconds": 0.1, "name": "PVM"},
}


def second(**changes):
    run = {"kernels": "Haswell", "date": "2026-11-19"}
    return {**FIRST, "run": run, "best": {**FIRST["best"], "seconds": 9.9}, **changes}


def compared(tmp_path, other, *, name="uci"):
    write_json(tmp_path / "one" / f"{name}.json", FIRST)
    write_json(tmp_path / "other" / f"{name}.json", other)
    found = compare_runs(tmp_path / "one", tmp_path / "other", ["uci", "not run"])
    return found["sections"], tell_rerun(tmp_path / "one")


def test_times_and_the_record_of_a_run_may_differ(tmp_path):
    sections, told = compared(tmp_path, second())
    assert sections["uci"]["n_changed"] == 0
    assert "kernels for SkylakeX and, on 2026-11-19, for Haswell" in told
    assert "not one differs by a digit" in told
    assert "not run" not in sections


@pytest.mark.parametrize(
    "change",
    [
        {"errors": [0.25, 0.5000000001]},
        {"errors": [0.25]},
        {"best": {"size": 8, "name": "PVM"}},
        {"best": {"size": 7, "name": "LVQ"}},
        {"more": 1},
    ],
)
def test_whatever_else_differs_is_counted_and_named(tmp_path, change):
    sections, told = compared(tmp_path, second(**change))
    assert sections["uci"]["n_changed"] > 0
    assert sections["uci"]["changed"]
    assert f"{sections['uci']['n_changed']} of uci" in told


def test_without_a_second_run_nothing_is_said(tmp_path):
    assert tell_rerun(tmp_path) == ""
    write_json(tmp_path / "uci.json", FIRST)
    compare_runs(tmp_path, tmp_path / "nowhere", ["uci"])
    assert tell_rerun(tmp_path) == ""


def test_results_without_a_record_of_their_run_are_not_compared(tmp_path):
    old = {key: value for key, value in FIRST.items() if key != "run"}
    assert compared(tmp_path, old)[0] == {}
