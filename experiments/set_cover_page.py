"""Set cover without labels: greedy against the fewest."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .words import table

TITLE = "Set cover (section 1.1)"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows = results["rows"]
    cells = [
        (
            row["name"],
            row["n"],
            row["percentile"],
            row["greedy"]["size"],
            row["exact"]["size"],
            row["exact"]["certificate"],
        )
        for row in rows
    ]
    header = ("data", "points", "percentile", "greedy", "fewest", "certificate")
    return (
        f"## {TITLE}\n\n"
        "The paper begins with the smallest set of balls of one radius that holds every point, "
        "without labels; `BallCover(eps=eps, coverage=1.0)` finds it. Here the greedy cover, "
        "which adds the ball with most new points, beside the exact solver's, at percentiles of "
        "the distances between points. That every point lies in a ball is counted anew from the "
        "distances.\n\n" + table(header, cells) + "\n" + _judge(rows)
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    return f"Set cover without labels: {_tell(results['rows'])}."


def _judge(rows: list[dict[str, Any]]) -> str:
    """Say whether all is covered, and how far the greedy is off."""
    left = sum(row[solver]["uncovered"] for row in rows for solver in ("greedy", "exact"))
    covered = "All points are covered" if left == 0 else f"{left} points are NOT covered"
    return f"{covered}; {_tell(rows)}.\n"


def _tell(rows: list[dict[str, Any]]) -> str:
    """Compare both sizes."""
    more = [row["greedy"]["size"] - row["exact"]["size"] for row in rows]
    words = Counter(row["exact"]["certificate"] for row in rows)
    proved = words["proved"] + words["claimed"]
    return (
        f"in {proved} of {len(rows)} settings the fewest balls are proved, and the greedy takes "
        f"more in {sum(one > 0 for one in more)} of them, at most {max(more)} more"
    )
