"""How the text of cells is read: missing values, numbers in their notation, dates or labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?"})
BOOLEANS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})
TRUE = frozenset({"true", "yes", "t", "y", "1"})
_YES_NO = frozenset({"true", "false", "yes", "no"})

_CODE = re.compile(r"0\d+")
_TIME = r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_LIKE_A_DAY = re.compile(rf"\d{{1,2}}([./-])\d{{1,2}}\1(?:\d{{4}}|\d{{2}}){_TIME}")
# A point before the unit, as in "1. Yes", marks an item of a list.
_UNIT = re.compile(r"(.*?\d)\s*([^\W\d_]{1,6}\d?(?:/[^\W\d_]{1,6}\d?)?|%|°[CFK]?)")
_MONEY = r"[$€£¥]?\s*"
# Numbers for human readers only: money, brackets or a trailing minus for negative amounts, a
# unit that other cells do not have. Text directly after a number, as in 3b, may be a code.
_FORM = re.compile(
    rf"\(?[-+\u2212]?\s*{_MONEY}[-+\u2212]?\d(?:[\d.,']*\d)?\s*{_MONEY}(?:%|(?<=\s)[^\W\d_]{{1,4}})?[-\u2212]?\)?"
)
_FEW_UNITS = 3
_UNCLEAR_DATES = "dates with ambiguous day and month"
# Units that change the number before them: 3k beside 3 are 3000 and 3.
_SCALES = frozenset({"%", "k", "K", "M", "B", "Mio", "Mrd", "bn", "mn"})
_SPACES = "[ \u00a0\u202f\u2009]"


@dataclass(frozen=True)
class Notation:
    """A notation of numbers: the decimal mark, and the thousands separator, "" for none."""

    decimal: str
    thousands: str
    pattern: re.Pattern[str]

    def fits(self, cells: Iterable[str]) -> bool:
        """Whether all cells are numbers in this notation."""
        return all(map(self.pattern.fullmatch, cells))

    def plain(self, cell: str) -> str:
        """Return a number of this notation as Python writes it."""
        if self.thousands == " ":
            cell = "".join(cell.split())
        elif self.thousands:
            cell = cell.replace(self.thousands, "")
        return cell.replace(self.decimal, ".")


def _notation(decimal: str, thousands: str) -> Notation:
    """Return a notation with its pattern."""
    mark, sign, power = re.escape(decimal), "[-+]?", r"(?:[eE][-+]?\d+)?"
    pattern = rf"{sign}(?:\d+{mark}?\d*|{mark}\d+){power}"
    if thousands:
        between = _SPACES if thousands == " " else re.escape(thousands)
        pattern += rf"|{sign}[1-9]\d{{0,2}}(?:{between}\d{{3}})+(?:{mark}\d*)?"
    return Notation(decimal, thousands, re.compile(pattern))


_POINT, _COMMA = _notation(".", ""), _notation(",", "")
_POINTED_THOUSANDS = _notation(",", ".")
_NOTATIONS = (
    _POINT,
    _COMMA,
    _notation(".", ","),
    _POINTED_THOUSANDS,
    _notation(".", " "),
    _notation(",", " "),
    _notation(".", "'"),
    _notation(",", "'"),
)


@dataclass(frozen=True)
class DateNotation:
    """A notation of dates: the order of day, month and year, and their separator."""

    words: str
    pattern: re.Pattern[str]

    def fits(self, cells: Iterable[str]) -> bool:
        """Whether all cells are dates in this notation."""
        return all(map(self.pattern.fullmatch, cells))

    def iso(self, cell: str) -> str:
        """Return a date of this notation, with its time, as 2024-12-31, and "" for other cells."""
        if self is _ISO_DATE:  # unchanged, as ISO 8601 has more forms
            return cell
        parts = self.pattern.fullmatch(cell)
        if parts is None:
            return ""
        return f"{parts['year']}-{parts['month']:0>2}-{parts['day']:0>2}{parts['time']}"


def _date_notation(*order: str, between: str) -> DateNotation:
    """Return a notation of dates with its pattern."""
    forms = {"day": "0?[1-9]|[12][0-9]|3[01]", "month": "0?[1-9]|1[0-2]", "year": "[0-9]{4}"}
    pattern = re.escape(between).join(f"(?P<{part}>{forms[part]})" for part in order)
    return DateNotation(between.join(order), re.compile(f"{pattern}(?P<time>{_TIME})"))


_ISO_DATE = DateNotation(
    "year-month-day",
    re.compile(rf"(?P<year>\d{{4}})-(?P<month>\d{{2}})-(?P<day>\d{{2}})(?P<time>{_TIME})"),
)
_DATES = (
    _ISO_DATE,
    *(_date_notation("year", "month", "day", between=mark) for mark in "/."),
    *(_date_notation("day", "month", "year", between=mark) for mark in "./-"),
    *(_date_notation("month", "day", "year", between=mark) for mark in "./-"),
)


@dataclass(frozen=True)
class Reading:
    """How a column of text is read, and why.

    `stores` is "numbers", "dates", "booleans" or "labels". Numbers are written in `notation`;
    they are `unclear` if they can be read in two ways. `odd` has the values because of which a
    column is not read as numbers or dates, or that may be other numbers than they seem; `unit`
    is what follows all of its numbers.
    """

    stores: str
    why: str
    notation: Notation | None = None
    odd: tuple[str, ...] = ()
    unit: str = ""
    unclear: bool = False


def fitting_notations(cells: Sequence[str], decimal: str | None = None) -> list[Notation]:
    """Return the notations that fit all cells and read them differently.

    `decimal` is the decimal mark, if known. Cells without a comma have a decimal point unless
    the file shows otherwise.
    """
    if decimal != "," and _POINT.fits(cells):
        return [_POINT]
    known = [n for n in _NOTATIONS if decimal in (None, n.decimal)]
    fitting = [notation for notation in known if notation.fits(cells)]
    readings: dict[tuple[str, ...], Notation] = {}
    for notation in fitting:
        readings.setdefault(tuple(map(notation.plain, cells)), notation)
    return list(readings.values())


def fitting_dates(cells: Sequence[str]) -> list[DateNotation]:
    """Return the notations of dates that fit all cells and read them differently.

    With points, the day comes first if possible.
    """
    fitting = [notation for notation in _DATES if notation.fits(cells)]
    readings: dict[tuple[str, ...], DateNotation] = {}
    for notation in fitting:
        readings.setdefault(tuple(map(notation.iso, cells)), notation)
    found = list(readings.values())
    return found[:1] if found and "." in found[0].words else found


def nearest_dates(cells: Sequence[str]) -> DateNotation:
    """Return the notation of dates that fits most cells."""
    return max(_DATES, key=lambda notation: sum(notation.fits([cell]) for cell in cells))


def decimal_mark(cells: Sequence[str]) -> str | None:
    """Return the decimal mark of a column of numbers if its cells determine it."""
    marks = "".join(cells)
    if "," not in marks and "." not in marks:
        return None
    found = {n.decimal for n in _NOTATIONS if n.fits(cells)}
    return found.pop() if len(found) == 1 else None


def read_cells(cells: Sequence[str], *, decimal: str | None = None) -> Reading:
    """Return how the distinct cells of a column, stripped and none missing, are read."""
    if not cells:
        return Reading("labels", "no values")
    notations = fitting_notations(cells, decimal)
    if notations:
        reading = _read_numbers(cells, notations)
        if decimal is None and reading.notation is _POINT and _may_be_thousands(cells):
            pointed = tuple(cell for cell in cells if "." in cell)
            return replace(reading, why="numbers, if points are decimal marks", odd=pointed[:3])
        return reading
    if any({cell.lower() for cell in cells[:3]} <= pair for pair in BOOLEANS):
        words = {cell.lower(): cell for cell in reversed(cells)}
        if any(words.keys() <= pair for pair in BOOLEANS):
            own = " or ".join(words[word] for word in sorted(words))
            return Reading("booleans", f"all cells are {own}")
    dates = fitting_dates(cells)
    if len(dates) == 1:
        return Reading("dates", f"all cells are dates such as {cells[0]} ({dates[0].words})")
    return _read_labels(cells, decimal)


def _may_be_thousands(cells: Sequence[str]) -> bool:
    """Whether all points could be thousands separators, as in 1.675 next to 750.

    Decimals would occur in all cells or have different lengths.
    """
    pointed = [cell for cell in cells if "." in cell]
    whole = [cell.lstrip("+-") for cell in cells if "." not in cell]
    if not pointed or not whole or not all(c.isdecimal() and len(c) <= 3 for c in whole):
        return False
    return _POINTED_THOUSANDS.fits(pointed)


def split_unit(cell: str) -> tuple[str, str]:
    """Return a cell without its unit, and the unit, "" if there is none."""
    found = _UNIT.fullmatch(cell)
    return (found[1].rstrip(), found[2]) if found else (cell, "")


def common_unit(parts: Iterable[tuple[str, str]]) -> str:
    """Return the common unit of split cells, "" if there is none.

    Cells may omit the unit, unless it scales the number.
    """
    units = {unit for _, unit in parts}
    named = units - {""}
    if len(named) != 1 or ("" in units and named <= _SCALES):
        return ""
    return named.pop()


def is_plain_number(text: str) -> bool:
    """Whether a text is a number with a decimal point and without thousands separators."""
    return _POINT.fits([text])


def mark_matcher(marks: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that is true for cells equal to one of `marks`; -999.0 equals -999."""
    texts = frozenset(marks)
    numbers = {float(mark) for mark in texts if is_plain_number(mark)}

    def is_mark(cell: str) -> bool:
        if cell in texts:
            return True
        if not numbers or not (_POINT.fits([cell]) or _COMMA.fits([cell])):
            return False
        return float(cell.replace(",", ".")) in numbers

    return is_mark


