"""The table that is shown: columns of numbers, dates, labels or texts, and evidence in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse
from sklearn.utils import _safe_indexing

from .._resources import row_count
from .._typing import Floats, Indices
from ..data._columns import Column, read_columns

# A column of more different labels is shown as text, without counts per class.
_MOST_CATEGORIES = 60
# Number of columns read of a wide table of numbers.
_MOST_COLUMNS = 200
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Least spread of a class relative to the whole column. Otherwise a feature that happens to be
# constant in one class would dominate.
_LEAST_SPREAD = 0.1
_MOST_EVIDENCE = 10.0


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """One column as it is shown."""

    name: str
    kind: str  # "number", "date", "label" or "text"
    values: NDArray[Any]  # floats, NaN if missing (dates in milliseconds); else str and None
    categories: tuple[str, ...] = ()  # of a "label" column, in order
    index: int = 0  # in the table

    @property
    def codes(self) -> Indices:
        """Index of each value among the categories, -1 if it is missing."""
        code = {category: k for k, category in enumerate(self.categories)}
        return np.array([code.get(value, -1) for value in self.values], dtype=np.intp)


def read_rows(
    shown: Any, names: Sequence[Any] | None, classes: Indices
) -> tuple[list[ShownColumn], int]:
    """Read a frame, array, sparse matrix or sequence of texts; also return its width.

    Very wide tables of numbers are cut to the columns in which the `classes` of the rows differ
    most.
    """
    if not _is_table(shown):
        own = [getattr(shown, "name", None) or "text"]
        given = _check_names(own if names is None else names, 1)
        return [ShownColumn(given[0], "text", _as_texts(shown))], 1
    n_columns = int(np.shape(shown)[1])
    kept = np.arange(n_columns)
    if is_plain(shown):
        kept = _most_different_columns(shown, classes)
        shown = _take_columns(shown, kept)
    columns = [_read(column) for column in read_columns(shown)]
    if names is not None:
        given = _check_names(names, n_columns)
    elif isinstance(shown, np.ndarray | list | tuple):
        given = [f"feature {j}" for j in range(n_columns)]
    else:
        given = [column.name for column in columns]
    indices = kept.tolist()
    return [
        replace(column, index=j, name=given[j]) for column, j in zip(columns, indices, strict=True)
    ], n_columns


def is_plain(shown: Any) -> bool:
    """Whether rows are bare numbers."""
    return issparse(shown) or (isinstance(shown, np.ndarray) and shown.dtype.kind in "biuf")


def append_table(columns: list[ShownColumn], table: Any, n_columns: int) -> list[ShownColumn]:
    """Append the rows of another table with the same columns."""
    if not _is_table(table):
        texts = _as_texts(table)
        return [append_rows(column, texts, len(texts)) for column in columns]
    if int(np.shape(table)[1]) != n_columns:
        raise ValueError(
            f"what is shown of other cases must have the {n_columns} columns of the training "
            f"data, got {np.shape(table)[1]}; pass the same columns"
        )
    kept = [column.index for column in columns]
    if is_plain(table):
        table = _take_columns(table, kept)
    elif len(kept) < n_columns:
        table = _safe_indexing(table, kept, axis=1)
    added = [_read(column) for column in read_columns(table)]
    return [append_rows(c, a.values, len(a.values)) for c, a in zip(columns, added, strict=True)]


def append_rows(column: ShownColumn, values: NDArray[Any] | None, n_rows: int) -> ShownColumn:
    """Append rows to a column, as missing if there are no values of its kind."""
    floats = column.kind in ("number", "date")
    if values is None or (values.dtype.kind == "f") != floats:
        values = np.full(n_rows, np.nan if floats else None, dtype=column.values.dtype)
    categories = column.categories
    if column.kind == "label":
        unseen = {value for value in values.tolist() if value is not None} - set(categories)
        categories += tuple(sorted(unseen))
    return replace(column, values=np.concatenate((column.values, values)), categories=categories)


def count_columns(X: Any) -> int:
    """Return the number of columns, 1 for samples that are not rows of a table."""
    return int(np.shape(X)[1]) if _is_table(X) else 1


def read_row_names(row_names: Any, shown: Any) -> list[str]:
    """Return a name per row: as given, the index of a frame, or "row 0", "row 1", ..."""
    n_rows = row_count(shown)
    if row_names is None and hasattr(shown, "iloc"):
        numbered = getattr(shown.index.dtype, "kind", "O") in "iu"
        row_names = [f"row {i}" if numbered else i for i in shown.index]
    if row_names is None:
        return [f"row {i}" for i in range(n_rows)]
    names = [str(name) for name in row_names]
    if len(names) != n_rows:
        raise ValueError(
            f"row_names must name the {n_rows} rows of X, got {len(names)} names; pass one per row"
        )
    return names


def weigh_evidence(
    columns: Sequence[ShownColumn], codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Return how characteristic each value of the prototypes is of their class.

    This is the log-likelihood ratio of the value within the class and outside of it, by normal
    distributions for numbers and by frequencies for labels; 0 for texts and missing values.
    `codes` are the classes of the training cases, which come first in the columns; `rows` and
    `classes` are those of the prototypes. The shape is (n_prototypes, n_columns).
    """
    evidence = np.zeros((len(rows), len(columns)))
    for j, column in enumerate(columns):
        if column.kind != "text":
            weigh = _label_evidence if column.kind == "label" else _number_evidence
            evidence[:, j] = weigh(column, codes, rows, classes)
    return np.clip(evidence, -_MOST_EVIDENCE, _MOST_EVIDENCE)


