"""When a map is of use: numbers far from over- and underflow, and errors that are small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._typing import Floats
from .._euclidean.rows import MappedRows

# The unit roundoff of double precision.
UNIT = 2.0**-53
# No number of a map may be larger, so that all products of a few of them are finite.
LARGEST = 2.0**200
# With such numbers all that underflow takes from a squared distance of p features is less
# than p^2 times this: at most p^2 + 4 p products lose 2^-1074 each, times at most 2^402.
TINY = 2.0**-600
# A product in single precision errs by about this share of the squared length of rows.
_WIDEST = 2.0**-20

Cross = Callable[[Any, Any], Floats]
Rows = tuple[MappedRows, MappedRows]


def map_both(A: Any, B: Any, map_rows: Callable[[Any], MappedRows | None]) -> Rows | None:
    """Map points and candidates; None where that failed or errs too much to be of use."""
    left = map_rows(A)
    right = left if B is A else map_rows(B)
    if left is None or right is None:
        return None
    lengths = max(squared_lengths(some.rows).max(initial=0.0) for some in (left, right))
    errors = max(some.errors.max(initial=0.0) for some in (left, right))
    return (left, right) if errors <= _WIDEST * lengths < np.inf else None


def squared_lengths(rows: Floats) -> Floats:
    """Return the squared length of each row."""
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
