"""USPS with tangent distance: the right panel of the paper's figure of digits, and its table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from . import adaptive_radii_page
from .figures import STYLES, draw_curve, save
from .words import percent, table

TITLE = "ZIP code digits, tangent distance (section 5.2)"

# Of the paper: the model with its lowest test error, in per cent, and the nearest neighbour rule.
PAPER_BY_DIGIT = (493, 7, 661, 551, 324, 486, 217, 101, 378, 154)
PAPER_ERROR, PAPER_NEAREST = 2.49, 3.09
BUDGETS = (50, 150, 250, 500, 1000, 2000, 3372, 5000)


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section and draw its figure."""
    return "\n".join(
        (
            f"## {TITLE}\n",
            _how(results),
            adaptive_radii_page.how(),
            _draw(results, folder),
            _tabulate_curves(results),
            "\n".join(f"- {line}" for line in adaptive_radii_page.judge(results)) + "\n",
            _judge_spread(results["within"]),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    return (
        f"Digits, tangent distance: 1-NN errs on {percent(results['1-NN']['error'], 2)} %, in the "
        f"paper on {PAPER_NEAREST} %; {adaptive_radii_page.tell_at(results, 500)}."
    )


def _how(results: dict[str, Any]) -> str:
    """Say what was done."""
    part = "" if results["n"] == 7291 else f" (here only {results['n']} of each)"
    return (
        f"The same images{part}, two-sided tangent distance with all seven transformations and "
        "the package's default settings, which were themselves chosen by cross-validation on the "
        "training images. All distances are computed once; every fit here reads that table. The "
        "curves show the test error at every radius and number of medoids, as in the paper; which "
        "radius to take, and what a tangent distance nearer to the paper's gives, is the next "
        "section.\n"
    )


def _draw(results: dict[str, Any], folder: Path) -> str:
    """Draw the curves, and what the paper tells of its own."""
    figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
    pvm, nearest = results["PVM"], results["1-NN"]
    for name, curve in _curves(results).items():
        if name in STYLES:
            draw_curve(ax, name, curve["size"], curve["error"], n=results["n_test"])
    ax.axhline(100 * nearest["error"], color="black", linewidth=0.8, linestyle=":")
    draw_curve(ax, "1-NN", [nearest["size"]], [nearest["error"]], linestyle="", markersize=9)
    hollow = {"linestyle": "", "markerfacecolor": "none", "color": "black"}
    ax.plot([3372], [PAPER_ERROR], marker="o", markersize=9, label="paper: PVM", **hollow)
    ax.plot([7291], [PAPER_NEAREST], marker="*", markersize=11, label="paper: 1-NN", **hollow)
    highest = 100 * max(max(pvm["error"]), nearest["error"])
    ax.set(xscale="log", xlabel="prototypes", ylabel="error in per cent", ylim=(0, 1.6 * highest))
    ax.legend(frameon=False, fontsize=8)
    caption = (
        "The right panel of the paper's figure 3: test error against the number of prototypes, "
        f"tangent distance, with bands of one standard error of a share of {results['n_test']} "
        "images; the two points that the paper gives in numbers; beside the paper's methods "
        "radii of their own, chosen in folds."
    )
    return save(figure, folder, "usps_tangent", caption)


def _tabulate_curves(results: dict[str, Any]) -> str:
    """Read the curves off at equal numbers of prototypes."""
    rows = []
    for name, curve in _curves(results).items():
        read = [_read_off(curve, budget) for budget in BUDGETS]
        rows.append((name, *("" if error is None else percent(error, 2) for error in read)))
    return (
        "Test error in per cent at equal numbers of prototypes, read off the curves (linear in "
        "the logarithm of the number), for what is chosen in folds with at most so many.\n\n"
        + table(("method", *map(str, BUDGETS)), rows)
    )


def _curves(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return each method's curve."""
    paper = {name: results[name] for name in ("PVM", "K-medoids")}
    return paper | adaptive_radii_page.curves(results)


def _read_off(curve: dict[str, Any], budget: float) -> float | None:
    """Return the error of a curve at a number of prototypes, None beyond its ends."""
    order = np.argsort(curve["size"])
    sizes, errors = np.array(curve["size"])[order], np.array(curve["error"])[order]
    if not sizes[0] <= budget <= sizes[-1]:
        return None
    return float(np.interp(np.log(budget), np.log(sizes), errors))


def tabulate_digits(name: str, by_digit: list[int]) -> str:
    """Put the prototypes of each digit beside the paper's."""
    rows = [
        ("paper", *PAPER_BY_DIGIT, sum(PAPER_BY_DIGIT)),
        (name, *by_digit, sum(by_digit)),
    ]
    likeness = float(np.corrcoef(by_digit, PAPER_BY_DIGIT)[0, 1])
    return (
        "Prototypes of each digit:\n\n"
        + table(("", *map(str, range(10)), "total"), rows)
        + f"\nThe correlation of the two rows is {likeness:.3f}.\n"
    )


def _judge_spread(within: list[float]) -> str:
    """Compare the mean distances within digits."""
    order = np.argsort(within)
    first, second = order[:2]
    ratio = within[first] / within[second]
    rows = [("mean distance", *(f"{mean:.2f}" for mean in within))]
    agrees = (first, second) == (1, 7)
    half = "less" if ratio < 0.5 else "more"
    return (
        "Mean tangent distance between two different training images of a digit:\n\n"
        + table(("", *map(str, range(10))), rows)
        + f"\nThe least variable digit is {first}, then {second}; the first mean is {half} than "
        f"half of the second ({ratio:.2f} of it). "
        + (
            "So the paper says: 1, less than half of any other, then 7.\n"
            if agrees and ratio < 0.5
            else "The paper: 1, less than half of any other, then 7.\n"
        )
    )
