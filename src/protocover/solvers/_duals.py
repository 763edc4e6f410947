"""Dual vectors: what each point can be made to pay so that no ball takes in more than it costs.

By linear programming duality such a payment u, between 0 and the prizes, is a lower
bound on every selection (:meth:`protocover._cover.CoverProblem.lower_bound`). Dual ascent
finds one that cannot be raised at any point alone; started from the multipliers of a
solved linear program it only mends what reductions and rounding left behind.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._cover import CoverProblem
from .._cover.table import line_members

# Points charged at once; in fewer than the least it takes longer than one by one.
_LEAST_BATCH, _MOST_BATCH = 16, 512

Floats = NDArray[np.float64]


def ascend_best(
    problem: CoverProblem, selected: NDArray[np.intp], known: Floats | None = None
) -> Floats:
    """Raise the payments in two orders and return those that prove more; one may be known.

    Points that a good selection covers once go before those that it covers twice: at an
    optimum of the linear program only points covered once pay anything to balls chosen.
    """
    covered = np.bincount(problem.points_in(selected), minlength=problem.n_points)
    usual = ascend(problem) if known is None else known
    found = (usual, ascend(problem, covered=covered))
    return max(found, key=lambda u: float(u.sum()))


def ascend(
    problem: CoverProblem,
    start: Floats | None = None,
    covered: NDArray[np.intp] | None = None,
) -> Floats:
    """Raise the payments point by point until each is at its prize or in a ball paid up.

    Points in few balls go first: they leave the most room to the others.

    Parameters
    ----------
    problem : CoverProblem
        Only its worthwhile candidates are looked at; no other can be overpaid.
    start : ndarray of float, shape (n_points,), or None
        Payments that overpay no ball, by default none.
    covered : ndarray of int, shape (n_points,), or None
        What goes before the number of balls in that order: how often a selection covers
        each point.
    """
    core = problem.core
    u = np.zeros(core.n_points) if start is None else start.copy()
    slack = core.cost if start is None else np.maximum(core.cost - core.prize_sums(u), 0.0)
    degree = core.n_holders
    u[degree == 0] = core.prize[degree == 0]
    _charge_private(core, np.flatnonzero(degree == 1), u, slack)
    settled = u >= core.prize
    settled[core.points_in(np.flatnonzero(slack <= 0.0))] = True
    left = np.flatnonzero(~settled)
    times = np.zeros_like(degree) if covered is None else covered
    _charge(core, left[np.lexsort((degree[left], times[left]))], u, slack, settled)
    return u


def mend(problem: CoverProblem, dual: Floats) -> Floats:
    """Lower a dual vector until no ball is overpaid; what that costs, the balls give back.

    Lowering the payments in an overpaid ball by the excess takes the excess from the sum
    and returns at least as much in the balls' terms of the bound, so it never falls.
    """
    core = problem.core
    u = np.clip(np.nan_to_num(dual), 0.0, core.prize)
    cost, paid = core.cost, core.prize_sums(u)
    for j in np.flatnonzero(paid > cost).tolist():
        ball = core.ball(j)
        total = float(u[ball].sum())
        if total > cost[j]:
            u[ball] *= cost[j] / total
    return u


def _charge_private(
    core: CoverProblem, points: NDArray[np.intp], u: Floats, slack: Floats
) -> None:
    """Charge points that only one ball holds, in proportion where it has less room than that."""
    ball = core.by_point.indices[core.by_point.indptr[points]]
    room = core.prize[points] - u[points]
    asked = np.bincount(ball, room, minlength=core.n_candidates)
    share = np.divide(slack, asked, out=np.ones_like(slack), where=asked > slack)
    u[points] += room * share[ball]
    np.maximum(slack - asked, 0.0, out=slack)


def _charge(
    core: CoverProblem,
    order: NDArray[np.intp],
    u: Floats,
    slack: Floats,
    settled: NDArray[np.bool_],
) -> None:
    """Charge the points of `order` one by one as much as their balls have room for.

    Several at once as long as few of them share a ball, which comes to the same.
    """
    asked = core.prize - u
    batch = 0 if core.is_nested else _LEAST_BATCH * 4
    waiting = order[:0]
    while batch >= _LEAST_BATCH and len(waiting) + len(order):
        taken = max(0, batch - len(waiting))
        waiting, order = np.concatenate((waiting, order[:taken])), order[taken:]
        waiting = waiting[~settled[waiting]]
        blocked = _charge_apart(core, waiting, asked, u, slack, settled)
        many = 2 * len(blocked) > len(waiting)
        batch = batch // 2 if many else min(2 * batch, _MOST_BATCH)
        waiting = blocked
    for point in np.concatenate((waiting, order)).tolist():
        if settled[point]:
            continue
        held_by = core.columns_with(point)
        room = slack[held_by]
        pays = min(asked[point], np.minimum.reduce(room))
        u[point] += pays
        room -= pays
        slack[held_by] = room
        for j in held_by[room <= 0.0].tolist():
            settled[core.ball(j)] = True


def _charge_apart(
    core: CoverProblem,
    points: NDArray[np.intp],
    asked: Floats,
    u: Floats,
    slack: Floats,
    settled: NDArray[np.bool_],
) -> NDArray[np.intp]:
    """Charge those of `points` that share no ball with one before them; returns the others."""
    if len(points) == 0:
        return points
    balls, sizes = line_members(core.by_point, points), np.diff(core.by_point.indptr)[points]
    starts = np.cumsum(sizes) - sizes
    place = np.repeat(np.arange(len(points)), sizes)
    first = np.empty(core.n_candidates, dtype=np.intp)
    # Written last to first, so that the first point in a ball is the one that stays.
    first[balls[::-1]] = place[::-1]
    apart = np.minimum.reduceat(first[balls] == place, starts)
    room = slack[balls]
    pays = np.minimum(asked[points], np.minimum.reduceat(room, starts))
    charged = points[apart]
    u[charged] += pays[apart]
    settled[charged] = True
    here = apart[place]
    balls, room = balls[here], (room - pays[place])[here]
    slack[balls] = room
    settled[core.points_in(balls[room <= 0.0])] = True
    return points[~apart]
