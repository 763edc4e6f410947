"""Single values on the command line: what each kind of option accepts."""

from __future__ import annotations

import argparse
import math
from typing import Any

__all__ = [
    "read_candidates",
    "read_count",
    "read_eps",
    "read_folds",
    "read_image_size",
    "read_numbers",
    "read_positive",
    "read_separator",
    "read_share",
    "read_size",
]


def read_separator(text: str) -> str:
    """Return one character; the word tab stands for a tab."""
    named = {"\\t": "\t", "tab": "\t", "comma": ",", "semicolon": ";"}.get(text, text)
    if len(named) != 1:
        raise argparse.ArgumentTypeError(f"must be one character, or tab, got {text!r}")
    return named


def read_image_size(text: str) -> tuple[int, int]:
    """Return width and height."""
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(s.isdecimal() and 0 < int(s) <= 1024 for s in sides):
        raise argparse.ArgumentTypeError(f"must be 32 or 24x32, at most 1024, got {text!r}")
    return int(sides[0]), int(sides[-1])


def read_numbers(text: str) -> list[float]:
    """Return numbers, not negative, that commas separate."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number or several, got {text!r}") from None
    if not all(math.isfinite(number) and number >= 0.0 for number in numbers):
        raise argparse.ArgumentTypeError(f"must not be negative, got {text!r}")
    return numbers


def read_eps(text: str) -> list[float] | str:
    """Return positive radii, or "auto"."""
    if text == "auto":
        return text
    if 0.0 in read_numbers(text):
        raise argparse.ArgumentTypeError(f"must be above 0, got {text!r}")
    return read_numbers(text)


def read_count(text: str) -> int:
    """Return a whole number, not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    return int(text)


def read_size(text: str) -> int:
    """Return a whole number above 0."""
    if read_count(text) == 0:
        raise argparse.ArgumentTypeError("must be 1 or more, got '0'")
    return read_count(text)


def read_candidates(text: str) -> Any:
    """Return names of generators, numbers or shares of candidates, one alone as it is."""
    parts = [_read_number(part) for part in text.split(",")]
    return parts[0] if len(parts) == 1 else parts


def _read_number(text: str) -> int | float | str:
    """Return a whole number or a share, or, if it is neither, the text."""
    if text.isdecimal():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def read_folds(text: str) -> int:
    """Return a number of parts, two or more."""
    if read_count(text) < 2:
        raise argparse.ArgumentTypeError(f"must be 2 or more, got {text!r}")
    return read_count(text)


def read_positive(text: str) -> float:
    """Return one number above 0."""
    numbers = read_numbers(text)
    if len(numbers) != 1 or numbers[0] == 0.0:
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return numbers[0]


def read_share(text: str) -> float:
    """Return a share below one."""
    numbers = read_numbers(text)
    if len(numbers) != 1 or numbers[0] >= 1.0:
        raise argparse.ArgumentTypeError(f"must be at least 0 and below 1, got {text!r}")
    return numbers[0]