def class_ranges(column: ShownColumn, codes: Indices, n_classes: int) -> list[Floats]:
    """Return the quantiles of each class's numbers, empty for a class without any."""
    values = column.values[: len(codes)]
    own = (values[(codes == c) & ~np.isnan(values)] for c in range(n_classes))
    return [np.quantile(part, _QUANTILES) if len(part) else np.empty(0) for part in own]


def class_shares(column: ShownColumn, codes: Indices, n_classes: int) -> Floats:
    """Return the frequency of each category per class, shape (n_classes, n_categories)."""
    if n_classes == 0:
        return np.empty((0, len(column.categories)))
    counts = _count(column, codes, n_classes)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))


def _number_evidence(
    column: ShownColumn, codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Return the log-likelihood ratios of numbers."""
    known = ~np.isnan(column.values[: len(codes)])
    numbers, groups = column.values[: len(codes)][known], codes[known]
    if len(numbers) == 0 or numbers.min() == numbers.max():
        return np.zeros(len(rows))
    center, spread = numbers.mean(), numbers.std()
    scaled = (numbers - center) / spread
    size = np.bincount(groups, minlength=int(classes.max()) + 1).astype(float)
    total = np.bincount(groups, scaled, minlength=len(size)).astype(float)
    square = np.bincount(groups, scaled**2, minlength=len(size)).astype(float)
    value = (column.values[rows] - center) / spread
    own = _log_density(value, size, total, square, classes)
    rest = size.sum() - size, total.sum() - total, square.sum() - square
    ratio = own - _log_density(value, *rest, classes)
    comparable = (size > 0) & (size < size.sum())
    return np.where(comparable[classes] & ~np.isnan(ratio), ratio, 0.0)


def _log_density(
    value: Floats, size: Floats, total: Floats, square: Floats, classes: Indices
) -> Floats:
    """Return log normal densities, up to a constant, from the sums and sums of squares."""
    n = np.maximum(size, 1.0)
    mean = total / n
    spread = np.sqrt(np.maximum(square / n - mean**2, 0.0))
    mean, spread = mean[classes], np.maximum(spread, _LEAST_SPREAD)[classes]
    return np.asarray(-0.5 * ((value - mean) / spread) ** 2 - np.log(spread))


def _label_evidence(
    column: ShownColumn, codes: Indices, rows: Indices, classes: Indices
) -> Floats:
    """Return the log ratios of frequencies, with one added to each count."""
    counts = _count(column, codes, int(max(codes.max(), classes.max())) + 1)
    rest = counts.sum(axis=0) - counts
    own = (counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True)
    others = (rest + 1.0) / (rest + 1.0).sum(axis=1, keepdims=True)
    # Missing values have code -1, the last column of zeros.
    ratio = np.pad(np.log(own / others), ((0, 0), (0, 1)))
    return np.asarray(ratio[classes, column.codes[rows]])


def _count(column: ShownColumn, codes: Indices, n_classes: int) -> Floats:
    """Count the categories per class, shape (n_classes, n_categories)."""
    counts = np.zeros((n_classes, len(column.categories) + 1))
    np.add.at(counts, (codes, column.codes[: len(codes)]), 1.0)
    return counts[:, :-1]


def _is_table(shown: Any) -> bool:
    """Whether the samples are rows of columns."""
    if hasattr(shown, "shape"):
        return len(shown.shape) == 2
    first = next(iter(shown), None)
    if not isinstance(first, list | tuple | np.ndarray):
        return False
    return len({len(row) for row in shown}) == 1 and np.ndim(first) == 1


def _as_texts(shown: Any) -> NDArray[Any]:
    """Return samples that are not rows of a table as texts."""
    texts = np.empty(row_count(shown), dtype=object)
    texts[:] = [_as_text(case) for case in shown]
    return texts


def _as_text(case: Any) -> str | None:
    """Return one such sample as text."""
    if case is None or isinstance(case, str):
        return case
    if isinstance(case, list | tuple | np.ndarray) and np.ndim(case) == 1:
        return " ".join(f"{x:.4g}" if isinstance(x, float) else str(x) for x in case)
    return str(case)


def _check_names(names: Sequence[Any], n_columns: int) -> list[str]:
    """Return names as strings, one per column."""
    if len(names) != n_columns:
        raise ValueError(
            f"feature_names must name the {n_columns} columns that are shown, got {len(names)}; "
            "pass one per column"
        )
    return [str(name) for name in names]


def _read(column: Column) -> ShownColumn:
    """Return a column as it is shown."""
    name = str(column.name)
    if column.stores == "dates":
        return ShownColumn(name, "date", column.values / 1000.0)
    if column.stores == "numbers" or (column.stores == "anything" and column.holds_only_numbers):
        values = [np.nan if value is None else float(value) for value in column.values]
        numbers = np.array(values, dtype=np.float64)
        numbers[np.isinf(numbers)] = np.nan
        return ShownColumn(name, "number", numbers)
    texts = np.array([None if v is None else str(v) for v in column.values], dtype=object)
    found = {text for text in texts.tolist() if text is not None}
    if len(found) > _MOST_CATEGORIES:
        return ShownColumn(name, "text", texts)
    order = sorted(found) if column.order is None else [str(value) for value in column.order]
    return ShownColumn(name, "label", texts, tuple(order))


def _take_columns(table: Any, kept: Any) -> NDArray[Any]:
    """Return some columns of a matrix of numbers as a dense array."""
    if len(kept) < table.shape[1]:
        table = csc_array(table)[:, kept] if issparse(table) else table[:, kept]
    return np.asarray(table.toarray() if issparse(table) else table)


def _most_different_columns(table: Any, codes: Indices) -> Indices:
    """Return the columns with the largest between-class fraction of the variance, in order."""
    n_rows, n_columns = table.shape
    if n_columns <= _MOST_COLUMNS:
        return np.arange(n_columns)
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
    return np.sort(np.argsort(-share, kind="stable")[:_MOST_COLUMNS])
