"""What is to be said of the classes, and of columns that give them away."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells import read_cells
from .columns import MANY
from .findings import Finding, list_some
from .remedies import Remedies

_FEW = 5
# More different numbers than that, and with fractions or in more than that share of the rows,
# are a measurement rather than classes.
_MOST_NUMBERED, _MOST_SHARE = 20, 0.05
# A column without any relation to the class separates it with a smaller chance.
_CHANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Classes:
    """The label of each row, None where missing, and a number for each class, else -1."""

    labels: NDArray[Any]
    codes: NDArray[np.intp]


def look_at_classes(
    target: str, counts: Mapping[str, int], remedies: Remedies
) -> Iterator[Finding]:
    """Tell of a target that is a measurement, of classes too small and of labels alike.

    `counts` has the number of rows of each label.
    """
    if _is_measurement(counts):
        yield Finding(
            target,
            "measurement",
            f"{len(counts)} different numbers in {sum(counts.values())} rows look like a "
            "measurement, and each would be a class",
            remedies.regroup,
        )
        return
    alike: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        alike[_likeness(label)].append(label)
    for same in alike.values():
        if len(same) > 1:
            yield Finding(
                target,
                "classes alike",
                f"the classes {list_some(same)} differ in spaces, capitals or decimals only",
                "write them alike if they are one class",
            )
    small = [label for label, n in counts.items() if n < _FEW]
    if small and len(counts) > 1:
        one = len(small) == 1
        yield Finding(
            target,
            "small class" if one else "small classes",
            f"fewer than {_FEW} cases of {list_some(small)}: too few to choose from and to test",
            f"gather more, join {'it' if one else 'them'} with another class, or leave "
            f"{'it' if one else 'them'} out",
            "note",
        )


def _is_measurement(counts: Mapping[str, int]) -> bool:
    """Whether labels are numbers too many, or too fine, to be the names of classes."""
    n_rows = sum(counts.values())
    reading = read_cells(list(counts))
    if len(counts) <= _MOST_NUMBERED or reading.stores != "numbers":
        return False
    if len(counts) > _MOST_SHARE * n_rows or reading.notation is None:
        return True
    return not all(float(reading.notation.plain(label)).is_integer() for label in counts)


def _likeness(label: str) -> str:
    """Return what labels that may be one class share: 1.0 is 1, and b is B."""
    bare = "".join(label.split()).casefold()
    # Codes such as 007 are no numbers.
    number = re.fullmatch(r"(-?(?:0|[1-9]\d*))[.,]0*", bare)
    return number[1] if number else bare


def look_for_leak(
    name: str,
    codes: NDArray[np.intp],
    classes: NDArray[np.intp],
    *,
    stores: str,
    remedies: Remedies,
) -> Iterator[Finding]:
    """Tell of a column of numbers or labels that is the class by another name, or determines it.

    `codes` number the values of the column, `classes` the labels, row by row; -1 is missing.
    """
    known = codes >= 0
    codes, classes = codes[known], classes[known]
    n_classes = len(np.unique(classes))
    if len(codes) < MANY or n_classes < 2:
        return
    pairs = np.unique(np.column_stack((codes, classes)), axis=0)
    n_values = len(np.unique(codes))
    if len(pairs) != n_values or n_values > len(codes) / 5:
        return
    unknown = f"{remedies.drop(name)} if it would not be known of a new case"
    if n_values == n_classes:
        yield Finding(
            name,
            "leak",
            "it is the class under another name: each value goes with one class and each class "
            "with one value",
            f"{unknown}, or {remedies.keep(name, stores)}",
        )
    else:
        yield Finding(
            name,
            "tells the class",
            f"each of its {n_values} values goes with one class only",
            unknown,
            "note",
        )


def number_values(values: NDArray[Any]) -> NDArray[np.intp]:
    """Give each different value a number, None and NaN -1."""
    places: dict[Any, int] = {None: -1}
    numbers = [places.setdefault(None if v != v else v, len(places) - 1) for v in values.tolist()]
    return np.array(numbers, dtype=np.intp)


def look_for_thresholds(
    name: str, numbers: NDArray[np.float64], classes: Classes, remedies: Remedies
) -> Iterator[Finding]:
    """Tell of a column of numbers in which every class is a range of values of its own.

    A column of few values is left to `look_for_leak`.
    """
    known = np.flatnonzero(np.isfinite(numbers) & (classes.codes >= 0))
    order = known[np.argsort(numbers[known], kind="stable")]
    values, codes = numbers[order], classes.codes[order]
    if len(np.unique(values)) <= len(numbers) / 5:
        return
    sizes = np.unique(codes, return_counts=True)[1]
    last = np.flatnonzero(codes[1:] != codes[:-1])
    if not len(last) or len(last) != len(sizes) - 1 or (values[last] == values[last + 1]).any():
        return
    # All orders of the classes in ranges, of all orders of the rows.
    chance = lgamma(len(sizes) + 1) + sum(lgamma(n + 1) for n in sizes) - lgamma(len(values) + 1)
    if chance > log(_CHANCE):
        return
    low, high = (repr(classes.labels[order[place]]) for place in (last[0], last[0] + 1))
    limits = f"{low} up to {values[last[0]]:g}, {high} from {values[last[0] + 1]:g}"
    yield Finding(
        name,
        "threshold",
        f"one threshold determines the class: {limits}"
        if len(last) == 1
        else f"{len(last)} thresholds determine the class, such as {limits}",
        f"{remedies.drop(name)} if it would not be known of a new case",
        "note",
    )
