"""Displays: each holds the data of one picture and draws it with matplotlib.

This package needs matplotlib: ``pip install "protocover[plot]"``.
"""

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    raise ImportError(
        'protocover.plotting needs matplotlib: pip install "protocover[plot]"'
    ) from error

from .balls import BallsDisplay
from .boundary import BoundaryDisplay
from .coverage import CoverageConfusionDisplay, CoverageDisplay
from .gallery import PrototypeGalleryDisplay
from .greedy_progress import GreedyProgressDisplay
from .map import PrototypeMapDisplay
from .path import PathDisplay
from .table import PrototypeTableDisplay

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
