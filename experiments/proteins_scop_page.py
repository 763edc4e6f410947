"""SCOP 1.53 from sequences: curves and counts for each superfamily."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from .figures import save
from .proteins_page import METHODS, lowest, plot_methods
from .words import percent, table

TITLE = "Proteins from their sequences: SCOP 1.53"


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section and draw its figure."""
    return "\n".join(
        (
            f"## {TITLE}\n",
            _how(results),
            _draw(results, folder),
            _tabulate(results),
            _judge(results),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    clear, n_sets = len(_clearly_useful(results)), len(results["sets"])
    return (
        "Proteins from sequences: the lowest error of PVM is more than two standard errors below "
        f"that of always answering Negative for {clear} of {n_sets} superfamilies."
    )


def _how(results: dict[str, Any]) -> str:
    """Say what was done."""
    return (
        "The same from a FASTA file to prototypes, with the package's own mismatch kernel: words "
        f"of {results['k']} letters, {results['m']} of which may differ, normalised. One "
        "superfamily of SCOP 1.53 against the rest, as in Leslie et al. (2004), for "
        f"{len(results['sets'])} superfamilies, but in {results['n_folds']} random folds instead "
        "of their held-out families. To save time each set has all domains of the superfamily "
        f"and random others, {results['n']} of 4352 together. The paper has no such numbers.\n"
    )


def _draw(results: dict[str, Any], folder: Path) -> str:
    """Draw the curves of each superfamily."""
    sets = results["sets"]
    figure, axes = plt.subplots(
        1, len(sets), figsize=(3.4 * len(sets), 3.2), layout="constrained", squeeze=False
    )
    for ax, (name, got) in zip(axes[0], sets.items(), strict=True):
        plot_methods(ax, got["curves"], n=results["n"], n_positive=got["final"]["points"])
        # K-medoids with few prototypes errs far more than always answering Negative.
        ax.set_ylim(0, 250 * got["final"]["points"] / results["n"])
        ax.set_title(f"{name}: {got['final']['points']} of {results['n']}", fontsize=9)
    axes[0, 0].legend(frameon=False, fontsize=8)
    caption = (
        f"Error in {results['n_folds']} folds against the mean number of prototypes (for the SVM: "
        "support vectors), for each superfamily against the rest, with bands of one standard "
        "error."
    )
    return save(figure, folder, "scop", caption)


def _tabulate(results: dict[str, Any]) -> str:
    """Tabulate the lowest errors and the final models."""
    rows = []
    for name, got in results["sets"].items():
        final, cells = got["final"], []
        for method in METHODS:
            error, size = lowest(got["curves"][method])
            cells.append(f"{percent(error, 2)} ({size:.0f})")
        nearest = got["curves"]["PVM"]["error"][0]
        never = final["points"] / results["n"]
        kept = f"{final['Positive']} of {final['points']}"
        others = f"{final['Negative']} of {results['n'] - final['points']}"
        rows.append((name, *cells, percent(nearest, 2), percent(never, 2), kept, others))
    header = (
        "superfamily",
        *METHODS,
        "1-NN",
        "always Negative",
        "positive prototypes",
        "negative prototypes",
    )
    return (
        "Lowest error in per cent over each method's parameter, in brackets the mean number of "
        "prototypes or support vectors there; then the prototypes of PVM fitted to all with the "
        "radius of its lowest error.\n\n" + table(header, rows)
    )


def _judge(results: dict[str, Any]) -> str:
    """Compare the methods, and the two ways to the final model."""
    sets = results["sets"].values()
    pairs = [(lowest(s["curves"]["PVM"])[0], lowest(s["curves"]["SVM"])[0]) for s in sets]
    lower, higher = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    same = sum(s["final"]["same_from_sequences"] for s in sets)
    clear = _clearly_useful(results)
    words = f" ({', '.join(clear)})" if clear else ""
    return (
        f"PVM's lowest error is below the SVM's in {lower} of {len(pairs)} sets and above in "
        f"{higher}. But with so few positive domains always answering Negative is hard to beat: "
        f"PVM does so by more than two standard errors in {len(clear)} of {len(pairs)} sets"
        f"{words}. Fitted to the sequences themselves, with the mismatch distance as its metric "
        "and no matrix in between, PVM has the same prototypes in the same order in "
        f"{same} of {len(pairs)}.\n"
    )


def _clearly_useful(results: dict[str, Any]) -> list[str]:
    """Return the sets where PVM beats always answering Negative by two standard errors."""
    names = []
    for name, got in results["sets"].items():
        never = got["final"]["points"] / results["n"]
        error = lowest(got["curves"]["PVM"])[0]
        if never - error > 2.0 * np.sqrt(never * (1.0 - never) / results["n"]):
            names.append(name)
    return names
