"""The pages that people learn from: their code runs as it stands, their commands parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from protocover._cli.commands import _build_parser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

PAGES = {
    "README.md": ["pandas"],
    "docs/index.md": ["pandas"],
    "docs/start.md": ["pandas"],
    "docs/choosing-eps.md": ["pandas", "matplotlib"],
    "docs/candidates.md": [],
    "docs/covers.md": [],
    "docs/covers/embeddings.md": [],
    "docs/covers/labelling.md": [],
    "docs/covers/molecules-and-sequences.md": ["rdkit"],
    "docs/adaptive-radii.md": [],
    "docs/set-cover.md": [],
    "docs/solvers.md": [],
    "docs/explaining.md": ["pandas"],
    "docs/probabilities.md": [],
    "docs/label-issues.md": ["pandas"],
    "docs/report.md": ["pandas", "jinja2"],
    "docs/photographs.md": ["PIL", "jinja2"],
    "docs/model-files.md": [],
    "docs/big-data.md": [],
    "docs/dask.md": ["dask", "distributed"],
    "docs/dissimilarities/tanimoto.md": [],
}
# Their tests stand with what they are about.
TESTED_ELSEWHERE = {
    "docs/plots.md",
    "docs/command-line.md",
    "docs/extending.md",
    "docs/elsewhere.md",
    "docs/moving-here.md",
    *(
        f"docs/dissimilarities/{name}.md"
        for name in ["dann", "gower", "graphs", "handover", "kernel", "rank", "strings", "tangent"]
    ),
}


def code_blocks(page: str) -> list[tuple[str, str]]:
    """Return the Python of a page, block by block, with the output shown right below each."""
    block = r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?"
    return re.findall(block, (ROOT / page).read_text(), flags=re.DOTALL)


def commands(page: Path) -> list[str]:
    """Return the command lines of a page, in code spans and in blocks for the shell."""
    text = page.read_text()
    blocks = "".join(re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL))
    lines = re.findall(r"^protocover (.+)$", blocks.replace("\\\n", " "), flags=re.MULTILINE)
    return lines + re.findall(r"(?<!`)`protocover ([^`]+)`", text)


@pytest.fixture
def names():
    """What the pages take for granted: a frame, new rows of it, and arrays of both parts."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import train_test_split

    bunch = load_iris()
    X, X_test, y, y_test = train_test_split(
        bunch.data, bunch.target_names[bunch.target], stratify=bunch.target, random_state=0
    )
    given = {"__name__": "page", "X": X, "y": y, "X_test": X_test, "y_test": y_test}
    try:
        import pandas as pd
    except ImportError:
        return given
    df = pd.DataFrame(X, columns=bunch.feature_names).assign(species=y)
    return given | {"df": df, "new_rows": pd.DataFrame(X_test, columns=bunch.feature_names)}


@pytest.mark.parametrize(("page", "packages"), PAGES.items())
def test_code_of_the_page_runs_and_prints_what_is_shown(
    page, packages, names, tmp_path, monkeypatch, capsys
):
    for package in packages:
        pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    monkeypatch.chdir(tmp_path)
    blocks = code_blocks(page)
    assert blocks
    for code, shown in blocks:
        exec(code, names)
        printed = capsys.readouterr().out
        assert not shown or printed.strip() == shown.strip()


def test_no_page_with_code_is_left_untested():
    pages = [
        page
        for folder in (".", "covers", "dissimilarities")
        for page in DOCS.glob(f"{folder}/*.md")
    ]
    with_code = {
        f"docs/{path.relative_to(DOCS)}" for path in pages if "```python" in path.read_text()
    }
    assert with_code <= set(PAGES) | TESTED_ELSEWHERE


def test_the_parser_takes_every_command_that_a_page_shows():
    parser = _build_parser()
    (named,) = (action.choices for action in parser._actions if action.choices)
    shown = {
        command: page
        for page in (ROOT / "README.md", *DOCS.rglob("*.md"))
        for command in commands(page)
        if command not in named  # no more than mentioned
    }
    assert len(shown) > 10
    for command, page in shown.items():
        words = shlex.split(command, comments=True)
        if "--help" in words:
            continue
        try:
            parser.parse_args(words)
        except SystemExit:
            pytest.fail(f"{page}: protocover {command}")
