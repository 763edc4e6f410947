"""Results as they are kept beside a page: with so many digits, and no times."""

from __future__ import annotations

from typing import Any


def shorten(told: Any, digits: int) -> Any:
    """Round all numbers in dicts and lists, and leave out what a part took."""
    if isinstance(told, dict):
        return {key: shorten(one, digits) for key, one in told.items() if key != "cpu_seconds"}
    if isinstance(told, list):
        return [shorten(one, digits) for one in told]
    return round(told, digits)
