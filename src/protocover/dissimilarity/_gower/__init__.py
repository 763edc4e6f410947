"""Gower's dissimilarity for tables of numbers, categories and gaps."""

from __future__ import annotations

from .distance import Gower

__all__ = ["Gower"]
