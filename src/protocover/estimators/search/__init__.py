"""The search for a radius by cross-validation, fold by fold."""

from __future__ import annotations

from .classifier_cv import PVMClassifierCV

__all__ = [
    "PVMClassifierCV",
]
