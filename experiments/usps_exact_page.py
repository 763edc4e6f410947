"""USPS with the exact solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .words import percent, table

TITLE = "Beyond the paper: the digits with the exact solver"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows = []
    for row in results["rows"]:
        greedy, exact = row["greedy"], row["exact"]
        proof = ", ".join(f"{n} {word}" for word, n in sorted(exact["certificates"].items()))
        rows.append(
            (
                f"{row['percentile']:g}",
                *(f"{one['objective']:.2f}" for one in (greedy, exact)),
                *(f"{one['uncovered']} + {one['miscovered']}" for one in (greedy, exact)),
                *(one["size"] for one in (greedy, exact)),
                *(percent(one["error"], 2) for one in (greedy, exact)),
                proof,
            )
        )
    header = (
        "percentile",
        "objective, greedy",
        "exact",
        "uncovered + wrongly covered, greedy",
        "exact",
        "prototypes, greedy",
        "exact",
        "test error, greedy",
        "exact",
        "certificates by digit",
    )
    return (
        f"## {TITLE}\n\n"
        f"Euclidean distance, {results['n']} training images, lambda = 1/n, radii at percentiles "
        f"of the distances; at most {results['time_limit']:.0f} s for each digit.\n\n"
        + table(header, rows)
        + "\n"
        + _judge(results)
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    ratios = [r["greedy"]["objective"] / r["exact"]["objective"] for r in results["rows"]]
    closed = sum(r["exact"]["bound"] >= r["exact"]["objective"] - 1e-9 for r in results["rows"])
    return (
        f"Digits, exact: the optimum is proved at {closed} of {len(ratios)} radii; greedy is "
        f"{100 * (min(ratios) - 1):.0f} to {100 * (max(ratios) - 1):.0f} % above it."
    )


def _judge(results: dict[str, Any]) -> str:
    """Say what the optimum changes."""
    rows = results["rows"]
    above = [100 * (r["greedy"]["objective"] / r["exact"]["objective"] - 1) for r in rows]
    gaps = [100 * (r["exact"]["error"] - r["greedy"]["error"]) for r in rows]
    lower, higher = sum(gap < 0 for gap in gaps), sum(gap > 0 for gap in gaps)
    edited = results["edited"]
    return (
        f"Greedy's objective is {min(above):.0f} to {max(above):.0f} % above the optimum. With "
        f"the optimum the test error is lower at {lower} of {len(rows)} radii, higher at {higher} "
        f"(differences from {min(gaps):+.2f} to {max(gaps):+.2f} points): what optimality buys is "
        "the summary, fewer points uncovered and wrongly covered. Edited nearest neighbours keep "
        f"{edited['size']} images and err on {percent(edited['error'], 2)} %.\n"
    )
