"""Branch and bound: our own tree, and budgets closed by it."""

from __future__ import annotations

from .closing import close_by_tree, cover_by_tree

__all__ = [
    "close_by_tree",
    "cover_by_tree",
]
