"""Data frames, where pandas or polars is at hand: the only importer of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["frame_library", "frame_package", "make_frame", "stack_frames"]


def make_frame(columns: Mapping[str, Any], index: Any = None) -> Any:
    """Return a pandas data frame, or say how to get pandas."""
    return frame_library("pandas").DataFrame(dict(columns), index=index)


def frame_package(value: Any) -> str | None:
    """Return the name of the package that a value is a frame or series of, else None."""
    for kind in type(value).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in ("pandas", "polars") and kind.__name__ in ("DataFrame", "Series"):
            return package
    return None


def stack_frames(parts: Sequence[Any]) -> Any:
    """Put frames or series of one package under one another."""
    if frame_package(parts[0]) == "pandas":
        return frame_library("pandas").concat(list(parts))
    # Like pandas, let whole numbers and others share a column.
    how = "vertical_relaxed" if len(parts[0].shape) == 2 else "vertical"
    return frame_library("polars").concat(list(parts), how=how)


def frame_library(name: str) -> Any:
    """Return pandas or polars, or say how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"a data frame needs {name}: pip install {name}") from error
