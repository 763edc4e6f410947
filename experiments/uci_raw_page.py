"""The UCI table with features standardised and as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .uci_page import PAPER
from .uci_raw import KINDS
from .words import mean_sd, percentile_of, table

TITLE = "UCI data sets: standardised or not (section 5.4)"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section."""
    rows = []
    for name, got in results["sets"].items():
        error = PAPER[name][0][0]
        cells = []
        for kind in KINDS:
            at = percentile_of(error / 100.0, got[kind])
            cells += [mean_sd(got[kind], scale=100.0), f"{at:.0f}"]
        rows.append((name.capitalize(), error, *cells))
    header = ("data", "paper", "standardised", "percentile", "raw", "percentile")
    return (
        f"## {TITLE}\n\n"
        "The paper does not say whether features were standardised, but 1-NN, which has no "
        f"parameter, tells: its errors on the {results['n_splits']} splits of the UCI "
        "table, with features standardised by the training part and as they are. Test error in "
        "per cent, ± its standard deviation over splits; *percentile* says where the paper's "
        "error falls among ours.\n\n" + table(header, rows) + "\n" + _judge(results["sets"])
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    inside = {kind: len(_explained(results["sets"], kind)) for kind in KINDS}
    return (
        f"Of the paper's {len(results['sets'])} errors of 1-NN on UCI sets {inside[KINDS[0]]} lie "
        f"within the middle 95 % of our splits with standardised features, {inside[KINDS[1]]} "
        "with raw ones."
    )


def _judge(sets: dict[str, Any]) -> str:
    """Say which kind of features the paper's 1-NN fits."""
    told = []
    for kind, other in (KINDS, KINDS[::-1]):
        only = [name for name in _explained(sets, kind) if name not in _explained(sets, other)]
        told.append(f"only {kind} features explain {', '.join(only) if only else 'no set'}")
    far = max(sets, key=lambda name: abs(np.subtract(*(_mean(sets, name, k) for k in KINDS))))
    means = [f"{_mean(sets, far, kind):.1f} %" for kind in KINDS]
    return (
        f"By 1-NN's error in the paper, within the middle 95 % of our splits or not: "
        f"{'; '.join(told)}. They differ most on {far}: 1-NN errs on {means[0]} with standardised "
        f"and on {means[1]} with raw features, in the paper on {PAPER[far][0][0]} %.\n"
    )


def _explained(sets: dict[str, Any], kind: str) -> list[str]:
    """Return the sets on which the paper's 1-NN lies within the middle 95 % of our splits."""
    return [
        name
        for name, got in sets.items()
        if 2.5 <= percentile_of(PAPER[name][0][0] / 100.0, got[kind]) <= 97.5
    ]


def _mean(sets: dict[str, Any], name: str, kind: str) -> float:
    """Return the mean error of 1-NN in per cent."""
    return float(100.0 * np.mean(sets[name][kind]))
