"""Correlation distance: half of the squared distance of centred rows of length one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._euclidean.rows import MappedRows
from .limits import LARGEST, UNIT, Cross, Rows, map_both, squared_lengths

# Correlation distances are rounded to multiples of this, so that equal ones are equal.
CORRELATION_GRID = 2.0**-40


def centered_rows(A: Any, B: Any, pairwise: Cross) -> Rows | None:
    """Map x to its deviation from its mean, at length one; None if a row is constant.

    SciPy takes the means from the rows as is done here, with the same result, and goes on with
    one minus the cosine of the centred rows x. With the exact y = x / |x| that is
    |y - y'|^2 / 2. Let u be the unit roundoff and p the number of features. A computed length
    errs by (p / 2 + 1) u of itself, so that a computed row is within (p / 2 + 3) u of y; the
    squared distance of two such rows errs by less than 4 (p + 6) u + 2 u. The cosine errs by
    p u in the sum of products, by (p + 2) u in the two lengths and by 2 u in their product and
    the quotient; taking it from one adds 2 u; doubled, that is (4 p + 12) u. The grid adds
    2^-40. Together that is less than (8 p + 48) u + 2^-40, of which each row has half. Lengths
    are so far from underflow that what it takes is less than u.

    Means that come in another order than SciPy's would move x by (p + 2) u of the largest
    number of the row, which may be much longer than x itself: that is allowed for, too.
    """
    p = A.shape[1]

    def map_rows(X: Any) -> MappedRows | None:
        given = np.ascontiguousarray(X, dtype=np.float64)
        rows = given - given.mean(axis=1, keepdims=True)
        lengths = np.sqrt(squared_lengths(rows))
        if not ((lengths >= 1.0 / LARGEST) & (lengths <= LARGEST)).all():
            return None
        moved = np.sqrt(p) * (p + 2) * UNIT * np.abs(given).max(axis=1) / lengths
        errors = (4 * p + 24) * UNIT + CORRELATION_GRID / 2 + 8.0 * moved
        rows /= lengths[:, None]
        return MappedRows(rows, 1.1 * errors, X, p, pairwise)

    return map_both(A, B, map_rows)
