"""Displays: each holds the data of one picture and draws it with matplotlib.

This package needs matplotlib: ``pip install "protocover[plot]"``.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        'protocover.plotting needs matplotlib: pip install "protocover[plot]"'
    ) from error

from ._balls import BallsDisplay
from ._boundary import BoundaryDisplay
from ._coverage import CoverageConfusionDisplay, CoverageDisplay
from ._gallery import PrototypeGalleryDisplay
from ._greedy_progress import GreedyProgressDisplay
from ._map import PrototypeMapDisplay
from ._path import PathDisplay
from ._table import PrototypeTableDisplay

__all__ = [
    "BallsDisplay",
    "BoundaryDisplay",
    "CoverageConfusionDisplay",
    "CoverageDisplay",
    "GreedyProgressDisplay",
    "PathDisplay",
    "PrototypeGalleryDisplay",
    "PrototypeMapDisplay",
    "PrototypeTableDisplay",
]
