"""The optimum with a proof: reductions, a relaxation, fixing, and branch and bound."""

from __future__ import annotations

from .search import ExactSearch, exact

__all__ = [
    "ExactSearch",
    "exact",
]
