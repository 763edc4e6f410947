"""A grid over the plane, and the regions in which a classifier says the same on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.colors import ListedColormap
from numpy.typing import NDArray

from ._palette import class_styles, tint

_MARGIN = 0.06


@dataclass(frozen=True, eq=False)
class Plane:
    """A grid of points of the plane: the coordinates of its columns and of its rows."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]

    @classmethod
    def around(cls, points: NDArray[np.float64], resolution: int) -> Self:
        """Return a grid of so many rows and columns that holds points with a margin."""
        if not isinstance(resolution, int | np.integer) or resolution < 2:
            raise ValueError(f"resolution must be a whole number from 2, got {resolution!r}")
        low, high = points.min(axis=0), points.max(axis=0)
        span = max(float((high - low).max()), 1e-9 * float(np.abs(points).max()), 1e-300)
        low, high = low - _MARGIN * span, high + _MARGIN * span
        return cls(
            np.linspace(low[0], high[0], resolution), np.linspace(low[1], high[1], resolution)
        )

    @property
    def points(self) -> NDArray[np.float64]:
        """The points of the grid row by row, shape (n_rows * n_columns, 2)."""
        return np.column_stack([axis.ravel() for axis in np.meshgrid(self.x, self.y)])

    @property
    def limits(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top."""
        return float(self.x[0]), float(self.x[-1]), float(self.y[0]), float(self.y[-1])

    def table(self, values: NDArray[Any]) -> NDArray[Any]:
        """Arrange values of the points as rows and columns of the grid."""
        return values.reshape(len(self.y), len(self.x), *values.shape[1:])


def check_plane(X: Any, name: str = "X") -> NDArray[np.float64]:
    """Return points of the plane as float64."""
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"{name} must have two features to be drawn in the plane, got shape {points.shape}; "
            "PrototypeMapDisplay draws a map of any data"
        )
    return points.astype(np.float64)


def draw_regions(ax: Any, plane: Plane, codes: NDArray[np.intp], *, n_classes: int) -> None:
    """Fill the region of each class with a tint of its colour; -1 stays white."""
    tints = ["#FFFFFF", *(tint(style.color, 0.75) for style in class_styles(n_classes))]
    half = (plane.x[1] - plane.x[0]) / 2, (plane.y[1] - plane.y[0]) / 2
    left, right, bottom, top = plane.limits
    extent = (left - half[0], right + half[0], bottom - half[1], top + half[1])
    look = {"origin": "lower", "interpolation": "nearest", "zorder": 0}
    colors = {"cmap": ListedColormap(tints), "vmin": -0.5, "vmax": n_classes + 0.5}
    ax.imshow(codes + 1, extent=extent, **colors, **look)


def draw_boundary(
    ax: Any, plane: Plane, codes: NDArray[np.intp], *, color: str, linewidth: float
) -> None:
    """Draw the lines at which the class changes."""
    # The boundary of the last class is part of the others'.
    look = {"levels": [0.5], "colors": [color], "linewidths": linewidth, "zorder": 2}
    for code in np.unique(codes)[:-1]:
        ax.contour(plane.x, plane.y, (codes == code).astype(float), **look)
