"""Links between Markdown files lead somewhere, to the very heading; nothing is fetched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("src/**/*.md"),
    *ROOT.glob("experiments/*.md"),
]
PAGES = [path for path in FILES if "_build" not in path.parts and "gallery" not in path.parts]
# Pages that the build of the site makes of the examples.
BUILT = {
    ROOT / "docs" / "gallery" / name
    for name in ("index.rst", *(f"{path.stem}.rst" for path in ROOT.glob("examples/*.py")))
}


def links(text: str) -> list[str]:
    """Return the targets of links and pictures, code and addresses elsewhere left out."""
    prose = re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", prose)
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as MyST and code forges make them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(), flags=re.MULTILINE)
    kept = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.strip().replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_page_lead_somewhere(page):
    for link in links(page.read_text()):
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists() or target in BUILT, f"{link} leads nowhere"
        if anchor:
            assert anchor in anchors(target), f"{link}: no such heading"
