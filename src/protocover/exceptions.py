"""The errors and warnings that protocover raises on its own account."""

from __future__ import annotations

import sys
import warnings

__all__ = [
    "CoverMemoryWarning",
    "DissimilarityError",
    "ModelFileError",
    "NoPrototypesError",
    "warn_caller",
]

# Packages that stand between a user's line and the one that warns.
_BETWEEN = {"protocover", "sklearn", "imblearn", "joblib", "contextlib", "functools"}


class DissimilarityError(ValueError):
    """A dissimilarity returned something that is not a table of non-negative numbers."""


class ModelFileError(ValueError):
    """A model file cannot be trusted or understood, or a model cannot be put in one."""


class NoPrototypesError(ValueError):
    """A prediction was asked of a model in which no prototype was worth its cost."""


class CoverMemoryWarning(UserWarning):
    """The balls asked for are expected to need more memory than there is."""


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the line of the user's code that led here, also through a pipeline.

    From Python 3.12 on `skip_file_prefixes` could do so.
    """
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in _BETWEEN:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def _package(names: dict[str, object]) -> str:
    """Return the package that a frame's module belongs to."""
    return str(names.get("__name__", "")).partition(".")[0]
