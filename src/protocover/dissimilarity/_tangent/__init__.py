"""Tangent distance between images."""

from __future__ import annotations

from .distance import TangentDistance

__all__ = ["TangentDistance"]
