"""Several problems that share one budget, for whatever solver is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._cover import CoverProblem, CoverSolution, SharedBound
from ._budget import TimeLeft, close_by_tree, keep_first, solve_within
from ._greedy import choose_by_drop
from ._heuristics import greedy
from ._registry import unwrapped
from ._search import auto, close_small, exact

# Solves all problems, within so many seconds if a number is given.
SolveAll = Callable[[Sequence[CoverProblem], float | None], Sequence[CoverSolution]]


def solve_jointly(
    solver: Callable[..., CoverSolution],
    problems: Sequence[CoverProblem],
    solve_all: SolveAll,
    budget: int,
    *,
    options: dict[str, Any],
) -> tuple[list[CoverSolution], SharedBound]:
    """Choose at most `budget` candidates of all problems together by one of our solvers.

    Parameters
    ----------
    solver : callable
        One of the table.
    problems : sequence of CoverProblem
        All with one cost of a prototype.
    solve_all : SolveAll
        Has it solve them without a budget.
    budget : int
        How many may be chosen.
    options : dict
        Options of the solver.
    """
    if unwrapped(solver) is greedy:
        orders = [choose_by_drop(problem, budget + 1) for problem in problems]
        return keep_first(problems, orders, budget, bound=options.get("bound", True))
    left = TimeLeft(options.get("time_limit"))

    def solve(priced: Sequence[CoverProblem]) -> Sequence[CoverSolution]:
        return solve_all(priced, left.share())

    closings: dict[Any, Callable[..., Any]] = {exact: close_by_tree, auto: close_small}
    close = closings.get(unwrapped(solver))
    closing = None if close is None else partial(close, deadline=left.deadline)
    return solve_within(problems, solve, budget, close=closing, in_time=left.any)
