"""The values that options of our solvers may have, each by its name."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_values(**values: Any) -> None:
    """Check the values of options of our solvers, each by its name."""
    for name, value in values.items():
        accepts, rule = _RULES[name]
        if not accepts(value):
            raise ValueError(f"{name} must be {rule}, got {value!r}")


def is_number(value: Any) -> bool:
    """Whether a value is a number, True and False aside."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_count(value: Any, least: int) -> bool:
    """Whether a value is a whole number not below `least`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "time_limit": (
        lambda value: value is None or (is_number(value) and 0.0 <= float(value) <= math.inf),
        "a number of seconds not below 0, or None for no limit",
    ),
    "gap": (
        lambda value: is_number(value) and 0.0 <= float(value) <= 1.0,
        "a share of the objective between 0 and 1",
    ),
    "max_nodes": (
        lambda value: value is None or _is_count(value, 0),
        "a whole number not below 0, or None for any number",
    ),
    "patience": (lambda value: _is_count(value, 0), "a whole number not below 0"),
    "n_draws": (lambda value: _is_count(value, 1), "at least 1"),
    "bound": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "max_prototypes": (
        lambda value: value is None or _is_count(value, 0),
        "a whole number not below 0, or None for any number",
    ),
    "verbose": (lambda value: isinstance(value, Integral) and int(value) >= 0, "0, 1 or 2"),
}
