"""Sparse tables of memberships: validation, slices and sums; and checks of a problem's numbers.

Slicing a sparse table makes a new table and checks it, which takes ten times as long as reading
the indices.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from .._typing import Floats, Indices

# Members per line from which on a loop over lines is as fast, and takes less memory.
_LONG = 32
# Members of the columns that are summed at once.
_STRIP = 4_000_000


def line_members(table: csc_array | csr_array, lines: Indices) -> NDArray[Any]:
    """Return ``table[:, lines].indices`` of columns, or ``table[lines].indices`` of rows."""
    starts, ends = table.indptr[lines], table.indptr[lines + 1]
    sizes = ends - starts
    if int(sizes.sum()) < _LONG * len(lines) or len(lines) == 0:
        return np.asarray(table.indices[runs(starts, sizes)])
    parts = zip(starts.tolist(), ends.tolist(), strict=True)
    return np.concatenate([table.indices[start:end] for start, end in parts])


def runs(starts: NDArray[Any], sizes: NDArray[Any]) -> Indices:
    """Return the concatenation of ``range(start, start + size)`` over all runs."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(starts - (ends - sizes), sizes), dtype=np.intp)


def ball_sums(cover: csc_array, values: Floats, *, strip: int = _STRIP) -> Floats:
    """Return ``cover.T @ values``, in little memory.

    That product makes a float of every member, more than the table itself, so columns are
    summed in strips of about `strip` members. The terms of each sum are in the same order.
    """
    ends, n_columns = cover.indptr, cover.shape[1]
    sums = np.zeros(n_columns)
    first = 0
    while first < n_columns:
        last = int(np.searchsorted(ends, ends[first] + strip, side="right")) - 1
        last = min(max(last, first + 1), n_columns)
        held = slice(int(ends[first]), int(ends[last]))
        parts = (cover.data[held], cover.indices[held], ends[first : last + 1] - ends[first])
        sums[first:last] = csr_array(parts, shape=(last - first, cover.shape[0])) @ values
        first = last
    return sums


def canonical_cover(cover: Any) -> csc_array:
    """Return a cover as columns of sorted members without repetitions, maybe a copy."""
    table = cover if isinstance(cover, csc_array) else _as_columns(cover)
    if table.dtype != np.bool_:
        _check_ones(table.data)
        table = table.astype(bool)
    try:
        table.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"cover is no valid sparse table: {error}") from error
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    if not table.data.all():  # a stored False would count as a member
        table = table.copy()
        table.eliminate_zeros()
    return table


def check_amounts(amounts: Any, name: str) -> Floats:
    """Return weights as a read-only array of finite, non-negative floats."""
    try:
        numbers = np.asarray(amounts, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers, got {amounts!r}") from error
    faulty = numbers[~((numbers >= 0.0) & (numbers < math.inf))]
    if faulty.size:
        raise ValueError(f"{name} must hold finite numbers not below 0, got {faulty[0]}")
    # A view: the caller's array stays writeable.
    frozen = numbers.view()
    frozen.flags.writeable = False
    return frozen


def check_prizes(prizes: Any) -> Floats:
    """Return prizes as finite, non-negative floats with a finite sum."""
    numbers = check_amounts(prizes, "prize")
    with np.errstate(over="ignore"):
        if not math.isfinite(numbers.sum()):
            raise ValueError(
                "prize must have a sum that is a finite number, got numbers up to "
                f"{numbers.max()}; divide prize, wrong and prototype_cost by a power of two"
            )
    return numbers


def check_cost(cost: Any) -> float:
    """Return the cost of a prototype as a finite, non-negative float."""
    if isinstance(cost, Real) and not isinstance(cost, bool) and 0.0 <= float(cost) < math.inf:
        return float(cost)
    raise ValueError(f"prototype_cost must be a finite number not below 0, got {cost!r}")


def check_selection(selected: Any, n_candidates: int) -> Indices:
    """Return a selection as an array of candidates without repetitions."""
    chosen = np.asarray(selected)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        hint = "; np.flatnonzero(mask) turns a mask into numbers" * (chosen.dtype.kind == "b")
        raise ValueError(
            "selected must be a list of candidates' numbers, got an array of shape "
            f"{chosen.shape} and {chosen.dtype}{hint}"
        )
    outside = chosen[(chosen < 0) | (chosen >= n_candidates)] if chosen.size else chosen
    if outside.size:
        raise ValueError(
            f"selected must hold candidates' numbers from 0 to {n_candidates - 1}, got "
            f"{outside[0]}"
        )
    if len(set(chosen.tolist())) < len(chosen):
        numbers, counts = np.unique(chosen, return_counts=True)
        raise ValueError(
            f"selected must not repeat a candidate, got {numbers[counts > 1][0]} "
            f"{counts.max()} times"
        )
    return chosen.astype(np.intp)


def incidence(
    sets: Iterable[Iterable[Hashable]], weights: Any, n_elements: int | None
) -> tuple[csc_array, list[Any]]:
    """Return the table of elements x sets, and the element of each row.

    Elements are integers from 0 if `n_elements` or a sequence of `weights` gives their number.
    Otherwise they are all values in the sets and in a mapping of `weights`: integers in
    ascending order, others in order of first appearance.
    """
    columns = [list(dict.fromkeys(one)) for one in sets]
    if n_elements is None and weights is not None and not isinstance(weights, Mapping):
        n_elements = len(weights)
    if n_elements is not None:
        elements: list[Any] = list(range(n_elements))
    else:
        named = weights if isinstance(weights, Mapping) else ()
        elements = list(dict.fromkeys([*(e for one in columns for e in one), *named]))
        if all(isinstance(element, Integral) for element in elements):
            elements.sort()
    row_of = {element: row for row, element in enumerate(elements)}
    try:
        rows = [row_of[element] for one in columns for element in one]
    except KeyError as error:
        raise ValueError(
            f"sets must hold elements from 0 to {len(elements) - 1}, got {error.args[0]!r}; "
            "raise n_elements, or leave it out to use any hashable values"
        ) from None
    ends = np.cumsum([0, *map(len, columns)])
    values = np.ones(len(rows), dtype=bool)
    shape = (len(elements), len(columns))
    return csc_array((values, np.array(rows, dtype=np.int64), ends), shape=shape), elements


def _as_columns(cover: Any) -> csc_array:
    """Return any two-dimensional table as a csc_array."""
    table = cover if issparse(cover) else np.asarray(cover)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise ValueError(
            "cover must be a table of True and False with a row for each point and a column for "
            f"each candidate, got {table.ndim} dimensions of {table.dtype}"
        )
    return csc_array(table)


def _check_ones(values: NDArray[Any]) -> None:
    """Check that the values of a cover are 0 and 1."""
    odd = values[(values != 0) & (values != 1)]
    if len(odd):
        raise ValueError(
            f"cover must hold True and False, or 1 and 0, got {odd[0]}; compare dissimilarities "
            "with the radius first: cover = csc_array(dissimilarities < eps)"
        )
