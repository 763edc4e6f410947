"""Axes of counts."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import LogLocator, NullFormatter

__all__ = ["use_count_scale"]


def use_count_scale(ax: Any) -> None:
    """Give axes a logarithmic horizontal scale on which whole numbers are written in full."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:.0f}")
    ax.xaxis.set_minor_formatter(NullFormatter())
