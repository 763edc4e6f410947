"""Several problems and one time limit: who gets how much of it, and who goes on afterwards.

A solver that can go on where it was stopped is asked in rounds. The first round spends half
of the time, equal shares for all, and what one does not need the next ones get. Those still
open go on with half of what is left, smallest gap first, and so on. Other solvers are asked
once, each with an equal share of what those before it have left. The default goes through its
stages in this way, and then its trees share the rest.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from .._cover import CoverProblem, CoverSolution
from .._resources import progress_bar
from ._registry import Solver, ask_solver, default_time_limit, preset, unwrapped
from ._search import Search, auto, begin_search, exact, grow_together

# When so little of the time limit is left it is given out in one last round.
_LAST_ROUND = 0.1


def solve_together(
    solver: Solver,
    problems: Sequence[CoverProblem],
    *,
    rngs: Sequence[np.random.Generator],
    budgets: Sequence[int | None],
    options: Mapping[str, Any],
    verbose: int = 0,
) -> list[CoverSolution]:
    """Solve all problems within one time limit, that of the options or the solver's own.

    Parameters
    ----------
    solver : Solver
        Applied to each of the problems.
    problems : sequence of CoverProblem
        What to solve.
    rngs, budgets : sequences
        The random generator of each, and how many prototypes it may have.
    options : mapping
        Passed on to the solver, with each problem's share of the ``time_limit``.
    verbose : int, default=0
        Above 0, a progress bar over the problems.
    """
    searches = [
        _begin(solver, problem, rng=rng, budget=budget, options=options)
        for problem, rng, budget in zip(problems, rngs, budgets, strict=True)
    ]
    limit = options.get("time_limit", default_time_limit(solver))
    deadline = math.inf if limit is None else time.monotonic() + float(limit)
    with progress_bar(searches, len(searches), "classes", verbose) as bar:
        if limit is None:
            for search in bar:
                search.go_on()
        else:
            once = any(_is_once(search) for search in searches)
            _go_round(bar, len(searches), float(limit), once=once)
    shared = [one for one in searches if isinstance(one, Search) and _is_once(one)]
    grow_together(shared, deadline=deadline)
    return [search.solution() for search in searches]


def _is_once(search: _Search) -> bool:
    """Whether a search gets one round only."""
    if isinstance(search, Search):
        return not search.effort.until_closed
    return isinstance(search, _Question)


class _Search(Protocol):
    """A problem at whose solution work can go on."""

    is_finished: bool

    @property
    def open_share(self) -> float: ...
    def go_on(self, seconds: float | None = None) -> None: ...
    def solution(self) -> CoverSolution: ...


@dataclass(eq=False)
class _Question:
    """A problem of which a solver is asked once."""

    ask: Callable[..., CoverSolution]
    options: Mapping[str, Any]
    is_finished: bool = False
    open_share: float = math.inf

    def go_on(self, seconds: float | None = None) -> None:
        """Ask the solver, with so many seconds for its answer."""
        share = {} if seconds is None else {"time_limit": seconds}
        self._answer = self.ask(options={**self.options, **share})
        self.is_finished = True

    def solution(self) -> CoverSolution:
        """Return what the solver answered."""
        return self._answer


def _begin(
    solver: Solver,
    problem: CoverProblem,
    *,
    rng: np.random.Generator,
    budget: int | None,
    options: Mapping[str, Any],
) -> _Search:
    """Get ready to solve a problem; a budget makes many problems of one, which are asked once."""
    told = {**preset(solver), **options}
    told.pop("time_limit", None)
    if unwrapped(solver) in (auto, exact) and budget is None:
        return begin_search(problem, proves=unwrapped(solver) is exact, **told)
    ask = partial(ask_solver, solver, problem, rng=rng, max_prototypes=budget)
    return _Question(ask, options)


def _go_round(searches: Iterable[_Search], n_searches: int, limit: float, *, once: bool) -> None:
    """Go on with the searches, round after round, until all are finished or time is up.

    With `once` there is one round only.
    """
    left, deadline = limit, time.monotonic() + limit
    while n_searches:
        is_last = once or n_searches == 1 or left <= _LAST_ROUND * limit
        end = deadline if is_last else deadline - left / 2
        still_open = list(_one_round(searches, n_searches, end))
        searches = sorted(still_open, key=lambda search: search.open_share)
        left = deadline - time.monotonic()
        n_searches = len(still_open) if left > 0.0 else 0


def _one_round(searches: Iterable[_Search], n_left: int, end: float) -> Iterator[_Search]:
    """Give each search an equal share of what is left until `end`; yield those left open."""
    for search in searches:
        search.go_on(max(0.0, end - time.monotonic()) / n_left)
        n_left -= 1
        if not search.is_finished:
            yield search
