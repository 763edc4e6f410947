"""The comparisons are a package at the root of the repository, the benchmarks programs in one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]


@pytest.fixture
def quick_page(tmp_path, monkeypatch):
    """Run a comparison on tiny settings into an empty folder; return its page and results."""
    from evidence import __main__ as program

    monkeypatch.setattr(program, "ROOT", tmp_path)

    def run(name, **environment):
        for variable, value in environment.items():
            monkeypatch.setenv(variable, value)
        assert program.main(["--quick", name]) == 0
        home = tmp_path / "evidence" / "quick"
        return (home / f"{name}.md").read_text(), json.loads((home / f"{name}.json").read_text())

    return run
