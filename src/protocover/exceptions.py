"""The errors and warnings that protocover raises on its own account."""

from __future__ import annotations

__all__ = ["CoverMemoryWarning", "DissimilarityError", "NoPrototypesError"]


class DissimilarityError(ValueError):
    """A dissimilarity returned something that is not a table of non-negative numbers."""


class NoPrototypesError(ValueError):
    """A prediction was asked of a model in which no prototype was worth its cost."""


class CoverMemoryWarning(UserWarning):
    """The balls asked for are expected to need more memory than there is."""
