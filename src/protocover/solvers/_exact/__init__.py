"""The optimum with a proof: reductions, a relaxation, fixing, and branch and bound."""

from __future__ import annotations

from .closing import close_by_tree, cover_by_tree
from .search import ExactSearch, exact

__all__ = [
    "ExactSearch",
    "close_by_tree",
    "cover_by_tree",
    "exact",
]
