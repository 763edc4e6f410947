"""The public names are those of the reference; importing loads no optional package."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PACKAGES = {
    "protocover": [],
    "protocover.dissimilarity": [],
    "protocover.candidates": [],
    "protocover.solvers": [],
    "protocover.plotting": ["matplotlib"],
    "protocover.report": ["jinja2"],
    "protocover.distributed": ["dask", "distributed"],
    "protocover.data": [],
}
OPTIONAL = {"matplotlib", "pandas", "dask", "distributed", "jinja2", "PIL", "pyarrow", "numba"}


def public_names() -> set[str]:
    """Return the full names that the public packages export."""
    names = set()
    for package, needed in PACKAGES.items():
        for other in needed:
            pytest.importorskip(other, reason=f"{other}, an optional package, is not installed")
        exported = importlib.import_module(package).__all__
        names |= {f"{package}.{name}" for name in exported}
    return names


def names_in_reference() -> list[str]:
    """Return the full names that the reference lists."""
    page = (DOCS / "reference" / "index.md").read_text()
    found, module = [], ""
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", page, flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split("::")[1].strip()
            elif re.fullmatch(r"   [\w.]+", line):
                found.append(f"{module}.{line.strip()}")
    return found


def entries_at_a_glance() -> list[tuple[str, str]]:
    """Return the full names of "API at a glance", each with its words."""
    page = (DOCS / "api.md").read_text()
    return re.findall(r"^- \{py:obj\}`~([\w.]+)`: (.+)$", page, flags=re.MULTILINE)


def test_the_public_packages_are_the_ones_without_an_underscore():
    inside = Path(importlib.import_module("protocover").__file__).parent.iterdir()
    public = {path.stem for path in inside if path.suffix in ("", ".py") and path.stem[0] != "_"}
    assert {f"protocover.{name}" for name in public} == PACKAGES.keys() - {"protocover"}


def test_the_reference_lists_the_public_names_and_no_others():
    names = names_in_reference()
    assert sorted(names) == sorted(public_names())


def test_the_page_at_a_glance_lists_the_public_names_in_few_words():
    entries = entries_at_a_glance()
    assert sorted(name for name, _ in entries) == sorted(public_names())
    assert {name: words for name, words in entries if len(words.split()) > 8} == {}


def test_every_public_name_has_a_docstring():
    for name in public_names():
        package, _, attribute = name.rpartition(".")
        assert getattr(importlib.import_module(package), attribute).__doc__, name


def test_importing_protocover_loads_no_optional_package():
    """In a fresh interpreter, and beyond those that scikit-learn loads where they are there."""
    tell = f"print(*sorted({OPTIONAL} & set(sys.modules)))"
    code = f"import sys, sklearn; {tell}; import protocover; {tell}"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    theirs, ours = (set(line.split()) for line in run.stdout.splitlines())
    assert ours <= theirs <= {"pandas", "pyarrow"}


def test_protocover_can_be_imported_without_any_optional_package():
    hidden = f"sys.modules.update(dict.fromkeys({OPTIONAL}))"
    subprocess.run([sys.executable, "-c", f"import sys; {hidden}; import protocover"], check=True)
