"""The errors and warnings that protocover raises on its own account."""

from __future__ import annotations

import sys
import warnings

__all__ = ["CoverMemoryWarning", "DissimilarityError", "NoPrototypesError", "warn_caller"]


class DissimilarityError(ValueError):
    """A dissimilarity returned something that is not a table of non-negative numbers."""


class NoPrototypesError(ValueError):
    """A prediction was asked of a model in which no prototype was worth its cost."""


class CoverMemoryWarning(UserWarning):
    """The balls asked for are expected to need more memory than there is."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn with the line of whoever called into protocover, from however deep inside."""
    package, level = __name__.partition(".")[0], 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
