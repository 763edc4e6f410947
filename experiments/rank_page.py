"""PVM with the rank dissimilarity against Euclidean distance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .statistics import signed_ranks
from .uci_page import PAPER
from .words import compare_splits, mean_sd, table, tell_p

TITLE = "The rank dissimilarity (section 4.1)"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    sets, rows = results["sets"], []
    for name, got in sets.items():
        cells = [
            f"{mean_sd(got[metric]['error'], scale=100.0)} ({np.mean(got[metric]['size']):.0f})"
            for metric in ("euclidean", "rank")
        ]
        odd = sum(got["rank"]["odd_balls"])
        balls = PAPER[name][0][1] * results["n_splits"]
        verdict = compare_splits(got["rank"]["error"], got["euclidean"]["error"])
        rows.append((name, *cells, verdict, f"{100 * odd / balls:.1f} %"))
    header = ("data", "Euclidean", "rank", "rank against Euclidean", "balls with ties")
    return (
        f"## {TITLE}\n\n"
        "The paper offers, for any dissimilarity, the number of training points that are at "
        "least as close: every ball then holds equally many points, the nearest ones, however "
        "dense or sparse they lie. It gives no numbers. Here PVM with both on the first "
        f"{results['n_splits']} splits of the UCI table, the radius by {results['n_folds']}-fold "
        "cross-validation with the one-standard-error rule. Test error in per cent, ± its "
        "standard deviation over splits, in brackets the mean number of prototypes. *Balls with "
        "ties* hold another number of points than the radius says, because of several equally "
        "far ones either all lie in a ball or none.\n\n"
        + table(header, rows)
        + f"\n{_tell(sets)}\n"
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    return f"Rank dissimilarity: {_tell(results['sets'])}"


def _tell(sets: dict[str, Any]) -> str:
    """Compare over sets."""
    gaps = [
        100.0 * (np.mean(got["rank"]["error"]) - np.mean(got["euclidean"]["error"]))
        for got in sets.values()
    ]
    less = sum(gap < 0 for gap in gaps)
    return (
        f"PVM's mean error is lower with ranks than with distances on {less} of {len(gaps)} UCI "
        f"sets (mean difference {np.mean(gaps):+.1f} points, {tell_p(signed_ranks(gaps))} in the "
        "signed rank test over sets)."
    )
