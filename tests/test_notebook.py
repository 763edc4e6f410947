"""The notebook for the browser runs, and its site has a recipe."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "packaging" / "jupyterlite" / "files" / "prototypes.ipynb"


def test_cells_run_from_top_to_bottom(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code[0].startswith("%pip install")
    names: dict[str, object] = {}
    for cell in code[1:]:
        exec(cell, names)
    assert set(names["chosen"]["grower"]) == set(names["y"])
    assert "The model is what it says" in capsys.readouterr().out
    assert "<html" in (tmp_path / "report.html").read_text()[:200]


def test_no_answers_are_kept_in_it():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
