"""What displays begin with: the classifier that they draw, and axes to draw it on."""

from __future__ import annotations

from typing import Any

from matplotlib import pyplot as plt
from matplotlib.ticker import LogLocator, NullFormatter

from .._inspection.fitted import Unwrapped, unwrap


def unwrap_to_draw(estimator: Any, *, covers: bool = False) -> Unwrapped:
    """Find the classifier, or cover, that an estimator is or holds; it must have prototypes."""
    within = unwrap(estimator, name="estimator", covers=covers)
    return within.require_prototypes("there is nothing to draw")


def open_axes(ax: Any, width: float, height: float) -> Any:
    """Return the given axes, or those of a new figure of so many inches."""
    if ax is None:
        _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def use_count_scale(ax: Any) -> None:
    """Give axes a logarithmic horizontal scale on which whole numbers are written in full."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
