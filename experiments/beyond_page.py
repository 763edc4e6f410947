"""Exact selections on the UCI splits; times as ratios."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .statistics import corrected_resampled_t
from .words import mean_sd, ratio, table, tell_p

TITLE = "Beyond the paper: exact selections"

SHOWN = {
    "greedy": "PVM, greedy",
    "exact": "PVM, exact",
    "1-NN": "1-NN",
}


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    sets = results["sets"]
    return "\n".join(
        (
            f"## {TITLE}\n",
            f"The {results['n_splits']} splits of the UCI table again. Greedy and exact have the "
            "radius that cross-validation chose with the greedy solver, so that only the "
            "selection differs.\n",
            _tabulate(sets),
            _exact(sets),
            _times(sets),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    words = Counter(
        word for got in results["sets"].values() for word in got["exact"]["certificate"]
    )
    proved = words["proved"] + words["claimed"]
    return (
        f"Exact selections on the UCI splits: {proved} of {words.total()} proved optimal, "
        f"{words['proved']} of them by certificates that anyone can recheck."
    )


def _tabulate(sets: dict[str, Any]) -> str:
    """Tabulate errors and sizes."""
    rows = []
    for name, got in sets.items():
        cells = [
            f"{mean_sd(got[method]['error'], scale=100.0)} ({np.mean(got[method]['size']):.0f})"
            for method in SHOWN
        ]
        rows.append((name, *cells))
    return (
        "Test error in per cent, ± its standard deviation over splits, in brackets the mean "
        "number of prototypes.\n\n" + table(("data", *SHOWN.values()), rows)
    )


def _exact(sets: dict[str, Any]) -> str:
    """Compare greedy and exact selections."""
    rows, lower, higher = [], 0, 0
    for name, got in sets.items():
        greedy, exact = got["greedy"], got["exact"]
        above = 100 * (np.array(greedy["objective"]) / np.array(exact["objective"]) - 1)
        gap = 100 * (np.array(exact["error"]) - np.array(greedy["error"]))
        p = corrected_resampled_t(gap, n_train=2, n_test=1)
        lower, higher = lower + (gap.mean() < 0), higher + (gap.mean() > 0)
        words = Counter(exact["certificate"])
        rows.append(
            (
                name,
                f"{above.mean():.1f} % (at most {above.max():.0f} %)",
                f"{np.sum(above < 1e-9)} of {len(above)}",
                f"{gap.mean():+.2f} ({tell_p(p)})",
                ", ".join(f"{n} {word}" for word, n in sorted(words.items())),
            )
        )
    header = (
        "data",
        "greedy's objective above the optimum",
        "greedy is optimal",
        "error, exact minus greedy, points",
        "certificates",
    )
    return (
        "What the exact solver changes, judged by the corrected test over splits:\n\n"
        + table(header, rows)
        + f"\nThe mean error is lower with the optimum on {lower} sets and higher on {higher}"
        + (
            ": a better objective is a better summary, not a better classifier.\n"
            if lower and higher
            else ".\n"
        )
    )


def _times(sets: dict[str, Any]) -> str:
    """Tabulate ratios of times."""
    methods = ("exact", "K-medoids", "LVQ")
    rows = []
    for name, got in sets.items():
        base = np.array(got["greedy"]["seconds"])
        medians = [np.median(np.array(got[m]["seconds"]) / base) for m in methods]
        rows.append((name, *(ratio(median) for median in medians)))
    return (
        "Processor time of one fit with the parameter given, as a ratio to the greedy fit of the "
        "same split: least of three, median over splits.\n\n" + table(("data", *methods), rows)
    )
