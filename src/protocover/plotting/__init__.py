"""Displays: each holds the data of one plot and draws it with matplotlib.

They need matplotlib: ``pip install "protocover[plot]"``.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        'protocover.plotting needs matplotlib: pip install "protocover[plot]"'
    ) from error

from ._coverage import CoverageConfusionDisplay, CoverageDisplay
from ._curves import GreedyProgressDisplay, PathDisplay
from ._gallery import PrototypeGalleryDisplay
from ._map import PrototypeMapDisplay
from ._plane import BallsDisplay, BoundaryDisplay
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
