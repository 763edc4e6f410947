"""The columns of a table and their types: one description of pandas and polars frames and arrays.

Frames are recognized by their methods, so neither package need be installed.
"""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ._cells import MISSING, is_plain_number, mark_matcher
from ._frames import in_memory

_STORES_OF_KIND = {**dict.fromkeys("iuf", "numbers"), **dict.fromkeys("mM", "dates")}
_STORES_OF_KIND |= {"b": "booleans", "U": "labels", "T": "labels"}


@dataclass(frozen=True)
class ColumnType:
    """The type of a column: "numbers", "dates", "booleans", "labels" or "ranks".

    `stores` is "anything" if the data type does not determine it. `order` has the values of
    "ranks", lowest first.
    """

    stores: str
    order: tuple[Any, ...] | None = None


_LABELS = ColumnType("labels")


@dataclass(frozen=True)
class Column:
    """One column of a table."""

    name: Any  # as in the frame; the position in an array
    named: bool  # whether the table names its columns
    type: ColumnType  # by its data type
    # Floats with NaN for missing if it stores numbers or dates, otherwise objects with None.
    values: NDArray[Any]

    @property
    def stores(self) -> str:
        """What the data type says the column holds, perhaps "anything"."""
        return self.type.stores

    @property
    def order(self) -> tuple[Any, ...] | None:
        """The categories of ranks, lowest first."""
        return self.type.order

    @property
    def holds(self) -> str:
        """What the column holds, by its values if the data type does not determine it."""
        if self.stores != "anything":
            return self.stores
        if all(isinstance(v, (bool, np.bool_)) for v in self.values if v is not None):
            return "booleans"
        return "numbers" if self.holds_only_numbers else "labels"

    @property
    def holds_only_numbers(self) -> bool:
        """Whether every value that is not missing is a number."""
        return self.values.dtype == np.float64 or all(
            is_number(v) for v in self.values if v is not None
        )

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which values are missing."""
        if self.values.dtype == np.float64:
            return np.asarray(np.isnan(self.values))
        return np.fromiter((v is None for v in self.values), dtype=bool, count=len(self.values))

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as floats; raise an error if one is not a number."""
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
                f"column {self.name!r} holds infinity; replace it with a number or a missing value"
            )
        return floats


def is_number(value: Any) -> bool:
    """Whether a value is a number, also of NumPy or the decimal module."""
    return isinstance(value, (Real, np.bool_)) or type(value).__name__ == "Decimal"


def read_columns(X: Any) -> list[Column]:
    """Read the columns of a pandas or polars frame, a 2-D array or a list of rows."""
    X = in_memory(X)
    if issparse(X):
        raise ValueError("X must not be sparse; pass a data frame or a dense array")
    if hasattr(X, "get_columns"):
        return [_read_polars(series) for series in X.get_columns()]
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return [read_pandas(name, series) for name, series in X.items()]
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            f"X must be a table of rows and columns, got {type(X).__name__} of shape {table.shape}"
        )
    return [_read_array(i, table[:, i]) for i in range(table.shape[1])]


def find_missing(values: NDArray[Any], marks: Collection[str] = ()) -> NDArray[np.bool_]:
    """Return which values are missing: None, NaN, blank, NA and the like, or one of `marks`."""
    if values.dtype == np.float64:
        numbers = [float(mark) for mark in marks if is_plain_number(mark)]
        return np.asarray(np.isnan(values) | np.isin(values, numbers))
    is_mark = mark_matcher(marks)

    def is_absent(value: Any) -> bool:
        text = str(value).strip()
        return text in MISSING or is_mark(text) or _is_missing(value)

    return np.fromiter(map(is_absent, values), dtype=bool, count=len(values))


def pandas_type(dtype: Any) -> ColumnType:
    """Return the column type of a pandas data type."""
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return ColumnType("ranks", tuple(dtype.categories)) if dtype.ordered else _LABELS
    if str(dtype).startswith("str"):
        return _LABELS
    return _type_of_kind(getattr(dtype, "kind", "O"))


def _type_of_kind(kind: str) -> ColumnType:
    """Return the column type of a kind of NumPy data type."""
    return ColumnType(_STORES_OF_KIND.get(kind, "anything"))


def read_pandas(name: Any, series: Any) -> Column:
    """Read a pandas series by its data type."""
    found = pandas_type(series.dtype)
    if found.stores == "numbers":
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    elif found.stores == "dates":
        values = _microseconds(series.to_numpy(dtype=f"{series.dtype.kind}8[us]"))
    elif str(series.dtype) == "str":
        # Strings stored by Arrow are slow to extract one by one; anything else is missing.
        values = series.to_numpy(dtype=object)
        values = _objects(values, [not isinstance(value, str) for value in values])
    else:
        values = _objects(series.array, series.isna().to_numpy())
    return Column(name, True, found, values)


def _read_polars(series: Any) -> Column:
    """Read a polars series by its data type."""
    name, dtype = series.name, series.dtype
    base = str(dtype).split("(")[0]
    if dtype.is_numeric():
        return Column(name, True, ColumnType("numbers"), _floats(series.to_list()))
    if dtype.is_temporal() and base != "Time":
        return Column(name, True, ColumnType("dates"), _microseconds(series.to_numpy()))
    objects = _objects(series.to_list(), series.is_null().to_numpy())
    if base == "Enum":
        order = tuple(dtype.categories.to_list())
        return Column(name, True, ColumnType("ranks", order), objects)
    stores = {"Boolean": "booleans", "String": "labels", "Categorical": "labels"}
    return Column(name, True, ColumnType(stores.get(base, "anything")), objects)


def _read_array(position: int, values: NDArray[Any]) -> Column:
    """Read a column of a NumPy array by its data type."""
    found = _type_of_kind(values.dtype.kind)
    if found.stores == "numbers":
        return Column(position, False, found, values.astype(np.float64))
    if found.stores == "dates":
        return Column(position, False, found, _microseconds(values))
    objects = values.astype(object)
    absent = [_is_missing(v) for v in objects]
    return Column(position, False, found, _objects(objects, absent))


def _is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas.NA; the last cannot be compared."""
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
