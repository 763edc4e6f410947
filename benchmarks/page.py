"""Sections of a page of documentation that are written by the run that measured them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def write_section(page: str, section: str, text: str) -> None:
    """Put `text` between the marks of a section of a page in docs."""
    path = DOCS / page
    start, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    before, rest = path.read_text().split(start)
    _, after = rest.split(end)
    path.write_text(f"{before}{start}\n{text.strip()}\n{end}{after}")


def rows_of(page: str, section: str) -> list[list[str]]:
    """Return the rows of the table that a section has."""
    text = (DOCS / page).read_text()
    text = text.split(f"<!-- {section}: begin -->")[1].split(f"<!-- {section}: end -->")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Write a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
