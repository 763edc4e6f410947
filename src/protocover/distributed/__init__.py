"""Fits on Dask collections, for data that do not fit into the memory of one machine."""

from __future__ import annotations

try:
    import dask.array  # noqa: F401

    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        'protocover.distributed needs dask and distributed: pip install "protocover[dask]"'
    ) from error

from ._ball_cover import DaskBallCover
from ._classifier import DaskPVMClassifier

__all__ = ["DaskBallCover", "DaskPVMClassifier"]
