"""The UCI table, with the paper's single split placed among ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .words import compare_splits, mean_sd, percent, percentile_of, table

TITLE = "UCI data sets (section 5.4)"

METHODS = ("1-NN", "PVM", "K-medoids", "LVQ")
# Test error in per cent and number of prototypes of the paper's table, in this order.
PAPER = {
    "diabetes": ((28.9, 512), (24.2, 12), (33.2, 44), (25.0, 29)),
    "glass": ((38.0, 143), (36.6, 34), (39.4, 12), (35.2, 17)),
    "heart": ((21.1, 180), (21.1, 6), (17.8, 26), (15.6, 12)),
    "liver": ((41.7, 230), (41.7, 16), (40.0, 20), (33.9, 110)),
    "vowel": ((2.8, 352), (2.8, 352), (2.8, 198), (19.9, 193)),
    "wine": ((3.4, 119), (11.9, 4), (6.8, 12), (3.4, 3)),
}


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows, outside = [], []
    for name, got in results["sets"].items():
        for method, (error, size) in zip(METHODS, PAPER[name], strict=True):
            errors, sizes = got["methods"][method]["error"], got["methods"][method]["size"]
            at = percentile_of(error / 100.0, errors)
            if not 2.5 <= at <= 97.5:
                side = "below" if at < 50 else "above"
                outside.append(f"{name}, {method} ({error} %, {side} nearly all of ours)")
            rows.append(
                (
                    name.capitalize() if method == METHODS[0] else "",
                    method,
                    f"{error:.1f}",
                    mean_sd(errors, scale=100.0),
                    f"{at:.0f}",
                    size,
                    mean_sd(sizes, 0),
                    f"{percentile_of(size, sizes):.0f}" if method != "1-NN" else "",
                )
            )
    header = ("data", "method", "paper: error", "ours: error", "percentile")
    header += ("paper: prototypes", "ours: prototypes", "percentile")
    return "\n".join(
        (
            f"## {TITLE}\n",
            _how(results),
            table(header, rows),
            _where(outside, len(rows)),
            _claims(results["sets"]),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    within = [
        2.5 <= percentile_of(error / 100.0, got["methods"][method]["error"]) <= 97.5
        for name, got in results["sets"].items()
        for method, (error, _) in zip(METHODS, PAPER[name], strict=True)
    ]
    against = [
        compare_splits(got["methods"]["PVM"]["error"], got["methods"]["1-NN"]["error"])
        for got in results["sets"].values()
    ]
    return (
        f"UCI: {sum(within)} of the paper's {len(within)} test errors lie within the middle 95 % "
        f"of {results['n_splits']} random splits; PVM is clearly better than 1-NN on "
        f"{sum(verdict.startswith('better') for verdict in against)} of {len(against)} sets and "
        f"clearly worse on {sum(verdict.startswith('worse') for verdict in against)}."
    )


def _how(results: dict[str, Any]) -> str:
    """Say what was done."""
    n = results["n_splits"]
    return (
        f"{n} random splits, two thirds to train on; features standardised by the training part; "
        f"the radius of PVM ({results['n_radii']} quantiles of the distances), the number of "
        f"medoids a class and the size of LVQ's codebook ({results['n_sizes']} values each, at "
        f"equal ratios up to the whole class and the whole training set) by "
        f"{results['n_folds']}-fold cross-validation with the one-standard-error rule, on the "
        "same folds. ± is the standard deviation over splits. The paper has one split, its seed "
        "unknown: *percentile* says where its figure falls among ours, ties counting half.\n"
    )


def _where(outside: list[str], n: int) -> str:
    """Say which of the paper's errors our splits do not explain."""
    if not outside:
        return f"All {n} errors of the paper lie within the middle 95 % of our splits.\n"
    return (
        f"Of the paper's {n} errors {n - len(outside)} lie within the middle 95 % of our splits; "
        f"by chance about {0.05 * n:.0f} of {n} would not. Outside: {'; '.join(outside)}. The "
        "paper says neither whether features were standardised nor which grids were searched.\n"
    )


def _claims(sets: dict[str, Any]) -> str:
    """Judge the paper's two sentences about its table."""
    rows = []
    for name, got in sets.items():
        errors = {m: got["methods"][m]["error"] for m in METHODS}
        kept = np.mean(got["methods"]["PVM"]["size"]) / got["methods"]["1-NN"]["size"][0]
        against = [compare_splits(errors["PVM"], errors[m]) for m in ("1-NN", "K-medoids", "LVQ")]
        rows.append((name.capitalize(), f"{percent(kept, 0)} %", *against))
    near = [row[2] for row in rows]
    n_worse = sum(verdict.startswith("worse") for verdict in near)
    n_better = sum(verdict.startswith("better") for verdict in near)
    winners = {
        min(METHODS, key=lambda m, got=got: np.mean(got["methods"][m]["error"]))
        for got in sets.values()
    }
    single = (
        "no method has the lowest mean error on all sets, as the paper says"
        if len(winners) > 1
        else f"{winners.pop()} has the lowest mean error on all sets, unlike in the paper"
    )
    header = ("data", "points kept by PVM", "against 1-NN", "against K-medoids", "against LVQ")
    return (
        "The paper: *in most cases PVM is able to do as well as or better than 1-NN but with a "
        "significant reduction in prototypes*, and *no single method does best*. PVM, split by "
        "split (better or worse where p < 0.01 in Wilcoxon's signed rank test; the splits "
        "overlap, so that this is on the lenient side):\n\n"
        + table(header, rows)
        + f"\nAgainst 1-NN PVM is clearly better on {n_better} of {len(rows)} sets and clearly "
        f"worse on {n_worse}; {single}.\n"
    )
