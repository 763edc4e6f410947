"""Data frames, where pandas is at hand: the only importer of pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["make_frame", "stack_frames"]


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
