"""The same selection on Dask collections, for data that do not fit one machine.

The classifier checks the collections (`chunks`), builds the cover by independent tasks
over blocks of candidates (`blocks`, kept as `cover` says), selects class by
class or in `rounds` (`selection`) and ends up with a plain classifier.
"""

from __future__ import annotations

try:
    import dask.array  # noqa: F401

    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(
        'protocover.distributed needs dask and distributed: pip install "protocover[dask]"'
    ) from error

from ._classifier import DaskPVMClassifier

__all__ = ["DaskPVMClassifier"]
