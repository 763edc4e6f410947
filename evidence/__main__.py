"""Run the comparisons and write their pages: ``python -m evidence [--quick] [name ...]``."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from experiments.parts import Parts, write_json
from experiments.provenance import find_commit
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
# In the order of docs/evidence.md.
COMPARISONS: tuple[str, ...] = ("equal_numbers", "stability", "abstention", "suspects")
PACKAGES = ("protocover", "numpy", "scipy", "scikit-learn")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and return an exit code."""
    options = parse(arguments)
    home = ROOT / "evidence"
    output = home / "quick" if options.quick else ROOT / "docs" / "evidence"
    parts = Parts(home / ("quick/parts" if options.quick else "results"), progress=True)
    for name in options.names or COMPARISONS:
        if not options.page_only:
            write_json(output / f"{name}.json", run_one(name, options.quick, parts))
        if (output / f"{name}.json").exists():
            write_page(name, output)
            print(f"wrote {output / name}.md")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m evidence", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"{', '.join(COMPARISONS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="tiny settings, into evidence/quick")
    parser.add_argument(
        "--page-only", action="store_true", help="only write the pages from what has been run"
    )
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(COMPARISONS)
    if unknown:
        parser.error(f"no such comparison: {', '.join(sorted(unknown))}")
    return options


def run_one(name: str, quick: bool, parts: Parts) -> dict[str, Any]:
    """Run one comparison, and note when and with what it was run."""
    print(f"{name} ...", flush=True)
    commit = find_commit()
    comparison = importlib.import_module(f".{name}.measure", __package__)
    with threadpool_limits(1):
        results = comparison.run(quick, parts)
    return {"quick": quick, "run": note_run(commit), **results}


def note_run(commit: str) -> dict[str, Any]:
    """Note date, versions and how busy the machine is, of a run that began with a commit."""
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit,
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def write_page(name: str, output: Path) -> None:
    """Write the page of a comparison from its results."""
    page = importlib.import_module(f".{name}.page", __package__)
    results = json.loads((output / f"{name}.json").read_text())
    warning = "**A small trial run: the numbers mean nothing.**\n\n" if results["quick"] else ""
    text = page.write(results, output)
    (output / f"{name}.md").write_text(f"{warning}{text}\n{_colophon(name, results['run'])}")


def _colophon(name: str, run: dict[str, Any]) -> str:
    """Say when and with what a page was made."""
    packages = ", ".join(f"{package} {number}" for package, number in run["packages"].items())
    return (
        f"---\n\nMade by `python -m evidence {name}` on {run['date']}, commit "
        f"{run.get('commit', 'unknown')}, with {run['load']:g} processes at work, Python "
        f"{run['python']}, {packages}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
