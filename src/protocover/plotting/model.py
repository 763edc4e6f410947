"""What the displays ask of an estimator before they draw it."""

from __future__ import annotations

from typing import Any

from ..inspection.fitted import Unwrapped, unwrap

__all__ = ["unwrap_to_draw"]


def unwrap_to_draw(estimator: Any) -> Unwrapped:
    """Find the classifier that an estimator is or holds; it must have prototypes."""
    within = unwrap(estimator, name="estimator")
    within.require_prototypes("there is nothing to draw")
    return within
