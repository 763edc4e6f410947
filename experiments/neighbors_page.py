"""Condensed and edited neighbours on the UCI splits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .words import compare_splits, mean_sd, table

TITLE = "Condensed and edited nearest neighbours"

SHOWN = {
    "condensed": "Hart's condensing",
    "undersampled": "imbalanced-learn's",
    "edited": "Wilson's editing",
    "multiedit": "multiedit",
    "multiedit, condensed": "multiedit, condensed",
    "1-NN": "1-NN",
}


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows, against = [], []
    for name, got in results["sets"].items():
        cells = [
            f"{mean_sd(got[method]['error'], scale=100.0)} ({np.mean(got[method]['size']):.0f})"
            for method in SHOWN
        ]
        rows.append((name, *cells))
        near = got["1-NN"]["error"]
        told = [compare_splits(got[m]["error"], near) for m in ("condensed", "edited")]
        against.append((name, *told))
    return (
        f"## {TITLE}\n\n"
        f"The {results['n_splits']} splits of the UCI table. Condensing is Hart's (1968), "
        "examples in random order, written from his note; imbalanced-learn's "
        "`CondensedNearestNeighbour` keeps the smallest class whole and condenses each other "
        "class against it alone, which is another method and stands beside it. Editing is "
        "Wilson's (1972) with three neighbours; multiedit is Devijver and Kittler's (1980), also "
        "condensed afterwards as they advise. Test error in per cent, ± its standard deviation "
        "over splits, in brackets the mean number of prototypes; PVM's errors on the same splits "
        "are in the UCI table."
        "\n\n"
        + table(("data", *SHOWN.values()), rows)
        + "\nAgainst 1-NN, by the corrected test over splits:\n\n"
        + table(("data", SHOWN["condensed"], SHOWN["edited"]), against)
        + f"\n{_judge(results['sets'])}\n"
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    told = []
    for method in ("condensed", "edited", "multiedit"):
        kept = np.mean(
            [np.mean(got[method]["size"]) / got["1-NN"]["size"][0] for got in _sets(results)]
        )
        error = np.mean([np.mean(got[method]["error"]) for got in _sets(results)])
        told.append(f"{SHOWN[method]} {100 * error:.1f} % with {100 * kept:.0f} % of the examples")
    near = np.mean([np.mean(got["1-NN"]["error"]) for got in _sets(results)])
    return f"Mean test errors over the UCI sets: {'; '.join(told)}; 1-NN {100 * near:.1f} %."


def _judge(sets: dict[str, Any]) -> str:
    """Say what condensing does to the training examples."""
    wrong = {
        method: 100 * np.mean([np.mean(got[method]["training_error"]) for got in sets.values()])
        for method in ("condensed", "undersampled")
    }
    return (
        f"What Hart's condensing keeps errs on {wrong['condensed']:.1f} % of the training "
        f"examples, imbalanced-learn's on {wrong['undersampled']:.1f} %. Multiedit is made for "
        "many examples: where classes are small it may drop them altogether."
    )


def _sets(results: dict[str, Any]) -> Any:
    """Return the results by set."""
    return results["sets"].values()
