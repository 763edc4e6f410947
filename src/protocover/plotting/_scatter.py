"""Points, prototypes and names of classes in the plane, as all displays draw them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._palette import MANY_CLASSES, class_styles, shorten

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Markers have their full size in axes of so many inches, and shrink in smaller ones.
_FULL_SIZE = 4.0


def draw_points(
    ax: Any,
    points: Floats,
    codes: Indices,
    *,
    n_classes: int,
    filled: NDArray[np.bool_] | None = None,
) -> None:
    """Draw points in the colour and marker of their class, hollow where not `filled`."""
    filled = np.ones(len(codes), dtype=bool) if filled is None else filled
    # Many points are drawn smaller, so that they do not run together.
    size = _scale(ax) * float(np.clip(3000.0 / max(1, len(codes)), 4.0, 16.0))
    for code, style in enumerate(class_styles(n_classes)):
        look = {"marker": style.marker, "edgecolors": style.color, "linewidths": 0.6, "zorder": 3}
        for part, face in ((filled, style.color), (~filled, "none")):
            own = (codes == code) & part
            if own.any():
                ax.scatter(*points[own].T, s=size, facecolors=face, **look)


def draw_prototypes(ax: Any, prototypes: Floats, codes: Indices, *, n_classes: int) -> None:
    """Mark prototypes: the marker of their class, large and with a black rim."""
    size = _scale(ax) * float(np.clip(4000.0 / max(1, len(codes)), 14.0, 55.0))
    rim = {"edgecolors": "black", "linewidths": 0.9 if len(codes) <= 100 else 0.5, "zorder": 4}
    for code, style in enumerate(class_styles(n_classes)):
        own = prototypes[codes == code]
        if len(own):
            ax.scatter(*own.T, s=size, marker=style.marker, facecolors=style.color, **rim)


def name_classes(ax: Any, points: Floats, codes: Indices, classes: NDArray[Any]) -> None:
    """Where colours repeat, write the name of each class at its point nearest its middle."""
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
    """Return by how much markers shrink in area to suit the size of the axes."""
    inches = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi
    return float(np.clip(inches / _FULL_SIZE, 0.4, 1.0))
