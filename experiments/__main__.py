"""Run the experiments and write the page: ``python -m experiments [--quick] [name ...]``."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from .datasets import DataNotFoundError
from .parts import Parts, write_json
from .provenance import find_commit, record_run, tell_run, today
from .rerun import compare_runs, tell_rerun

ROOT = Path(__file__).parents[1]
# In the order of the page.
EXPERIMENTS = (
    "set_cover",
    "mixture",
    "usps",
    "tangent",
    "digits_choice",
    "tangent_model",
    "proteins",
    "proteins_scop",
    "uci",
    "uci_raw",
    "solvers",
    "relaxation",
    "rank",
    "candidates",
    "dann",
    "neighbors",
    "beyond",
    "uci_exact",
    "usps_exact",
)

INTRODUCTION = """# The paper, reproduced

J. Bien and R. Tibshirani (2009), *Classification by set cover: the prototype vector
machine*, arXiv:0908.2284: every experiment, run through the public API by `make paper`. The
machine of the paper is `PVMClassifier(radii="shared", cross_class=True, min_per_class=0)`.
The numbers, tables and figures on this page are written by such runs, and each section says
when its own was, from which data and with what; the numbers of the paper stand beside ours.
Where a sentence compares two numbers it is chosen by them.

How to read it: *error* is the share of held-out examples that are wrong, in per cent. A
spread is a standard deviation over random splits or draws, and says so where it is
something else. Where a method has a parameter, it is chosen on training data, unless a table
says otherwise or a figure shows test error over all its values, as the paper's curves do.

*Better* and *worse* stand for p < 0.01, by the test that fits how results depend on one
another: random splits of one data set share training points and are judged by the t-test that
Nadeau and Bengio (2003) corrected for that; independent draws by Wilcoxon's signed ranks; two
classifiers on the same test points by McNemar's exact test; data sets by signed ranks, or
Friedman's test with Nemenyi's critical difference.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and return an exit code."""
    options = parse(arguments)
    results_folder = options.results or ROOT / "experiments" / "results"
    output = options.output or (ROOT / "experiments" / "quick" if options.quick else ROOT / "docs")
    failed = []
    if options.against:
        compare_runs(output / "paper", options.against, EXPERIMENTS)
    only_page = options.page_only or options.against
    for name in [] if only_page else options.names or EXPERIMENTS:
        file = output / "paper" / f"{name}.json"
        try:
            parts = Parts(results_folder, progress=not options.silent)
            write_json(file, run_one(name, options.quick, parts))
        except DataNotFoundError as reason:
            print(f"{name}: left out: {reason}", file=sys.stderr)
            failed.append(name)
            mark_absent(file)
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
    parser.add_argument(
        "--against",
        type=Path,
        metavar="FOLDER",
        help="compare what has been run with the results of another run, and write the page",
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
    commit = find_commit()
    experiment = importlib.import_module(f".{name}", __package__)
    # One thread: times then compare, and most parts are too small to gain from more.
    with threadpool_limits(1):
        results = experiment.run(quick, parts)
    return {"quick": quick, "run": record_run(name, parts, commit=commit), **results}


def mark_absent(file: Path) -> None:
    """Note in the results of an earlier run, if there are any, that the data are gone."""
    earlier = json.loads(file.read_text()) if file.exists() else {}
    write_json(file, {**earlier, "absent": today()})


def write_page(output: Path, *, quick: bool) -> None:
    """Write paper.md from the results that are there, and the figures they need."""
    pictures = output / "paper"
    pictures.mkdir(parents=True, exist_ok=True)
    sections = [INTRODUCTION]
    again = tell_rerun(pictures)
    if again:
        sections.append(again)
    if quick:
        sections.append("**A small trial run: the numbers mean nothing.**\n")
    told, short = [], []
    for name in EXPERIMENTS:
        page = importlib.import_module(f".{name}_page", __package__)
        file = pictures / f"{name}.json"
        results = json.loads(file.read_text()) if file.exists() else {}
        told.append(tell_section(page, results, pictures))
        if hasattr(page, "summarize") and _has_numbers(results):
            late = " (an earlier run: its data are absent)" if "absent" in results else ""
            short.append(f"- {page.summarize(results)}{late}")
    sections += ["## In short\n", "\n".join(short) + "\n", *told]
    (output / "paper.md").write_text("\n".join(sections))


def tell_section(page: Any, results: dict[str, Any], folder: Path) -> str:
    """Return a section with a line on its making under its title, or why it is empty."""
    title = f"## {page.TITLE}\n"
    if _has_numbers(results):
        text = page.write(results, folder)
        return f"{title}\n{tell_run(results)}{text.removeprefix(title)}"
    if "absent" in results:
        return f"{title}\n**The data of this section were not found on {results['absent']}.**\n"
    return f"{title}\nNot run yet.\n"


def _has_numbers(results: dict[str, Any]) -> bool:
    """Whether there are results of a run, and not only a note that there is none."""
    return "quick" in results


if __name__ == "__main__":
    sys.exit(main())
