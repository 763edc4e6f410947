"""What is to be said of one column, whatever the others hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .._cells import Reading
from .findings import ColumnFacts, Finding, list_some
from .remedies import Remedies

# Fewer rows than that tell nothing about what a column is.
MANY = 10

_SENTINEL = re.compile(r"-9|[-+]?(?:77+|88+|99+)|-32768|-?2147483647|-2147483648")
_IDENTIFIER = re.compile(
    r"(?:^|[\s_.-])(?:id|ids|no|nr|num|number|key|code|index|idx|row|uuid|guid)\.?$"
    r"|(?<=[a-z])(?:ID|Id|No|Nr)$",
)
_NAMES = re.compile(r"^(?:id|no|nr|index|row|key|code|number|unnamed: 0)\.?$", re.IGNORECASE)


def look_at_text(facts: ColumnFacts, reading: Reading, remedies: Remedies) -> Iterator[Finding]:
    """Tell what kept a column of text from being more than labels, or made it unclear."""
    name = facts.name
    keep, drop = remedies.keep(name, "labels"), remedies.drop(name)
    if reading.unclear:
        yield Finding(
            name,
            "thousands or decimals",
            "its commas may set thousands apart or be decimal marks, and no other column tells",
            f"say which with {remedies.decimal('.')} (1,675 is 1675) or {remedies.decimal(',')} "
            f"(1,675 is 1.675), or {drop}",
            "unclear",
        )
    elif reading.odd and reading.stores == "numbers":
        cell = reading.odd[0]
        thousands = cell.replace(".", "")
        yield Finding(
            name,
            "thousands or decimals",
            f"{cell} is beside whole numbers below 1000 and may be {thousands}: all points have "
            "three digits after them, and no other column tells what they are",
            f"say which with {remedies.decimal(',')} ({cell} is {thousands}) or "
            f"{remedies.decimal('.')} (it is {cell})",
        )
    elif reading.unit:
        yield Finding(
            name,
            "unit",
            f"numbers followed by {reading.unit!r} are taken as categories",
            f"{remedies.read_numbers(name)}, or {keep}",
        )
    elif reading.odd and reading.why.startswith("dates"):
        yield Finding(
            name,
            "dates",
            f"{reading.why}, such as {reading.odd[0]!r}, are taken as categories",
            f"write them as 2024-12-31, {drop}, or {keep}",
        )
    elif reading.odd and "form" in reading.why:
        yield Finding(
            name,
            "form of numbers",
            f"numbers such as {list_some(reading.odd)} are not read as such and taken as "
            "categories",
            f"write them all as plain numbers in one unit, {drop}, or {keep}",
        )
    elif reading.odd:
        first = remedies.take_as_missing(name, reading.odd[0])
        yield Finding(
            name,
            "odd cells",
            f"numbers but for {list_some(reading.odd)}, so that it is taken as a category",
            f"fix these cells, take them as missing with {first}"
            f"{' and so on' if len(reading.odd) > 1 else ''}, or {keep}",
        )


def look_at_free_text(facts: ColumnFacts, remedies: Remedies) -> Iterator[Finding]:
    """Tell of a column of text in which most rows have a value of their own."""
    if facts.stores == "labels" and facts.n_values > 1:
        yield Finding(
            facts.name,
            "free text",
            f"most of its {facts.n_values} texts are in one row only",
            f"{remedies.drop(facts.name)} if it is a name or free text",
            "note",
        )


def look_at_numbers(
    name: str, numbers: NDArray[np.float64], remedies: Remedies
) -> Iterator[Finding]:
    """Tell of sentinels, identifiers and values that hardly ever change in a column of numbers."""
    present = numbers[np.isfinite(numbers)]
    n_infinite = int(np.isinf(numbers).sum())
    if n_infinite:
        yield Finding(
            name,
            "infinite",
            f"{n_infinite} {'row holds' if n_infinite == 1 else 'rows hold'} infinity, or a "
            "number too large to keep, which no distance can be measured to",
            f"fix or empty these cells, or {remedies.drop(name)}",
        )
    if len(present) < MANY:
        return
    values, counts = np.unique(present, return_counts=True)
    keep = remedies.keep(name, "numbers")
    for sentinel in _sentinels(values):
        text = f"{sentinel:g}"
        n = int(counts[np.searchsorted(values, sentinel)])
        yield Finding(
            name,
            "sentinel",
            f"{text} in {n} {'row' if n == 1 else 'rows'}, far from all other values, looks like "
            "a mark for missing",
            f"take it as missing with {remedies.take_as_missing(name, text)}, or {keep}",
        )
    why = _identifies(name, present, values)
    if why:
        yield Finding(
            name,
            "identifier",
            f"{why} and would be taken as a measurement",
            f"{remedies.name_rows(name)}, or {keep}",
        )
    if len(values) > 1 and counts.max() >= 0.99 * len(present) and len(present) >= 2 * MANY:
        yield Finding(
            name,
            "nearly constant",
            f"{values[counts.argmax()]:g} in all rows but {len(present) - counts.max()}",
            f"{remedies.drop(name)} if it does not matter",
            "note",
        )


def _sentinels(values: NDArray[np.float64]) -> list[float]:
    """Return extreme values, written as marks for missing are, that lie far from all others."""
    found = []
    for inner, end, inside in ((values[1:], values[0], 0), (values[:-1], values[-1], -1)):
        if len(inner) < 3 or not _SENTINEL.fullmatch(f"{end:.0f}") or end != round(end):
            continue
        gap, spread = abs(inner[inside] - end), inner[-1] - inner[0]
        below_zero = end <= -9.0 and inner[0] >= 0.0
        if below_zero or (abs(end) >= 9.0 and gap > max(spread, 3.0)):
            found.append(float(end))
    return found


def _identifies(name: str, present: NDArray[np.float64], values: NDArray[np.float64]) -> str:
    """Say why whole numbers, all different, identify rows rather than measure them."""
    n = len(present)
    if not (values == np.round(values)).all():
        return ""
    # Beyond that not all whole numbers are floats; measurements differ by more than that.
    if values[0] >= 2.0**53 and values[-1] - values[0] < 1e-9 * values[-1]:
        return "whole numbers of more than 15 digits, equal but for the last ones, name the rows"
    # A few steps back are those from one part of a table, with numbers of its own, to the next.
    if (np.diff(present) == 1.0).mean() >= 0.95 and len(values) > n / 4:
        return "it numbers the rows"
    if len(values) < n:
        return ""
    # So many draws from so few whole numbers would hardly all differ by chance.
    if n * n > 10.0 * (values[-1] - values[0] + 1.0):
        return "whole numbers, each in one row only, number the rows"
    if _IDENTIFIER.search(name) or _NAMES.match(name):
        return "whole numbers, each in one row only, under a name of identifiers, name the rows"
    return ""
