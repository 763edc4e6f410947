"""What is sampled of a large table is said, with the option that avoids it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from protocover._cli import estimator


@pytest.fixture
def many(monkeypatch):
    """A table of more rows than are all candidates, or all searched on."""
    monkeypatch.setattr(estimator, "_MOST_PAIRS", 80 * 30)
    rng = np.random.default_rng(0)
    kind = rng.choice(["lily", "rose"], 100)
    length = rng.normal(np.where(kind == "lily", 1.0, 4.0)).round(3)
    pd.DataFrame({"length": length, "kind": kind}).to_csv("t.csv", index=False)


@pytest.mark.usefixtures("many")
def test_candidates_are_drawn_from_many_cases_unless_all_are_asked_for(fit, capsys):
    asked = ("t.csv", "--target", "kind", "--eps", "auto")
    assert fit(*asked, "-o", "drawn") == 0
    said = capsys.readouterr().err
    assert "Drawing 30 of the 80 cases as candidates for prototypes" in said
    assert "--candidates train uses all" in said
    assert _candidates("drawn") == 30
    assert fit(*asked, "-o", "all", "--candidates", "train") == 0
    assert "as candidates" not in capsys.readouterr().err
    assert _candidates("all") == "train"


@pytest.mark.usefixtures("many")
def test_a_search_on_a_sample_is_said(fit, capsys):
    asked = ("t.csv", "--target", "kind", "--candidates", "train")
    assert fit(*asked, "-o", "some", "--max-search-samples", "50") == 0
    said = capsys.readouterr().err
    assert "Searching on a stratified sample of 50 of the 80 cases" in said
    assert "--max-search-samples all searches on all" in said
    assert fit(*asked, "-o", "all", "--max-search-samples", "all") == 0
    assert "stratified sample" not in capsys.readouterr().err


def _candidates(folder):
    return json.loads(Path(folder, "summary.json").read_text())["settings"]["candidates"]
