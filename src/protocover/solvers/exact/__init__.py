"""The optimum with a proof: reductions, a relaxation, fixing, and branch and bound."""

from __future__ import annotations

from .search import exact

__all__ = [
    "exact",
]
