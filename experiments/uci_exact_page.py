"""UCI table with the exact solver throughout."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from .words import compare_splits, mean_sd, ratio, table

TITLE = "Beyond the paper: the UCI table tuned by the exact solver"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows = []
    for name, splits in results["sets"].items():
        errors = {s: [row[s]["error"] for row in splits] for s in ("greedy", "exact")}
        sizes = {s: np.mean([row[s]["size"] for row in splits]) for s in ("greedy", "exact")}
        words = Counter(row["exact"]["certificate"] for row in splits)
        times = [row["exact"]["seconds"] / row["greedy"]["seconds"] for row in splits]
        rows.append(
            (
                name,
                *(f"{mean_sd(errors[s], scale=100.0)} ({sizes[s]:.0f})" for s in errors),
                compare_splits(errors["exact"], errors["greedy"]),
                ", ".join(f"{n} {word}" for word, n in sorted(words.items())),
                ratio(float(np.median(times))),
            )
        )
    header = (
        "data",
        "greedy",
        "exact",
        "exact against greedy",
        "certificates",
        "time of a search",
    )
    return (
        f"## {TITLE}\n\n"
        f"Above, the radius was chosen with the greedy solver; here every fold's selection at "
        f"each of {results['n_radii']} radii is the exact solver's: the first "
        f"{results['n_splits']} splits of the UCI table, {results['n_folds']}-fold "
        "cross-validation, one-standard-error rule. Test error in per cent, ± its standard "
        "deviation over splits, in brackets the mean number of prototypes; the certificates are "
        "those of the final selections; times are processor time of the whole search over that "
        "of the greedy one, medians.\n\n"
        + table(header, rows)
        + f"\nTo save time these are {results['n_splits']} splits only, too few for small "
        "differences to be clear.\n"
    )
