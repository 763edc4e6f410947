"""Tanimoto distance of bit vectors: whole numbers of common bits from matrix products."""

from __future__ import annotations

from .distance import Tanimoto

__all__ = ["Tanimoto"]
