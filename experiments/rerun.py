"""A second run of everything, held against the first: which numbers are not the same.

``python -m experiments --against FOLDER`` compares the results with those of another run, such as
one with the kernels of another processor, and notes for the page what it finds. Times and memory
are measured anew by every run and are not compared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .parts import write_json

__all__ = ["compare_runs", "tell_rerun"]

FILE = "rerun.json"
# What is measured by the clock or of the machine, and the record of a run.
_OF_THE_MACHINE = {"run", "seconds", "cpu", "cpu_seconds", "mb"}


def compare_runs(folder: Path, other: Path, names: Sequence[str]) -> dict[str, Any]:
    """Compare the results of two runs, section by section, and keep what was found."""
    sections = {name: _compare(folder / f"{name}.json", other / f"{name}.json") for name in names}
    there = {name: one for name, one in sections.items() if one is not None}
    found = {"n_sections": len(names), "sections": there}
    write_json(folder / FILE, found)
    return found


def tell_rerun(folder: Path) -> str:
    """Return what the page says of the second run; nothing where there was none."""
    if not (folder / FILE).exists():
        return ""
    found = json.loads((folder / FILE).read_text())
    sections = found["sections"]
    if not sections:
        return ""
    whole = len(sections) == found["n_sections"]
    n_numbers = sum(one["n_numbers"] for one in sections.values())
    kernels = _listed({one["kernels"] for one in sections.values()})
    others = _listed({one["other_kernels"] for one in sections.values()})
    dates = _listed({one["date"] for one in sections.values()})
    told = (
        f"{'All ' if whole else ''}{len(sections)} sections were run twice, with OpenBLAS's "
        f"kernels for {kernels} and, on {dates}, for {others}: of {n_numbers} numbers in their "
        "results, times and memory left out, "
    )
    changed = {name: one["n_changed"] for name, one in sections.items() if one["n_changed"]}
    if not changed:
        return f"{told}not one differs by a digit.\n"
    counts = ", ".join(f"{count} of {name}" for name, count in changed.items())
    return f"{told}{sum(changed.values())} differ ({counts}).\n"


def _compare(file: Path, other: Path) -> dict[str, Any] | None:
    """Count the numbers of a section and those that differ; None where a run is missing."""
    if not file.exists() or not other.exists():
        return None
    first, second = (json.loads(one.read_text()) for one in (file, other))
    if "run" not in first or "run" not in second:
        return None
    ours, theirs = dict(_entries(first)), dict(_entries(second))
    changed = [
        key for key in ours.keys() | theirs.keys() if ours.get(key, key) != theirs.get(key, key)
    ]
    return {
        "kernels": first["run"]["kernels"],
        "other_kernels": second["run"]["kernels"],
        "date": second["run"]["date"],
        "n_numbers": sum(isinstance(value, int | float) for value in ours.values()),
        "n_changed": len(changed),
        "changed": sorted("/".join(map(str, key)) for key in changed)[:10],
    }


def _entries(value: Any, key: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield all that stands at the ends of nested lists and dicts, and where."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name not in _OF_THE_MACHINE:
                yield from _entries(one, (*key, name))
    elif isinstance(value, list):
        yield (*key, "length"), len(value)
        for place, one in enumerate(value):
            yield from _entries(one, (*key, place))
    else:
        yield key, value


def _listed(words: set[str]) -> str:
    """Put words in a row."""
    return ", ".join(sorted(words))
