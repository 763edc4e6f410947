"""The loop that every greedy shares: take the candidate of highest merit, again and again.

A candidate's merit depends on the prize it would newly cover and falls with it, and
what it would newly cover only ever falls. So an old merit is an upper bound on the new
one, and the candidates can be kept in blocks of which only those that might hold the
best are looked at (Minoux's lazy evaluation, a block at a time). Each point is covered
once and then taken out of every ball that holds it: apart from finding the best block,
the total work is the number of ball memberships.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from ..cover import CoverProblem

__all__ = ["choose_stepwise"]

_BLOCK = 512

Floats = NDArray[np.float64]


def choose_stepwise(
    problem: CoverProblem,
    merit: Callable[[Floats, Floats], Floats],
    expense: Floats,
    max_prototypes: int | None = None,
) -> tuple[NDArray[np.intp], Floats]:
    """Choose candidates by falling ``merit(newly covered prize, expense)``.

    Stops when the best candidate would not lower the objective. Ties go to the lower
    index. Returns the chosen candidates and the merit of each when it was chosen.
    """
    reach = problem.prize_sums()
    useful = np.flatnonzero(reach - problem.wrong > problem.prototype_cost)
    limit = len(useful) if max_prototypes is None else min(max_prototypes, len(useful))
    chosen, score = _run(
        problem.cover[:, useful],
        problem.prize,
        reach[useful],
        expense[useful],
        problem.wrong[useful],
        problem.prototype_cost,
        merit,
        limit,
    )
    return useful[chosen], score


def _run(
    cover: csc_array,
    prize: Floats,
    reach: Floats,
    expense: Floats,
    wrong: Floats,
    prototype_cost: float,
    merit: Callable[[Floats, Floats], Floats],
    limit: int,
) -> tuple[NDArray[np.intp], Floats]:
    """Inner loop of :func:`choose_stepwise`; `reach` is used up."""
    balls, ball_start = cover.indices, cover.indptr
    by_point = cover.tocsr()
    holders, holder_start = by_point.indices, by_point.indptr.tolist()
    uncovered = np.ones(len(prize), dtype=bool)
    bound = np.array(
        [merit(reach[b], expense[b]).max() for b in _blocks(len(reach))], dtype=np.float64
    )
    chosen: list[int] = []
    score: list[float] = []
    while len(chosen) < limit:
        block = int(bound.argmax())
        start = block * _BLOCK
        merits = merit(reach[start : start + _BLOCK], expense[start : start + _BLOCK])
        best = int(merits.argmax())
        value = merits[best]
        if value < bound[block]:
            bound[block] = value
            continue
        best += start
        if not reach[best] - wrong[best] > prototype_cost:
            break
        ball = balls[ball_start[best] : ball_start[best + 1]]
        newly = ball[uncovered[ball]]
        if len(newly) == 0:  # only the rounding of prizes off the grid was left
            reach[best] = 0.0
            continue
        chosen.append(best)
        score.append(float(value))
        uncovered[newly] = False
        for point, worth in zip(newly.tolist(), prize[newly].tolist(), strict=True):
            reach[holders[holder_start[point] : holder_start[point + 1]]] -= worth
    return np.array(chosen, dtype=np.intp), np.array(score)


def _blocks(n: int) -> list[slice]:
    """Slices of `_BLOCK` candidates that together make up all `n`."""
    return [slice(start, start + _BLOCK) for start in range(0, n, _BLOCK)]
