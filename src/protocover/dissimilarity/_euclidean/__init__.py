"""Distances from matrix products, exact where it matters."""

from __future__ import annotations

from .distance import Cosine, Euclidean, SquaredEuclidean

__all__ = ["Cosine", "Euclidean", "SquaredEuclidean"]
