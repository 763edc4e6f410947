"""The default solver: near the optimum with a bound that says how near, in a few greedy fits."""

from .effort import grow_together
from .search import AutoSearch, auto, close_small, cover_small, is_large

__all__ = ["AutoSearch", "auto", "close_small", "cover_small", "grow_together", "is_large"]
