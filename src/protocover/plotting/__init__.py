"""Displays: each holds the data of one picture and draws it with matplotlib.

This package needs matplotlib: ``pip install "protocover[plot]"``.
"""

from .gallery import PrototypeGalleryDisplay

__all__ = ["PrototypeGalleryDisplay"]
