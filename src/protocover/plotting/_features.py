"""Columns of a table of points, and where a value stands among those of its class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNTOLD = (np.nan, np.nan, np.nan, np.nan)


def read_columns(table: Any, what: str) -> tuple[list[str] | None, list[NDArray[Any]]]:
    """Return the names, if there are any, and the columns of an array or data frame."""
    if hasattr(table, "columns"):
        columns = [np.asarray(table[name]) for name in table.columns]
        return [str(name) for name in table.columns], [_as_numbers(column) for column in columns]
    rows = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
    if rows.ndim != 2:
        raise ValueError(
            f"{what} must be a table with a row for each point, got shape {rows.shape}; pass "
            "rows= such as X[clf.prototype_indices_] where the prototypes are no rows themselves"
        )
    return None, [_as_numbers(column) for column in rows.T]


def standing(
    value: Any, column: NDArray[Any], own: NDArray[np.bool_]
) -> tuple[float, float, float, float]:
    """Return where a value stands in a column, and in the part of its class.

    For a number: its place and the quartiles of its class, as shares of the way from the
    least to the largest value of the column, and NaN. For any other value: three times NaN,
    and the share of its class that has the same.
    """
    if column.dtype.kind != "f":
        same = np.array([other == value for other in column[own]], dtype=bool)
        return (*_UNTOLD[:3], float(same.mean()) if len(same) else np.nan)
    known = column[np.isfinite(column)]
    mine = column[own & np.isfinite(column)]
    if not len(mine) or not np.isfinite(value):
        return _UNTOLD
    low, high = known.min(), known.max()
    width = high - low if high > low else 1.0
    places = (np.array([value, *np.quantile(mine, [0.25, 0.75])]) - low) / width
    # A prototype that is no training point may lie outside their range.
    place, lower, upper = np.clip(places, 0.0, 1.0)
    return float(place), float(lower), float(upper), np.nan


def separation(column: NDArray[Any], codes: NDArray[np.intp]) -> float:
    """Return the share of a column's variance that lies between classes, 0 to 1."""
    if column.dtype.kind == "f":
        known = np.isfinite(column)
        indicators, codes = column[known][:, None], codes[known]
    else:
        text = np.array([str(value) for value in column])
        indicators = (text[:, None] == np.unique(text)).astype(float)
    total = indicators.var(axis=0).sum() * len(indicators) if len(indicators) else 0.0
    if total <= 0.0:
        return 0.0
    mean = indicators.mean(axis=0)
    between = sum(
        (codes == code).sum() * ((indicators[codes == code].mean(axis=0) - mean) ** 2).sum()
        for code in np.unique(codes)
    )
    return float(between / total)


def show_value(value: Any) -> str:
    """Return a value in few letters."""
    if value is None or value != value:
        return "missing"
    if not isinstance(value, float | np.floating):
        return str(value)
    number = float(value)
    return f"{number:,.0f}" if 1e4 <= abs(number) < 1e9 else f"{number:.4g}"


def _as_numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as floats if all it holds are numbers, else as it is."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind == "O":
        try:
            if not any(isinstance(value, str | bool) for value in column):
                return column.astype(np.float64)
        except (TypeError, ValueError):
            pass
    return column
