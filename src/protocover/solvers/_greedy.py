"""The loop of both greedy solvers: take the candidate of highest merit, again and again.

A candidate's merit rises with the prize that it would newly cover, which only ever falls. So an
old merit is an upper bound on the new one. Candidates are kept in blocks, and only blocks that
might contain the best are evaluated again (lazy evaluation: Minoux, 1978). Each point is removed
from the sums of its balls once, when it is covered, so apart from finding the best block the work
is the number of memberships. The long tail of balls that each cover one last point is taken in
one sweep.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._cover import CoverProblem, ball_sums
from .._cover.table import line_members
from .._typing import Floats, Indices, Mask

# Candidates of a block, and points removed together, whose balls should fit into the cache.
_BLOCK, _POINTS = 512, 64

Merit = Callable[[Floats, Floats], Floats]


def choose_by_drop(
    problem: CoverProblem,
    max_prototypes: int | None = None,
    *,
    covered: Mask | None = None,
) -> tuple[Indices, Floats]:
    """Choose by decrease of the objective before ``prototype_cost``, largest first.

    Points that are `covered` do not count.
    """
    return _choose(problem, np.subtract, problem.wrong, max_prototypes, covered=covered)


def choose_by_ratio(
    problem: CoverProblem, max_prototypes: int | None = None
) -> tuple[Indices, Floats]:
    """Choose by newly covered prize per cost, largest first; no cost counts as a tiny one."""
    return _choose(problem, np.divide, problem.ranked_cost, max_prototypes)


def _choose(
    problem: CoverProblem,
    merit: Merit,
    expense: Floats,
    max_prototypes: int | None = None,
    *,
    covered: Mask | None = None,
) -> tuple[Indices, Floats]:
    """Choose candidates by ``merit(newly covered prize, expense)``, largest first.

    Stops when the best candidate would not lower the objective. Ties go to the lower index.
    Returns the chosen candidates and the merit of each when it was chosen.
    """
    useful = problem.worthwhile
    limit = len(useful) if max_prototypes is None else min(max_prototypes, len(useful))
    uncovered = np.ones(problem.n_points, dtype=bool) if covered is None else ~covered
    prize = np.where(uncovered, problem.prize, 0.0)
    reach = ball_sums(problem.core.parts, prize)
    chosen, score = _run(problem.core, merit, expense[useful], limit, reach, uncovered)
    last, merits = _sweep(problem.core, merit, expense[useful], reach, uncovered)
    left = limit - len(chosen)
    chosen, score = chosen + last[:left].tolist(), score + merits[:left].tolist()
    return useful[np.array(chosen, dtype=np.intp)], np.array(score)


def _run(
    core: CoverProblem,
    merit: Merit,
    expense: Floats,
    limit: int,
    reach: Floats,
    uncovered: Mask,
) -> tuple[list[int], list[float]]:
    """Choose until none is worth its cost, or all that are contain one uncovered point each.

    Updates `reach`, the uncovered prize of each column of the parts, and `uncovered`.
    """
    holders, ends = core.by_point.indices, core.by_point.indptr.tolist()
    sizes = np.diff(core.by_point.indptr)
    wrong, prize, cost = core.wrong, core.prize, core.prototype_cost
    blocks = core.blocks(_BLOCK)
    bound = np.array(
        [merit(core.accumulated(reach, b), expense[b]).max() for b in blocks], dtype=np.float64
    )
    chosen: list[int] = []
    score: list[float] = []
    next_look = 0
    while len(chosen) < limit:
        block = int(bound.argmax())
        columns = blocks[block]
        held = core.accumulated(reach, columns)
        merits = merit(held, expense[columns])
        best = int(merits.argmax())
        value = merits[best]
        if value < bound[block]:
            bound[block] = value
            continue
        drop = held[best] - wrong[columns][best]
        best += columns.start
        if not drop > cost:
            break
        ball = core.ball(best).astype(np.intp)
        newly = ball[uncovered[ball]]
        if len(newly) == 0:  # only the rounding of prizes off the grid was left
            reach[best] = 0.0
            continue
        if len(newly) == 1 and len(chosen) >= next_look:
            if _only_single_points(core, reach, uncovered):
                break
            next_look = len(chosen) * 5 // 4 + 8
        chosen.append(best)
        score.append(float(value))
        uncovered[newly] = False
        for start in range(0, len(newly), _POINTS):
            some = newly[start : start + _POINTS]
            losing = np.concatenate([holders[ends[i] : ends[i + 1]] for i in some.tolist()])
            # NumPy indexes with its own integer type several times faster.
            np.subtract.at(reach, losing.astype(np.intp), prize[some].repeat(sizes[some]))
    return chosen, score


def _only_single_points(core: CoverProblem, reach: Floats, uncovered: Mask) -> bool:
    """Whether each candidate worth its cost contains at most one uncovered point."""
    left = line_members(core.by_point, np.flatnonzero(uncovered))
    inside = np.bincount(left, minlength=core.n_candidates)
    worth_it = core.accumulated(reach) - core.wrong > core.prototype_cost
    return bool((core.accumulated(inside)[worth_it] <= 1).all())


def _sweep(
    core: CoverProblem,
    merit: Merit,
    expense: Floats,
    reach: Floats,
    uncovered: Mask,
) -> tuple[Indices, Floats]:
    """Choose the best candidate for each point if all contain one uncovered point each.

    A choice changes only the merit of candidates of the same point, so the order of merit now
    is the order in which they would be chosen.
    """
    left = np.flatnonzero(uncovered)
    place = np.repeat(np.arange(1, len(left) + 1), np.diff(core.by_point.indptr)[left])
    holders = line_members(core.by_point, left)
    in_part = np.bincount(holders, place, minlength=core.n_candidates).astype(np.intp)
    point, held = core.accumulated(in_part), core.accumulated(reach)
    worth_it = np.flatnonzero((held - core.wrong > core.prototype_cost) & (point > 0))
    merits = merit(held[worth_it], expense[worth_it])
    order = np.argsort(-merits, kind="stable")
    _, first = np.unique(point[worth_it[order]], return_index=True)
    taken = order[np.sort(first)]
    return worth_it[taken], merits[taken]
