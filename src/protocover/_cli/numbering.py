"""Numbers as tables of answers have them: rows from 1, and nothing in place of infinity."""

from __future__ import annotations

from typing import Any

import numpy as np


def number_rows(places: Any) -> Any:
    """Return places from 1; nothing in place of -1, for what is not in the data."""
    import pandas as pd

    numbers = pd.array(np.asarray(places) + 1, dtype="Int64")
    numbers[np.asarray(places) < 0] = pd.NA
    return numbers


def finite(values: Any) -> Any:
    """Return numbers, NaN in place of infinity, where there is no such prototype."""
    return np.where(np.isinf(values), np.nan, values)
