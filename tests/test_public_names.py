"""Every public name is in the reference, and importing the package loads no optional one."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[1] / "docs" / "reference" / "index.md"
ROOMS = {
    "protocover": [],
    "protocover.plotting": ["matplotlib"],
    "protocover.dissimilarity": [],
    "protocover.candidates": [],
    "protocover.report": ["jinja2"],
    "protocover.distributed": ["dask", "distributed"],
    "protocover._persistence": [],
    "protocover.solvers": [],
    "protocover._maps": [],
    "protocover.data": [],
    "protocover._estimators": [],
}
# Shared between the rooms of the package: how candidates are gathered, not what they are.
INTERNAL = {
    f"protocover.candidates.{name}"
    for name in (
        "check_candidate_names",
        "draw_stratified",
        "gather_candidates",
        "is_number",
        "is_train",
        "listed",
        "numbers",
        "source_names",
        "source_rows",
        "stack_rows",
        "take",
    )
}

OPTIONAL = {"matplotlib", "pandas", "dask", "distributed", "jinja2", "PIL", "pyarrow", "numba"}


def documented() -> set[str]:
    """Return the full names that the reference lists."""
    found, module = set(), ""
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", REFERENCE.read_text(), flags=re.DOTALL):
        for line in block.splitlines():
            if line.startswith(".. currentmodule::"):
                module = line.split("::")[1].strip()
            elif re.fullmatch(r"   [\w.]+", line):
                found.add(f"{module}.{line.strip()}")
    return found


def resolve(name: str) -> object:
    """Return what a full name stands for."""
    parts = name.split(".")
    for split in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            value = getattr(value, part)
        return value
    raise AssertionError(f"{name} is not there")


@pytest.mark.parametrize(("room", "packages"), ROOMS.items())
def test_every_public_name_is_in_the_reference(room, packages):
    for package in packages:
        pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    module = importlib.import_module(room)
    listed = documented() | INTERNAL
    missing = [
        name
        for name in module.__all__
        if listed.isdisjoint({f"{room}.{name}", f"protocover.{name}"})
    ]
    assert not missing, f"add to docs/reference/index.md: {missing}"


def test_every_name_in_the_reference_exists_and_is_described():
    for package in ("matplotlib", "jinja2", "dask", "distributed"):
        pytest.importorskip(package, reason=f"{package}, an optional package, is not installed")
    names = documented()
    assert len(names) > 60
    for name in names:
        assert resolve(name).__doc__, f"{name} has no docstring"


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
