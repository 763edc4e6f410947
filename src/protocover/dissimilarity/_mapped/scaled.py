"""Euclidean distance of weighted features: each row is scaled once, instead of each pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Floats
from .._euclidean.rows import MappedRows
from .limits import LARGEST, TINY, UNIT, Cross, Rows, map_both, squared_lengths


def scaled_rows(A: Any, B: Any, factors: Floats, pairwise: Cross) -> Rows | None:
    """Map x to f (x - m), with m the mean of the candidates.

    `pairwise` takes the root of the sum of w (x - z)^2 or (x - z)^2 / V, with f the root of w or
    of 1 / V. Let y be the exact image of x, u the unit roundoff and p the number of features.
    Four roundings (of x - m, of f twice, of their product) leave each number of a computed row
    within 4.1 u of its own size, and so the row within 4.1 u |y|. The squared distance of two
    rows then errs by at most 2 (4.1 u) (|y| + |y'|)^2, up to terms in u^2, which is less than
    17 u (|y|^2 + |y'|^2). In `pairwise` each term is rounded four times at most, p of them are
    added up in any order, and the root is rounded: the square errs by (p + 6) u |y - y'|^2 at
    most, less than (2 p + 12) u (|y|^2 + |y'|^2). Together that is less than
    (2 p + 32) u (|y|^2 + |y'|^2); a tenth more covers that lengths are those of computed rows.
    """
    p = A.shape[1]
    if factors.shape != (p,) or not ((factors >= 0.0) & (factors <= LARGEST)).all():
        return None
    center = np.mean(B, axis=0, dtype=np.float64)

    def map_rows(X: Any) -> MappedRows | None:
        rows = np.asarray(X, dtype=np.float64) - center
        if not np.abs(rows).max(initial=0.0) <= LARGEST:
            return None
        rows *= factors
        errors = 1.1 * (2 * p + 32) * UNIT * squared_lengths(rows) + p**2 * TINY
        return MappedRows(rows, errors, X, p, pairwise)

    return map_both(A, B, map_rows)
