"""How classes look: colours that colour-blind people can tell apart, and a marker each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from numpy.typing import NDArray

# The palette of Okabe and Ito, with yellow last because it is faint on white paper and
# dark grey for black, which is kept for what belongs to no class; then indigo and light grey,
# so that ten digits have each a colour.
BLUE, VERMILION, GREEN, SKY = "#0072B2", "#D55E00", "#009E73", "#56B4E9"
_COLORS = (
    *(BLUE, VERMILION, GREEN, "#CC79A7", "#E69F00"),
    *(SKY, "#4D4D4D", "#E8D71E", "#332288", "#BBBBBB"),
)
# 13 and 10 share no factor, so that 130 classes have each a pair of their own.
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d")

_LEGEND_ROWS = 13
# Beyond so many classes colours are hard to tell apart, and names stand beside what they name.
MANY_CLASSES = 8


@dataclass(frozen=True)
class ClassStyle:
    """The colour and marker of one class."""

    color: str
    marker: str


def class_styles(n_classes: int) -> list[ClassStyle]:
    """Return a style for each class, the same for its number in every picture."""
    return [
        ClassStyle(_COLORS[k % len(_COLORS)], _MARKERS[k % len(_MARKERS)])
        for k in range(n_classes)
    ]


def tint(color: str, amount: float) -> str:
    """Mix a colour with so much white: 0 leaves it, 1 gives white."""
    red, green, blue = (part + (1.0 - part) * amount for part in to_rgb(color))
    return str(to_hex((red, green, blue)))


def readable_on(color: Any) -> str:
    """Return black or white, whichever can be read on a colour."""
    red, green, blue = to_rgb(color)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.55 else "white"


def shorten(label: Any, n_letters: int = 24) -> str:
    """Return a label as one line of at most so many letters, cut in the middle if need be.

    Long names often differ only at their ends. Dollar signs do not start formulas.
    """
    text = " ".join(str(label).split())
    if len(text) > n_letters:
        tail = n_letters // 3
        text = f"{text[: n_letters - tail - 1].rstrip()}…{text[-tail:].lstrip()}"
    return text.replace("$", r"\$")


def encode(labels: Any, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each label in the sorted `classes`, -1 where it is not there."""
    labels = np.asarray(labels)
    place = {label: k for k, label in enumerate(classes.tolist())}
    return np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.intp)


def add_class_legend(ax: Any, classes: NDArray[Any], *, further: Sequence[Line2D] = ()) -> None:
    """Set a legend of classes, and of what else there is, to the right of the axes."""
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
