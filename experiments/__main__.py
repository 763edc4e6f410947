"""Run the experiments and write the page: ``python -m experiments [--quick] [name ...]``."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from protocover.datasets import DataNotFoundError

from .parts import Parts, write_json

ROOT = Path(__file__).parents[1]
# In the order of the page.
EXPERIMENTS = (
    "mixture",
    "usps",
    "tangent",
    "tangent_model",
    "proteins",
    "proteins_scop",
    "uci",
    "solvers",
    "candidates",
    "dann",
    "beyond",
    "uci_exact",
    "usps_exact",
)
PACKAGES = ("numpy", "scipy", "scikit-learn", "kmedoids", "imbalanced-learn", "numba")

INTRODUCTION = """# The paper, reproduced

J. Bien and R. Tibshirani (2009), *Classification by set cover: the prototype vector
machine*, arXiv:0908.2284: every experiment, run through the public API by `make paper`.
The numbers, tables and figures on this page are written by that run; the numbers of the
paper stand beside ours. Where a sentence compares two numbers it is chosen by them.

How to read it: *error* is the share of held-out examples that are wrong, in per cent. A
spread is a standard deviation over random splits or draws, and says so where it is
something else. Where a method has a parameter, it is chosen on training data, unless a table
says otherwise or a figure shows test error over all its values, as the paper's curves do.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and return an exit code."""
    options = parse(arguments)
    results_folder = options.results or ROOT / "experiments" / "results"
    output = options.output or (ROOT / "experiments" / "quick" if options.quick else ROOT / "docs")
    parts = Parts(results_folder, progress=not options.silent)
    failed = []
    for name in [] if options.page_only else options.names or EXPERIMENTS:
        try:
            results = run_one(name, options.quick, parts)
        except DataNotFoundError as reason:
            print(f"{name}: left out: {reason}", file=sys.stderr)
            failed.append(name)
            continue
        write_json(output / "paper" / f"{name}.json", results)
    write_page(output, quick=options.quick)
    print(f"wrote {output / 'paper.md'}")
    return 1 if failed else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"{', '.join(EXPERIMENTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="small settings, under two minutes")
    parser.add_argument(
        "--output", type=Path, help="folder for paper.md and paper/ (docs, or experiments/quick)"
    )
    parser.add_argument(
        "--results", type=Path, help="folder for finished parts (experiments/results)"
    )
    parser.add_argument(
        "--page-only", action="store_true", help="only write the page from what has been run"
    )
    parser.add_argument("--silent", action="store_true", help="no progress bars")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}")
    return options


def run_one(name: str, quick: bool, parts: Parts) -> dict[str, Any]:
    """Run one experiment."""
    if parts.progress:
        print(f"{name} ...", flush=True)
    experiment = importlib.import_module(f".{name}", __package__)
    # One thread: times then compare, and most parts are too small to gain from more.
    with threadpool_limits(1):
        return {"quick": quick, **experiment.run(quick, parts)}


def write_page(output: Path, *, quick: bool) -> None:
    """Write paper.md from the results that are there, and the figures they need."""
    pictures = output / "paper"
    pictures.mkdir(parents=True, exist_ok=True)
    sections = [INTRODUCTION]
    if quick:
        sections.append("**A small trial run: the numbers mean nothing.**\n")
    run = [name for name in EXPERIMENTS if (pictures / f"{name}.json").exists()]
    told, short = [], []
    for name in run:
        page = importlib.import_module(f".{name}_page", __package__)
        results = json.loads((pictures / f"{name}.json").read_text())
        told.append(page.write(results, pictures))
        if hasattr(page, "summarize"):
            short.append(f"- {page.summarize(results)}")
    sections += ["## In short\n", "\n".join(short) + "\n", *told]
    missing = [name for name in EXPERIMENTS if name not in run]
    if missing:
        sections.append(f"Not run yet: {', '.join(missing)} (`python -m experiments NAME`).\n")
    sections.append(_colophon())
    (output / "paper.md").write_text("\n".join(sections))


def _colophon() -> str:
    """Say with what the page was made."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("protocover", *PACKAGES))
    return f"---\n\nMade with Python {platform.python_version()}, {packages}.\n"


if __name__ == "__main__":
    sys.exit(main())
