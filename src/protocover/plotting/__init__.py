"""Displays: each holds the data of one picture and draws it with matplotlib.

This package needs matplotlib: ``pip install "protocover[plot]"``.
"""

from .gallery import PrototypeGalleryDisplay
from .greedy_progress import GreedyProgressDisplay
from .path import PathDisplay

__all__ = ["GreedyProgressDisplay", "PathDisplay", "PrototypeGalleryDisplay"]