def _read_numbers(cells: Sequence[str], notations: list[Notation]) -> Reading:
    """Return the reading of numbers, unless they are codes made of digits."""
    if len(notations) > 1:
        return Reading("numbers", "numbers that can be read in two ways", unclear=True)
    if any(map(_CODE.fullmatch, cells)):
        code = next(filter(_CODE.fullmatch, cells))
        return Reading("labels", f"codes such as {code}")
    return Reading("numbers", _describe_numbers(cells, notations[0]), notations[0])


def _describe_numbers(cells: Sequence[str], notation: Notation) -> str:
    """Describe how numbers are read, with an example if they are not in plain notation."""
    grouped = next((cell for cell in cells if len(notation.plain(cell)) < len(cell)), None)
    if grouped is not None:
        return f"numbers with thousands separators ({grouped} is {notation.plain(grouped)})"
    other = next((cell for cell in cells if notation.plain(cell) != cell), None)
    if other is not None:
        return f"numbers with decimal commas ({other} is {notation.plain(other)})"
    return "all cells are numbers"


def _read_labels(cells: Sequence[str], decimal: str | None) -> Reading:
    """Return the reading of labels, with cells that may be numbers or dates."""
    if fitting_dates(cells):
        return Reading("labels", _UNCLEAR_DATES, odd=tuple(cells)[:3])
    if all(_LIKE_A_DAY.fullmatch(cell) or _ISO_DATE.fits([cell]) for cell in cells):
        others = filter(_LIKE_A_DAY.fullmatch, cells)
        return Reading("labels", "dates not written as 2024-12-31", odd=tuple(others)[:3])
    parts = [split_unit(cell) for cell in cells]
    unit = common_unit(parts)
    if unit and fitting_notations([number for number, _ in parts], decimal):
        return Reading("labels", "numbers with a unit", unit=unit)
    odd = [cell for cell in cells if not any(n.pattern.fullmatch(cell) for n in _NOTATIONS)]
    if odd and _are_forms(cells, parts):
        return Reading("labels", "numbers in a form that cannot be read", odd=tuple(odd))
    if odd and 2 * len(odd) <= len(cells):
        return Reading("labels", "not all cells are numbers", odd=tuple(odd))
    if not odd:
        return Reading("labels", "numbers in more than one notation", odd=tuple(cells[:3]))
    return Reading("labels", "cells are text")


def _are_forms(cells: Sequence[str], parts: Sequence[tuple[str, str]]) -> bool:
    """Whether people would read all cells as numbers, such as (25), $7.50, 3k, or 3 kg and 200."""
    units = {unit for _, unit in parts if unit}
    if any(unit.lower() in _YES_NO for unit in units):
        return False
    if units and units <= _SCALES:  # some cells omit it
        return all(any(n.pattern.fullmatch(number) for n in _NOTATIONS) for number, _ in parts)
    return len(units) <= _FEW_UNITS and all(map(_FORM.fullmatch, cells))
