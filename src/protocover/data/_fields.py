"""Checks of what a model file holds: right kind, right size, right range, or a clear error."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._exceptions import ModelFileError


def refuse(reason: str) -> NoReturn:
    """Raise the one error of model files."""
    raise ModelFileError(reason)


def check_record(value: Any, name: str, keys: Collection[str]) -> dict[str, Any]:
    """Check that a value is a JSON object with these keys and no others."""
    if not isinstance(value, dict) or set(value) != set(keys):
        refuse(f"{name} must have the fields {', '.join(sorted(keys))}")
    return value


def check_list(value: Any, name: str, length: int | None = None) -> list[Any]:
    """Check that a value is a list, of a given length."""
    if not isinstance(value, list) or length not in (None, len(value)):
        refuse(f"{name} must be a list" + ("" if length is None else f" of {length}"))
    return value


def check_keywords(value: Any, name: str) -> dict[str, Any]:
    """Check that a value is a dict of arguments by name, numbers and arrays."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse(f"{name} must be arguments by name")
    for key, item in value.items():
        if not (item is None or isinstance(item, bool | str | np.ndarray | list | tuple)):
            check_number(item, key)
    return value


def check_text(value: Any, name: str, known: Collection[str] | None = None) -> str:
    """Check that a value is a string, one of those known."""
    if not isinstance(value, str):
        refuse(f"{name} must be a string, got {value!r:.80}")
    if known is not None and value not in known:
        refuse(f"{name} must be one of {', '.join(sorted(known))}, got {value!r:.80}")
    return value


def check_boolean(value: Any, name: str) -> bool:
    """Check that a value is true or false."""
    if type(value) is not bool:
        refuse(f"{name} must be true or false, got {value!r:.80}")
    return value


def check_whole(value: Any, name: str, *, low: int = 0, below: int = 2**62) -> int:
    """Check that a value is a whole number from `low` on and below another."""
    if type(value) is not int or not low <= value < below:
        refuse(f"{name} must be a whole number from {low} to {below - 1}, got {value!r:.80}")
    return value


def check_number(value: Any, name: str) -> float:
    """Check that a value is a number, of Python or NumPy."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        refuse(f"{name} must be a number, got {value!r:.80}")
    return value  # type: ignore[return-value]


def check_shape(value: Any, length: int | None = None) -> tuple[int, ...]:
    """Check that a value is a shape."""
    sizes = check_list(value, "a shape", length)
    return tuple(check_whole(size, "a size") for size in sizes)


def check_array(
    value: Any,
    name: str,
    *,
    kinds: str | None = None,
    shape: tuple[int | None, ...] | None = None,
    below: int | None = None,
) -> NDArray[Any]:
    """Check that a value is an array, of NumPy's `kinds` of types.

    None in `shape` stands for any size; entries must be at least 0 and less than `below`.
    """
    if not isinstance(value, np.ndarray):
        refuse(f"{name} must be an array, got {value!r:.80}")
    if kinds is not None and value.dtype.kind not in kinds:
        refuse(f"{name} must not be of type {value.dtype}")
    if shape is not None and (
        value.ndim != len(shape)
        or any(want not in (None, got) for want, got in zip(shape, value.shape, strict=True))
    ):
        wanted = " x ".join("any" if size is None else str(size) for size in shape)
        refuse(f"{name} must have the shape {wanted or 'of a scalar'}, got {value.shape}")
    if below is not None and value.size and (value.min() < 0 or value.max() >= below):
        refuse(f"{name} must be from 0 to {below - 1}, got {value.min()} to {value.max()}")
    return value


def check_indices(
    value: Any, name: str, *, length: int | None = None, below: int | None = None
) -> NDArray[np.intp]:
    """Check that a value is an array of indices."""
    array = check_array(value, name, kinds="iu", shape=(length,), below=below)
    return array.astype(np.intp, copy=False)
