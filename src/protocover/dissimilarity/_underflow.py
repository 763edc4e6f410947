"""Refusal of values whose powers are too small to be told from zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

# Sums of powers of values must be far above the smallest normal number.
_SMALLEST = 1e-300


def refuse_underflow(X: Any, power: float, source: str) -> None:
    """Refuse points if even the largest value to a power is nearly nothing, but not zero."""
    values = np.asarray(X.data if issparse(X) else X)
    if values.dtype.kind != "f":
        return
    highest = np.fmax.reduce(values, axis=None, initial=0.0)
    largest = max(float(highest), -float(np.fmin.reduce(values, axis=None, initial=0.0)))
    if 0.0 < largest < _SMALLEST ** (1.0 / power):
        raise ValueError(
            f"X holds no value above {largest:g}, so small that {source} distances underflow; "
            "rescale the features"
        )
