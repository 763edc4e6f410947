"""The page on pictures: its code runs, in order, and its pictures are there and small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas", reason="pandas, an optional package, is not installed")

PAGE = Path(__file__).parents[2] / "docs" / "plots.md"


def test_code_of_the_page_runs_and_its_pictures_are_there():
    if not PAGE.exists():
        pytest.skip("the documentation is not part of this distribution")
    text = PAGE.read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert len(blocks) == len(pictures) > 5
    names = {"__name__": "plots"}
    for block in blocks:
        exec(block, names)
    for picture in pictures:
        assert 1_000 < (PAGE.parent / picture).stat().st_size < 60_000
