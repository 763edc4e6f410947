"""Memory and time of the relaxation beside the other ways."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .relaxation import PLAIN, SOLVERS
from .words import ratio, table

TITLE = "What the relaxation takes (section 3.1)"

NAMES = {"lp-rounding": "the package's relaxation", PLAIN: "the paper's relaxation"}


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    cells = []
    for percentile in sorted({row["percentile"] for row in results["rows"]}):
        here = {row["way"]: row for row in results["rows"] if row["percentile"] == percentile}
        cells += [
            (
                percentile if way == SOLVERS[0] else "",
                NAMES.get(way, way),
                f"{here[way]['mb']:.0f}",
                ratio(here[way]["mb"] / here["greedy"]["mb"]),
                ratio(here[way]["seconds"] / here["greedy"]["seconds"]),
                f"{here[way]['value']:.2f}",
            )
            for way in (*SOLVERS, PLAIN)
        ]
    header = ("percentile", "way", "memory, MB", "over greedy's", "time over greedy's", "value")
    return (
        f"## {TITLE}\n\n"
        "The paper prefers its greedy because the relaxation *can be relatively slow and "
        f"memory-intensive for large data sets*. {results['n']} USPS digits, Euclidean distance, "
        "radii at percentiles of the distances; each way in a process of its own, memory being "
        "how much it grew at most from the loaded data on, and time the processor's. *The paper's "
        "relaxation* has every candidate and every point of each class, as it is written down, "
        "solved by HiGHS; the package's, part of its solver `lp-rounding`, takes in candidates as "
        "they are needed. The value is the objective found, of the paper's relaxation its "
        "optimum, which bounds the others from below.\n\n"
        + table(header, cells)
        + f"\nIn short, {_tell(results)}\n"
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    return f"Memory: {_tell(results)}"


def _tell(results: dict[str, Any]) -> str:
    """Compare the largest needs."""
    told = []
    for way in (PLAIN, "lp-rounding"):
        pairs = [
            (row, greedy)
            for row in results["rows"]
            for greedy in results["rows"]
            if (row["way"], greedy["way"]) == (way, "greedy")
            and row["percentile"] == greedy["percentile"]
        ]
        memory = [row["mb"] / greedy["mb"] for row, greedy in pairs]
        seconds = [row["seconds"] / greedy["seconds"] for row, greedy in pairs]
        told.append(
            f"{NAMES[way]} takes {ratio(min(memory))} to {ratio(max(memory))} times the memory "
            f"and {ratio(min(seconds))} to {ratio(max(seconds))} times the time"
        )
    return f"beside the greedy {'; '.join(told)}."
