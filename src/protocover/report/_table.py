"""The rows as they are to be shown: columns of numbers, dates, labels or texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils import _safe_indexing

from .._resources import row_count
from ..data._columns import Column, read_columns

# More different labels than this are shown as texts, which are not counted by class.
_MOST_CATEGORIES = 60
# Of a wide table of numbers those columns are read in which the classes differ most.
_MOST_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """One column as it is shown."""

    name: str
    kind: str  # "number", "date", "label" or "text"
    values: NDArray[Any]  # floats, NaN where missing (dates in milliseconds); else str and None
    categories: tuple[str, ...] = ()  # of a "label" column, in order
    place: int = 0  # its number in the table

    @property
    def places(self) -> NDArray[np.intp]:
        """Place of each value among the categories, -1 where it is missing."""
        place = {category: k for k, category in enumerate(self.categories)}
        return np.array([place.get(value, -1) for value in self.values], dtype=np.intp)


def read_rows(
    shown: Any, names: Sequence[Any] | None, codes: NDArray[np.intp]
) -> tuple[list[ShownColumn], int]:
    """Read whatever the cases are, and count the columns that there are in all.

    They are a frame, an array, a sparse table, or a sequence of texts or other cases.
    Names are needed where they have none; `codes`, the class of each row, tell which of
    very many columns to read.
    """
    if not _is_table(shown):
        own = [getattr(shown, "name", None) or "text"]
        given = _check_names(own if names is None else names, 1)
        texts = np.array([_as_text(case) for case in shown], dtype=object)
        return [ShownColumn(given[0], "text", texts)], 1
    n_columns = int(np.shape(shown)[1])
    places = np.arange(n_columns)
    if is_plain(shown):
        shown, places = _most_telling(shown, codes)
    columns = [_read(column) for column in read_columns(shown)]
    if names is not None:
        given = _check_names(names, n_columns)
    elif isinstance(shown, np.ndarray | list | tuple):
        given = [f"feature {place}" for place in range(n_columns)]
    else:
        given = [column.name for column in columns]
    return [
        replace(column, place=place, name=given[place])
        for column, place in zip(columns, places.tolist(), strict=True)
    ], n_columns


def is_plain(shown: Any) -> bool:
    """Whether rows are bare numbers."""
    return issparse(shown) or (isinstance(shown, np.ndarray) and shown.dtype.kind in "biuf")


def append_table(columns: list[ShownColumn], table: Any, n_columns: int) -> list[ShownColumn]:
    """Add the rows of another table with the same columns, of which some may not be shown."""
    if not _is_table(table):
        texts = np.empty(row_count(table), dtype=object)
        texts[:] = [_as_text(case) for case in table]
        return [append_rows(column, texts, len(texts)) for column in columns]
    if int(np.shape(table)[1]) != n_columns:
        raise ValueError(
            f"what is shown of other cases must have the {n_columns} columns of the training "
            f"data's, got {np.shape(table)[1]}"
        )
    places = [column.place for column in columns]
    if len(places) < n_columns and not is_plain(table):
        table = _safe_indexing(table, places, axis=1)
    elif is_plain(table):
        table = csc_array(table)[:, places].toarray() if issparse(table) else table[:, places]
    added = [_read(column) for column in read_columns(table)]
    return [append_rows(c, a.values, len(a.values)) for c, a in zip(columns, added, strict=True)]


def append_rows(column: ShownColumn, values: NDArray[Any] | None, n_rows: int) -> ShownColumn:
    """Add rows to a column, missing ones where there are no values of its kind for them."""
    floats = column.kind in ("number", "date")
    if values is None or (values.dtype.kind == "f") != floats:
        values = np.full(n_rows, np.nan if floats else None, dtype=column.values.dtype)
    categories = column.categories
    if column.kind == "label":
        unseen = {value for value in values.tolist() if value is not None} - set(categories)
        categories += tuple(sorted(unseen))
    return replace(column, values=np.concatenate((column.values, values)), categories=categories)


def count_columns(X: Any) -> int:
    """Return the number of columns, 1 for cases that are no rows of a table."""
    return int(np.shape(X)[1]) if _is_table(X) else 1


def read_row_names(row_names: Any, shown: Any) -> list[str]:
    """Return a name for each row: as given, the index of a frame, or "row 0", "row 1", ..."""
    n_rows = row_count(shown)
    if row_names is None and hasattr(shown, "iloc"):
        numbered = getattr(shown.index.dtype, "kind", "O") in "iu"
        row_names = [f"row {i}" if numbered else i for i in shown.index]
    if row_names is None:
        return [f"row {i}" for i in range(n_rows)]
    names = [str(name) for name in row_names]
    if len(names) != n_rows:
        raise ValueError(f"row_names must name the {n_rows} rows of X, got {len(names)} names")
    return names


def _is_table(shown: Any) -> bool:
    """Whether the cases are rows of columns."""
    if hasattr(shown, "shape"):
        return len(shown.shape) == 2
    first = next(iter(shown), None)
    if not isinstance(first, list | tuple | np.ndarray):
        return False
    return len({len(row) for row in shown}) == 1 and np.ndim(first) == 1


def _as_text(case: Any) -> str | None:
    """Return a case that is no row of a table as text."""
    if case is None or isinstance(case, str):
        return case
    if isinstance(case, list | tuple | np.ndarray) and np.ndim(case) == 1:
        return " ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in case)
    return str(case)


def _check_names(names: Sequence[Any], n_columns: int) -> list[str]:
    """Refuse names for another number of columns."""
    if len(names) != n_columns:
        raise ValueError(
            f"feature_names must name the {n_columns} columns that are shown, got {len(names)}"
        )
    return [str(name) for name in names]


def _read(column: Column) -> ShownColumn:
    """Tell how a column is shown."""
    if column.stores == "dates":
        return ShownColumn(str(column.name), "date", column.values / 1000.0)
    if column.stores == "numbers" or (column.stores == "anything" and column.holds_only_numbers):
        values = [np.nan if value is None else float(value) for value in column.values]
        numbers = np.array(values, dtype=np.float64)
        numbers[np.isinf(numbers)] = np.nan
        return ShownColumn(str(column.name), "number", numbers)
    texts = np.array([None if v is None else str(v) for v in column.values], dtype=object)
    found = {text for text in texts.tolist() if text is not None}
    if len(found) > _MOST_CATEGORIES:
        return ShownColumn(str(column.name), "text", texts)
    order = sorted(found) if column.order is None else [str(value) for value in column.order]
    return ShownColumn(str(column.name), "label", texts, tuple(order))


def _most_telling(table: Any, codes: NDArray[np.intp]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the columns, and their numbers, in which the classes' means differ most."""
    n_rows, n_columns = table.shape
    if n_columns <= _MOST_COLUMNS:
        dense = table.toarray() if issparse(table) else table
        return dense, np.arange(n_columns)
    # Squares of bytes would not fit into bytes.
    numbers = table.astype(np.float64)
    numbers = numbers if issparse(table) else np.nan_to_num(numbers, copy=False)
    sizes = np.bincount(codes)
    member = csr_array((np.ones(n_rows), (codes, np.arange(n_rows))))
    sums = member @ numbers
    means = (sums.toarray() if issparse(sums) else sums) / np.maximum(sizes, 1)[:, None]
    square = numbers.multiply(numbers) if issparse(numbers) else numbers**2
    center = sizes @ means / n_rows
    between = sizes @ (means - center) ** 2 / n_rows
    total = np.asarray(square.sum(axis=0)).ravel() / n_rows - center**2
    share = np.where(total > 1e-12 * (1.0 + center**2), between / np.maximum(total, 1e-300), 0.0)
    places = np.sort(np.argsort(-share, kind="stable")[:_MOST_COLUMNS])
    chosen = csc_array(table)[:, places].toarray() if issparse(table) else table[:, places]
    return chosen, places
