"""One problem with a budget of its own, for a solver that searches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ..._cover import CoverProblem, CoverSolution
from .within import solve_within

# Of the time that is left, what one price may take.
_SHARE = 0.25


class TimeLeft:
    """A time limit that is shared out among prices and the tree that closes the gap."""

    def __init__(self, time_limit: float | None) -> None:
        self.deadline = math.inf if time_limit is None else time.monotonic() + time_limit

    def __call__(self) -> float:
        """Seconds that are left."""
        return max(0.0, self.deadline - time.monotonic())

    def any(self) -> bool:
        """Whether there is time left."""
        return self() > 0.0

    def share(self) -> float | None:
        """Seconds for one price; None where there is no limit."""
        return None if math.isinf(self.deadline) else _SHARE * self()


def solve_alone(
    problem: CoverProblem,
    solver: Callable[..., CoverSolution],
    budget: int,
    *,
    time_limit: float | None = None,
    close: Callable[..., Any] | None = None,
) -> CoverSolution:
    """Solve one problem with at most `budget` prototypes.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    solver : callable
        Solves a problem without a budget within a ``time_limit``.
    budget : int
        How many may be chosen.
    time_limit : float or None
        Seconds for all of it.
    close : callable or None
        As for :func:`solve_within`, and takes a ``time_limit``.
    """
    left = TimeLeft(time_limit)

    def solve(priced: Sequence[CoverProblem]) -> list[CoverSolution]:
        return [solver(one, time_limit=left.share()) for one in priced]

    closing = None if close is None else partial(close_in_time, close, left)
    found = solve_within([problem], solve, budget, close=closing, in_time=left.any)
    return found.solutions[0]


def close_in_time(close: Callable[..., Any], left: TimeLeft, *given: Any) -> Any:
    """Close the gap in the time that is left."""
    return close(*given, time_limit=left())
