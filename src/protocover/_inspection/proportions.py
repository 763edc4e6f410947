"""Proportions: Wilson's interval, and percentages as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


def wilson_interval(n_successes: Any, n_trials: Any) -> NDArray[np.float64]:
    """Return Wilson's 95 % interval of proportions, shape (..., 2); NaN without any trial."""
    k, n = np.broadcast_arrays(np.asarray(n_successes, float), np.asarray(n_trials, float))
    with np.errstate(invalid="ignore", divide="ignore"):
        center = (k + _Z**2 / 2) / (n + _Z**2)
        half = _Z / (n + _Z**2) * np.sqrt(k * (n - k) / n + _Z**2 / 4)
    low = np.where(k <= 0.0, np.where(n > 0.0, 0.0, np.nan), center - half)
    high = np.where(k >= n, np.where(n > 0.0, 1.0, np.nan), center + half)
    return np.stack((low, high), axis=-1)


def percent(share: float) -> str:
    """Return a share in percent, 0.0 and 100.0 only where it is none or all."""
    if 0.0 < share < 0.001:
        return "0.1 %" if share >= 0.0005 else "< 0.1 %"
    shown = min(100.0 * share, 99.9) if share < 1.0 else 100.0 * share
    return f"{shown:.1f} %"


def percentages(parts: Sequence[float]) -> list[str]:
    """Return the parts of a total in percent, so that the numbers shown add up to 100.0.

    The largest remainders are rounded up. A part that is not 0 is never shown as 0.0, nor
    one that is not all as 100.0.
    """
    total = float(sum(parts))
    if total <= 0.0:
        return ["-"] * len(parts)
    exact = 1000.0 * np.asarray(parts, dtype=np.float64) / total
    tenths = np.floor(exact)
    # Of equal remainders the first is rounded up.
    order = np.argsort(tenths - exact, kind="stable")
    tenths[order[: round(1000.0 - tenths.sum())]] += 1
    return [_show_tenths(n, part, total) for n, part in zip(tenths, parts, strict=True)]


def _show_tenths(tenths: float, part: float, total: float) -> str:
    """Return tenths of a percent as text."""
    if tenths == 0.0 and part > 0.0:
        return "< 0.1 %"
    if tenths == 1000.0 and part < total:
        return "> 99.9 %"
    return f"{tenths / 10.0:.1f} %"
