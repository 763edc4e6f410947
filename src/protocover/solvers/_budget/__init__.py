"""At most so many prototypes: a price on each, the best of every size, and the last gap closed."""

from .alone import TimeLeft, close_in_time, solve_alone
from .large import best_of_large, supply_large
from .prefix import keep_first
from .prices import total_value
from .within import Budgeted, solve_within

__all__ = [
    "Budgeted",
    "TimeLeft",
    "best_of_large",
    "close_in_time",
    "keep_first",
    "solve_alone",
    "solve_within",
    "supply_large",
    "total_value",
]
