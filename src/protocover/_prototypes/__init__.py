"""A chosen set of prototypes and what is asked of it: the nearest, who is covered, and why."""

from __future__ import annotations

from .coverage import Coverage, CoverageTotals
from .explanation import Explanation
from .prototype_set import PrototypeSet, column_order

__all__ = [
    "Coverage",
    "CoverageTotals",
    "Explanation",
    "PrototypeSet",
    "column_order",
]
