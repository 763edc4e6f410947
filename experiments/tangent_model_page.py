"""The prototypes of a tangent distance model, as the paper shows them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray

from protocover.plotting import (
    GreedyProgressDisplay,
    PrototypeGalleryDisplay,
    PrototypeMapDisplay,
)

from .digits_table import unpack_images
from .figures import save
from .tangent_page import PAPER_BY_DIGIT, tabulate_digits
from .words import percent, table

TITLE = "ZIP code digits: a closer look at the prototypes (section 5.2)"

# Of a prototype, in images; the paper's second panel is at 6.
COSTS = (1, 2, 3, 4, 6, 10, 20, 50)

# What the paper reports of its model.
PAPER = {
    "prototypes": 3372,
    "covered by the first prototype": 986,
    "miscovered by the first prototype": 4,
    "prototypes at a cost of 6": 88,
    "stress of the map of the first 88": 0.07,
    "prototypes before each further one gains a single image": 458,
    "those further ones": 2914,
    "test digits wrong with the first 88, right with all": 276,
}


def write(results: dict[str, Any], folder: Path) -> str:
    """Return the section and draw its figures."""
    return "\n".join(
        (
            f"## {TITLE}\n",
            _how(results),
            tabulate_digits("ours", results["by_digit"]),
            _tabulate(results),
            _draw_gallery(results, folder),
            _draw_map(results, folder),
            _draw_miscovered(results, folder),
            _draw_progress(results, folder),
            _tabulate_costs(results),
            _draw_corrected(results, folder),
        )
    )


def summarize(results: dict[str, Any]) -> str:
    """Return the section in one sentence."""
    likeness = float(np.corrcoef(results["by_digit"], PAPER_BY_DIGIT)[0, 1])
    return (
        f"Its prototypes: with {results['size']} in all, those of each digit correlate with the "
        f"paper's table at {likeness:.4f}; the first covers {results['shown']['covered'][0]} "
        f"images (in the paper 986), and a cost of {results['cost']:g} stops after "
        f"{results['stop']} (88)."
    )


def _how(results: dict[str, Any]) -> str:
    """Say which model it is."""
    part = "" if results["n"] == 7291 else f", on {results['n']} images only"
    return (
        "The radius is the one whose model has the number of prototypes nearest to the paper's "
        f"{PAPER['prototypes']}{part}: it is chosen by that number, not by any error, so that "
        f"the other counts can be compared. Of all distances {results['percentile']:.2f} % are "
        "smaller.\n"
    )


def _tabulate(results: dict[str, Any]) -> str:
    """Put our counts beside the paper's."""
    shown, first = results["shown"], results["first"]
    alone = _count_alone(results)
    ours = (
        results["size"],
        shown["covered"][0],
        shown["miscovered"][0],
        results["stop"],
        f"{shown['stress']:.3f}",
        results["size"] - alone,
        alone,
        results["corrected"]["count"],
    )
    rows = list(zip(PAPER, PAPER.values(), ours, strict=True))
    less = "" if first == 88 else f" (Here the first {first} instead of 88.)"
    digit = shown["labels"][0]
    alike = "as in the paper" if digit == 1 else "where the paper's is a 1"
    wrong = _numbers(results["wrong"])
    return (
        table(("", "paper", "ours"), rows)
        + f"\nThe first prototype is a {digit}, {alike}. The first {first} prototypes get "
        f"{wrong[first - 1]} of {results['n_test']} test digits wrong, all {results['size']} "
        f"together {wrong[-1]}.{less} {_tell_alone(results, alone)}\n"
    )


def _count_alone(results: dict[str, Any]) -> int:
    """Count the prototypes at the end that lower the objective by one image only."""
    return int(np.sum(_numbers(results["improvement"]) <= 1))


def _tell_alone(results: dict[str, Any], alone: int) -> str:
    """Say whether those that gain a single image cover only themselves."""
    several = int(np.sum(_numbers(results["covered"])[results["size"] - alone :] > 1))
    if several == 0:
        return f"Each of the last {alone} covers a single new image, itself."
    return (
        f"Of the last {alone} all but {several} cover a single new image, themselves; what the "
        "rest cover newly is one more than what they miscover, so that they gain one image too."
    )


def _draw_gallery(results: dict[str, Any], folder: Path) -> str:
    """Draw the first prototypes with what they cover."""
    shown = results["shown"]
    display = PrototypeGalleryDisplay(
        unpack_images(shown["images"]),
        labels=np.array(shown["labels"]),
        covered=np.array(shown["covered"]),
        miscovered=np.array(shown["miscovered"]),
    ).plot(n_columns=11)
    caption = (
        f"The first {results['first']} of {results['size']} prototypes in order of selection. "
        "Above each its digit, how many training images it is the first to cover, and in "
        "brackets how many images of other digits lie in its ball."
    )
    return save(display.figure_, folder, "tangent_gallery", caption)


