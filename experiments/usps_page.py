"""USPS with Euclidean distance: the left panel of the paper's figure of digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from . import adaptive_radii_page
from .adaptive_radii_page import OWN, SHARED
from .figures import draw_curve, save
from .words import mean_sd, percent, table

TITLE = "ZIP code digits, Euclidean distance (section 5.2)"

PLACES = (
    "lowest",
    "second lowest",
    "third lowest",
    "fourth lowest",
    "fifth lowest",
    "sixth lowest",
)
BUDGETS = (50, 100, 200, 500, 1000, 2000, 4000)


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section and draw its figure."""
    curves = _curves(results)
    nearest = results["1-NN"]
    return "\n".join(
        (
            f"## {TITLE}\n",
            _how(results),
            adaptive_radii_page.how(),
            _draw(curves, nearest, folder),
            _tabulate(curves, nearest),
            _judge(results, curves),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    nearest = percent(results["1-NN"]["error"], 2)
    return f"Digits, Euclidean: 1-NN errs on {nearest} %; test errors {_ahead(results)}."


def _ahead(results: dict[str, Any]) -> str:
    """Return the test errors of all methods at a thousand prototypes, or as many as there are."""
    curves = _curves(results)
    budget = min(1000, min(max(run["size"]) for runs in curves.values() for run in runs))
    errors = {name: _read_all(runs, budget) for name, runs in curves.items()}
    known = {name: error for name, error in errors.items() if error is not None}
    ranked = sorted(known, key=lambda name: known[name])
    told = ", ".join(f"{name} {percent(known[name])}" for name in ranked)
    return f"at {budget:.0f} prototypes, in per cent: {told}"


def _how(results: dict[str, Any]) -> str:
    """Say what was done."""
    n = results["n"]
    part = "" if n == 7291 else f", of which only {n} were used here"
    return (
        f"7291 images to train on{part}, 2007 to test on. As in the paper the curves show the "
        "test error at every value of a method's parameter: the radius of PVM from the smallest "
        "distance to the 14th percentile, the number of medoids or means a class, the size of "
        f"LVQ's codebook. K-means and LVQ rest on random starts, {results['n_seeds']} each (LVQ "
        f"above {results['lvq_repeated']} vectors one); the curves are means.\n"
    )


def _draw(curves: dict[str, Any], nearest: dict[str, Any], folder: Path) -> str:
    """Draw the curves."""
    figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
    for name, runs in curves.items():
        if name == SHARED:
            continue
        sizes, errors = _mean_curve(runs)
        draw_curve(ax, name, sizes, errors, n=2007)
    ax.axhline(100 * nearest["error"], color="black", linewidth=0.8, linestyle=":")
    draw_curve(ax, "1-NN", [nearest["size"]], [nearest["error"]], linestyle="", markersize=9)
    ax.set(xscale="log", xlabel="prototypes", ylabel="test error in per cent", ylim=(0, 30))
    ax.legend(frameon=False, fontsize=8)
    caption = (
        "The left panel of the paper's figure 3: test error against the number of prototypes, "
        "Euclidean distance, with bands of one standard error of a share of 2007 images; beside "
        "the paper's methods radii of their own, chosen in folds."
    )
    return save(figure, folder, "usps_euclidean", caption)


def _curves(results: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return each method's runs."""
    paper = {
        name: results[name] if isinstance(results[name], list) else [results[name]]
        for name in ("PVM", "PVM with centroids", "K-medoids", "K-means", "LVQ")
    }
    return paper | {name: [run] for name, run in adaptive_radii_page.curves(results).items()}


def _mean_curve(runs: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Average runs point by point, those that go further than the others alone at the end."""
    longest = max(runs, key=lambda run: len(run["size"]))
    sizes, errors = [], []
    for k in range(len(longest["size"])):
        here = [run for run in runs if len(run["size"]) > k]
        sizes.append(float(np.mean([run["size"][k] for run in here])))
        errors.append(float(np.mean([run["error"][k] for run in here])))
    return sizes, errors


def _tabulate(curves: dict[str, Any], nearest: dict[str, Any]) -> str:
    """Read the curves off at equal numbers of prototypes."""
    rows = []
    for name, runs in curves.items():
        cells = []
        for budget in BUDGETS:
            read = [_read_off(run, budget) for run in runs]
            found = [error for error in read if error is not None]
            cells.append(
                ""
                if not found
                else mean_sd(found, scale=100.0)
                if len(found) > 1
                else percent(found[0])
            )
        rows.append((name, *cells))
    header = ("method", *(f"{budget}" for budget in BUDGETS))
    return (
        "Test error at equal numbers of prototypes, read off the curves (linear in the logarithm "
        "of the number), for what is chosen in folds with at most so many; ± is the standard "
        "deviation over random starts. 1-NN with all images "
        f"errs on {percent(nearest['error'], 2)} %. The paper gives no numbers of these "
        "curves, and its figures were not to hand, so that there is nothing to put beside ours."
        "\n\n" + table(header, rows)
    )


def _read_off(run: dict[str, Any], budget: float) -> float | None:
    """Return the error of a curve at a number of prototypes, None beyond its ends."""
    order = np.argsort(run["size"])
    sizes, errors = np.array(run["size"])[order], np.array(run["error"])[order]
    if not sizes[0] <= budget <= sizes[-1]:
        return None
    return float(np.interp(np.log(budget), np.log(sizes), errors))


def _judge(results: dict[str, Any], curves: dict[str, Any]) -> str:
    """Say what the curves show."""
    nearest = results["1-NN"]["error"]
    lines = []
    pvm = results["PVM"]
    good = [
        size for size, e in zip(pvm["size"], pvm["error"], strict=True) if e <= nearest + 0.005
    ]
    lines.append(
        f"PVM stays within half a point of 1-NN ({percent(nearest, 2)} %) down to {min(good)} "
        f"prototypes; its lowest test error is {percent(min(pvm['error']), 2)} %. Which radius to "
        "take without the test images is a section of its own, below."
    )
    lines.append(
        _order("PVM", {name: curves[name] for name in curves if name not in (OWN, SHARED)})
    )
    lines.append(_order(OWN, {name: curves[name] for name in curves if name != SHARED}))
    lines += adaptive_radii_page.judge(results)
    helped = _gain(curves["PVM"], curves["PVM with centroids"])
    if helped[0] > 0:
        lines.append(
            "Ten centroids a class as further candidates lower PVM's error at every number of "
            f"prototypes of the table, by {helped[0]:.1f} to {helped[1]:.1f} points: in 256 "
            "dimensions it helps not to be confined to examples, as the paper says."
        )
    else:
        lines.append(
            "Ten centroids a class as further candidates change PVM's error by "
            f"{-helped[1]:+.1f} to {-helped[0]:+.1f} points over the table: not always a gain."
        )
    return "\n".join(f"- {line}" for line in lines) + "\n"


def _read_all(runs: list[dict[str, Any]], budget: float) -> float | None:
    """Return the mean error of those runs that reach a number of prototypes."""
    found = [error for run in runs if (error := _read_off(run, budget)) is not None]
    return float(np.mean(found)) if found else None


def _order(method: str, curves: dict[str, Any]) -> str:
    """Say which place a method takes at which number of prototypes."""
    places, budgets = [], []
    for budget in BUDGETS:
        errors = {name: _read_all(runs, budget) for name, runs in curves.items()}
        known = {name: error for name, error in errors.items() if error is not None}
        if method in known:
            budgets.append(str(budget))
            places.append(PLACES[sum(error < known[method] for error in known.values())])
    return (
        f"At {', '.join(budgets)} prototypes the error of {method} is the {', '.join(places)} of "
        f"the {len(curves)} curves."
    )


def _gain(plain: Any, helped: Any) -> tuple[float, float]:
    """Return the least and largest gain in points over the table's numbers of prototypes."""
    gains = []
    for budget in BUDGETS:
        one = [_read_off(run, budget) for run in plain]
        two = [_read_off(run, budget) for run in helped]
        if None not in one and None not in two:
            gains.append(100 * (np.mean(one) - np.mean(two)))
    return min(gains, default=0.0), max(gains, default=0.0)
