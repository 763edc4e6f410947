"""Local search: drop what no longer pays, swap, and shake the selection until nothing helps."""

from __future__ import annotations

import math
import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem, CoverSolution
from ._budget import solve_alone
from ._duals import ascend
from ._finish import best_selection, describe
from ._moves import Working
from ._reduced.reductions import reduce_cover
from ._reduced.residual import Residual
from ._stepwise import choose_by_drop, choose_by_ratio
from ._values import check_values

Indices = NDArray[np.intp]

# Columns that one shake leaves out, and shakes after which a small problem has seen it all.
_MOST_OUT, _SHAKES_A_COLUMN = 3, 10


def local_search(
    problem: CoverProblem,
    *,
    rng: np.random.Generator | None = None,
    max_prototypes: int | None = None,
    time_limit: float | None = None,
    patience: int = 250,
) -> CoverSolution:
    """Improve both greedy selections by removals, swaps and small shakes.

    Never worse than either greedy. Of equal objectives the one with fewer prototypes is
    kept. The bound is that of dual ascent.

    Parameters
    ----------
    problem : CoverProblem
        What to solve.
    rng : numpy.random.Generator or None
        Decides the shakes; the same generator gives the same selection, unless time runs out.
        None for a fixed seed.
    max_prototypes : int or None
        Keep so many at most, the first in gain order of what was found.
    time_limit : float or None
        Seconds after which the best so far is returned.
    patience : int, default=250
        Shakes without success before giving up.
    """
    check_values(max_prototypes=max_prototypes, time_limit=time_limit, patience=patience)
    rng = np.random.default_rng(0) if rng is None else rng
    if max_prototypes is not None:
        unlimited = partial(local_search, rng=rng, patience=patience)
        return solve_alone(problem, unlimited, max_prototypes, time_limit=time_limit)
    begun = time.monotonic()
    deadline = math.inf if time_limit is None else begun + time_limit
    greedy, ratio = choose_by_drop(problem)[0], choose_by_ratio(problem)[0]
    residual = reduce_cover(Residual.of(problem), deadline=(begun + deadline) / 2)
    start = best_selection(problem, (greedy, ratio))
    found = search(residual, rng, patience=patience, deadline=deadline, start=start)
    return describe(
        problem,
        best_selection(problem, (residual.selection(found), start)),
        dual=ascend(problem),
        status="time limit" if time.monotonic() >= deadline else "local optimum",
    )


def search(
    residual: Residual,
    rng: np.random.Generator,
    *,
    patience: int,
    deadline: float = math.inf,
    start: Indices | None = None,
    enough: float = -math.inf,
) -> Indices:
    """Search from `start`, candidates of which some may be left; return the best columns.

    The result is complete: no column added to it lowers the objective. A value of `enough`
    ends the search.
    """
    nothing: Indices = np.empty(0, dtype=np.intp)
    begun = np.isin(residual.candidates, nothing if start is None else start)
    current = Working.of(residual, np.flatnonzero(begun))
    current.improve()
    best, tries = current, 0
    if len(residual.candidates) == 0:
        return np.flatnonzero(best.chosen)
    enough -= residual.constant
    patience = min(patience, _SHAKES_A_COLUMN * len(residual.candidates))
    while tries < patience and best.value > enough and time.monotonic() < deadline:
        trial = current.copy()
        _shake(trial, rng)
        if not np.array_equal(trial.chosen, current.chosen):
            trial.improve()
        if trial.value <= current.value:  # equal ones too: plateaus are wide
            current = trial
        tries += 1
        if current.value < best.value:
            best, tries = current, 0
    return np.flatnonzero(best.chosen)


def _shake(working: Working, rng: np.random.Generator) -> None:
    """Force a column in or a few neighbours out, and settle again."""
    chosen, free = np.flatnonzero(working.chosen), np.flatnonzero(~working.chosen)
    if len(free) and (len(chosen) == 0 or rng.random() < 0.5):
        forced = int(rng.choice(free))
        working.add(forced)
        working.prune(keep=forced)
    elif len(chosen):
        out = _neighbors(working, int(rng.choice(chosen)), rng)
        for column in out.tolist():
            working.remove(column)
        working.settle(banned=out)
    working.settle()


def _neighbors(working: Working, column: int, rng: np.random.Generator) -> Indices:
    """Return a chosen column and up to two others that some one column could stand in for."""
    size = int(rng.integers(1, _MOST_OUT + 1))
    row = int(rng.choice(working.ball(column)))
    rows = working.ball(int(rng.choice(working.holders(row))))
    near = np.unique(working.owner[rows[working.count[rows] == 1]])
    others = rng.permutation(near[near != column])[: size - 1]
    return np.concatenate(([column], others)).astype(np.intp)
