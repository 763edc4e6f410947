"""The errors and warnings that protocover raises on its own account."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

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


def no_prototypes(model: Any, so: str, *, instead: str = "") -> NoPrototypesError:
    """Return the error that tells what left a classifier without prototypes, and the way out.

    Parameters
    ----------
    model : PVMClassifier
        Fitted, without prototypes.
    so : str
        What follows from that, such as "there is nothing to draw".
    instead : str, default=""
        A further way out, where there is one.
    """
    most = model.max_prototypes
    budgets = (
        [most.get(label) for label in model.classes_.tolist()]
        if isinstance(most, dict)
        else [most]
    )
    if all(budget == 0 for budget in budgets):
        why, ways = f"max_prototypes={most!r} allows no prototype", ["raise max_prototypes"]
    else:
        unlimited = math.isinf(model.eps_)
        at = "" if unlimited else f"eps={model.eps_:g} and "
        why = f"no prototype was worth its cost at {at}prototype_cost={model.prototype_cost_:g}"
        ways = ["lower prototype_cost", *([] if unlimited else ["change eps"])]
    *first, last = [*ways, instead] if instead else ways
    way_out = f"{', '.join(first)} or {last}" if first else last
    return NoPrototypesError(f"{why}, so {so}; {way_out}")


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
