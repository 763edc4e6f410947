"""Solvers under a limit: at most k prototypes, or a given coverage at least cost."""

from .coverage import Incumbent, search_coverage_prices, solve_coverage
from .large import best_of_large, cover_large
from .prices import (
    TimeLeft,
    Trial,
    close_in_time,
    keep_first,
    shared_bound,
    shared_step,
    solve_alone,
    solve_within,
    total_value,
)

__all__ = [
    "Incumbent",
    "TimeLeft",
    "Trial",
    "best_of_large",
    "close_in_time",
    "cover_large",
    "keep_first",
    "search_coverage_prices",
    "shared_bound",
    "shared_step",
    "solve_alone",
    "solve_coverage",
    "solve_within",
    "total_value",
]
