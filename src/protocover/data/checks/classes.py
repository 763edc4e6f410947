"""What is to be said of the classes, and of columns that give them away."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import MANY, quoted
from .findings import Finding, list_some

__all__ = ["look_at_classes", "look_for_leak"]

_FEW = 5


def look_at_classes(target: str, labels: NDArray[Any]) -> Iterator[Finding]:
    """Tell of classes too small to learn, and of labels that may be one class."""
    counts = Counter(str(label) for label in labels)
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


def _likeness(label: str) -> str:
    """Return what labels that may be one class share: 1.0 is 1, and b is B."""
    bare = "".join(label.split()).casefold()
    # Codes such as 007 are no numbers.
    number = re.fullmatch(r"(-?(?:0|[1-9]\d*))[.,]0*", bare)
    return number[1] if number else bare


def look_for_leak(
    name: str, codes: NDArray[np.intp], classes: NDArray[np.intp], *, kind: str
) -> Iterator[Finding]:
    """Tell of a column of a `kind` that is the class by another name, or gives it away.

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
    drop = quoted("--drop", name)
    if n_values == n_classes:
        yield Finding(
            name,
            "leak",
            "it is the class under another name: each value goes with one class and each class "
            "with one value",
            f"use {drop} if it would not be known of a new case, or say what it is with "
            f"{quoted('--kind', name, kind)}",
        )
    else:
        yield Finding(
            name,
            "tells the class",
            f"each of its {n_values} values goes with one class only",
            f"use {drop} if it would not be known of a new case",
            "note",
        )
