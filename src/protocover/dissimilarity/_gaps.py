"""Euclidean distance between rows with missing values.

All sums are made pair by pair in the order of the features, so that a distance does not
depend on the tile it is computed in, nor on the processor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats

# Pairs worked on at a time: a core's cache holds a few arrays of that many.
_STRIP = 1 << 15


def nan_euclidean(
    A: Any, B: Any, *, squared: bool = False, missing_values: float = np.nan
) -> Floats:
    """Return ``sqrt(p / common * sum of squares)`` over the features that both rows have.

    NaN for a pair without one. The arguments are those of
    ``sklearn.metrics.pairwise.nan_euclidean_distances``.
    """
    left, right = _features(A, missing_values), _features(B, missing_values)
    # Counts of ones: whole numbers, which any order of adding gives exactly.
    common = (~np.isnan(left)).T.astype(np.float64) @ (~np.isnan(right)).astype(np.float64)
    squares = _add_squares(left, right)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A factor of 1, and so Euclidean distance to the last bit, where nothing is missing.
        squares *= len(left) / common
    return squares if squared else np.sqrt(squares, out=squares)


def _features(X: Any, missing_values: float) -> Floats:
    """Return the features as rows, NaN where a value is missing."""
    rows = np.asarray(X, dtype=np.float64)
    if not np.isnan(missing_values):
        rows = np.where(rows == missing_values, np.nan, rows)
    return np.ascontiguousarray(rows.T)


def _add_squares(left: Floats, right: Floats) -> Floats:
    """Add up the squared differences in the features (p, n) and (p, m) that are there."""
    total = np.zeros((left.shape[1], right.shape[1]))
    gaps = [bool(np.isnan(x).any() or np.isnan(z).any()) for x, z in zip(left, right, strict=True)]
    step = max(1, _STRIP // max(1, right.shape[1]))
    for start in range(0, len(total), step):
        strip = total[start : start + step]
        difference = np.empty_like(strip)
        for x, z, gap in zip(left[:, start : start + step], right, gaps, strict=True):
            np.subtract(x[:, None], z, out=difference)
            np.multiply(difference, difference, out=difference)
            if gap:
                # Of NaN and zero fmax gives the zero.
                np.fmax(difference, 0.0, out=difference)
            strip += difference
    return total
