"""The coding of one column of a mixed table, and how it is learned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..data._columns import Column

KINDS = ("numeric", "ordered", "categorical", "binary", "asymmetric")

_KIND_OF_STORE = {
    "numbers": "numeric",
    "dates": "numeric",
    "booleans": "binary",
    "ranks": "ordered",
    "labels": "categorical",
}
STORES = tuple(_KIND_OF_STORE)

_FARTHEST = 1e300


@dataclass(frozen=True)
class Coding:
    """How the values of a column are coded."""

    name: Any  # str or int
    stores: str  # what the column held, as in `Column.stores` but never "anything"
    kind: str  # one of `KINDS`
    low: float  # range of a numeric column, NaN for others
    high: float
    # Values of an ordered column in order; values found in a categorical one.
    categories: tuple[Any, ...]

    @property
    def is_scale(self) -> bool:
        """Whether values lie on a scale, as numbers or ranks that are not all the same."""
        if self.kind == "numeric":
            return self.high > self.low
        return self.kind == "ordered" and len(self.categories) > 1

    def check_type(self, column: Column) -> None:
        """Refuse a column whose type is not that of the training data."""
        if column.missing.all():
            return
        stores = column.holds
        fits = stores == self.stores
        if column.stores == "anything":
            # A part of a column of objects may hold fewer kinds of values than the whole.
            fits |= self.stores in ("labels", "ranks")
            fits |= self.stores == "numbers" and stores == "booleans"
        if not fits:
            raise ValueError(
                f"column {self.name!r} held {self.stores} in the training data and now holds "
                f"{stores}; convert it to the type it had in fit"
            )
        if self.stores == "ranks" and column.order not in (None, self.categories):
            raise ValueError(
                f"column {self.name!r} had the ordered categories {self.categories} in the "
                f"training data and now has {column.order}; convert it to the type it had in fit"
            )

    def place(self, column: Column) -> Floats:
        """Return where values lie on the scale: from 0 to 1 in the training data, or NaN."""
        if self.kind == "numeric":
            with np.errstate(over="ignore"):
                places = (column.numbers() - self.low) / (self.high - self.low)
            # Far outside the training range, but not so far that differences are infinite.
            return np.clip(places, -_FARTHEST, _FARTHEST)
        rank = {value: i / (len(self.categories) - 1) for i, value in enumerate(self.categories)}
        places = np.full(len(column.values), np.nan)
        for i in np.flatnonzero(~column.missing):
            try:
                places[i] = rank[column.values[i]]
            except (KeyError, TypeError):
                raise ValueError(
                    f"{column.values[i]!r} in the ordered column {self.name!r} has no rank among "
                    f"{list(self.categories)}; pass feature_types={{{self.name!r}: [...]}} "
                    "with all its values in order"
                ) from None
        return places

    def number(self, column: Column, unseen: dict[Any, int]) -> NDArray[np.int32]:
        """Return a number for each value, equal for equal values, and -1 for missing ones.

        Values not learned are numbered in `unseen`, which is added to.
        """
        values = column.numbers() if self.kind == "numeric" else column.values
        known = {value: i for i, value in enumerate(self.categories)}
        there = ~column.missing
        codes = np.full(len(values), -1, dtype=np.int32)

        def code(value: Any) -> int:
            found = known.get(value)
            return unseen.setdefault(value, len(known) + len(unseen)) if found is None else found

        try:
            codes[there] = [code(value) for value in values[there].tolist()]
        except TypeError:
            for value in values[there]:
                _hashable(value, self.name)  # names the value that is not a category
            raise
        return codes


def learn_coding(column: Column, kind: str | Sequence[Any] | None) -> Coding:
    """Learn the coding of a column, of its type if `kind` is None."""
    stores = column.holds
    if kind is None:
        kind = _KIND_OF_STORE[stores]
    low = high = np.nan
    categories: tuple[Any, ...] = ()
    if not isinstance(kind, str):
        kind, categories = "ordered", tuple(kind)
        if not categories or len(set(categories)) < len(categories):
            raise ValueError(
                f"feature_types[{column.name!r}] must list different values in order, got "
                f"{list(categories)}"
            )
    elif kind not in KINDS:
        raise ValueError(
            f"feature_types[{column.name!r}] must be one of {', '.join(KINDS)}, or a list of "
            f"values in order, got {kind!r}"
        )
    elif kind == "ordered":
        categories = _find_order(column)
    elif kind != "numeric":
        categories = _find_categories(column, kind)
    if kind == "numeric" and not column.missing.all():
        numbers = column.numbers()
        low, high = float(np.nanmin(numbers)), float(np.nanmax(numbers))
        if not np.isfinite(high - low):
            raise ValueError(
                f"the range of column {column.name!r}, {low:g} to {high:g}, is too large for a "
                "float; rescale it"
            )
    coding = Coding(column.name, stores, kind, low, high, categories)
    if kind == "ordered" and coding.is_scale:
        coding.place(column)
    return coding


def _find_order(column: Column) -> tuple[Any, ...]:
    """Return the values of an ordered column in order: as declared, or as numbers go."""
    if column.order is not None:
        return column.order
    if column.holds_only_numbers:
        return tuple(np.unique(column.numbers()[~column.missing]).tolist())
    raise ValueError(
        f"the order of column {column.name!r} is unknown; pass "
        f"feature_types={{{column.name!r}: [...]}} with its values in order, or make it "
        "an ordered pandas categorical or a polars enum"
    )


def _find_categories(column: Column, kind: str) -> tuple[Any, ...]:
    """Return the values of a categorical or binary column, checked for their number."""
    present = column.values[~column.missing]
    values = tuple(dict.fromkeys(_hashable(value, column.name) for value in present))
    if kind == "binary" and len(values) > 2:
        raise ValueError(
            f"the binary column {column.name!r} must have at most two values, got "
            f"{_shown(values)}; its kind may be 'categorical'"
        )
    if kind == "asymmetric":
        if not set(values) <= {0, 1}:
            raise ValueError(
                f"the asymmetric column {column.name!r} must hold booleans, or 0 and 1, got "
                f"{_shown(values)}"
            )
        return (False, True)
    return values


def _hashable(value: Any, name: Any) -> Any:
    """Return `value` if it can be compared for equality."""
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            f"column {name!r} holds {value!r}, which is neither a number nor a category"
        ) from None
    return value


def _shown(values: Iterable[Any]) -> str:
    """Write the first few of some values."""
    first = list(values)[:4]
    return ", ".join(map(repr, first[:3])) + (", ..." if len(first) > 3 else "")
