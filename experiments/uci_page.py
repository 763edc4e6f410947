"""The UCI table, with the paper's single split placed among ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .statistics import rank
from .words import compare_splits, mean_sd, percent, percentile_of, table, tell_p

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
    sets = results["sets"]
    rows = []
    for name, got in sets.items():
        for method, (error, size) in zip(METHODS, PAPER[name], strict=True):
            errors, sizes = got["methods"][method]["error"], got["methods"][method]["size"]
            rows.append(
                (
                    name.capitalize() if method == METHODS[0] else "",
                    method,
                    f"{error:.1f}",
                    mean_sd(errors, scale=100.0),
                    f"{percentile_of(error / 100.0, errors):.0f}",
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
            f"{_where('errors', *_place_errors(sets))} {_where('sizes', *_place_sizes(sets))} The "
            "paper does not say which grids were searched.\n",
            _claims(sets),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    sets = results["sets"]
    (errors, outside), (sizes, odd) = _place_errors(sets), _place_sizes(sets)
    against = [
        compare_splits(got["methods"]["PVM"]["error"], got["methods"]["1-NN"]["error"])
        for got in sets.values()
    ]
    return (
        f"UCI: {errors - len(outside)} of the paper's {errors} test errors, and "
        f"{sizes - len(odd)} of its {sizes} numbers of prototypes, lie within the middle 95 % of "
        f"{results['n_splits']} random splits; PVM is clearly better than 1-NN on "
        f"{sum(verdict.startswith('better') for verdict in against)} of {len(against)} sets and "
        f"clearly worse on {sum(verdict.startswith('worse') for verdict in against)}."
    )


def _place_errors(sets: dict[str, Any]) -> tuple[int, list[str]]:
    """Return how many errors the paper has, and those that our splits do not explain."""
    outside = []
    for name, got in sets.items():
        for method, (error, _) in zip(METHODS, PAPER[name], strict=True):
            at = percentile_of(error / 100.0, got["methods"][method]["error"])
            if not 2.5 <= at <= 97.5:
                outside.append(f"{name}, {method} ({error} %, {_side(at)} nearly all of ours)")
    return len(METHODS) * len(sets), outside


def _place_sizes(sets: dict[str, Any]) -> tuple[int, list[str]]:
    """Return how many numbers of prototypes were chosen, and those that ours do not explain."""
    outside = []
    for name, got in sets.items():
        for method, (_, size) in list(zip(METHODS, PAPER[name], strict=True))[1:]:
            at = percentile_of(size, got["methods"][method]["size"])
            if not 2.5 <= at <= 97.5:
                outside.append(f"{name}, {method} ({size}, {_side(at)} nearly all of ours)")
    return (len(METHODS) - 1) * len(sets), outside


def _side(percentile: float) -> str:
    """Return on which side of our splits a figure of the paper lies."""
    return "below" if percentile < 50 else "above"


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


def _where(what: str, n: int, outside: list[str]) -> str:
    """Say which of the paper's figures our splits do not explain."""
    figures = {"errors": "errors", "sizes": "numbers of prototypes"}[what]
    if not outside:
        return f"All {n} {figures} of the paper lie within the middle 95 % of our splits."
    return (
        f"Of the paper's {n} {figures} {n - len(outside)} lie within the middle 95 % of our "
        f"splits; by chance about {0.05 * n:.0f} of {n} would not. Outside: {'; '.join(outside)}."
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
        "split, judged by the corrected test because the splits overlap:\n\n"
        + table(header, rows)
        + f"\nAgainst 1-NN PVM is clearly better on {n_better} of {len(rows)} sets and clearly "
        f"worse on {n_worse}; {single}. {_over_sets(sets)}\n"
    )


def _over_sets(sets: dict[str, Any]) -> str:
    """Rank the methods by their mean errors over the sets."""
    means = [[np.mean(got["methods"][m]["error"]) for m in METHODS] for got in sets.values()]
    if len(means) < 2:
        return "There is but one set to rank the methods on."
    ranking = rank(means, METHODS)
    told = ", ".join(f"{name} {mean:.1f}" for name, mean in ranking.mean_ranks.items())
    return (
        f"Mean ranks over the sets, by mean errors: {told}; Friedman's test has "
        f"{tell_p(ranking.p)}, and with {len(means)} sets ranks must differ by "
        f"{ranking.critical_difference:.1f} to be told apart (Nemenyi, 5 %)."
    )
