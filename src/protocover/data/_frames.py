"""Data frames, where pandas or polars is at hand: the only importer of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def make_frame(columns: Mapping[str, Any], index: Any = None) -> Any:
    """Return a pandas data frame, or say how to get pandas."""
    return frame_library("pandas").DataFrame(dict(columns), index=index)


def frame_package(value: Any) -> str | None:
    """Return the name of the package that a value is a frame or series of, else None."""
    for package, kind in _origins(value):
        if package in ("pandas", "polars") and kind in ("DataFrame", "Series"):
            return package
    return None


def in_memory(X: Any, *, name: str = "X") -> Any:
    """Return values as they are, but a frame of narwhals as the frame that it wraps.

    What is not in memory is refused: it would be loaded silently, or taken for one value.
    """
    origins = _origins(X)
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"{name} must be in memory, got a collection of Dask; use "
            f"protocover.distributed.DaskPVMClassifier, or pass {name}.compute()"
        )
    if any(package in ("polars", "narwhals") and kind == "LazyFrame" for package, kind in origins):
        raise TypeError(
            f"{name} must be in memory, got a LazyFrame, which holds no values yet; pass "
            f"{name}.collect()"
        )
    return X.to_native() if origins[0][0] == "narwhals" else X


def _origins(value: Any) -> list[tuple[str, str]]:
    """Return package and name of the class of a value and of those that it derives from."""
    kinds = type(value).__mro__
    return [(kind.__module__.partition(".")[0], kind.__name__) for kind in kinds]


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