def _draw_map(results: dict[str, Any], folder: Path) -> str:
    """Draw Sammon's map of the first prototypes."""
    shown = results["shown"]
    display = PrototypeMapDisplay(
        np.array(shown["coordinates"]),
        prototype_classes=np.array(shown["labels"]),
        classes=np.arange(10),
        method="sammon",
        stress=shown["stress"],
        images=unpack_images(shown["images"]),
    ).plot()
    display.ax_.spines[:].set_visible(False)
    caption = (
        f"Sammon's map of the tangent distances between the first {results['first']} prototypes; "
        f"its stress is {shown['stress']:.3f}, the paper's 0.07."
    )
    return save(display.figure_, folder, "tangent_map", caption)


def _draw_miscovered(results: dict[str, Any], folder: Path) -> str:
    """Draw the images of other digits that the first prototype covers."""
    wrong = results["miscovered"]
    digit = results["shown"]["labels"][0]
    if not wrong["images"]:
        return f"The first prototype, a {digit}, covers no image of another digit.\n"
    display = PrototypeGalleryDisplay(
        unpack_images(wrong["images"]), labels=np.array(wrong["labels"])
    ).plot(n_columns=10)
    caption = (
        f"The training images that the first prototype, a {digit}, miscovers, with their labels."
    )
    return save(display.figure_, folder, "tangent_miscovered", caption)


def _draw_progress(results: dict[str, Any], folder: Path) -> str:
    """Draw the way of the greedy."""
    _, axes = plt.subplots(1, 2, figsize=(11.0, 3.8), layout="constrained")
    display = _progress(results).plot(ax=axes)
    for ax in display.axes_:
        ax.axvline(results["stop"], color="black", linewidth=0.8, linestyle=":")
    caption = (
        "What each prototype lowers the objective by, and the test error with the prototypes so "
        f"far. Dotted: where a cost of {results['cost']:g} a prototype would stop, after "
        f"{results['stop']}."
    )
    return save(display.figure_, folder, "tangent_progress", caption)


def _tabulate_costs(results: dict[str, Any]) -> str:
    """Tabulate the test error along the path of the cost, lambda."""
    gains, wrong = _numbers(results["improvement"]), _numbers(results["wrong"])
    # A gain that only equals the cost is none: greedy stops before it.
    sizes = [int(np.sum(gains > cost)) for cost in COSTS]
    rows = [
        (cost, size, wrong[size - 1], percent(wrong[size - 1] / results["n_test"], 2))
        for cost, size in zip(COSTS, sizes, strict=True)
        if size > 0
    ]
    rows.insert(0, ("1/n", results["size"], wrong[-1], percent(wrong[-1] / results["n_test"], 2)))
    header = ("lambda", "prototypes", "test digits wrong", "test error, %")
    return (
        "Greedy for a larger cost of a prototype, the paper's lambda, is the beginning of greedy "
        "for a smaller one, so that the errors of the whole path of lambda come from this one "
        "model:\n\n" + table(header, rows)
    )


def _draw_corrected(results: dict[str, Any], folder: Path) -> str:
    """Draw test digits that the first prototypes get wrong and all get right."""
    corrected, first = results["corrected"], results["first"]
    names = ("test digit", f"nearest of {first}", "nearest of its digit", "nearest of all")
    n_drawn = len(corrected["labels"][0])
    if n_drawn == 0:
        return f"No test digit is wrong with the first {first} prototypes and right with all.\n"
    figure, axes = plt.subplots(
        4, n_drawn, figsize=(1.0 + 0.95 * n_drawn, 4.6), layout="constrained", squeeze=False
    )
    for row, name in enumerate(names):
        images = unpack_images(corrected["images"][row])
        for ax, image, label in zip(axes[row], images, corrected["labels"][row], strict=True):
            ax.imshow(image, cmap="gray_r", interpolation="nearest")
            ax.set_title(label, fontsize=8, pad=2)
            ax.set(xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
        axes[row, 0].set_ylabel(name, rotation=0, ha="right", va="center", fontsize=8)
    caption = (
        f"{n_drawn} random ones of the {corrected['count']} test digits that the first {first} "
        f"prototypes get wrong and all get right: the digit, the nearest of the first {first}, "
        "the nearest of these that stands for the right digit, and the nearest of all."
    )
    return save(figure, folder, "tangent_corrected", caption)


def _progress(results: dict[str, Any]) -> GreedyProgressDisplay:
    """Return the display of the way of the greedy."""
    return GreedyProgressDisplay(
        improvement=_numbers(results["improvement"]).astype(float),
        covered=_numbers(results["covered"]),
        error=_numbers(results["wrong"]) / results["n_test"],
    )


def _numbers(line: str) -> NDArray[np.intp]:
    """Read a line of whole numbers."""
    return np.array(line.split(), dtype=np.intp)
