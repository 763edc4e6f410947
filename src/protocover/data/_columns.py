"""The columns of a table, be it a pandas or polars frame or an array, read one way.

Frames are told by what they can do, so that neither package need be installed.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ._frames import in_memory


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: Any  # whatever the frame calls it; the position in an array
    named: bool  # whether the table names its columns
    # What its type says it holds: numbers, dates, booleans, labels or ranks; "anything" where
    # the type does not say.
    stores: str
    # Floats with NaN where a value is missing if it stores numbers or dates, otherwise objects
    # with None.
    values: NDArray[Any]
    order: tuple[Any, ...] | None = None  # the categories of ranks, lowest first

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.values.dtype == np.float64:
            return np.asarray(np.isnan(self.values))
        return np.fromiter((v is None for v in self.values), dtype=bool, count=len(self.values))

    @property
    def holds_only_booleans(self) -> bool:
        """Whether all that is not missing is True or False."""
        return all(isinstance(v, (bool, np.bool_)) for v in self.values if v is not None)

    @property
    def holds_only_numbers(self) -> bool:
        """Whether all that is not missing is a number."""
        return self.values.dtype == np.float64 or all(
            is_number(v) for v in self.values if v is not None
        )

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats, refusing what is not a number."""
        if self.values.dtype == np.float64:
            floats = self.values
        else:
            for value in self.values:
                if value is not None and not is_number(value):
                    raise ValueError(
                        f"column {self.name!r} must hold numbers, got {value!r}; convert it, or "
                        f"pass feature_types={{{self.name!r}: 'categorical'}}"
                    )
            floats = _floats(self.values)
        if np.isinf(floats).any():
            raise ValueError(
                f"column {self.name!r} holds infinity; replace it by a number or a missing value"
            )
        return floats


def is_number(value: Any) -> bool:
    """Tell numbers, those of NumPy and of the decimal module too, from labels."""
    return isinstance(value, (Real, np.bool_)) or type(value).__name__ == "Decimal"


def read_columns(X: Any) -> list[Column]:
    """Read the columns of a pandas or polars frame, a 2-D array or a list of rows."""
    X = in_memory(X)
    if issparse(X):
        raise ValueError("X must not be sparse: a mixed table has no zeros to leave out")
    if hasattr(X, "get_columns"):
        return [_read_polars(series) for series in X.get_columns()]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return [_read_pandas(name, series) for name, series in X.items()]
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            f"X must be a table of rows and columns, got {type(X).__name__} of shape {table.shape}"
        )
    return [_read_array(i, table[:, i]) for i in range(table.shape[1])]


def _read_pandas(name: Any, series: Any) -> Column:
    """Read a pandas series by its dtype."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "iuf":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(name, True, "numbers", values)
    if kind in "mM":
        return Column(name, True, "dates", _microseconds(series.to_numpy(dtype=f"{kind}8[us]")))
    if str(dtype) == "str":
        # Strings kept by Arrow are slow to take out one by one; what is none is missing.
        values = series.to_numpy(dtype=object)
        objects = _objects(values, [not isinstance(value, str) for value in values])
    else:
        objects = _objects(series.array, series.isna().to_numpy())
    if kind == "b":
        return Column(name, True, "booleans", objects)
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        order = tuple(dtype.categories) if dtype.ordered else None
        return Column(name, True, "ranks" if dtype.ordered else "labels", objects, order)
    stores = "labels" if str(dtype).startswith("str") else "anything"
    return Column(name, True, stores, objects)


def _read_polars(series: Any) -> Column:
    """Read a polars series by its dtype."""
    name, dtype = series.name, series.dtype
    base = str(dtype).split("(")[0]
    if dtype.is_numeric():
        return Column(name, True, "numbers", _floats(series.to_list()))
    if dtype.is_temporal() and base != "Time":
        return Column(name, True, "dates", _microseconds(series.to_numpy()))
    objects = _objects(series.to_list(), series.is_null().to_numpy())
    if base == "Enum":
        return Column(name, True, "ranks", objects, tuple(dtype.categories.to_list()))
    stores = {"Boolean": "booleans", "String": "labels", "Categorical": "labels"}
    return Column(name, True, stores.get(base, "anything"), objects)


def _read_array(position: int, values: NDArray[Any]) -> Column:
    """Read a column of a NumPy array by its dtype."""
    if values.dtype.kind in "iuf":
        return Column(position, False, "numbers", values.astype(np.float64))
    if values.dtype.kind in "mM":
        return Column(position, False, "dates", _microseconds(values))
    stores = {"b": "booleans", "U": "labels", "T": "labels"}.get(values.dtype.kind, "anything")
    objects = values.astype(object)
    return Column(position, False, stores, _objects(objects, [_is_missing(v) for v in objects]))


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pandas.NA, of which the last cannot be compared."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(operator.ne(value, value))


def _objects(values: Any, missing: Any) -> NDArray[Any]:
    """Return an array of objects with None where a value is missing."""
    objects = np.fromiter(values, dtype=object, count=len(values))
    objects[np.asarray(missing, dtype=bool)] = None
    return objects


def _floats(values: Any) -> NDArray[np.float64]:
    """Return an array of floats with NaN where a value is None."""
    floats = (np.nan if value is None else float(value) for value in values)
    return np.fromiter(floats, dtype=np.float64, count=len(values))


def _microseconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Return times or durations as floats, NaN where missing."""
    unit = times.astype(f"{times.dtype.kind}8[us]")
    return np.where(np.isnat(unit), np.nan, unit.astype(np.int64))
