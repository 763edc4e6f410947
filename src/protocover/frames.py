"""Data frames, where pandas or polars is at hand: the only importer of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["frame_library", "make_frame", "stack_frames"]


def make_frame(columns: Mapping[str, Any], index: Any = None) -> Any:
    """Return a pandas data frame, or say how to get pandas."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise ImportError("a data frame needs pandas: pip install pandas") from error
    return DataFrame(dict(columns), index=index)


def stack_frames(parts: Sequence[Any]) -> Any:
    """Put pandas frames or series under one another."""
    from pandas import concat

    return concat(list(parts))


def frame_library(name: str) -> Any:
    """Return pandas or polars, or say how to get it."""
    try:
        if name == "polars":
            import polars

            return polars
        import pandas
    except ImportError as error:
        raise ImportError(f"this data frame needs {name}: pip install {name}") from error
    return pandas
