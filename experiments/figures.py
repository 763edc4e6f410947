"""What the figures of the page have in common."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from PIL import Image

# Okabe and Ito's colours, which colour-blind people can tell apart, and a mark for each.
STYLES: dict[str, dict[str, Any]] = {
    "PVM": {"color": "#0072B2", "marker": "o"},
    "PVM with centroids": {"color": "#56B4E9", "marker": "D"},
    "PVM with own radii": {"color": "#CC79A7", "marker": "X"},
    "K-medoids": {"color": "#D55E00", "marker": "s"},
    "K-means": {"color": "#E69F00", "marker": "^"},
    "LVQ": {"color": "#009E73", "marker": "v"},
    "SVM": {"color": "#CC79A7", "marker": "P"},
    "1-NN": {"color": "#000000", "marker": "*"},
}

mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})


def save(figure: Any, folder: Path, name: str, caption: str) -> str:
    """Write a figure as PNG and return the line of Markdown that shows it."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=110)
    plt.close(figure)
    # A palette of 128 colours looks the same and takes a third of the space.
    picture = Image.open(drawn).convert("RGB").quantize(128, dither=Image.Dither.NONE)
    picture.save(folder / f"{name}.png", optimize=True)
    return f"![{caption}]({folder.name}/{name}.png)\n\n*{caption}*\n"


def draw_curve(
    ax: Any, method: str, sizes: Any, errors: Any, *, n: int | None = None, **more: Any
) -> None:
    """Draw error in per cent against the number of prototypes.

    With `n`, the number of points that errors are shares of, a band of one standard error of
    such a share is drawn around it.
    """
    style = {"markersize": 3.5, "linewidth": 1.2, "label": method} | STYLES[method] | more
    shares = np.asarray(errors, dtype=float)
    ax.plot(sizes, 100.0 * shares, **style)
    if n is not None:
        spread = np.sqrt(shares * (1.0 - shares) / n)
        low, high = 100.0 * (shares - spread), 100.0 * (shares + spread)
        ax.fill_between(sizes, low, high, color=style["color"], alpha=0.15, linewidth=0)
