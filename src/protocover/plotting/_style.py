"""What all plots share: colours and markers of classes, axes, points and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray

from .._inspection.fitted import Unwrapped, unwrap
from .._typing import Floats, Indices, Mask

# The palette of Okabe and Ito, with yellow last because it is faint on white, and dark grey in
# place of black, which is for marks without a class. Indigo and light grey make ten colours.
BLUE, VERMILION, GREEN, SKY = "#0072B2", "#D55E00", "#009E73", "#56B4E9"
_COLORS = (
    *(BLUE, VERMILION, GREEN, "#CC79A7", "#E69F00"),
    *(SKY, "#4D4D4D", "#E8D71E", "#332288", "#BBBBBB"),
)
# 13 and 10 are coprime, so 130 classes have distinct pairs of colour and marker.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d")

_LEGEND_ROWS = 13
# Above this number of classes colours are hard to distinguish, so names are written as well.
MANY_CLASSES = 8
# Markers shrink in axes of fewer inches.
_FULL_SIZE = 4.0


@dataclass(frozen=True)
class ClassStyle:
    """The colour and marker of one class."""

    color: str
    marker: str


def class_styles(n_classes: int) -> list[ClassStyle]:
    """Return a style per class, the same in every plot."""
    return [
        ClassStyle(_COLORS[k % len(_COLORS)], _MARKERS[k % len(_MARKERS)])
        for k in range(n_classes)
    ]


def tint(color: str, amount: float) -> str:
    """Mix a colour with an amount of white from 0 to 1."""
    red, green, blue = (part + (1.0 - part) * amount for part in to_rgb(color))
    return str(to_hex((red, green, blue)))


def readable_on(color: Any) -> str:
    """Return black or white, whichever is more readable on a colour."""
    red, green, blue = to_rgb(color)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def shorten(label: Any, n_letters: int = 24) -> str:
    """Return a label as one line of at most `n_letters`, cut in the middle.

    Long names often differ only at their ends. Dollar signs are escaped.
    """
    text = " ".join(str(label).split())
    if len(text) > n_letters:
        tail = n_letters // 3
        text = f"{text[: n_letters - tail - 1].rstrip()}…{text[-tail:].lstrip()}"
    return text.replace("$", r"\$")


def encode(labels: Any, classes: NDArray[Any]) -> Indices:
    """Return the index of each label in `classes`, -1 if it is missing."""
    labels = np.asarray(labels)
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


def add_class_legend(ax: Any, classes: NDArray[Any], *, further: Sequence[Line2D] = ()) -> None:
    """Put a legend of classes and further marks to the right of the axes."""
    handles = [
        Line2D([], [], ls="none", marker=style.marker, color=style.color, label=shorten(label))
        for style, label in zip(class_styles(len(classes)), classes, strict=True)
    ]
    handles += further
    ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-len(handles) // _LEGEND_ROWS),
        frameon=False,
        fontsize="small",
        handletextpad=0.3,
        columnspacing=1.0,
    )


def unwrap_to_draw(estimator: Any, *, covers: bool = False) -> Unwrapped:
    """Find the classifier, or cover, that an estimator is or holds; it must have prototypes."""
    within = unwrap(estimator, name="estimator", covers=covers)
    return within.require_prototypes("there is nothing to draw")


def open_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or those of a new figure of a size in inches."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def use_count_scale(ax: Any) -> None:
    """Give axes a logarithmic horizontal scale with integers written in full."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def draw_points(
    ax: Any,
    points: Floats,
    codes: Indices,
    *,
    n_classes: int,
    filled: Mask | None = None,
) -> None:
    """Draw points in the colour and marker of their class, hollow where not `filled`."""
    filled = np.ones(len(codes), dtype=bool) if filled is None else filled
    # Many points are drawn smaller, so they remain separate.
    size = _scale(ax) * float(np.clip(3000.0 / max(1, len(codes)), 4.0, 16.0))
    for code, style in enumerate(class_styles(n_classes)):
        look = {"marker": style.marker, "edgecolors": style.color, "linewidths": 0.6, "zorder": 3}
        for part, face in ((filled, style.color), (~filled, "none")):
            own = (codes == code) & part
            if own.any():
                ax.scatter(*points[own].T, s=size, facecolors=face, **look)


def draw_prototypes(ax: Any, prototypes: Floats, codes: Indices, *, n_classes: int) -> None:
    """Draw prototypes as large markers of their class with a black edge."""
    size = _scale(ax) * float(np.clip(4000.0 / max(1, len(codes)), 14.0, 55.0))
    rim = {"edgecolors": "black", "linewidths": 0.9 if len(codes) <= 100 else 0.5, "zorder": 4}
    for code, style in enumerate(class_styles(n_classes)):
        own = prototypes[codes == code]
        if len(own):
            ax.scatter(*own.T, s=size, marker=style.marker, facecolors=style.color, **rim)


def name_classes(ax: Any, points: Floats, codes: Indices, classes: NDArray[Any]) -> None:
    """If colours repeat, write the name of each class at its most central sample."""
    if len(classes) <= MANY_CLASSES:
        return
    look = {"ha": "center", "va": "center", "fontsize": "x-small", "fontweight": "bold"}
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "alpha": 0.85}
    for code, style in enumerate(class_styles(len(classes))):
        own = points[codes == code]
        if len(own):
            middle = own[((own - own.mean(axis=0)) ** 2).sum(axis=1).argmin()]
            frame = {**box, "edgecolor": style.color}
            name = shorten(classes[code], 12)
            ax.text(*middle, name, bbox=frame, zorder=5, clip_on=True, **look)


def _scale(ax: Any) -> float:
    """Return the factor by which markers shrink in small axes."""
    inches = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
    return float(np.clip(inches / _FULL_SIZE, 0.4, 1.0))
