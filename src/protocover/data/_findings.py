"""Findings of the table check: about columns and classes, each with a way to fix it."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cells import Reading, read_cells

# Fewer rows than this are too few to judge a column by.
MANY = 10

_SENTINEL = re.compile(r"-9|[-+]?(?:77+|88+|99+)|-32768|-?2147483647|-2147483648")
_IDENTIFIER = re.compile(
    r"(?:^|[\s_.-])(?:id|ids|no|nr|num|number|key|code|index|idx|row|uuid|guid)\.?$"
    r"|(?<=[a-z])(?:ID|Id|No|Nr)$",
)
_NAMES = re.compile(r"^(?:id|no|nr|index|row|key|code|number|unnamed: 0)\.?$", re.IGNORECASE)
_FEW = 5
# A target with more distinct numbers than this looks like a measurement if it has fractions, or
# if its distinct numbers are more than this fraction of the rows.
_MOST_NUMBERED, _MOST_SHARE = 20, 0.05
# A column unrelated to the class separates the classes with a smaller probability than this.
_CHANCE = 1e-6


@dataclass(frozen=True)
class Finding:
    """Something about a table that its owner should look at.

    Parameters
    ----------
    column : str
        The column it is about; "" for rows or the table as a whole.
    what : str
        A short name such as "identifier" or "sentinel".
    why : str
        What was found in the data.
    option : str
        How to fix it; on the command line, the option of ``protocover fit``.
    level : {"unclear", "danger", "note"}
        "unclear" must be resolved before a fit; "danger" must be resolved or ignored with
        ``--ignore-warnings``; "note" does not stop a fit.
    """

    column: str
    what: str
    why: str
    option: str
    level: str = "danger"

    def __str__(self) -> str:
        about = f"column {self.column!r}: " if self.column else ""
        return f"{about}{self.why}; {self.option}" if self.option else f"{about}{self.why}"


@dataclass(frozen=True)
class Remedies:
    """How to fix each kind of finding, in terms of the command line or of Python.

    Each function takes the name of a column and, if needed, a value: the type to keep
    ("numbers" or "labels") or the text of a missing value. `leaves_out` is whether columns that
    cannot distinguish rows are left out automatically.
    """

    drop: Callable[[str], str]
    name_rows: Callable[[str], str]
    keep: Callable[[str, str], str]
    read_numbers: Callable[[str], str]
    take_as_missing: Callable[[str, str], str]
    decimal: Callable[[str], str]
    regroup: str
    given: str
    all_texts_differ: str
    most_texts_differ: Callable[[str], str]
    leaves_out: bool


def _option(option: str, name: str, value: str = "") -> str:
    """Return an option as it is typed in a shell."""
    return f"{option} {shlex.quote(f'{name}={value}' if value else name)}"


_TYPES = {"numbers": "numeric", "labels": "categorical"}
COMMAND_LINE = Remedies(
    drop=lambda name: f"use {_option('--drop', name)}",
    name_rows=lambda name: f"use {_option('--id', name)} or {_option('--drop', name)}",
    keep=lambda name, stores: f"keep it with {_option('--feature-type', name, _TYPES[stores])}",
    read_numbers=lambda name: (
        f"read them as numbers with {_option('--feature-type', name, 'numeric')}"
    ),
    take_as_missing=lambda name, value: shlex.quote(f"--missing={name}={value}"),
    decimal=lambda mark: f"--decimal {mark}",
    regroup="group its values into classes, or choose another column with --target",
    given="set by --feature-type",
    all_texts_differ="a different text in every row; --id uses it to name the rows",
    most_texts_differ=lambda name: f"; {_option('--feature-type', name, 'categorical')} keeps it",
    leaves_out=True,
)
PYTHON = Remedies(
    drop=lambda _: "drop the column",
    name_rows=lambda _: "drop the column, or make it the index",
    keep=lambda name, stores: f"keep it with feature_types={{{name!r}: {stores!r}}}",
    read_numbers=lambda _: "convert them to numbers",
    take_as_missing=lambda name, value: f"missing={{{name!r}: [{value!r}]}}",
    decimal=lambda mark: f"decimal={mark!r}",
    regroup="group its values into classes, for example with pandas.cut",
    given="set by feature_types",
    all_texts_differ="a different text in every row",
    most_texts_differ=lambda _: "",
    leaves_out=False,
)


def look_at_text(name: str, reading: Reading, remedies: Remedies) -> Iterator[Finding]:
    """Report why a column of text is ambiguous, or is not read as numbers or dates."""
    keep, drop = remedies.keep(name, "labels"), remedies.drop(name)
    if reading.unclear:
        yield Finding(
            name,
            "thousands or decimals",
            "its commas could be thousands separators or decimal marks, and no other column shows "
            "which",
            f"choose with {remedies.decimal('.')} (1,675 is 1675) or {remedies.decimal(',')} "
            f"(1,675 is 1.675), or {drop}",
            "unclear",
        )
    elif reading.odd and reading.stores == "numbers":
        cell = reading.odd[0]
        thousands = cell.replace(".", "")
        yield Finding(
            name,
            "thousands or decimals",
            f"{cell} could mean {thousands}: every point is followed by three digits, the other "
            "numbers are integers below 1000, and no other column shows what points mean",
            f"choose with {remedies.decimal(',')} ({cell} is {thousands}) or "
            f"{remedies.decimal('.')} (it is {cell})",
        )
    elif reading.unit:
        yield Finding(
            name,
            "unit",
            f"numbers followed by {reading.unit!r} are treated as categories",
            f"{remedies.read_numbers(name)}, or {keep}",
        )
    elif reading.odd and reading.why.startswith("dates"):
        yield Finding(
            name,
            "dates",
            f"{reading.why}, such as {reading.odd[0]!r}, are treated as categories",
            f"write them as 2024-12-31, {drop}, or {keep}",
        )
    elif reading.odd and "form" in reading.why:
        yield Finding(
            name,
            "form of numbers",
            f"numbers such as {list_some(reading.odd)} cannot be read and are treated as "
            "categories",
            f"write them all as plain numbers in one unit, {drop}, or {keep}",
        )
    elif reading.odd:
        first = remedies.take_as_missing(name, reading.odd[0])
        yield Finding(
            name,
            "odd cells",
            f"treated as categories, because {list_some(reading.odd)} are not numbers and the "
            "other values are"
            if len(reading.odd) > 1
            else f"treated as categories, because {list_some(reading.odd)} is not a number and "
            "the other values are",
            f"fix these cells, treat them as missing with {first}"
            f"{' and so on' if len(reading.odd) > 1 else ''}, or {keep}",
        )


def look_at_numbers(
    name: str, numbers: NDArray[np.float64], remedies: Remedies
) -> Iterator[Finding]:
    """Report sentinels, identifiers and near-constant values in a column of numbers."""
    present = numbers[np.isfinite(numbers)]
    n_infinite = int(np.isinf(numbers).sum())
    if n_infinite:
        yield Finding(
            name,
            "infinite",
            f"{n_infinite} {'row holds' if n_infinite == 1 else 'rows hold'} infinity or a "
            "number too large for a float, so distances cannot be computed",
            f"correct or empty these cells, or {remedies.drop(name)}",
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
            f"{text} in {n} {'row' if n == 1 else 'rows'} is far from all other values and looks "
            "like a code for a missing value",
            f"treat it as missing with {remedies.take_as_missing(name, text)}, or {keep}",
        )
    why = _identifies(name, present, values)
    if why:
        yield Finding(
            name,
            "identifier",
            f"{why}, but it would be used as a measurement",
            f"{remedies.name_rows(name)}, or {keep}",
        )
    if len(values) > 1 and counts.max() >= 0.99 * len(present) and len(present) >= 2 * MANY:
        yield Finding(
            name,
            "nearly constant",
            f"{values[counts.argmax()]:g} in all rows except {len(present) - counts.max()}",
            f"{remedies.drop(name)} if it does not matter",
            "note",
        )


def _sentinels(values: NDArray[np.float64]) -> list[float]:
    """Return extreme values that look like codes for missing and lie far from all others."""
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
    """Return why distinct integers identify rows rather than measure something, "" if not."""
    n = len(present)
    if not (values == np.round(values)).all():
        return ""
    # Above 2**53 floats cannot represent every integer; measurements differ by more than that.
    if values[0] >= 2.0**53 and values[-1] - values[0] < 1e-9 * values[-1]:
        return "it holds integers of more than 15 digits that differ only in the last digits"
    # A numbering that restarts a few times comes from several tables put together.
    if (np.diff(present) == 1.0).mean() >= 0.95 and len(values) > n / 4:
        return "it numbers the rows"
    if len(values) < n:
        return ""
    # Random integers from such a small range would repeat.
    if n * n > 10.0 * (values[-1] - values[0] + 1.0):
        return "it holds a different integer in every row"
    if _IDENTIFIER.search(name) or _NAMES.match(name):
        return "it is named like an identifier and holds a different integer in every row"
    return ""


@dataclass(frozen=True, eq=False)
class Classes:
    """The label of each row, None where missing, and its class as a number, else -1."""

    labels: NDArray[Any]
    codes: NDArray[np.intp]


def look_at_classes(
    target: str, counts: Mapping[str, int], remedies: Remedies
) -> Iterator[Finding]:
    """Report a target that is a measurement, classes that are too small, and similar labels.

    `counts` has the number of rows per label.
    """
    if _is_measurement(counts):
        yield Finding(
            target,
            "measurement",
            f"{len(counts)} different numbers in {sum(counts.values())} rows look like a "
            "measurement, and each would become a class",
            remedies.regroup,
        )
        return
    alike: dict[str, list[str]] = defaultdict(list)
    for label in counts:
        alike[_normalized(label)].append(label)
    for same in alike.values():
        if len(same) > 1:
            yield Finding(
                target,
                "classes alike",
                f"the classes {list_some(same)} differ only in spaces, capitals or decimals",
                "write them alike if they are the same class",
            )
    small = [label for label, n in counts.items() if n < _FEW]
    if small and len(counts) > 1:
        one = len(small) == 1
        yield Finding(
            target,
            "small class" if one else "small classes",
            f"fewer than {_FEW} cases of {list_some(small)}: too few to choose prototypes from "
            "and to test on",
            f"collect more, merge {'it' if one else 'them'} with another class, or leave "
            f"{'it' if one else 'them'} out",
            "note",
        )


def _is_measurement(counts: Mapping[str, int]) -> bool:
    """Whether labels are numbers too many, or too fine, to be the names of classes."""
    reading = read_cells(list(counts))
    if len(counts) <= _MOST_NUMBERED or reading.stores != "numbers":
        return False
    if len(counts) > _MOST_SHARE * sum(counts.values()) or reading.notation is None:
        return True
    return not all(float(reading.notation.plain(label)).is_integer() for label in counts)


def _normalized(label: str) -> str:
    """Return what labels of the same class have in common: 1.0 and 1, b and B."""
    bare = "".join(label.split()).casefold()
    # Codes such as 007 are not numbers.
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
    """Report a column that is the class under another name, or determines it.

    `codes` number the values of the column, `classes` the labels, per row; -1 is missing.
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
    unknown = f"{remedies.drop(name)} if it is not known for new cases"
    if n_values == n_classes:
        yield Finding(
            name,
            "leak",
            "it is the class under another name: each value occurs in one class only, and each "
            "class has one value only",
            f"{unknown}, or {remedies.keep(name, stores)}",
        )
    else:
        yield Finding(
            name,
            "determines the class",
            f"each of its {n_values} values occurs in one class only",
            unknown,
            "note",
        )


def number_values(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return a number for each distinct value, -1 for None and NaN."""
    places: dict[Any, int] = {None: -1}
    numbers = [places.setdefault(None if v != v else v, len(places) - 1) for v in values.tolist()]
    return np.array(numbers, dtype=np.intp)


def look_for_thresholds(
    name: str, numbers: NDArray[np.float64], classes: Classes, remedies: Remedies
) -> Iterator[Finding]:
    """Report a column of numbers in which every class has a range of its own.

    Columns of few distinct values are left to `look_for_leak`.
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
    # The orders in which classes form ranges, as a fraction of all orders of the rows.
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
        f"{remedies.drop(name)} if it is not known for new cases",
        "note",
    )


def list_some(values: Any, most: int = 3) -> str:
    """Return the first few of some values, quoted."""
    shown = [repr(shorten(str(value), 24)) for value in list(values)[:most]]
    further = len(values) - len(shown)
    return ", ".join(shown) + (f" and {further} more" if further > 0 else "")


def shorten(text: str, width: int) -> str:
    """Return a text of at most `width` characters."""
    return text if len(text) <= width else text[: width - 3] + "..."
